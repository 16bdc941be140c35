// SPDX-License-Identifier: Apache-2.0
//
// What must not be taken for a pool, in each of the files that are read.
#include <gmock/gmock.h>

#include "unit/pools/documented_machine.h"

namespace railhead::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string flat(const std::string& more) {
  return "resourceName: rdma.io/hca\nresourceCount: 10\n" + more;
}

std::string ours(const std::string& more) {
  return "pools: [{name: rdma.io/a, " + more + "}]";
}

std::string shared_with(const std::string& more) {
  return R"({"configList": [{"resourceName": "a", "selectors": {"vendors": ["15b3"]}, )" + more +
         "}]}";
}

TEST(BadPools, broken_json_is_named_with_its_place) {
  for (const std::string text :
       {R"({"configList": [{"resourceName": "a" "rdmaHcaMax": 1}]})",
        R"({"resourceList": [{"resourceName": "a", "selectors": {"vendors": ["15b3"})",
        R"({"resourceList": [{"resourceName": "a",}]})", R"({"configList": [})"}) {
    EXPECT_THAT(error_of(text), AllOf(HasSubstr("file"), HasSubstr("JSON"))) << text;
  }
}

TEST(BadPools, a_list_that_is_null_or_empty_is_no_pool_and_says_so) {
  for (const std::string key : {"configList", "resourceList"}) {
    for (const std::string list : {"null", "[]"}) {
      const auto parsed = parse_text("{\"" + key + "\": " + list + "}");
      ASSERT_TRUE(parsed) << parsed.error().message;
      EXPECT_THAT(parsed->specs, IsEmpty()) << key << list;
      EXPECT_THAT(parsed->warnings,
                  testing::ElementsAre(HasSubstr(":1:" + std::to_string(key.size() + 6) + ": " +
                                                 key + " is empty: it has no pool")));
    }
  }
}

TEST(BadPools, the_last_of_a_key_counts_as_in_go_and_is_named) {
  for (const std::string again : {"resourceName", "ResourceName"}) {
    const auto parsed =
        parse_text("{\"configList\": [{\"resourceName\": \"a\",\n\"" + again +
                   R"(": "b", "rdmaHcaMax": 1, "selectors": {"vendors": ["1"]}}]})");
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->specs.at(0).name, "rdma/b");
  }
  EXPECT_THAT(warnings_of(R"({"resourceList": [{"resourceName": "a", "selectors": {},
                              "resourcename": "b"}]})"),
              testing::ElementsAre("file:1:20: key \"resourceList[0].resourceName\" stands twice; "
                                   "the last counts"));
}

TEST(BadPools, a_key_twice_is_an_error_in_ours) {
  EXPECT_THAT(error_of(R"({"pools": [{"name": "a.io/a", "name": "a.io/b"}]})"),
              HasSubstr("key \"name\" stands twice"));
  EXPECT_THAT(error_of(flat("resourceName: rdma.io/other\n")), HasSubstr("resourceName"));
}

TEST(BadPools, the_same_resource_twice_is_left_out_or_an_error_in_ours) {
  const std::string item = R"({"resourceName": "a", "selectors": {"vendors": ["15b3"]}})";
  EXPECT_THAT(left_out_of(R"({"resourceList": [)" + item + ", " + item + "]}"),
              HasSubstr("\"intel.com/a\" is already defined"));
  EXPECT_THAT(error_of("pools: [{name: a.io/a}, {name: a.io/a}]"),
              HasSubstr("\"a.io/a\" is already defined"));
  const std::string shared =
      R"({"resourceName": "a", "rdmaHcaMax": 1, "selectors": {"vendors": ["15b3"]}})";
  EXPECT_THAT(left_out_of(R"({"configList": [)" + shared + ", " + shared + "]}"),
              HasSubstr("\"rdma/a\" is already defined"));
}

TEST(BadPools, a_negative_count_is_no_pool_in_any_file) {
  EXPECT_THAT(left_out_of(shared_with(R"("rdmaHcaMax": -1)")), HasSubstr("-1 is not a number"));
  EXPECT_NE(error_of("resourceName: rdma.io/hca\nresourceCount: -5\n"), "");
  EXPECT_THAT(error_of(ours("slots: -1")), HasSubstr("slots"));
  EXPECT_THAT(error_of(ours("slotsPerNic: -1")), HasSubstr("slotsPerNic"));
  EXPECT_NE(error_of(R"({"periodicUpdateInterval": -1, "configList": [{"resourceName": "a",
                         "rdmaHcaMax": 1, "selectors": {"vendors": ["15b3"]}}]})"),
            "");
}

TEST(BadPools, a_count_that_no_kubelet_could_list_is_no_pool) {
  EXPECT_THAT(left_out_of(shared_with(R"("rdmaHcaMax": 2147483648)")), HasSubstr("rdmaHcaMax"));
  EXPECT_THAT(error_of(ours("slots: 99999999999999999999")), HasSubstr("slots"));
  EXPECT_THAT(left_out_of(shared_with(R"("rdmaHcaMax": 1.5)")), HasSubstr("rdmaHcaMax"));
}

TEST(BadPools, an_impossible_range_matches_nothing_and_is_named) {
  for (const std::string range :
       {"ens785f0#7-2", "ens785f0#", "ens785f0#a", "ens785f0#1-", "ens785f0#-3", "ens785f0#,2",
        "ens785f0#0-99999999999999999999", "#0-3"}) {
    const auto parsed = parse_text(sriov(R"({"pfNames": [")" + range + R"("]})"));
    ASSERT_TRUE(parsed) << range;
    EXPECT_THAT(parsed->warnings, testing::ElementsAre(HasSubstr("\"" + range + "\""))) << range;
    EXPECT_THAT(Pooled(documented_machine(), parsed->specs).members(), IsEmpty()) << range;
  }
}

