// SPDX-License-Identifier: Apache-2.0
//
// What a physical function's netdev says of its virtual functions, by routing netlink: RTM_SETLINK
// with IFLA_VFINFO_LIST > IFLA_VF_INFO (include/uapi/linux/if_link.h, struct ifla_vf_mac and
// ifla_vf_guid; net/core/rtnetlink.c, do_setvfinfo).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace railhead::host {

/// What a virtual function is to be known as on its network. A driver makes its node GUID of it
/// when it is bound next.
struct VfIdentity {
  std::optional<std::array<std::uint8_t, 6>> mac;  ///< Ethernet
  /// InfiniBand: node and port GUID. The link follows that of the physical function, too.
  std::optional<std::uint64_t> guid;
};

/// "0c:42:a1:00:00:01"
std::optional<std::array<std::uint8_t, 6>> parse_mac(std::string_view text);

/// The message, for the interface of this index.
std::string vf_identity_request(unsigned interface_index, std::uint32_t vf,
                                const VfIdentity& identity, std::uint32_t sequence);

/// Whether virtual functions may choose their own addresses and modes of receiving
/// (IFLA_VF_TRUST), by their number. One whose driver does not say it is not there.
using VfTrust = std::map<std::uint32_t, bool>;

/// The question for what a physical function says of its virtual ones (IFLA_EXT_MASK).
std::string vf_question(unsigned interface_index, std::uint32_t sequence);

/// Malformed: bytes that are no RTM_NEWLINK.
Result<VfTrust> parse_vf_trust(std::string_view message);

std::string vf_trust_request(unsigned interface_index, std::uint32_t vf, bool is_trusted,
                             std::uint32_t sequence);

/// Asks the kernel that we run on; see Host::link_settings.
Result<std::optional<std::string>> ask_vfs(const std::string& netdev);

Status set_vf_trust(const std::string& netdev, std::uint32_t vf, bool is_trusted);

/// Asks the kernel. An error names the netdev.
Status set_vf_identity(const std::string& netdev, std::uint32_t vf, const VfIdentity& identity);

}  // namespace railhead::host
