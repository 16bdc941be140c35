// SPDX-License-Identifier: Apache-2.0
#include "node/device_numbers.h"

#include <gtest/gtest.h>

#include "unit/node/hosts.h"
#include "unit/sysfs_tree.h"

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

bool numbers_differ(const std::string& before, const std::string& now) {
  return node::device_numbers_differ(*host_of(now), node_of(before));
}

TEST(DeviceNumbers, are_those_that_the_machine_was_read_with) {
  EXPECT_FALSE(numbers_differ(kTwo, kTwo));
  for (const auto& name : {"dgx-h100", "hgx-h100-roce"}) {
    const auto host = snapshot::SnapshotHost::parse(machine_text(name)).value();
    EXPECT_FALSE(node::device_numbers_differ(*host, machine(name))) << name;
  }
}

TEST(DeviceNumbers, of_a_renumbered_node_differ) {
  EXPECT_TRUE(numbers_differ(
      kTwo, device("a") + device("b") + uverbs("0", "a", "231:200") + uverbs("1", "b", "231:193")));
}

TEST(DeviceNumbers, that_two_devices_have_swapped_differ) {
  EXPECT_TRUE(numbers_differ(
      kTwo, device("a") + device("b") + uverbs("0", "b", "231:192") + uverbs("1", "a", "231:193")));
}

TEST(DeviceNumbers, of_a_node_that_has_gone_differ) {
  EXPECT_TRUE(numbers_differ(kTwo, device("a") + device("b") + uverbs("0", "a", "231:192")));
}

TEST(DeviceNumbers, without_sysfs_are_those_of_the_node_itself) {
  const std::string cm = "c /dev/infiniband/rdma_cm 10:121 0666 0:0\n";
  EXPECT_FALSE(numbers_differ(cm, cm));
  EXPECT_TRUE(numbers_differ(cm, "c /dev/infiniband/rdma_cm 10:122 0666 0:0\n"));
  EXPECT_TRUE(numbers_differ(cm, ""));
}

TEST(DeviceNumbers, of_an_iommu_group_differ) {
  const auto vfio = [](const std::string& numbers) {
    return SysfsTree()
               .pci("0000:15:01.0", "vfio-pci")
               .link("iommu_group", "/sys/kernel/iommu_groups/26")
               .entries() +
           "d /sys/kernel/iommu_groups/26\nt /sys/class/vfio/26/dev " + numbers + "\n";
  };
  EXPECT_FALSE(numbers_differ(vfio("511:0"), vfio("511:0")));
  EXPECT_TRUE(numbers_differ(vfio("511:0"), vfio("511:4")));
}

/// A device with its node, and with the connection manager's.
std::string with_nodes(const std::string& uverbs0, const std::string& rdma_cm = "0666 0:0") {
  return device("a") + uverbs("0", "a", "231:192") + "c /dev/infiniband/uverbs0 " + uverbs0 +
         "\nc /dev/infiniband/rdma_cm 10:121 " + rdma_cm + "\n";
}

host::MachineChanges touched(const std::string& before, const std::string& now,
                             const host::MachineChanges::Names& names) {
  host::MachineChanges touched;
  touched.nodes = names;
  return node::changed_nodes(*host_of(now), node_of(before), touched);
}

TEST(ChangedNodes, that_were_only_touched_are_none) {
  const auto same = with_nodes("231:192 0666 0:0");
  EXPECT_TRUE(touched(same, same, {"uverbs0", "rdma_cm", "nobody's"}).empty());
  host::MachineChanges any;
  any.everything = true;
  EXPECT_TRUE(node::changed_nodes(*host_of(same), node_of(same), any).empty());
}

TEST(ChangedNodes, have_another_mode_owner_or_number_or_came_or_went) {
  const auto before = with_nodes("231:192 0666 0:0");
  for (const auto* now :
       {"231:192 0660 0:0", "231:192 0666 7:0", "231:192 0666 0:7", "231:193 0666 0:0"}) {
    EXPECT_EQ(touched(before, with_nodes(now), {"uverbs0"}).nodes,
              host::MachineChanges::Names{"uverbs0"})
        << now;
    EXPECT_EQ(touched(with_nodes(now), before, {"uverbs0"}).nodes,
              host::MachineChanges::Names{"uverbs0"})
        << now;
    EXPECT_TRUE(touched(before, with_nodes(now), {"rdma_cm"}).empty()) << "it was not touched";
  }
  const auto gone = device("a") + uverbs("0", "a", "231:192");
  EXPECT_EQ(touched(before, gone, {"uverbs0", "rdma_cm"}).nodes,
            (host::MachineChanges::Names{"rdma_cm", "uverbs0"}));
  EXPECT_EQ(touched(gone, before, {"uverbs0"}).nodes, host::MachineChanges::Names{"uverbs0"});
}

TEST(ChangedNodes, are_any_of_the_machine_where_the_touched_ones_are_unknown) {
  host::MachineChanges any;
  any.everything = true;
  const auto changed = node::changed_nodes(*host_of(with_nodes("231:192 0600 0:0", "0600 0:0")),
                                           node_of(with_nodes("231:192 0666 0:0")), any);
  EXPECT_EQ(changed.nodes, (host::MachineChanges::Names{"rdma_cm", "uverbs0"}));
  EXPECT_FALSE(changed.everything);
}

}  // namespace
}  // namespace railhead::test
