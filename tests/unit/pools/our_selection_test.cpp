// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/pools/pools_of.h"

namespace railhead::test {
namespace {

using test::kDefault;
using test::kEns2;
using test::kIb;
using test::kIntel;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A shared pool of ours with these lines below its name.
std::string ours(const std::string& include, const std::string& more = "") {
  return "pools:\n  - name: a.io/a\n    include: " + include + "\n" + more;
}

Texts members(const std::string& include) {
  return Pooled(small_server(), ours(include)).members();
}

TEST(OurSelection, the_default_pool_is_the_compute_nics) {
  Pooled pooled(small_server(), std::vector<pools::PoolSpec>{pools::default_pool()});
  EXPECT_EQ(pooled.members().size(), 4U);
  pooled.statuses[3].role = "management";
  pooled.table = pools::make_pools({pools::default_pool()}, pooled.node, pooled.statuses);
  EXPECT_THAT(pooled.members(), ElementsAre(kIb, kEns2, kIntel));
  EXPECT_EQ(pooled.why(kDefault), "roles: management is not compute");
}

TEST(OurSelection, by_what_the_kernel_calls_it_whatever_that_is) {
  auto node = small_server();
  node.nics[0].name = "ibp17s0";
  node.nics[1].name = "rocep18s0";
  const auto select = [&](const std::string& include) {
    return Pooled(node, ours(include)).members();
  };
  EXPECT_THAT(select("{names: 'ibp*'}"), ElementsAre(kIb));
  EXPECT_THAT(select("{names: ['rocep18s?', mlx5_2]}"), ElementsAre(kEns2, kIntel));
}

TEST(OurSelection, by_each_fact) {
  EXPECT_THAT(members("{vendors: '8086'}"), ElementsAre(kIntel));
  EXPECT_THAT(members("{devices: [0x101D]}"), ElementsAre(kEns2));
  EXPECT_THAT(members("{drivers: ice}"), ElementsAre(kIntel));
  EXPECT_THAT(members("{interfaces: 'ens*'}"), ElementsAre(kEns2, kIntel));
  EXPECT_THAT(members("{pciAddresses: ['11:00.0', '0000:81:00.0']}"), ElementsAre(kIb, kIntel));
  EXPECT_THAT(members("{linkLayers: infiniband}"), ElementsAre(kIb));
  EXPECT_THAT(members("{minRateGbps: 200}"), ElementsAre(kIb, kEns2));
  EXPECT_THAT(members("{numaNodes: [1]}"), ElementsAre(kIntel, kDefault));
  EXPECT_THAT(members("{roles: storage}"), IsEmpty());
  EXPECT_THAT(members("{vendors: 15b3, minRateGbps: 100, numaNodes: 0, linkLayers: Ethernet}"),
              ElementsAre(kEns2));
}

TEST(OurSelection, by_port_state_guid_subnet_and_partition) {
  auto node = small_server();
  node.nics[0].ports[0].pkeys = {0xffff, 0x8005};
  node.nics[0].node_guid = "b8ce:f603:00ab:1234";
  node.nics[1].ports[0].gids = {{3, "0000:0000:0000:0000:0000:ffff:0a01:0203", "RoCE v2", "ens2"}};
  node.nics[2].ports[0].state = node::PortState::down;
  const auto select = [&](const std::string& include) {
    return Pooled(node, ours(include)).members();
  };
  EXPECT_THAT(select("{portStates: down}"), ElementsAre(kIntel));
  EXPECT_THAT(select("{guids: '0xb8cef603*'}"), ElementsAre(kIb));
  EXPECT_THAT(select("{subnets: [10.1.0.0/16]}"), ElementsAre(kEns2));
  EXPECT_THAT(select("{pkeys: 0x0005}"), ElementsAre(kIb));
  EXPECT_THAT(select("{pkeys: ['0x8005']}"), ElementsAre(kIb));
  EXPECT_EQ(Pooled(node, ours("{minRateGbps: 50}")).why(kIntel), "minRateGbps: no port is ACTIVE");
  EXPECT_EQ(Pooled(node, ours("{minRateGbps: 50}")).why(kDefault), "minRateGbps: 25 is below 50");
}

TEST(OurSelection, virtual_functions_by_a_pattern_of_their_physical_ones) {
  EXPECT_EQ(Pooled(vf_server(), ours("{pfNames: 'ens*#0-3'}")).members().size(), 4U);
  EXPECT_EQ(Pooled(vf_server(), ours("{rootDevices: '11:00.0'}")).members().size(), 8U);
  EXPECT_EQ(Pooled(vf_server(), ours("{vendors: 15b3}", "    functions: [pf]\n")).members().size(),
            2U);
}

TEST(OurSelection, a_range_needs_the_number_and_says_when_it_is_not_known) {
  auto node = vf_server();
  for (auto& device : node.pci) device.vf_number.reset();
  node.nics.clear();
  auto specs = specs_of(ours("{pfNames: 'ens1f0#0-7'}"));
  specs[0].include[0].rdma = false;
  const Pooled pooled(node, specs);
  EXPECT_THAT(pooled.members(), IsEmpty());
  EXPECT_THAT(pooled.why("0000:11:01.7"), HasSubstr("ens1f0#? (some are missing)"));
}

TEST(OurSelection, several_selectors_are_a_union) {
  EXPECT_THAT(members("[{linkLayers: InfiniBand}, {drivers: ice}]"), ElementsAre(kIb, kIntel));
}

TEST(OurSelection, exclude_takes_away) {
  const Pooled pooled(small_server(),
                      ours("{names: '*'}", "    exclude: [{interfaces: eno1}, {drivers: ice}]\n"));
  EXPECT_THAT(pooled.members(), ElementsAre(kIb, kEns2));
  EXPECT_EQ(pooled.why(kDefault), "exclude: interfaces: eno1");
}

TEST(OurSelection, soft_devices_belong_to_shared_pools) {
  NodeBuilder b;
  b.soft_nic("rxe0", "eth0");
  EXPECT_THAT(Pooled(b.build(), ours("{names: '*'}")).members(), ElementsAre("rxe0"));
  EXPECT_THAT(Pooled(b.build(), ours("{names: '*'}", "    mode: exclusive\n")).members(),
              IsEmpty());
}

TEST(OurSelection, exclusive_pools_leave_default_routes_and_parents_of_vfs) {
  EXPECT_EQ(Pooled(vf_server(), ours("{names: '*'}", "    mode: exclusive\n")).why(kIb),
            "it has 8 virtual functions enabled");
  EXPECT_EQ(Pooled(small_server(), ours("{names: '*'}", "    mode: exclusive\n")).why(kDefault),
            "its netdev eno1 carries the default route");
}

TEST(OurSelection, one_virtual_function_keeps_its_parent_out) {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0))).ethernet(200).virtual_functions(1);
  const Pooled pooled(b.build(), ours("{names: '*'}", "    mode: exclusive\n"));
  EXPECT_THAT(pooled.members(), ElementsAre("0000:11:01.0"));
  EXPECT_EQ(pooled.why("0000:11:00.0"), "it has 1 virtual functions enabled");
}

