// SPDX-License-Identifier: Apache-2.0
#include "pools/parse_pools.h"

#include <gmock/gmock.h>

#include "unit/pools/pools_of.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Texts names(const Result<pools::PoolSpecs>& parsed) {
  if (!parsed) return {parsed.error().message};
  Texts found;
  for (const auto& spec : parsed->specs) found.push_back(spec.name);
  return found;
}

TEST(Pools, nothing_configured_is_the_default_pool) {
  EXPECT_EQ(parse_files({})->specs, std::vector<pools::PoolSpec>{pools::default_pool()});
  EXPECT_EQ(parse_files({{"a.yaml", "log: {level: debug}"}})->specs,
            std::vector<pools::PoolSpec>{pools::default_pool()});
}

TEST(Pools, anything_configured_takes_the_place_of_the_default_pool) {
  EXPECT_THAT(names(parse_files({{"a.json", shared(R"({"vendors": ["15b3"]})")}})),
              ElementsAre("rdma/hca"));
}

TEST(Pools, files_of_all_kinds_are_read_together) {
  EXPECT_THAT(names(parse_files({{"ours.yaml", "pools: [{name: a.io/a}]"},
                                 {"shared.json", shared(R"({"vendors": ["15b3"]})")},
                                 {"sriov.json", sriov("{}")},
                                 {"flat.yaml", "resourceName: flat.io/hca\nresourceCount: 5\n"},
                                 {"more.yaml", "pools: [{name: b.io/b}]"}})),
              ElementsAre("a.io/a", "rdma/hca", "intel.com/nics", "b.io/b", "flat.io/hca"));
}

TEST(Pools, a_resource_in_two_files_names_both_places) {
  const config::ConfigFile ours{"ours.yaml", "pools:\n  - name: rdma/hca\n"};
  const config::ConfigFile theirs{"shared.json", shared(R"({"vendors": ["15b3"]})")};
  const auto left_out = parse_files({ours, theirs});
  ASSERT_TRUE(left_out);
  EXPECT_EQ(left_out->specs.size(), 1U);
  EXPECT_THAT(
      left_out->left_out,
      ElementsAre("shared.json:1:17: resource \"rdma/hca\" is already defined at ours.yaml:2:5"));
  EXPECT_THAT(parse_files({theirs, ours}).error().message,
              HasSubstr("ours.yaml:2:5: resource \"rdma/hca\" is already defined at shared.json"));
}

/// A list of resources with so many names, in the words of a file.
std::string many(std::size_t count, const char* list, const char* before, const char* after) {
  std::string text = list;
  for (std::size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ",\n") + (before + std::to_string(i)) + after;
  }
  return text;
}

TEST(Pools, more_than_the_limit_are_an_error_that_names_the_key) {
  const auto ours = [](std::size_t count) {
    return parse_files({{"a.yaml", many(count, "pools: [", "{name: a.io/p", "}") + "]"}});
  };
  EXPECT_EQ(ours(256)->specs.size(), 256U);
  EXPECT_EQ(ours(257).error().message, "a.yaml:257:1: pools[256]: a node has 256 pools at most");
}

TEST(Pools, another_plugins_resources_above_the_limit_are_left_out) {
  const config::ConfigFile theirs{
      "sriov.json",
      many(300, R"({"resourceList": [)", R"({"resourceName": "r)", R"(", "selectors": {}})") +
          "]}"};
  const auto parsed = parse_files({theirs});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->specs.size(), 256U);
  EXPECT_THAT(
      parsed->left_out,
      ElementsAre("sriov.json:257:1: resourceList[256]: a node has 256 pools at most; it is "
                  "left out, and so are 43 after it"));
  const auto mixed = parse_files({theirs, {"a.yaml", "pools: [{name: a.io/p}]"}});
  EXPECT_EQ(mixed.error().message, "a.yaml:1:9: pools[0]: a node has 256 pools at most");
}

TEST(Pools, what_pods_will_miss_is_remarked) {
  auto node = vf_server();
  const auto remarks = [&](const std::string& text) {
    return Pooled(node, text).table.pools.at(0).remarks;
  };
  const auto vfs = sriov(R"({"pfNames": ["ens1f0"]})");
  node.rdma_cm.emplace();
  EXPECT_THAT(remarks(shared(R"({"vendors": ["15b3"]})")), testing::IsEmpty());
  node.rdma_cm.reset();
  EXPECT_THAT(remarks(shared(R"({"vendors": ["15b3"]})")),
              ElementsAre(HasSubstr("no /dev/infiniband/rdma_cm")));
  EXPECT_THAT(remarks(vfs), testing::IsEmpty());
  std::erase_if(node.nics, [](const node::Nic& nic) { return nic.pci->device == 1; });
  for (auto& device : node.pci) {
    if (device.is_vf()) device.driver = "igb_uio";
  }
  EXPECT_THAT(remarks(vfs), ElementsAre(HasSubstr("0000:11:01.0 and 7 more: a uio driver")));
}

