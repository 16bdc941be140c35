// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/pools/pools_of.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SriovPluginFile, a_resource_with_one_selector_object) {
  const auto specs = specs_of(R"({"resourceList": [{
      "resourceName": "mlnx_sriov_rdma", "resourcePrefix": "example.com",
      "selectors": {"vendors": ["15b3"], "devices": ["1018"], "drivers": ["mlx5_ib"],
                    "isRdma": true, "needVhostNet": true},
      "excludeTopology": true,
      "additionalInfo": {"*": {"token": "a"}, "0000:86:00.1": {"token": "b"}}}]})");
  ASSERT_EQ(specs.size(), 1U);
  const auto& spec = specs[0];
  EXPECT_EQ(spec.name, "example.com/mlnx_sriov_rdma");
  EXPECT_EQ(spec.mode, pools::PoolMode::exclusive);
  EXPECT_EQ(spec.origin, (pools::PoolOrigin{pools::PoolFlavour::sriov_plugin, "file:1:19"}));
  EXPECT_EQ(spec.kinds, (std::vector<pools::FunctionKind>{pools::FunctionKind::physical,
                                                          pools::FunctionKind::virtual_}));
  ASSERT_EQ(spec.include.size(), 1U);
  EXPECT_TRUE(spec.include[0].rdma);
  EXPECT_TRUE(spec.include[0].vhost_net);
  EXPECT_TRUE(spec.exclude_topology);
  EXPECT_EQ(spec.additional_info.at("*").at("token"), "a");
  EXPECT_EQ(spec.additional_info.at("0000:86:00.1").at("token"), "b");
}

TEST(SriovPluginFile, without_is_rdma_a_device_needs_no_rdma) {
  EXPECT_FALSE(specs_of(sriov(R"({"vendors": ["8086"]})")).at(0).include.at(0).rdma);
}

TEST(SriovPluginFile, selectors_may_be_a_list) {
  const auto specs =
      specs_of(sriov(R"([{"pfNames": ["ens1#0-3"], "isRdma": true}, {"pfNames": ["ens2"]}])"));
  ASSERT_EQ(specs.at(0).include.size(), 2U);
  EXPECT_TRUE(specs[0].include[0].rdma);
  EXPECT_FALSE(specs[0].include[1].rdma);
}

TEST(SriovPluginFile, the_prefix_is_the_flags_where_the_file_names_none) {
  EXPECT_EQ(specs_of(sriov("{}")).at(0).name, "intel.com/nics");
  const auto parsed =
      parse_files({{"file", sriov("{}")}}, {{"RAILHEAD_RESOURCE_PREFIX", "nvidia.com"}});
  EXPECT_EQ(parsed->specs.at(0).name, "nvidia.com/nics");
}

TEST(SriovPluginFile, auxiliary_devices_are_scalable_functions) {
  const auto specs =
      specs_of(sriov(R"({"pfNames": ["ens1#1-2"], "auxTypes": ["sf"], "isRdma": true})",
                     R"(, "deviceType": "auxNetDevice")"));
  EXPECT_EQ(specs.at(0).kinds, std::vector<pools::FunctionKind>{pools::FunctionKind::scalable});
}

TEST(SriovPluginFile, accelerators_are_skipped_with_a_warning) {
  const auto parsed = parse_text(R"({"resourceList": [
      {"resourceName": "fpga", "deviceType": "accelerator", "selectors": {"devices": ["0d90"]}},
      {"resourceName": "nics", "selectors": {"vendors": ["15b3"]}}]})");
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->specs.size(), 1U);
  EXPECT_THAT(parsed->warnings, ElementsAre(HasSubstr("resourceList[0] skipped")));
}

