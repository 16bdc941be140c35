// SPDX-License-Identifier: Apache-2.0
#include "agent/pause_counter.h"

#include <gtest/gtest.h>

namespace railhead::agent {
namespace {

TEST(PauseCounter, of_each_driver_is_known_by_its_name) {
  const auto received = [](const char* name, const char* priority) {
    EXPECT_EQ(pause_counter(name), (PauseCounter{"received", priority})) << name;
  };
  received("rx_prio3_pause", "3");  // mlx5
  received("rx_global_pause", "all");
  received("rx_pfc_ena_frames_pri7", "7");   // bnxt_en
  received("rx_priority_0_xoff.nic", "0");   // ice
  received("port.rx_priority_5_xoff", "5");  // i40e
  received("mac_rx_pfc_pri4_pkt_num", "4");  // hns3
  EXPECT_EQ(pause_counter("tx_prio3_pause"), (PauseCounter{"transmitted", "3"}));
  EXPECT_EQ(pause_counter("link_xoff_tx.nic"), (PauseCounter{"transmitted", "all"}));
}

TEST(PauseCounter, is_nothing_that_only_begins_like_one) {
  for (const char* name : {"rx_prio3_pause_duration", "rx_prio8_pause", "rx_prio10_pause", "",
                           "rx_prio_pause", "rx_prio3_bytes", "rx_priority_3_xon.nic", "rx_packets",
                           "xrx_global_pause", "rx_global_pause "}) {
    EXPECT_FALSE(pause_counter(name)) << name;
  }
}

}  // namespace
}  // namespace railhead::agent
