// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "snapshot/recording_host.h"
#include "snapshot/snapshot.h"
#include "unit/node/hosts.h"

namespace railhead::node {
namespace {

using ::testing::HasSubstr;

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
  const auto [node, snapshot] = record(**host);
  const auto text = snapshot::format_snapshot(snapshot);
  const auto again = snapshot::SnapshotHost::parse(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(read_node(**again), node);
  EXPECT_EQ(snapshot::format_snapshot(record(**again).second), text);
}

/// "kind path-from-the-device what" of one problem, long parts of the path left out.
std::string brief(const Problem& problem) {
  const auto& path = problem.path;
  const auto cut = path.rfind(":00.0/");
  const auto shown = cut == std::string::npos ? path : path.substr(cut - 2);
  return (problem.kind == Problem::Kind::malformed ? "malformed " : "unreadable ") + shown + ": " +
         problem.what;
}

TEST(ReadNode, every_broken_thing_is_named_and_the_rest_is_there) {
  const auto node = test::machine("broken-host");
  std::vector<std::string> problems;
  for (const auto& problem : node.problems) problems.push_back(brief(problem));
  EXPECT_THAT(
      problems,
      testing::UnorderedElementsAre(
          R"(malformed /sys/devices/system/node/node1/cpulist: "31-16" is not a list of ranges)",
          "unreadable /sys/devices/loop/device: too many levels of symbolic links",
          "unreadable /sys/devices/loop/device/uevent: too many levels of symbolic links",
          R"(malformed /sys/bus/pci/devices/not-an-address: "not-an-address" is not a PCI address)",
          R"(malformed 18:00.0/numa_node: "99999999" is out of range)",
          "unreadable 19:00.0/numa_node: input/output error",
          R"(malformed 19:00.0/information: Device Minor: "zero" is not a minor number)",
          "malformed 19:00.0/information: " + *node.gpus[0].uuid +
              " is also the UUID of 0000:18:00.0",
          "malformed /dev/infiniband/uverbs1: is 231:200, sysfs says 231:193",
          R"(malformed 1b:00.0/infiniband_mad/umad1/dev: "231" is not MAJOR:MINOR)",
          "unreadable /sys/devices/loop/node_type: too many levels of symbolic links",
          "unreadable /sys/devices/loop: too many levels of symbolic links",
          R"(malformed 1b:00.0/infiniband/mlx5_1/node_guid: "a088:c203:00zz:1234" is not a GUID)",
          "unreadable 1b:00.0/infiniband/mlx5_1/sys_image_guid: permission denied",
          R"(malformed 1b:00.0/infiniband/mlx5_1/fw_ver: "28.39\x00\x00.1002" is not one line of text)",
          "malformed 1b:00.0/infiniband/mlx5_1/board_id: 5000 bytes are too many for an attribute",
          R"(malformed 1b:00.0/infiniband/mlx5_1/ports/1/state: "9: NIRVANA" is not a port state)",
          R"(malformed 1b:00.0/infiniband/mlx5_1/ports/1/link_layer: "Carrier pigeon" is not a link layer)",
          R"(malformed 1b:00.0/infiniband/mlx5_1/ports/1/rate: "fast" is not a rate)",
          R"(malformed 1b:00.0/infiniband/mlx5_1/ports/1/lid: "0x" is not a number)",
          R"(malformed 1b:00.0/infiniband/mlx5_1/ports/1/gids/0: "fe80::1" is not a GID)",
          R"(malformed 1b:00.0/infiniband/mlx5_1/ports/1/pkeys/0: "0x1ffff" is out of range)",
          "unreadable /proc/1/net/route: operation not permitted",
          R"(malformed /sys/module/ib_core/parameters/netns_mode: "maybe" is neither Y nor N)",
          "unreadable /etc/cdi/nvidia.yaml: permission denied"));

  ASSERT_EQ(node.gpus.size(), 2U);
  EXPECT_EQ(node.gpus[0].numa_node, std::nullopt);
  EXPECT_EQ(node.gpus[1].minor, std::nullopt);
  EXPECT_EQ(node.gpus[1].index, 1U);
  ASSERT_EQ(node.nics.size(), 3U);
  EXPECT_TRUE(node.find_nic("mlx5_0")->uverbs.at(0).on_host);
  const auto& broken = *node.find_nic("mlx5_1");
  EXPECT_EQ(broken.firmware, std::nullopt);
  EXPECT_EQ(broken.ports.at(0).state, std::nullopt);
  EXPECT_FALSE(broken.uverbs.at(0).on_host);
  EXPECT_EQ(broken.uverbs.at(0).minor, 193U);
  EXPECT_EQ(broken.umads.at(0).minor, 1U);
  EXPECT_FALSE(node.find_nic("10000:e1:00.0")->registered);
  EXPECT_EQ(node.find_pci(PciAddress::parse("10000:e1:00.0").value())->root, "pci10000:e0");
  ASSERT_EQ(node.cdi.size(), 1U);
  EXPECT_EQ(node.cdi[0].path, "/etc/cdi/other.json");
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

}  // namespace
}  // namespace railhead::node