TEST(OurSelection, is_rdma_false_takes_functions_without_an_rdma_device_too) {
  auto node = small_server();
  std::erase_if(node.nics, [](const node::Nic& nic) { return nic.pci->str() == kIntel; });
  const std::string exclusive = "    mode: exclusive\n";
  const std::string intel = "{pciAddresses: '0000:81:00.0'}";
  EXPECT_EQ(Pooled(node, ours(intel, exclusive)).why(kIntel),
            "it has no RDMA device (is its RDMA driver loaded?)");
  EXPECT_THAT(Pooled(node, ours(intel, exclusive + "    isRdma: false\n")).members(),
              ElementsAre(kIntel));
}

TEST(OurSelection, a_function_of_an_exclusive_pool_is_in_no_other) {
  const Pooled pooled(small_server(),
                      "pools:\n"
                      "  - {name: a.io/all, include: {names: '*'}}\n"
                      "  - {name: a.io/ib, mode: exclusive, include: {linkLayers: InfiniBand}}\n");
  EXPECT_THAT(pooled.members(0), ElementsAre(kEns2, kIntel, kDefault));
  EXPECT_THAT(pooled.members(1), ElementsAre(kIb));
  EXPECT_EQ(pooled.why(kIb, 0), "is in the exclusive pool a.io/ib");
  EXPECT_EQ(pooled.table.exclusive[0], 1U);
  EXPECT_THAT(pooled.table.conflicts, IsEmpty());
}

TEST(OurSelection, a_function_that_two_exclusive_pools_want_is_a_conflict) {
  const Pooled pooled(
      small_server(),
      "pools:\n"
      "  - {name: a.io/a, mode: exclusive, include: {linkLayers: InfiniBand}}\n"
      "  - {name: a.io/b, mode: exclusive, include: {interfaces: ['ib0', 'ens2']}}\n");
  EXPECT_THAT(pooled.members(0), ElementsAre(kIb));
  EXPECT_THAT(pooled.members(1), ElementsAre(kEns2));
  EXPECT_THAT(pooled.table.conflicts,
              ElementsAre("0000:11:00.0 is wanted by the exclusive pools a.io/a (file:2:5) and "
                          "a.io/b (file:3:5)"));
}

TEST(OurSelection, ours_and_the_sriov_plugins_files_conflict_too) {
  const auto parsed =
      parse_files({{"sriov.json", sriov(R"({"vendors": ["15b3"]})")},
                   {"a.yaml", "pools: [{name: a.io/a, mode: exclusive, include: {names: '*'}}]"}});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(Pooled(small_server(), parsed->specs).table.conflicts.size(), 2U);
}

TEST(OurSelection, one_function_in_three_files_is_named_with_each_place) {
  const auto parsed = parse_files(
      {{"a.yaml", "pools:\n  - {name: a.io/a, mode: exclusive, include: {interfaces: ib0}}\n"},
       {"sriov.json", sriov(R"({"vendors": ["15b3"]})")},
       {"c.yaml", "pools:\n\n  - {name: a.io/c, mode: exclusive, include: {interfaces: ib0}}\n"}});
  ASSERT_TRUE(parsed) << parsed.error().message;
  const std::string of_all =
      "0000:11:00.0 is wanted by the exclusive pools a.io/a (a.yaml:2:5) and ";
  EXPECT_THAT(
      Pooled(small_server(), parsed->specs).table.conflicts,
      ElementsAre(of_all + "intel.com/nics (sriov.json:1:19)", of_all + "a.io/c (c.yaml:3:5)"));
}

TEST(OurSelection, a_member_that_cannot_carry_traffic_stays_and_says_why) {
  Pooled pooled(small_server(), ours("{names: '*'}"));
  pooled.statuses[1].trouble = "port 1 is DOWN";
  pooled.table = pools::make_pools({pooled.table.pools[0].spec}, pooled.node, pooled.statuses);
  const auto& members = pooled.table.pools[0].members;
  ASSERT_EQ(members.size(), 4U);
  EXPECT_EQ(members[0].state, pools::MemberState::ready);
  EXPECT_EQ(members[1].state, pools::MemberState::not_ready);
  EXPECT_EQ(members[1].reason, "port 1 is DOWN");
}

}  // namespace
}  // namespace railhead::test
