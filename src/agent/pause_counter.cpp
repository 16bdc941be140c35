// SPDX-License-Identifier: Apache-2.0
#include "agent/pause_counter.h"

#include <array>

namespace railhead::agent {
namespace {

struct PauseRow {
  std::string_view received;  ///< '#' is the priority; without it the counter is of the link
  std::string_view transmitted;
};

/// One or two rows a driver, of those that have RDMA. Sources, below Linux
/// drivers/net/ethernet: mellanox/mlx5/core/en_stats.c, pport_per_prio_pfc_stats_desc;
/// broadcom/bnxt/bnxt_ethtool.c, bnxt_port_stats_arr; intel/ice/ice_ethtool.c and
/// intel/i40e/i40e_ethtool.c, whose xoff is a pause and xon its end;
/// hisilicon/hns3/hns3pf/hclge_main.c, g_mac_stats_string.
constexpr auto kPauses = std::to_array<PauseRow>({
    {"rx_prio#_pause", "tx_prio#_pause"},
    {"rx_global_pause", "tx_global_pause"},
    {"rx_pfc_ena_frames_pri#", "tx_pfc_ena_frames_pri#"},
    {"rx_pause_frames", "tx_pause_frames"},
    {"rx_priority_#_xoff.nic", "tx_priority_#_xoff.nic"},
    {"link_xoff_rx.nic", "link_xoff_tx.nic"},
    {"port.rx_priority_#_xoff", "port.tx_priority_#_xoff"},
    {"port.link_xoff_rx", "port.link_xoff_tx"},
    {"mac_rx_pfc_pri#_pkt_num", "mac_tx_pfc_pri#_pkt_num"},
    {"mac_rx_mac_pause_num", "mac_tx_mac_pause_num"},
});

/// The priority that stands in the name; "all" where the pattern has none; absent where it is
/// another counter's.
std::optional<std::string_view> priority_in(std::string_view name, std::string_view pattern) {
  const auto at = pattern.find('#');
  if (at == std::string_view::npos) {
    return name == pattern ? std::optional<std::string_view>("all") : std::nullopt;
  }
  if (name.size() != pattern.size() || name.substr(0, at) != pattern.substr(0, at) ||
      name.substr(at + 1) != pattern.substr(at + 1) || name[at] < '0' || name[at] > '7') {
    return std::nullopt;
  }
  return name.substr(at, 1);
}

}  // namespace

std::optional<PauseCounter> pause_counter(std::string_view name) {
  for (const auto& row : kPauses) {
    if (const auto priority = priority_in(name, row.received)) {
      return PauseCounter{"received", *priority};
    }
    if (const auto priority = priority_in(name, row.transmitted)) {
      return PauseCounter{"transmitted", *priority};
    }
  }
  return std::nullopt;
}

}  // namespace railhead::agent
