// SPDX-License-Identifier: Apache-2.0
//
// What a physical function's netdev says of its virtual functions, and what of them can be set, by
// routing netlink: RTM_GETLINK and RTM_SETLINK with IFLA_VFINFO_LIST > IFLA_VF_INFO (include/uapi/linux/if_link.h, struct ifla_vf_mac and
// ifla_vf_guid; net/core/rtnetlink.c, rtnl_fill_vfinfo and
// do_setvfinfo). No capability is needed to ask.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Which link a virtual function sees: IFLA_VF_LINK_STATE.
enum class VfLink : std::uint8_t { follows, always_up, always_down };

/// What a physical function's netdev says of a virtual function. Absent: its driver does not say
/// it; the kernel says all ones then.
struct VfSettings {
  std::uint32_t number = 0;
  std::optional<VfLink> link;
  std::optional<bool> trusted;  ///< it may choose its own addresses and modes of receiving
  std::optional<bool> spoof_checked;
  std::optional<bool> has_node_guid;  ///< InfiniBand: it is not zero
  std::optional<bool> has_port_guid;

  friend bool operator==(const VfSettings&, const VfSettings&) = default;
};

/// The question for what a physical function says of its virtual ones (IFLA_EXT_MASK).
std::string vf_question(unsigned interface_index, std::uint32_t sequence);

/// Malformed: bytes that are no RTM_NEWLINK, or more than 4096 functions.
Result<std::vector<VfSettings>> parse_vf_settings(std::string_view message);

/// The same message with what is read of it alone. Addresses are left out; of a GUID is kept
/// whether it is zero. Twice gives the same as once; "" for what is no such message.
std::string kept_of_vfs(std::string_view message);

std::string vf_trust_request(unsigned interface_index, std::uint32_t vf, bool is_trusted,
                             std::uint32_t sequence);

/// Asks the kernel that we run on; see Host::link_settings.
Result<std::optional<std::string>> ask_vfs(const std::string& netdev);

Status set_vf_trust(const std::string& netdev, std::uint32_t vf, bool is_trusted);

/// Asks the kernel. An error names the netdev.
Status set_vf_identity(const std::string& netdev, std::uint32_t vf, const VfIdentity& identity);

}  // namespace railhead::host