TEST(Pools, one_is_useless_where_what_it_selects_has_no_driver) {
  auto node = vf_server();
  const auto useless = [&](const std::string& text) {
    const Pooled pooled(node, text);
    return pools::is_useless(pooled.table, node, pooled.statuses, 0);
  };
  const auto vfs = sriov(R"({"pfNames": ["ens1f0"], "isRdma": true})");
  const auto dpdk = sriov(R"({"pfNames": ["ens1f0"]})");
  EXPECT_FALSE(useless(vfs));
  std::erase_if(node.nics, [](const node::Nic& nic) { return nic.pci->device == 1; });
  EXPECT_TRUE(useless(vfs));
  EXPECT_FALSE(useless(dpdk));
  EXPECT_FALSE(useless(sriov(R"({"vendors": ["8086"], "isRdma": true})"))) << "empty by design";
  for (auto& device : node.pci) {
    if (device.is_vf()) device.driver.reset();
  }
  EXPECT_TRUE(useless(dpdk));
  for (auto& device : node.pci) {
    if (device.is_vf()) device.driver = "vfio-pci";
  }
  EXPECT_FALSE(useless(vfs)) << "held on purpose";
}

TEST(Pools, one_is_useless_where_none_of_its_members_is_ready) {
  const auto node = small_server();
  const auto specs = specs_of(shared(R"({"vendors": ["15b3"]})"));
  std::vector<pools::NicStatus> statuses(node.nics.size(), {"compute", "port 1 is DOWN", true});
  EXPECT_TRUE(pools::is_useless(pools::make_pools(specs, node, statuses), node, statuses, 0));
  statuses[0].trouble.clear();
  EXPECT_FALSE(pools::is_useless(pools::make_pools(specs, node, statuses), node, statuses, 0));
}

/// deployment/k8s/base/configmap.yaml of the shared plugin and deployments/configMap.yaml of the
/// SR-IOV plugin have this form, with other resources.
std::string config_map(const std::string& list) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: kube-system\n"
         "data:\n  config.json: |\n    {\n        \"" +
         list + R"(": [{
             "resourceName": "r_1",
             "selectors": {"vendors": ["15b3"]}, "rdmaHcaMax": 1000, "isRdma": true
           }
        ]
    }
)";
}

TEST(Manifests, a_config_map_is_read_as_printed) {
  const auto shared_plugin = parse_text(config_map("configList"));
  ASSERT_TRUE(shared_plugin) << shared_plugin.error().message;
  EXPECT_THAT(names(shared_plugin), ElementsAre("rdma/r_1"));
  EXPECT_EQ(shared_plugin->specs[0].origin.where, "file:9:24");
  EXPECT_THAT(shared_plugin->warnings, ElementsAre(HasSubstr("file:11:70: unknown key")));
  EXPECT_THAT(names(parse_text(config_map("resourceList"))), ElementsAre("intel.com/r_1"));
}

/// Mellanox/network-operator example/crs/mellanox.com_v1alpha1_nicclusterpolicy_cr-full.yaml.
TEST(Manifests, a_nic_cluster_policy_is_read_as_printed) {
  for (const std::string kind : {"NicClusterPolicy", "NicNodePolicy"}) {
    EXPECT_THAT(names(parse_text("apiVersion: mellanox.com/v1alpha1\nkind: " + kind + R"(
metadata:
  name: nic-cluster-policy
spec:
  ofedDriver:
    image: doca-driver
    upgradePolicy: {autoUpgrade: true}
  rdmaSharedDevicePlugin:
    image: k8s-rdma-shared-dev-plugin
    # The config below directly propagates to k8s-rdma-shared-device-plugin configuration.
    config: |
      {
        "configList": [
          {"resourceName": "rdma_shared_device_a", "rdmaHcaMax": 63,
           "selectors": {"vendors": ["15b3"], "deviceIDs": ["101b"]}}
        ]
      }
  sriovDevicePlugin:
    config: |
      {"resourceList": [{"resourcePrefix": "nvidia.com", "resourceName": "hostdev",
                         "selectors": {"vendors": ["15b3"], "isRdma": true}}]}
)")),
                ElementsAre("rdma/rdma_shared_device_a", "nvidia.com/hostdev"));
  }
}

TEST(Manifests, a_text_that_is_no_block_is_named_by_its_path) {
  const auto parsed = parse_text(R"({"kind": "ConfigMap", "data": {"config.json":
      "{\"configList\": [{\"resourceName\": \"a-b\"}]}"}})");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_THAT(parsed->left_out,
              ElementsAre(HasSubstr("file:2:7: data.config.json:1:34: configList")));
}

