// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "unit/pools/pools_of.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<pools::PoolDevice> devices(const Pooled& pooled) {
  return pools::devices_of(pooled.table.pools.at(0), pooled.table.functions);
}

TEST(PoolDevices, fungible_slots_are_numbered_and_have_no_place) {
  const Pooled pooled(small_server(), "pools: [{name: a.io/a, slots: 3}]");
  EXPECT_THAT(pooled.device_ids(), ElementsAre("rdma-0", "rdma-1", "rdma-2"));
  EXPECT_EQ(pools::device_count(pooled.table.pools[0]), 3U);
  for (const auto& device : devices(pooled)) {
    EXPECT_EQ(device.member, std::nullopt);
    EXPECT_THAT(device.numa_nodes, IsEmpty());
  }
}

TEST(PoolDevices, slots_keep_the_ids_that_the_replaced_plugins_gave_them) {
  const Pooled theirs(small_server(), R"({"configList": [
      {"resourceName": "a", "rdmaHcaMax": 2, "selectors": {"vendors": ["15b3"]}}]})");
  EXPECT_THAT(theirs.device_ids(), ElementsAre("0", "1"));
  EXPECT_THAT(Pooled(small_server(), "resourceCount: 2\n").device_ids(),
              ElementsAre("rdma-0", "rdma-1"));
  EXPECT_EQ(Pooled(small_server(), std::vector<pools::PoolSpec>{pools::default_pool()})
                .device_ids()
                .back(),
            "rdma-99");
}

TEST(PoolDevices, slots_of_a_nic_carry_its_address_and_numa_node) {
  const Pooled pooled(small_server(),
                      "pools: [{name: a.io/a, slotsPerNic: 2, include: {linkLayers: InfiniBand}}]");
  EXPECT_THAT(pooled.device_ids(), ElementsAre("0000:11:00.0-0", "0000:11:00.0-1"));
  for (const auto& device : devices(pooled)) {
    EXPECT_EQ(device.member, 0U);
    EXPECT_THAT(device.numa_nodes, ElementsAre(0));
  }
}

TEST(PoolDevices, an_exclusive_device_is_its_address) {
  const Pooled pooled(vf_server(), sriov(R"({"pfNames": ["ens1f0#6-7"]})"));
  EXPECT_THAT(pooled.device_ids(), ElementsAre("0000:11:01.6", "0000:11:01.7"));
  EXPECT_THAT(devices(pooled)[0].numa_nodes, ElementsAre(0));
}

TEST(PoolDevices, exclude_topology_and_an_unknown_node_give_no_hint) {
  const Pooled silent(vf_server(), sriov("{}", R"(, "excludeTopology": true)"));
  for (const auto& device : devices(silent)) EXPECT_THAT(device.numa_nodes, IsEmpty());
  auto node = vf_server();
  for (auto& device : node.pci) device.numa_node.reset();
  for (const auto& device : devices(Pooled(node, sriov("{}")))) {
    EXPECT_THAT(device.numa_nodes, IsEmpty());
  }
}

TEST(PoolDevices, an_id_leads_to_its_member_and_what_is_no_device_to_none) {
  for (const auto* slots : {"mode: exclusive", "slots: 3", "slotsPerNic: 12"}) {
    const Pooled pooled(small_server(), "pools: [{name: a.io/a, " + std::string(slots) +
                                            ", include: {linkLayers: Ethernet, vendors: 15b3}}]");
    const auto& table = pooled.table;
    ASSERT_FALSE(table.pools[0].members.empty());
    for (const auto& device : devices(pooled)) {
      EXPECT_EQ(pools::member_of_device(table, table.pools[0], device.id), device.member)
          << device.id;
      const auto number = pools::slot_number(table.pools[0], device.id);
      EXPECT_EQ(number.has_value(), pools::is_fungible(table.pools[0])) << device.id;
      if (number) {
        EXPECT_EQ(device.id, "rdma-" + std::to_string(*number));
      }
    }
    for (const auto* id : {"", "-", "0000:11:00.0", "0000:11:00.0-0", "0000:12:00.0-",
                           "0000:12:00.0-12", "0000:12:00.0-01", "0000:12:00.0--1",
                           "0000:12:00.0 -1", "rdma-3", "rdma-00", "rdma-", "0", "0000:12:00.00"}) {
      EXPECT_EQ(pools::member_of_device(table, table.pools[0], id), std::nullopt)
          << slots << " " << id;
      EXPECT_EQ(pools::slot_number(table.pools[0], id), std::nullopt) << slots << " " << id;
    }
  }
}

TEST(PoolDevices, a_name_with_a_hyphen_is_told_from_its_slot) {
  NodeBuilder b;
  b.soft_nic("rxe-1", "eth0");
  b.soft_nic("rxe", "eth0");
  const Pooled pooled(b.build(), "pools: [{name: a.io/a, slotsPerNic: 2, include: {names: '*'}}]");
  for (const auto& device : devices(pooled)) {
    EXPECT_EQ(pools::member_of_device(pooled.table, pooled.table.pools[0], device.id),
              device.member);
  }
}

TEST(PoolDevices, a_pool_without_members_has_none) {
  const Pooled pooled(small_server(), shared(R"({"vendors": ["1af4"]})"));
  EXPECT_THAT(pooled.device_ids(), IsEmpty());
  EXPECT_EQ(pools::device_count(pooled.table.pools[0]), 0U);
}

TEST(PoolDevices, ids_do_not_depend_on_what_else_is_there) {
  const std::string text = "pools: [{name: a.io/a, slotsPerNic: 2, include: {names: '*'}}]";
  const auto before = Pooled(small_server(), text).device_ids();
  auto node = small_server();
  node.nics.erase(node.nics.begin());
  const auto after = Pooled(node, text).device_ids();
  EXPECT_EQ(after.size(), before.size() - 2);
  EXPECT_TRUE(std::includes(before.begin(), before.end(), after.begin(), after.end()));
}

TEST(PoolDevices, a_name_that_makes_no_device_id_is_left_out_with_the_reason) {
  NodeBuilder b;
  b.soft_nic(std::string(60, 'r'), "eth0");
  const Pooled pooled(b.build(), "pools: [{name: a.io/a, slotsPerNic: 2, include: {names: '*'}}]");
  EXPECT_THAT(pooled.members(), IsEmpty());
  EXPECT_EQ(pooled.why(std::string(60, 'r')), "its name is too long for a device id");
}

}  // namespace
}  // namespace railhead::test
