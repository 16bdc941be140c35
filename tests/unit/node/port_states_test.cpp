// SPDX-License-Identifier: Apache-2.0
#include "node/port_states.h"

#include <gtest/gtest.h>

#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

std::string state_file(const std::string& nic, unsigned port, const std::string& state) {
  return "t /sys/class/infiniband/" + nic + "/ports/" + std::to_string(port) + "/state " + state +
         "\n";
}

bool states_differ(const std::string& before, const std::string& now) {
  node::PortStates states(node_of(before));
  return !states.changed(*host_of(now)).empty();
}

TEST(PortStates, are_those_that_the_machine_was_read_with) {
  const auto two = state_file("a", 1, "4: ACTIVE") + state_file("a", 2, "1: DOWN");
  EXPECT_EQ(node::PortStates(node_of(two)).size(), 2U);
  EXPECT_FALSE(states_differ(two, two));
  for (const auto* name : {"dgx-h100", "hgx-h100-roce", "seed-8gpu-4nic"}) {
    node::PortStates states(machine(name));
    EXPECT_GT(states.size(), 0U) << name;
    EXPECT_FALSE(states.changed(**snapshot::SnapshotHost::parse(machine_text(name)))) << name;
  }
}

TEST(PortStates, a_port_that_goes_down_or_comes_up_is_a_difference) {
  EXPECT_TRUE(states_differ(state_file("a", 1, "4: ACTIVE"), state_file("a", 1, "1: DOWN")));
  EXPECT_TRUE(states_differ(state_file("a", 1, "2: INIT"), state_file("a", 1, "4: ACTIVE")));
}

TEST(PortStates, all_devices_whose_ports_changed_are_named) {
  node::PortStates states(node_of(state_file("a", 1, "4: ACTIVE") +
                                  state_file("b", 1, "4: ACTIVE") +
                                  state_file("c", 1, "4: ACTIVE")));
  const auto changes =
      states.changed(*host_of(state_file("a", 1, "1: DOWN") + state_file("b", 1, "4: ACTIVE")));
  EXPECT_EQ(changes.rdma, (host::MachineChanges::Names{"a", "c"}));
  EXPECT_FALSE(changes.everything);
}

TEST(PortStates, a_port_that_has_gone_is_a_difference) {
  EXPECT_TRUE(states_differ(state_file("a", 1, "4: ACTIVE"), state_file("b", 1, "4: ACTIVE")));
}

TEST(PortStates, what_is_no_state_is_none_each_time_and_not_read_for_ever) {
  const auto odd = state_file("a", 1, "6: NEW");
  EXPECT_FALSE(states_differ(odd, odd));
  EXPECT_TRUE(states_differ(odd, state_file("a", 1, "4: ACTIVE")));
}

TEST(PortStates, a_machine_without_ports_has_nothing_to_look_at) {
  EXPECT_FALSE(states_differ("", ""));
}

TEST(PortStates, more_than_are_looked_at_in_one_go_are_looked_at_in_turn) {
  std::string before;
  std::string now;
  for (std::size_t i = 0; i < 2 * node::kPortsPerLook + 1; ++i) {
    const auto name = "rxe" + std::to_string(1000 + i);
    before += state_file(name, 1, "4: ACTIVE");
    now += state_file(name, 1, i == 2 * node::kPortsPerLook ? "1: DOWN" : "4: ACTIVE");
  }
  node::PortStates states(node_of(before));
  const auto host = host_of(now);
  EXPECT_FALSE(states.changed(*host));
  EXPECT_FALSE(states.changed(*host));
  EXPECT_TRUE(states.changed(*host));
}

}  // namespace
}  // namespace railhead::test