TEST(SriovPluginFile, a_vdpa_type_that_does_not_exist_matches_nothing_and_says_so) {
  EXPECT_EQ(warnings_of(sriov(R"({"vdpaType": "vhost"})")), Texts{});
  EXPECT_THAT(warnings_of(sriov(R"({"vdpaType": "vhost-net"})")),
              ElementsAre(HasSubstr("vdpaType: \"vhost-net\" is none of vhost, virtio")));
  EXPECT_EQ(warnings_of(sriov(R"({"vdpaType": ""})")), Texts{});
}

TEST(SriovPluginFile, packages_match_exactly_and_an_empty_list_does_not_count) {
  const auto conditions = [](const std::string& packages) {
    const auto text = sriov(R"({"ddpProfiles": )" + packages + "}");
    EXPECT_EQ(warnings_of(text), Texts{});
    return specs_of(text).at(0).include.at(0).conditions;
  };
  EXPECT_THAT(conditions(R"(["ICE COMMS Package", "E710 PPPoE"])"),
              ElementsAre(pools::Condition{pools::Fact::ddp_package,
                                           "ddpProfiles",
                                           {"ICE COMMS Package", "E710 PPPoE"},
                                           pools::Match::exact,
                                           {}}));
  EXPECT_THAT(conditions("[]"), testing::IsEmpty());
}

TEST(SriovPluginFile, an_impossible_range_is_a_warning_there_too) {
  EXPECT_THAT(warnings_of(sriov(R"({"pfNames": ["ens1#7-2", "ens2"]})")),
              ElementsAre(HasSubstr("file:1:69: resourceList[0].selectors.pfNames: \"ens1#7-2\"")));
}

TEST(SriovPluginFile, keys_at_the_wrong_place_or_of_another_device_type_are_named) {
  EXPECT_THAT(warnings_of(sriov(R"({"vendors": ["1dd8"], "excludeTopology": true})")),
              ElementsAre(HasSubstr("unknown key \"resourceList[0].selectors.excludeTopology\"")));
  EXPECT_THAT(warnings_of(sriov(R"({"pKeys": ["0x7fff"]})", R"(, "deviceType": "auxNetDevice")")),
              ElementsAre(HasSubstr("pKeys")));
  EXPECT_THAT(warnings_of(sriov("{}", R"(, "enableExporterHealthCheck": true)")),
              ElementsAre(HasSubstr("enableExporterHealthCheck")));
}

TEST(SriovPluginFile, hyphens_are_allowed_in_names_there) {
  EXPECT_EQ(specs_of(R"({"resourceList": [{"resourceName": "a-b", "selectors": {}}]})").at(0).name,
            "intel.com/a-b");
}

TEST(SriovPluginFile, what_it_does_not_start_with_or_dies_of_is_left_out) {
  EXPECT_THAT(error_of(R"({"resourceList": {}})"), HasSubstr("expected a list of resources"));
  EXPECT_THAT(left_out_of(R"({"resourceList": [{"resourceName": "a"}]})"),
              HasSubstr("resourceList[0].selectors: missing"));
  EXPECT_THAT(left_out_of(R"({"resourceList": [{"resourceName": "a.b", "selectors": {}}]})"),
              HasSubstr("\"a.b\" is not made of"));
  EXPECT_THAT(left_out_of(sriov("{}", R"(, "deviceType": "gpu")")),
              HasSubstr("\"gpu\" is not a device type"));
  EXPECT_THAT(left_out_of(sriov(R"({"isRdma": true, "vdpaType": "vhost"})")),
              HasSubstr("vdpaType: excludes isRdma"));
  EXPECT_THAT(left_out_of(sriov(R"({"isRdma": "yes"})")), HasSubstr("expected true or false"));
  EXPECT_THAT(left_out_of(sriov(R"({"vendors": "15b3"})")), HasSubstr("expected a list"));
  EXPECT_THAT(left_out_of(sriov("7")), HasSubstr("expected keys and values"));
  EXPECT_THAT(left_out_of(sriov("{}", R"(, "additionalInfo": {"*": 3})")),
              HasSubstr("additionalInfo"));
}

}  // namespace
}  // namespace railhead::test
