// SPDX-License-Identifier: Apache-2.0
//
// The examples in k8s-rdma-shared-dev-plugin's documentation (README.md, deployment/k8s/base/
// configmap.yaml, at 410b0f3) and in that of k8s-rdma-device-plugin (README.md, at af58283).
#include <gmock/gmock.h>

#include "unit/pools/documented_machine.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kTwoResources = R"({"periodicUpdateInterval": 300, "configList": [
    {"resourceName": "hca_shared_devices_a", "rdmaHcaMax": 1000, "devices": ["ib0", "ib1"]},
    {"resourceName": "hca_shared_devices_b", "rdmaHcaMax": 500,
     "selectors": {"vendors": ["15b3"], "deviceIDs": ["1017"], "ifNames": ["ib3", "ib4"]}}]})";

TEST(SharedDocumentation, two_resources_one_by_each_form) {
  const auto parsed = parse_text(kTwoResources);
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->warnings, ElementsAre(HasSubstr("read as selectors.ifNames")));
  const Pooled pooled(documented_machine(), parsed->specs);
  EXPECT_EQ(pooled.table.pools.at(0).spec.name, "rdma/hca_shared_devices_a");
  EXPECT_THAT(pooled.members(0), ElementsAre("0000:19:00.0", "0000:1a:00.0"));
  EXPECT_THAT(pooled.device_ids(0), SizeIs(1000));
  EXPECT_THAT(pooled.members(1), ElementsAre("0000:1b:00.0", "0000:1c:00.0"));
  EXPECT_THAT(pooled.device_ids(1), SizeIs(500));
  EXPECT_EQ(pooled.why("0000:1d:00.0", 1), "ifNames: ib5 is none of ib3, ib4");
}

TEST(SharedDocumentation, each_selector_of_its_table) {
  const auto taken = [](const std::string& selectors) {
    return Pooled(documented_machine(), shared(selectors)).members();
  };
  EXPECT_THAT(taken(R"({"vendors": ["15b3"]})"), SizeIs(31));
  EXPECT_THAT(taken(R"({"deviceIDs": ["1017"]})"), SizeIs(7));
  EXPECT_THAT(taken(R"({"drivers": ["mlx5_core"]})"), SizeIs(31));
  EXPECT_THAT(taken(R"({"ifNames": ["ens4f0"]})"), ElementsAre("0000:16:00.0"));
  EXPECT_THAT(taken(R"({"linkTypes": ["ether"], "vendors": ["15b3"], "deviceIDs": ["1017"]})"),
              ElementsAre("0000:14:00.0", "0000:15:00.0"));
}

TEST(SharedDocumentation, its_example_of_a_prefix_is_one_that_no_kubelet_takes) {
  EXPECT_THAT(left_out_of(R"({"configList": [{"resourceName": "a", "rdmaHcaMax": 1,
      "resourcePrefix": "example_prefix", "selectors": {"ifNames": ["ib0"]}}]})"),
              HasSubstr("example_prefix"));
}

TEST(SharedDocumentation, the_example_on_a_machine_in_the_box) {
  const Pooled pooled(machine("dgx-h100"), shared(R"({"vendors": ["15b3"], "deviceIDs": ["1021"],
      "ifNames": ["ibp41s0f0", "ibp170s0f0"]})"));
  EXPECT_THAT(pooled.members(), ElementsAre("0000:29:00.0", "0000:aa:00.0"));
}

TEST(FlatDocumentation, one_hundred_slots_of_the_default_resource) {
  const Pooled pooled(documented_machine(), R"(enableDevicePlugin: true
resourceName: rdma.io/hca
resourceCount: 100
nriPluginName: rdma-device-plugin
nriPluginIndex: 10
gpuRdmaAutoInject: false
)");
  EXPECT_EQ(pooled.table.pools.at(0).spec.name, "rdma.io/hca");
  EXPECT_THAT(pooled.device_ids(), SizeIs(100));
}

}  // namespace
}  // namespace railhead::test
