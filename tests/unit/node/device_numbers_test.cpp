// SPDX-License-Identifier: Apache-2.0
#include "node/device_numbers.h"

#include <gtest/gtest.h>

#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

std::string device(const std::string& name) {
  return "t /sys/class/infiniband/" + name + "/node_type 1: CA\n";
}

std::string uverbs(const std::string& number, const std::string& owner, const std::string& dev) {
  const auto folder = "t /sys/class/infiniband_verbs/uverbs" + number;
  return folder + "/dev " + dev + "\n" + folder + "/ibdev " + owner + "\n";
}

const std::string kTwo =
    device("a") + device("b") + uverbs("0", "a", "231:192") + uverbs("1", "b", "231:193");

bool differ(const std::string& before, const std::string& now) {
  return device_numbers_differ(*host_of(now), node_of(before));
}

TEST(DeviceNumbers, are_those_that_the_machine_was_read_with) {
  EXPECT_FALSE(differ(kTwo, kTwo));
  for (const auto& name : {"dgx-h100", "hgx-h100-roce"}) {
    const auto host = SnapshotHost::parse(machine_text(name)).value();
    EXPECT_FALSE(device_numbers_differ(*host, machine(name))) << name;
  }
}

TEST(DeviceNumbers, of_a_renumbered_node_differ) {
  EXPECT_TRUE(differ(
      kTwo, device("a") + device("b") + uverbs("0", "a", "231:200") + uverbs("1", "b", "231:193")));
}

TEST(DeviceNumbers, that_two_devices_have_swapped_differ) {
  EXPECT_TRUE(differ(
      kTwo, device("a") + device("b") + uverbs("0", "b", "231:192") + uverbs("1", "a", "231:193")));
}

TEST(DeviceNumbers, of_a_node_that_has_gone_differ) {
  EXPECT_TRUE(differ(kTwo, device("a") + device("b") + uverbs("0", "a", "231:192")));
}

TEST(DeviceNumbers, without_sysfs_are_those_of_the_node_itself) {
  const std::string cm = "c /dev/infiniband/rdma_cm 10:121 0666 0:0\n";
  EXPECT_FALSE(differ(cm, cm));
  EXPECT_TRUE(differ(cm, "c /dev/infiniband/rdma_cm 10:122 0666 0:0\n"));
  EXPECT_TRUE(differ(cm, ""));
}

}  // namespace
}  // namespace railhead::test
