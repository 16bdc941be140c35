// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>

#include "base/text.h"
#include "unit/pools/pools_of.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;

TEST(OurPools, a_name_alone_is_the_default_pool_under_that_name) {
  const auto specs = specs_of("pools:\n  - name: rdma.io/rail\n");
  ASSERT_EQ(specs.size(), 1U);
  auto expected = pools::default_pool();
  expected.name = "rdma.io/rail";
  expected.origin.where = "file:2:5";
  EXPECT_EQ(specs[0], expected);
}

TEST(OurPools, every_key_arrives) {
  const auto specs = specs_of(R"(
pools:
  - name: example.com/vf
    mode: exclusive
    functions: [vf]
    include:
      - pfNames: ["ens*#0-3"]
        vendors: ["0x15B3"]
      - rootDevices: "0000:86:00.0#1"
    exclude:
      numaNodes: [1]
      acpiIndexes: [101]
    devices: [uverbs, umad]
    excludeTopology: true
    needVhostNet: true
    isRdma: false
    additionalInfo: {"*": {rail: "1"}}
)");
  ASSERT_EQ(specs.size(), 1U);
  const auto& spec = specs[0];
  EXPECT_EQ(spec.mode, pools::PoolMode::exclusive);
  EXPECT_EQ(spec.kinds, std::vector<pools::FunctionKind>{pools::FunctionKind::virtual_});
  ASSERT_EQ(spec.include.size(), 2U);
  ASSERT_EQ(spec.include[0].conditions.size(), 2U);
  EXPECT_EQ(spec.include[0].conditions[0].key, "vendors");
  EXPECT_EQ(spec.include[0].conditions[0].values, Texts{"15b3"});
  EXPECT_EQ(spec.include[0].conditions[1].functions.at(0).parent, "ens*");
  EXPECT_TRUE(spec.include[1].vhost_net);
  EXPECT_FALSE(spec.include[1].rdma);
  EXPECT_EQ(spec.exclude.at(0).conditions.at(0).fact, pools::Fact::numa_node);
  EXPECT_EQ(spec.exclude.at(0).conditions.at(1).fact, pools::Fact::acpi_index);
  EXPECT_EQ(spec.devices, (Texts{"uverbs", "umad"}));
  EXPECT_TRUE(spec.exclude_topology);
  EXPECT_EQ(spec.additional_info.at("*").at("rail"), "1");
}

TEST(OurPools, slots_are_fungible_or_of_one_nic) {
  const auto specs =
      specs_of("pools:\n  - {name: a.io/a, slots: 7}\n  - {name: a.io/b, slotsPerNic: 3}\n");
  ASSERT_EQ(specs.size(), 2U);
  EXPECT_EQ(specs[0].slots, 7U);
  EXPECT_EQ(specs[0].slots_per_nic, std::nullopt);
  EXPECT_EQ(specs[1].slots_per_nic, 3U);
}

TEST(OurPools, an_unknown_key_is_an_error_with_line_column_and_path) {
  EXPECT_THAT(error_of("pools:\n  - name: a.io/a\n    slot: 3\n"),
              HasSubstr("file:3:5: unknown key \"pools[0].slot\"; known here: name"));
  EXPECT_THAT(error_of("pools:\n  - name: a.io/a\n    include:\n      - vendor: [15b3]\n"),
              HasSubstr("file:4:9: unknown key \"pools[0].include[0].vendor\""));
  EXPECT_THAT(error_of("pools:\n  - name: a.io/a\n    exclude: {isRdma: true}\n"),
              HasSubstr("pools[0].exclude.isRdma"));
  EXPECT_THAT(error_of("pools:\n  - name: a.io/a\n    include: {isRdma: false}\n"),
              HasSubstr("a shared pool has nothing but RDMA devices"));
}

TEST(OurPools, what_is_known_is_named_once) {
  const auto error = error_of("pools:\n  - name: a.io/a\n    slot: 3\n");
  const auto list = error.substr(error.find("known here: ") + 12);
  std::set<std::string_view> names;
  for (const auto name : split(list, ',')) EXPECT_TRUE(names.insert(trim(name)).second) << name;
  EXPECT_GT(names.size(), 5U);
}

TEST(OurPools, a_key_in_another_case_is_unknown_in_our_file) {
  EXPECT_THAT(error_of("pools:\n  - Name: a.io/a\n"), HasSubstr("missing"));
}

/// A pool with this line in it, and what is said against it.
struct Wrong {
  const char* line;
  const char* message;
};

class OurPoolWith : public testing::TestWithParam<Wrong> {};

TEST_P(OurPoolWith, a_wrong_value_is_refused_where_it_stands) {
  const auto message = error_of("pools:\n  - name: a.io/a\n    " + std::string(GetParam().line));
  EXPECT_THAT(message, HasSubstr(GetParam().message));
  EXPECT_THAT(message, HasSubstr("file"));
  EXPECT_THAT(message, HasSubstr("pools[0]"));
}