TEST(BadPools, an_empty_include_selects_nothing_and_is_an_error) {
  EXPECT_THAT(error_of(ours("include: []")), HasSubstr("include: an empty list selects nothing"));
  EXPECT_EQ(error_of(ours("exclude: []")), "");
}

TEST(BadPools, a_name_that_is_too_long_is_no_pool_in_any_file) {
  const std::string name(64, 'a');
  EXPECT_THAT(
      left_out_of(R"({"resourceList": [{"resourceName": ")" + name + R"(", "selectors": {}}]})"),
      HasSubstr("more than 63"));
  EXPECT_THAT(left_out_of(R"({"configList": [{"resourceName": ")" + name +
                          R"(", "rdmaHcaMax": 1, "selectors": {"vendors": ["15b3"]}}]})"),
              HasSubstr("more than 63"));
  EXPECT_THAT(error_of("pools: [{name: a.io/" + name + "}]"), HasSubstr("more than 63"));
  EXPECT_THAT(error_of("resourceName: a.io/" + name + "\nresourceCount: 1\n"),
              HasSubstr("more than 63"));
}

TEST(BadPools, the_other_resources_of_a_file_stand) {
  const auto parsed = parse_text(R"({"resourceList": [
      {"resourceName": "a", "selectors": {"vendors": "15b3"}},
      {"resourceName": "b", "resourcePrefix": "NVIDIA", "selectors": {}},
      7,
      {"resourceName": "c", "selectors": {"vendors": ["15b3"]}}]})");
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->specs.size(), 1U);
  EXPECT_EQ(parsed->specs[0].name, "intel.com/c");
  EXPECT_THAT(parsed->left_out,
              testing::ElementsAre(AllOf(HasSubstr("line 2"), HasSubstr("vendors")),
                                   HasSubstr("file:3:24"), HasSubstr("file:4:7")));
}

TEST(BadPools, a_resource_that_was_in_force_stays_as_it_was) {
  const auto config = config::make_config(
      {{{"file", R"({"resourceList": [{"resourceName": "a", "selectors": {"vendors": "15b3"}},
                                      {"resourceName": "b", "selectors": {}}]})"}},
       {},
       {}});
  pools::PoolParseOptions options;
  options.in_force = specs_of(R"({"resourceList": [
      {"resourceName": "a", "selectors": {"vendors": ["15b3"]}},
      {"resourceName": "gone", "selectors": {}}]})");
  const auto parsed = pools::parse_pools(config->pool_sources(), options);
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->specs.size(), 2U);
  EXPECT_EQ(parsed->specs[0], options.in_force[0]);
  EXPECT_EQ(parsed->specs[1].name, "intel.com/b");
  EXPECT_THAT(parsed->left_out, testing::ElementsAre(HasSubstr("the resource stays as it was")));
}

TEST(BadPools, a_plus_sign_in_a_range_counts_there_and_is_an_error_in_ours) {
  const auto text = sriov(R"({"pfNames": ["ens1f0#+1,3-+4"]})");
  const auto parsed = parse_text(text);
  EXPECT_THAT(parsed->warnings, testing::ElementsAre(HasSubstr("\"+1\" has a sign; it counts"),
                                                     HasSubstr("\"3-+4\" has a sign")));
  EXPECT_THAT(Pooled(vf_server(), parsed->specs).members(),
              testing::ElementsAre("0000:11:01.1", "0000:11:01.3", "0000:11:01.4"));
  EXPECT_THAT(error_of(ours("mode: exclusive, include: {pfNames: 'ens1f0#+1'}")),
              HasSubstr("has a sign"));
}

TEST(BadPools, a_selector_that_matches_nothing_has_a_reason_for_each_nic) {
  for (const auto& [text, fact] : std::map<std::string, std::string>{
           {shared(R"({"vendors": ["1077"]})"), "vendors: "},
           {shared(R"({"deviceIDs": ["ffff"]})"), "deviceIDs: "},
           {shared(R"({"drivers": ["qedr"]})"), "drivers: "},
           {shared(R"({"ifNames": ["eth7"]})"), "ifNames: "},
           {shared(R"({"linkTypes": ["fibre"]})"), "linkTypes: "},
           {sriov(R"({"vendors": ["1077"]})"), " is not 1077"},
           {sriov(R"({"pfNames": ["eth7#0-3"]})"), "pfNames: "},
           {sriov(R"({"pciAddresses": ["0000:ff:00.0"]})"), "pciAddresses: "},
           {ours("include: {names: 'nothing*'}"), "names: "},
           {ours("include: {minRateGbps: 3200}"), "minRateGbps: "},
           {ours("include: {roles: management, interfaces: 'eth7'}"), ": "}}) {
    const Pooled pooled(machine("dgx-h100"), text);
    EXPECT_THAT(pooled.members(), IsEmpty()) << text;
    for (const auto& function : pooled.table.functions) {
      EXPECT_THAT(pooled.why(function.id), HasSubstr(fact)) << text << function.id;
    }
  }
}

TEST(BadPools, hostile_depth_is_refused) {
  EXPECT_NE(
      error_of(R"({"resourceList": )" + std::string(5000, '[') + std::string(5000, ']') + "}"), "");
}

}  // namespace
}  // namespace railhead::test
