// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/pools/pools_of.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// One resource with these further members.
std::string resource(const std::string& more) {
  return R"({"configList": [{"rdmaHcaMax": 5, )" + more + "}]}";
}

TEST(SharedPluginFile, two_resources_by_interface_and_vendor_are_as_documented) {
  const auto specs = specs_of(R"({
    "periodicUpdateInterval": 300,
    "configList": [
      {"resourceName": "hca_shared_devices_a", "resourcePrefix": "example.com", "rdmaHcaMax": 500,
       "selectors": {"ifNames": ["ib0", "ens2"]}},
      {"resourceName": "hca_shared_devices_b", "rdmaHcaMax": 1000,
       "selectors": {"vendors": ["15b3"], "deviceIDs": ["1017"], "drivers": ["mlx5_core"],
                     "linkTypes": ["ether"]}}]})");
  ASSERT_EQ(specs.size(), 2U);
  EXPECT_EQ(specs[0].name, "example.com/hca_shared_devices_a");
  EXPECT_EQ(specs[0].slots, 500U);
  EXPECT_EQ(specs[0].mode, pools::PoolMode::shared);
  EXPECT_EQ(specs[0].origin, (pools::PoolOrigin{pools::PoolFlavour::shared_plugin, "file:4:7"}));
  EXPECT_EQ(specs[1].name, "rdma/hca_shared_devices_b");
  EXPECT_EQ(specs[1].slots, 1000U);
  EXPECT_EQ(specs[1].include.at(0).conditions.size(), 4U);
}

TEST(SharedPluginFile, the_old_form_devices_is_interface_names_and_is_reported) {
  const auto text = resource(R"("resourceName": "a", "devices": ["ib0", "ib1"])");
  const auto parsed = parse_text(text);
  ASSERT_TRUE(parsed);
  const auto& conditions = parsed->specs.at(0).include.at(0).conditions;
  ASSERT_EQ(conditions.size(), 1U);
  EXPECT_EQ(conditions[0].fact, pools::Fact::netdev);
  EXPECT_EQ(conditions[0].values, (Texts{"ib0", "ib1"}));
  EXPECT_THAT(parsed->warnings, ElementsAre(HasSubstr("configList[0].devices is read as")));
}

TEST(SharedPluginFile, empty_lists_are_no_condition) {
  const auto specs = specs_of(
      resource(R"("resourceName": "a", "selectors": {"vendors": ["15b3"], "ifNames": []})"));
  EXPECT_EQ(specs.at(0).include.at(0).conditions.size(), 1U);
}

TEST(SharedPluginFile, keys_count_in_any_case_as_go_reads_them) {
  const auto specs = specs_of(
      R"({"ConfigList": [{"ResourceName": "a", "rdmahcamax": 5, "selectors": {"Vendors": ["15b3"]}}]})");
  ASSERT_EQ(specs.size(), 1U);
  EXPECT_EQ(specs[0].slots, 5U);
}

TEST(SharedPluginFile, an_unknown_key_is_a_warning_that_names_file_line_and_key) {
  EXPECT_THAT(
      warnings_of("{\"configList\": [{\"resourceName\": \"a\", \"rdmaHcaMax\": 1,\n"
                  " \"selectors\": {\"vendors\": [\"15b3\"],\n  \"pciAddresses\": []}}]}"),
      ElementsAre("file:3:3: unknown key \"configList[0].selectors.pciAddresses\" ignored"));
}

TEST(SharedPluginFile, no_slots_is_no_error_there_and_a_warning_here) {
  EXPECT_THAT(
      warnings_of(R"({"configList": [{"resourceName": "a", "selectors": {"vendors": ["15b3"]}}]})"),
      ElementsAre(HasSubstr("rdmaHcaMax is 0 or missing")));
}

TEST(SharedPluginFile, the_same_name_under_two_prefixes_is_two_resources) {
  const std::string item =
      R"("resourceName": "a", "rdmaHcaMax": 1, "selectors": {"vendors": ["15b3"]})";
  EXPECT_EQ(
      specs_of(R"({"configList": [{)" + item + R"(}, {"resourcePrefix": "b.io", )" + item + "}]}")
          .size(),
      2U);
  EXPECT_THAT(left_out_of("{\"configList\": [{" + item + "},\n {" + item + "}]}"),
              HasSubstr("file:2:2: resource \"rdma/a\" is already defined at file:1:17"));
}

TEST(SharedPluginFile, what_it_does_not_start_with_is_left_out) {
  const auto with = [](const std::string& more) { return left_out_of(resource(more)); };
  const std::string vendors = R"(, "selectors": {"vendors": ["15b3"]})";
  EXPECT_THAT(error_of(R"({"configList": {}})"), HasSubstr("configList"));
  EXPECT_THAT(left_out_of(R"({"configList": [1]})"), HasSubstr("configList[0]"));
  EXPECT_NE(error_of(R"({"configList": [)"), "");
  EXPECT_THAT(with(R"("resourceName": "a-b")" + vendors), HasSubstr("\"a-b\" is not made of"));
  EXPECT_THAT(with(R"("resourceName": "")" + vendors), HasSubstr("resourceName"));
  EXPECT_THAT(with(R"("selectors": {"vendors": ["15b3"]})"), HasSubstr("resourceName"));
  EXPECT_THAT(with(R"("resourceName": "a")"), HasSubstr("selects nothing"));
  EXPECT_THAT(with(R"("resourceName": "a", "selectors": {"vendors": []})"),
              HasSubstr("selects nothing"));
  EXPECT_THAT(with(R"("resourceName": "a", "devices": ["ib0"])" + vendors),
              HasSubstr("one of both"));
  EXPECT_THAT(
      left_out_of(R"({"configList": [{"resourceName": "a", "rdmaHcaMax": -1)" + vendors + "}]}"),
      HasSubstr("-1 is not a number of slots"));
  EXPECT_THAT(
      left_out_of(R"({"configList": [{"resourceName": "a", "rdmaHcaMax": "5")" + vendors + "}]}"),
      HasSubstr("expected a whole number"));
}

TEST(SharedPluginFile, a_prefix_or_name_that_the_kubelet_refuses_is_left_out) {
  const std::string vendors = R"(, "selectors": {"vendors": ["15b3"]})";
  for (const std::string name : {"_a", "r_"}) {
    EXPECT_THAT(left_out_of(resource("\"resourceName\": \"" + name + "\"" + vendors)),
                HasSubstr("not a resource name"));
  }
  EXPECT_THAT(left_out_of(resource(R"("resourceName": "a", "resourcePrefix": "RDMA")" + vendors)),
              HasSubstr("not a resource name"));
  EXPECT_THAT(left_out_of(resource(R"("resourceName": ")" + std::string(64, 'a') + "\"" + vendors)),
              HasSubstr("more than 63"));
}

}  // namespace
}  // namespace railhead::test
