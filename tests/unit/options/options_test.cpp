// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "options/options.h"

namespace railhead::options {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<std::vector<affinity::RoleOverride>> roles_from(const std::string& entry) {
  const auto config =
      config::make_config({{{"railhead.yaml", "roles:\n- " + entry + "\n"}}, {}, {}});
  if (!config) return config.error();
  auto rules = operator_rules(*config);
  if (!rules) return rules.error();
  return std::move(rules)->roles;
}

std::string error_of(const std::string& entry) {
  const auto roles = roles_from(entry);
  return roles ? "no error" : roles.error().message;
}

TEST(DoctorWishes, are_what_the_operator_expects) {
  const auto wishes = [](const std::string& text) {
    return doctor_wishes(config::make_config({{{"file", text}}, {}, {}}).value());
  };
  const auto unused = wishes("nri: {enabled: false}\nexpect:\n  - {name: mlx5_3, unused: true}");
  ASSERT_TRUE(unused);
  EXPECT_FALSE(unused->nri);
  EXPECT_EQ(unused->rules.expect.size(), 1U);
  EXPECT_FALSE(wishes("topology: {file: /nowhere/topology.xml}"));
}

TEST(DoctorWishes, have_the_netdevs_by_whose_names_resources_are_selected) {
  const auto netdevs = [](const std::string& text) {
    const auto wishes = doctor_wishes(config::make_config({{{"file", text}}, {}, {}}).value());
    return wishes ? wishes->netdevs : std::vector<checks::NetdevSelector>();
  };
  using One = checks::NetdevSelector;
  EXPECT_THAT(netdevs(R"({"configList": [{"resourceName": "ib", "rdmaHcaMax": 8,
      "selectors": {"ifNames": ["ib0", "ib1"]}}]})"),
              ElementsAre(One{"rdma/ib", "ifNames", {"ib0", "ib1"}}));
  EXPECT_THAT(netdevs(R"({"resourceList": [{"resourceName": "vf", "resourcePrefix": "a.example",
      "selectors": {"pfNames": ["ens1f0#0-3"], "isRdma": true}}]})"),
              ElementsAre(One{"a.example/vf", "pfNames", {"ens1f0"}}));
  EXPECT_THAT(netdevs("nri: {enabled: true}"), ElementsAre());
}

TEST(AgentPolicies, what_settings_say_against_each_other_is_named_with_place) {
  const auto error = [](const std::string& text) {
    const auto config = config::make_config({{{"c.yaml", text}}, {}, {}});
    const auto policies = agent_policies(config.value());
    return policies ? "no error" : policies.error().message;
  };
  EXPECT_THAT(error("kubernetes: {conditions: true}"),
              HasSubstr("c.yaml:1:26: kubernetes.conditions: they come of the doctor's looks"));
  EXPECT_EQ(error("kubernetes: {conditions: true}\ndoctor: {everySeconds: 60}"), "no error");
  EXPECT_EQ(error("host: {ncclTopo: /a.xml}"),
            "c.yaml:1:18: host.ncclTopo: a topology file is not a machine to read");
}

