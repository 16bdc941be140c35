// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bench/crypto.h"

namespace railhead::bench {

// A frame: length(4, big-endian, of the body), body (JSON), HMAC(direction's key, number(8) body).
// Invariants: frames are numbered from 0 in each direction, so none can be repeated, left out or
// moved; a length above the limit ends the connection before any of the body is read.

inline constexpr std::size_t kMaxBody = std::size_t{256} << 10;

class FrameWriter {
 public:
  explicit FrameWriter(const Mac& key)
      : key_(key) {}

  /// too_large for a body above kMaxBody.
  Result<std::string> frame(std::string_view body);

 private:
  Mac key_;
  std::uint64_t number_ = 0;
};

class FrameReader {
 public:
  explicit FrameReader(const Mac& key)
      : key_(key) {}

  void feed(std::string_view bytes) { buffer_ += bytes; }

  /// The next body; absent until all of it is there. too_large, or denied for a wrong HMAC: the
  /// connection is of no use afterwards.
  Result<std::optional<std::string>> next();

  /// How many bytes to read at most before asking again.
  [[nodiscard]] std::size_t wants() const;

 private:
  Mac key_;
  std::uint64_t number_ = 0;
  std::string buffer_;
};

}  // namespace railhead::bench
