// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace railhead::snapshot {

/// Stand-ins for what identifies a machine. Equal originals get equal stand-ins and different ones
/// different, numbered in the order in which they are met: no stand-in can be turned back, and the
/// same questions in the same order give the same answers. Each has the length and form of its
/// original. What is all zero, all ones, loopback or "anyone" stays.
///
/// A hardware address keeps the vendor's 24 bits (unless they are locally administered, so no
/// vendor's) and gets new ones for the device. The same 24 bits get the same stand-in in a MAC
/// address, in the GUID that firmware makes of it (…03:00…) and in the interface identifier that
/// RoCE makes of it (…ff:fe…, RFC 4291 appendix A), so all of them still belong together.
class Pseudonyms {
 public:
  void mac(std::span<std::uint8_t, 6> bytes);
  void guid(std::span<std::uint8_t, 8> bytes);

  /// Keeps link-local and site-local prefixes; others become parts of 2001:db8::/32 (RFC 3849).
  /// An IPv4-mapped one keeps that form.
  void gid_or_ipv6(std::span<std::uint8_t, 16> bytes);

  /// Addresses of one /24 stay in one /24: of TEST-NET-1 to 3 (RFC 5737), then of 198.18.0.0/15
  /// (RFC 2544), then of 10.0.0.0/8.
  void ipv4(std::span<std::uint8_t, 4> bytes);

  void uuid(std::span<std::uint8_t, 16> bytes);

  /// Letters and digits become zeros that end in a number; everything else stays.
  std::string serial(std::string_view text);

  /// "node-1"; a domain after the first dot becomes "example".
  std::string host_name(std::string_view name);

 private:
  using Numbers = std::map<std::uint64_t, std::uint32_t>;

  void vendor(std::span<std::uint8_t, 3> bytes, bool is_modified_eui64);
  void device(std::span<std::uint8_t, 3> bytes);

  Numbers local_vendors_;
  Numbers devices_;
  Numbers middles_;
  Numbers prefixes_;
  Numbers ipv4_networks_;
  std::map<std::uint32_t, Numbers> ipv4_hosts_;
  std::map<std::array<std::uint8_t, 16>, std::uint32_t> uuids_;
  std::map<std::string, std::uint32_t, std::less<>> serials_;
  std::map<std::string, std::uint32_t, std::less<>> host_names_;
};

}  // namespace railhead::snapshot