INSTANTIATE_TEST_SUITE_P(
    Values, OurPoolWith,
    testing::Values(
        Wrong{"slots: -1", "file:3:12: pools[0].slots: -1 is not 1 to 65536"},
        Wrong{"slots: 0", "0 is not 1 to"}, Wrong{"slots: many", "expected a whole number"},
        Wrong{"slots: 99999999999999999999", "expected a whole number"},
        Wrong{"slotsPerNic: 2000", "2000 is not 1 to 1024"},
        Wrong{"mode: mine", "\"mine\" is none of shared, exclusive"},
        Wrong{"mode: exclusive", "pools[0].include: missing"},
        Wrong{"functions: [pf, mf]", "\"mf\" is none of pf, vf, sf, soft"},
        Wrong{"devices: [uverbs, sda]", "\"sda\" is none of uverbs"},
        Wrong{"include: {}", "pools[0].include: an empty selector"},
        Wrong{"include: [everything]", "pools[0].include[0]: expected keys and values"},
        Wrong{"include: {vendors: []}", "an empty list selects nothing"},
        Wrong{"include: {names: 'mlx5_[01]'}", "include.names: \"mlx5_[01]\" has brackets"},
        Wrong{"include: {pfNames: 'ens[12]f0#0-3'}", "has brackets"},
        Wrong{"include: {vendors: [mellanox]}", "\"mellanox\" is no PCI id"},
        Wrong{"include: {pciAddresses: [mlx5_0]}", "mlx5_0"},
        Wrong{"include: {pfNames: ['ens1#7-2']}", "\"7-2\" ends before it begins"},
        Wrong{"include: {rootDevices: ['ens1#1']}", "ens1"},
        Wrong{"include: {roles: [fast]}", "\"fast\" is none of compute, storage, management"},
        Wrong{"include: {subnets: [10.0.0.0/40]}", "is not a subnet"},
        Wrong{"include: {minRateGbps: [1, 2]}", "expected one number"},
        Wrong{"include: {minRateGbps: fast}", "fast"},
        Wrong{"isRdma: false", "pools[0].isRdma: a shared pool has nothing but RDMA"},
        Wrong{"include: {acpiIndexes: [first]}", "first"},
        Wrong{"excludeTopology: perhaps", "expected true or false"},
        Wrong{"prefer: near", "\"near\" is none of spread, pack"},
        Wrong{"narrow: some", "pools[0].narrow: line 3 column 13: expected true or false"},
        Wrong{"additionalInfo: {'*': text}", "additionalInfo.*"}));

TEST(OurPools, a_shared_pool_may_leave_its_slots_as_they_are) {
  EXPECT_TRUE(specs_of("pools: [{name: a.io/a}]").at(0).narrow);
  EXPECT_FALSE(specs_of("pools: [{name: a.io/a, narrow: false}]").at(0).narrow);
  EXPECT_FALSE(specs_of(R"({"configList": [{"resourceName": "a", "rdmaHcaMax": 1, "narrow": false,
                            "selectors": {"vendors": ["15b3"]}}]})")
                   .at(0)
                   .narrow)
      << "the plugin ignores the key";
  EXPECT_THAT(error_of("pools: [{name: a.io/a, mode: exclusive, narrow: false, "
                       "include: {vendors: 15b3}}]"),
              HasSubstr("pools[0].narrow: an exclusive pool gives exactly what was allocated"));
}

TEST(OurPools, an_exclusive_pool_has_no_slots_and_no_soft_devices) {
  const std::string start = "pools: [{name: a.io/a, mode: exclusive, include: {names: '*'}, ";
  EXPECT_THAT(error_of(start + "slots: 3}]"), HasSubstr("pools[0].slots"));
  EXPECT_THAT(error_of(start + "slotsPerNic: 3}]"), HasSubstr("pools[0].slotsPerNic"));
  EXPECT_THAT(error_of(start + "functions: [soft]}]"), HasSubstr("soft"));
  EXPECT_THAT(error_of("pools: [{name: a.io/a, slots: 3, slotsPerNic: 3}]"),
              HasSubstr("one of both"));
}

TEST(OurPools, a_pool_needs_a_resource_name_that_the_kubelet_takes) {
  EXPECT_THAT(error_of("pools: [{slots: 3}]"), HasSubstr("pools[0].name: missing"));
  EXPECT_THAT(error_of("pools:\n  - name: hca\n"),
              HasSubstr("file:2:11: pools[0].name: \"hca\" is not a resource name"));
  EXPECT_THAT(error_of("pools: {name: a.io/a}"), HasSubstr("pools: expected a list"));
}

TEST(OurPools, an_empty_list_means_no_pool_and_an_empty_key_says_nothing) {
  EXPECT_TRUE(specs_of("pools: []").empty());
  EXPECT_EQ(specs_of("pools:\n"), std::vector<pools::PoolSpec>{pools::default_pool()});
}

}  // namespace
}  // namespace railhead::test
