// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace railhead::pools {

/// Some of all 128-bit GIDs: those that begin alike. A GID is an IPv6 address; RoCE maps IPv4 into
/// ::ffff:a.b.c.d, and the first 64 bits of an InfiniBand GID are its subnet prefix.
class AddressPrefix {
 public:
  /// "10.1.0.0/16", "fd00:1::/64", or an address alone.
  static Result<AddressPrefix> parse(std::string_view text);

  /// A GID as sysfs prints it, eight groups of four; false for anything else.
  [[nodiscard]] bool covers(std::string_view gid) const;

 private:
  using Bytes = std::array<std::uint8_t, 16>;

  AddressPrefix(const Bytes& bytes, unsigned bits)
      : bytes_(bytes),
        bits_(bits) {}

  Bytes bytes_;
  unsigned bits_;
};

}  // namespace railhead::pools