TEST(Manifests, one_without_a_file_or_in_another_is_an_error) {
  EXPECT_THAT(error_of("kind: ConfigMap\n"), HasSubstr("file:1:1: a ConfigMap without a file"));
  EXPECT_THAT(error_of("kind: NicClusterPolicy\nspec: 7\n"), HasSubstr("without a file"));
  EXPECT_THAT(error_of("kind: ConfigMap\ndata:\n  a: |\n    kind: ConfigMap\n"),
              HasSubstr("file:4:11: kind is \"ConfigMap\""));
  std::string many = "kind: ConfigMap\ndata:\n";
  for (int i = 0; i < 257; ++i) many += "  a" + std::to_string(i) + ": x\n";
  EXPECT_THAT(error_of(many), HasSubstr("more than 256 files"));
}

TEST(FlatFile, describes_one_fungible_pool_with_its_own_defaults) {
  const auto parsed = parse_files({{"flat.yaml", "gpuRdmaAutoInject: true\n"}});
  ASSERT_TRUE(parsed);
  auto expected = pools::default_pool();
  expected.origin = {pools::PoolFlavour::k8s_rdma_device_plugin, "flat.yaml"};
  EXPECT_EQ(parsed->specs, std::vector<pools::PoolSpec>{expected});
}

TEST(FlatFile, names_its_resource_and_count) {
  const auto specs = specs_of("resourceName: a.io/rdma\nresourceCount: 12\n");
  ASSERT_EQ(specs.size(), 1U);
  EXPECT_EQ(specs[0].name, "a.io/rdma");
  EXPECT_EQ(specs[0].slots, 12U);
  EXPECT_EQ(specs[0].origin.where, "file:1:15");
}

TEST(FlatFile, variables_are_above_the_file) {
  const auto parsed = parse_files({{"flat.yaml", "resourceName: a.io/rdma\nresourceCount: 12\n"}},
                                  {{"RDMA_RESOURCE_COUNT", "7"}});
  EXPECT_EQ(parsed->specs.at(0).name, "a.io/rdma");
  EXPECT_EQ(parsed->specs.at(0).slots, 7U);
}

TEST(FlatFile, variables_alone_describe_the_pool) {
  const auto parsed = parse_files({}, {{"RDMA_RESOURCE_NAME", "a.io/rdma"}});
  ASSERT_EQ(parsed->specs.size(), 1U);
  EXPECT_EQ(parsed->specs[0].name, "a.io/rdma");
  EXPECT_EQ(parsed->specs[0].slots, 100U);
  EXPECT_EQ(parsed->specs[0].origin.where, "RDMA_RESOURCE_NAME");
  EXPECT_EQ(parse_files({}, {{"RDMA_RESOURCE_COUNT", "5"}})->specs.at(0).slots, 5U);
}

TEST(FlatFile, a_variable_of_injection_adds_no_pool_to_configured_ones) {
  const std::map<std::string, std::string> environment{{"RDMA_GPU_AUTO_INJECT", "true"}};
  EXPECT_THAT(names(parse_files({{"a.yaml", "pools: [{name: a.io/a}]"}}, environment)),
              ElementsAre("a.io/a"));
  EXPECT_THAT(names(parse_files({}, environment)), ElementsAre("rdma.io/hca"));
}

TEST(FlatFile, where_it_switches_its_device_plugin_off_there_is_no_pool) {
  EXPECT_THAT(names(parse_text("enableDevicePlugin: false\n")), ElementsAre());
  EXPECT_THAT(names(parse_files({}, {{"RDMA_ENABLE_DEVICE_PLUGIN", "false"}})), ElementsAre());
  EXPECT_THAT(names(parse_files({{"flat.yaml", "enableDevicePlugin: false\n"}},
                                {{"RDMA_ENABLE_DEVICE_PLUGIN", "true"}})),
              ElementsAre("rdma.io/hca"));
  EXPECT_THAT(names(parse_files({{"flat.yaml", "enableDevicePlugin: false\n"},
                                 {"a.yaml", "pools: [{name: a.io/a}]"}})),
              ElementsAre("a.io/a"));
}

TEST(FlatFile, wrong_values_are_errors) {
  EXPECT_THAT(error_of("resourceCount: -1\n"), HasSubstr("file:1:16: resourceCount: -1"));
  EXPECT_THAT(error_of("resourceCount: many\n"), HasSubstr("resourceCount"));
  EXPECT_THAT(error_of("resourceName: hca\n"), HasSubstr("not a resource name"));
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"RDMA_RESOURCE_COUNT", "-1"},
                                          {"RDMA_RESOURCE_COUNT", "x"},
                                          {"RDMA_RESOURCE_NAME", "hca"},
                                          {"RDMA_ENABLE_DEVICE_PLUGIN", "perhaps"}}) {
    const auto parsed = parse_files({}, {{name, value}});
    ASSERT_FALSE(parsed) << name;
    EXPECT_THAT(parsed.error().message, HasSubstr(name));
  }
}

TEST(FlatFile, no_slots_are_a_warning) {
  EXPECT_THAT(warnings_of("resourceCount: 0\n"), ElementsAre(HasSubstr("no slots")));
}

}  // namespace
}  // namespace railhead::test
