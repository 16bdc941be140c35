// SPDX-License-Identifier: Apache-2.0
// What holds for all machines in the box (tests/nodes/*.node), and what no page of theirs shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "snapshot/snapshot.h"
#include "unit/node/hosts.h"

namespace railhead::node {
namespace {

using test::machine;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Machines, are_many) {
  EXPECT_GE(test::machine_names().size(), 24U);
}

TEST(Machines, are_in_the_form_that_the_snapshot_command_writes) {
  for (const auto& name : test::machine_names()) {
    const auto text = test::machine_text(name);
    const auto snapshot = snapshot::parse_snapshot(text);
    ASSERT_TRUE(snapshot) << name << ": " << snapshot.error().message;
    EXPECT_EQ(snapshot::format_snapshot(*snapshot), text) << name;
  }
}

TEST(Machines, have_no_problems_but_the_broken_one) {
  for (const auto& name : test::machine_names()) {
    const auto node = machine(name);
    EXPECT_EQ(node.name, name);
    if (name == "broken-host") continue;
    EXPECT_TRUE(node.problems.empty())
        << name << ": " << node.problems.front().path << ": " << node.problems.front().what;
  }
}

TEST(Machines, every_function_has_a_path_and_every_bridge_of_it_is_there) {
  for (const auto& name : test::machine_names()) {
    const auto node = machine(name);
    EXPECT_TRUE(std::is_sorted(node.pci.begin(), node.pci.end(), [](const auto& a, const auto& b) {
      return a.address < b.address;
    })) << name;
    for (const auto& device : node.pci) {
      EXPECT_NE(device.root, "") << name << " " << device.address.str();
      for (const auto& bridge : device.bridges) {
        ASSERT_NE(node.find_pci(bridge), nullptr) << name << " " << bridge.str();
        EXPECT_TRUE(node.find_pci(bridge)->is_bridge()) << name << " " << bridge.str();
      }
    }
  }
}

TEST(Machines, mig_instances_are_those_that_exist) {
  const auto node = machine("mig-a100");
  ASSERT_EQ(node.gpus.size(), 2U);
  EXPECT_THAT(node.gpus[0].mig, ElementsAre(MigInstance{1, 0}, MigInstance{1, 1}, MigInstance{5, 0},
                                            MigInstance{9, std::nullopt}));
  EXPECT_THAT(node.gpus[1].mig, IsEmpty());
}

}  // namespace
}  // namespace railhead::node
