// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "node/kept_files.h"
#include "snapshot/recording_host.h"
#include "snapshot/snapshot.h"
#include "unit/node/hosts.h"

namespace railhead::node {
namespace {

/// The node read through a recorder, and what was recorded.
std::pair<Node, snapshot::Snapshot> record(host::Host& host) {
  snapshot::RecordingHost recorder(host);
  auto node = read_node(recorder);
  return {std::move(node), recorder.recorded()};
}

class EveryMachine : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Machines, EveryMachine, testing::ValuesIn(test::machine_names()),
                         [](const auto& machine) {
                           auto name = machine.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(EveryMachine, read_from_its_recording_is_the_same_node) {
  const auto host = snapshot::SnapshotHost::parse(test::machine_text(GetParam()));
  ASSERT_TRUE(host);
  auto [node, snapshot] = record(**host);
  // Of these a recording has what is read of them.
  for (auto& file : node.cdi) {
    file.text = file.path.ends_with(".json") ? kept_cdi_json(file.text) : kept_cdi_yaml(file.text);
  }
  if (node.nccl_file) node.nccl_file->text = kept_nccl_topology(node.nccl_file->text);
  const auto text = snapshot::format_snapshot(snapshot);
  const auto again = snapshot::SnapshotHost::parse(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(read_node(**again), node);
  EXPECT_EQ(snapshot::format_snapshot(record(**again).second), text);
}

TEST(ReadNode, a_thousand_devices_that_all_fail_do_not_flood) {
  std::string entries;
  for (int at = 0; at < 1000; ++at) {
    entries += "e /sys/class/infiniband/x" + std::to_string(at) + "/node_type EIO\n";
  }
  const auto node = test::node_of(entries);
  EXPECT_EQ(node.nics.size(), 1000U);
  EXPECT_LT(node.problems.size(), 300U);
}

TEST(ReadNode, more_devices_than_a_machine_has_are_left_out_and_counted) {
  std::string entries;
  for (int at = 0; at < 5000; ++at) {
    entries += "t /sys/class/infiniband/x" + std::to_string(at) + "/node_type 1: CA\n";
  }
  const auto node = test::node_of(entries);
  EXPECT_EQ(node.nics.size(), 4096U);
  ASSERT_EQ(node.problems.size(), 1U);
  EXPECT_EQ(node.problems[0].path, "/sys/class/infiniband");
  EXPECT_TRUE(node.problems[0].what.starts_with("5000 "));
}

}  // namespace
}  // namespace railhead::node
