// SPDX-License-Identifier: Apache-2.0
//
// What the driver of a netdev says by routing netlink of its virtual functions and of its flow
// control. Invariants (Linux include/uapi/linux/{rtnetlink,if_link,dcbnl}.h, net/core/rtnetlink.c
// rtnl_fill_vfinfo, net/dcb/dcbnl.c dcb_doit):
//   * a question for one netdev has one message for an answer, or NLMSG_ERROR with an errno:
//     ENODEV for a netdev that is not there, EOPNOTSUPP for a driver or kernel that says nothing;
//   * no capability is needed to ask; a netdev is seen in its own network namespace only;
//   * settings that a driver does not know of are all ones;
//   * mlx5 trusts DSCP while it has an entry that maps a DSCP to a priority, else the VLAN's
//     priority (drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, mlx5e_dcbnl_ieee_setapp).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace railhead::host {

/// Asks the kernel that we run on; see Host::netdev.
Result<std::optional<std::string>> ask_netdev(NetdevQuestion question, const std::string& name);

std::string netdev_request(NetdevQuestion question, std::string_view name, std::uint32_t sequence);

/// The answer in a datagram, or the errno with which the kernel refuses; nothing while the answer
/// is to come.
struct NetdevReply {
  int error_number = 0;
  std::string message;
};

std::optional<NetdevReply> take_netdev_reply(NetdevQuestion question, std::string_view datagram,
                                             std::uint32_t sequence);

/// The same message with what is read of it alone. Addresses are left out; of a GUID is kept
/// whether it is zero. Twice gives the same as once; "" for what is no such message.
std::string kept_of_netdev(NetdevQuestion question, std::string_view message);

/// Which link a virtual function sees: IFLA_VF_LINK_STATE.
enum class VfLink : std::uint8_t { follows, always_up, always_down };

/// What a physical function's netdev says of a virtual function.
struct VfSettings {
  std::uint32_t number = 0;
  std::optional<VfLink> link;
  std::optional<bool> trusted;
  std::optional<bool> spoof_checked;
  std::optional<bool> has_node_guid;  ///< InfiniBand: it is not zero
  std::optional<bool> has_port_guid;

  friend bool operator==(const VfSettings&, const VfSettings&) = default;
};

/// Malformed: no such message, or more than 4096 functions.
Result<std::vector<VfSettings>> parse_vf_settings(std::string_view message);

/// IEEE 802.1Q: which priorities pause, and how a packet gets its priority.
struct DcbSettings {
  std::optional<std::uint8_t> pfc;                           ///< a bit for each priority
  std::optional<std::array<std::uint8_t, 8>> traffic_class;  ///< of each priority (ETS)
  std::map<std::uint8_t, std::uint8_t> dscp;                 ///< DSCP to priority

  friend bool operator==(const DcbSettings&, const DcbSettings&) = default;
};

/// Malformed: no such message.
Result<DcbSettings> parse_dcb_settings(std::string_view message);

}  // namespace railhead::host
