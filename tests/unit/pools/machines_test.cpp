// SPDX-License-Identifier: Apache-2.0
//
// What pools take on the machines in the box.
#include <gmock/gmock.h>

#include <algorithm>

#include "unit/pools/pools_of.h"

namespace railhead::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(PoolsOfMachines, a_dgx_h100_by_link_type_without_its_ethernet_ports) {
  const Pooled pooled(machine("dgx-h100"), shared(R"({"linkTypes": ["infiniband"]})"));
  EXPECT_EQ(pooled.members().size(), 12U);
  for (const auto& function : pooled.table.functions) {
    if (!function.nics.empty()) continue;
    EXPECT_EQ(pooled.why(function.id), "linkTypes: ether is not infiniband") << function.id;
  }
}

TEST(PoolsOfMachines, a_roce_machine_is_ether) {
  const Pooled pooled(machine("hgx-h100-roce"),
                      shared(R"({"linkTypes": ["ether"], "vendors": ["15b3"]})"));
  EXPECT_FALSE(pooled.members().empty());
  EXPECT_THAT(
      Pooled(machine("hgx-h100-roce"), shared(R"({"linkTypes": ["infiniband"]})")).members(),
      IsEmpty());
}

TEST(PoolsOfMachines, virtual_functions_of_two_ports_by_name_and_number) {
  const Pooled pooled(machine("vfs-on-one-socket"), R"({"resourceList": [
      {"resourceName": "a", "selectors": {"pfNames": ["enp130s0f0#0-3"], "isRdma": true}},
      {"resourceName": "b", "selectors": {"rootDevices": ["0000:82:00.1#7"], "isRdma": true}},
      {"resourceName": "c", "selectors": {"vendors": ["15b3"], "linkTypes": ["ether"]}}]})");
  EXPECT_THAT(pooled.members(0),
              ElementsAre("0000:82:01.0", "0000:82:01.1", "0000:82:01.2", "0000:82:01.3"));
  EXPECT_THAT(pooled.members(1), ElementsAre("0000:82:02.7"));
  EXPECT_EQ(pooled.members(2).size(), 11U);
  EXPECT_THAT(pooled.why("0000:82:00.0", 2), HasSubstr("8 virtual functions enabled"));
  EXPECT_EQ(pooled.why("0000:82:02.7", 2), "is in the exclusive pool intel.com/b");
  EXPECT_THAT(pooled.table.conflicts, IsEmpty());
}

TEST(PoolsOfMachines, virtual_functions_below_bonds) {
  const Pooled pooled(machine("bonds-with-vfs"),
                      sriov(R"({"pfNames": ["enp25s0f0#0-1"], "isRdma": true})"));
  EXPECT_THAT(pooled.members(), ElementsAre("0000:19:00.2", "0000:19:00.3"));
  EXPECT_EQ(pooled.why("0000:4c:00.2"), "pfNames: enp76s0f0#0 is not enp25s0f0#0-1");
}

TEST(PoolsOfMachines, no_slave_of_a_bond_is_handed_out) {
  const Pooled pooled(machine("b200-storage-bond"),
                      sriov(R"({"vendors": ["15b3"], "isRdma": true})"));
  EXPECT_EQ(pooled.members().size(), 8U);
  EXPECT_EQ(pooled.why("0000:e8:00.0"), "its netdev enp232s0f0 is a port of bond0");
}

TEST(PoolsOfMachines, names_are_whatever_the_kernel_says) {
  const auto node = machine("renamed-devices");
  const Pooled pooled(node, "pools: [{name: a.io/a, slotsPerNic: 1, include: {names: '*'}}]");
  EXPECT_EQ(pooled.members().size(), pooled.device_ids().size());
  EXPECT_FALSE(pooled.members().empty());
  EXPECT_THAT(Pooled(node, "pools: [{name: a.io/a, include: {names: 'mlx5_*'}}]").members(),
              IsEmpty());
}

TEST(PoolsOfMachines, every_function_is_in_a_pool_or_has_a_reason) {
  for (const char* name : {"dgx-h100", "bonds-with-vfs", "broken-host", "soft-roce", "nics-only"}) {
    const Pooled pooled(machine(name), "pools: [{name: a.io/a, include: {numaNodes: 0}}]");
    const auto members = pooled.members();
    for (const auto& function : pooled.table.functions) {
      const bool in = std::ranges::find(members, function.id) != members.end();
      EXPECT_EQ(pooled.why(function.id).empty(), in) << name << " " << function.id;
    }
  }
}

TEST(PoolsOfMachines, slots_of_all_nics_are_unique_and_short_enough) {
  for (const char* name : {"dgx-h100", "bonds-with-vfs", "soft-roce", "renamed-devices"}) {
    const Pooled pooled(machine(name),
                        "pools: [{name: a.io/a, slotsPerNic: 3, include: {names: '*'}}]");
    auto ids = pooled.device_ids();
    EXPECT_THAT(ids, Each(testing::SizeIs(testing::Le(pools::kMaxDeviceIdLength))));
    std::ranges::sort(ids);
    EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end()) << name;
    EXPECT_EQ(ids.size(), 3 * pooled.members().size());
  }
}

}  // namespace
}  // namespace railhead::test