TEST(InjectionPolicy, has_what_each_key_of_injection_says) {
  const auto config = config::make_config({{{"railhead.yaml", R"(
injection: {gpus: numa, gpuResources: p, annotations: deny, memlockCap: 8Mi, devices: umad,
  roceWithoutHostNetwork: true, pfWithVfs: true, vmRuntimes: true, vmRuntimeHandlers: q,
  ucxEnvironment: true, nvshmemEnvironment: true, gdrcopy: true,
  ncclTopoFile: /r}
)"}},
                                           {},
                                           {}});
  ASSERT_TRUE(config) << config.error().message;
  const auto policy = injection_policy(config->settings());
  EXPECT_EQ(std::tie(policy.gpus, policy.annotations, policy.memlock_cap, policy.topology_file),
            std::tuple(config::GpuPolicy::numa, config::AnnotationPolicy::deny, 8388608U, "/r"));
  EXPECT_THAT(policy.gpu_resources, ElementsAre("p"));
  EXPECT_THAT(policy.devices, ElementsAre("umad"));
  EXPECT_THAT(policy.vm_runtime_handlers, ElementsAre("q"));
  EXPECT_TRUE(policy.roce_without_host_network);
  EXPECT_TRUE(policy.pf_with_vfs);
  EXPECT_TRUE(policy.vm_runtimes);
  EXPECT_TRUE(policy.ucx_env);
  EXPECT_TRUE(policy.nvshmem_env);
  EXPECT_TRUE(policy.gdrcopy);
}

TEST(RoleOverrides, all_selectors_are_read) {
  const auto roles = roles_from(
      "{name: 'mlx5_*', pci: '29:00.0', device: '15b3:101d', linkLayer: Ethernet, netdev: 'ens*', "
      "role: front-end}");
  ASSERT_TRUE(roles) << roles.error().message;
  ASSERT_EQ(roles->size(), 1U);
  const affinity::RoleOverride& rule = roles->front();
  EXPECT_EQ(rule.name_globs, "mlx5_*");
  EXPECT_EQ(rule.pci->str(), "0000:29:00.0");
  EXPECT_EQ(rule.vendor, 0x15b3);
  EXPECT_EQ(rule.device, 0x101d);
  EXPECT_EQ(rule.link_layer, node::LinkLayer::ethernet);
  EXPECT_EQ(rule.netdev_glob, "ens*");
  EXPECT_EQ(rule.role, affinity::Role::front_end);
}

Result<affinity::OperatorRules> rules_expecting(const std::string& entry) {
  const auto config =
      config::make_config({{{"railhead.yaml", "expect:\n- " + entry + "\n"}}, {}, {}});
  if (!config) return config.error();
  return operator_rules(*config);
}

std::string expect_error(const std::string& entry) {
  const auto rules = rules_expecting(entry);
  return rules ? "no error" : rules.error().message;
}

TEST(Expect, each_kind_is_read) {
  using Kind = affinity::Expectation::Kind;
  const auto unused = rules_expecting("{pci: '29:00.1', port: 2, unused: true}");
  ASSERT_TRUE(unused) << unused.error().message;
  EXPECT_EQ(unused->expect[0].kind, Kind::unused);
  EXPECT_EQ(unused->expect[0].pci->str(), "0000:29:00.1");
  EXPECT_EQ(unused->expect[0].port, 2U);
  EXPECT_EQ(unused->expect[0].where, "railhead.yaml:2:3");
  EXPECT_EQ(rules_expecting("{name: [a, b*], oneUp: true}")->expect[0].kind, Kind::one_up);
  EXPECT_EQ(rules_expecting("{name: [a, b*], oneUp: true}")->expect[0].name_globs, "a,b*");
  EXPECT_EQ(rules_expecting("{device: '15b3:1021', rateGbps: 200}")->expect[0].gbps, 200);
}

TEST(Expect, what_cannot_be_read_is_an_error_with_its_place) {
  EXPECT_EQ(expect_error("{name: a, rateGbps: fast}"),
            "railhead.yaml:2:23: expect.rateGbps: \"fast\" is not a rate in Gbit/s, such as 200");
  EXPECT_EQ(expect_error("{name: a, unused: false}"),
            "railhead.yaml:2:21: expect.unused: \"false\" is not true");
  EXPECT_EQ(expect_error("{name: a, oneUp: true, unused: true}"),
            "railhead.yaml:2:3: an entry of expect says one of unused, oneUp and rateGbps");
  for (const char* port : {"{name: a, unused: true, port: 0}", "{name: a, rateGbps: 1, port: 1}",
                           "{name: a, unused: true, port: 256}"}) {
    EXPECT_THAT(expect_error(port), HasSubstr("expect.port: ")) << port;
  }
  EXPECT_THAT(expect_error("{unused: true}"), HasSubstr("needs something to select by"));
  EXPECT_THAT(expect_error("{name: a}"), HasSubstr("and something to say"));
  EXPECT_THAT(expect_error("{name: a, role: storage}"), HasSubstr("unknown key \"expect.role\""));
}

TEST(RoleOverrides, device_may_be_any_of_a_vendor) {
  const auto roles = roles_from("{device: '1d0f:*', role: compute}");
  ASSERT_TRUE(roles) << roles.error().message;
  EXPECT_EQ(roles->front().vendor, 0x1d0f);
  EXPECT_EQ(roles->front().device, std::nullopt);
}

TEST(RoleOverrides, what_cannot_be_read_is_an_error_with_its_place) {
  EXPECT_EQ(error_of("{pci: 'mlx5_0', role: storage}"),
            "railhead.yaml:2:9: roles.pci: \"mlx5_0\" is not a PCI address such as 0000:18:00.0");
  for (const char* ids :
       {"15b3", "15b3:", ":101d", "0x15b3:0x101d", "15b3:101", "*:101d", "a:b:c"}) {
    EXPECT_THAT(error_of("{device: '" + std::string(ids) + "', role: storage}"),
                HasSubstr("railhead.yaml:2:12: roles.device: "))
        << ids;
  }
  EXPECT_THAT(error_of("{linkLayer: infiniband, role: storage}"),
              HasSubstr("2:15: roles.linkLayer: \"infiniband\" is neither InfiniBand nor"));
  EXPECT_THAT(
      error_of("{name: a, role: fast}"),
      HasSubstr("railhead.yaml:2:19: roles.role: \"fast\" is not a role: compute, storage"));
}

TEST(LoggedDifferences, are_those_of_another_plugins_file) {
  const auto logged = [](const std::string& text) {
    std::string ids;
    const auto config = config::make_config({{{"file", text}}, {}, {}});
    if (!config) return config.error().message;
    for (const auto& one : logged_differences(*config)) ids += std::string(one.id) + " ";
    return ids;
  };
  EXPECT_EQ(logged(R"({"configList": []})"), "nics-without-a-slot ");
  EXPECT_EQ(logged("resourceCount: 1"), "gpu-pods-need-a-slot other-pods-need-a-slot ");
  EXPECT_EQ(logged("pools: []"), "");
}

}  // namespace
}  // namespace railhead::options
