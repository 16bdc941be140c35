// SPDX-License-Identifier: Apache-2.0
#include "lint/schema.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "unit/lint/lint_text.h"

namespace railhead::test {
namespace {

using lint::ScalarType;

ScalarType type_of(const std::string& yaml) {
  return lint::scalar_type(*data::parse_yaml(yaml));
}

/// "SEVERITY RULE" of each finding of this folder, in the order of the text.
std::string said_of_kind(const std::string& api, const std::string& kind, const std::string& spec) {
  std::string said;
  for (const auto& one : lint_text("apiVersion: " + api + "\nkind: " + kind +
                                   "\nmetadata: {name: n}\nspec: " + spec + "\n")) {
    if (!one.rule.starts_with("schema.")) continue;
    said += std::string(to_string(one.severity)) + " " + std::string(one.rule) + " " +
            one.what.substr(0, one.what.find(' ')) + "\n";
  }
  return said;
}

std::string said_of_policy(const std::string& spec) {
  return said_of_kind("sriovnetwork.openshift.io/v1", "SriovNetworkNodePolicy", "{" + spec + "}");
}

TEST(LintSchema, every_notation_can_be_read) {
  for (const auto table : {lint::sriov_schemas(), lint::nic_schemas(), lint::gpu_schemas()}) {
    for (const auto& one : table) {
      const auto shape = lint::parse_shape(one.spec);
      ASSERT_TRUE(shape) << one.kind;
      EXPECT_FALSE(shape->keys.empty()) << one.kind;
    }
  }
  EXPECT_TRUE(lint::parse_shape(lint::gpu_operator_values()));
  for (const auto* wrong : {"", "{", "{a}", "{a=}", "{a=s", "[s", "x", "i(a)", "s s", "{&none}"}) {
    EXPECT_FALSE(lint::parse_shape(wrong)) << wrong;
  }
}

TEST(LintSchema, unquoted_scalars_are_typed_as_by_kubectl) {
  for (const auto* text : {"yes", "n", "On", "FALSE", "true"}) {
    EXPECT_EQ(type_of(text), ScalarType::boolean) << text;
  }
  for (const auto* text : {"1017", "0x15b3", "-3", "1_000", "0o17", "0777", "0b11"}) {
    EXPECT_EQ(type_of(text), ScalarType::integer) << text;
  }
  for (const auto* text : {"24.10", "15e3", ".5", ".inf", "1e+3"}) {
    EXPECT_EQ(type_of(text), ScalarType::number) << text;
  }
  for (const auto* text : {"15b3", "101e", "0000:19:00.0", "\"1017\"", "'yes'", "26.01-1", "1.2.3",
                           "_1", "e3", ".", "+", "0xg", "2025-01-02", "|\n  8\n"}) {
    EXPECT_EQ(type_of(text), ScalarType::text) << text;
  }
}

TEST(LintSchema, keys_that_the_api_server_drops) {
  EXPECT_EQ(said_of_policy("ibverbs: true, rdma: true"),
            "WARN schema.key spec.ibverbs\nWARN schema.key spec.rdma\n");
  EXPECT_EQ(said_of_policy("numVFs: 8, nicSelectors: {}"),
            "WARN schema.key spec.numVFs\nWARN schema.key spec.nicSelectors\n");
  EXPECT_EQ(said_of_policy("nicSelector: {pfName: a, isRdma: true}"),
            "WARN schema.key spec.nicSelector.pfName\nWARN schema.key spec.nicSelector.isRdma\n");
  EXPECT_EQ(said_of_kind("mellanox.com/v1alpha1", "NicClusterPolicy",
                         "{ofedDrivers: {}, rdmaSharedDevicePlugn: {}, nvPeerDriver: {}}"),
            "WARN schema.key spec.ofedDrivers\nWARN schema.key spec.rdmaSharedDevicePlugn\n"
            "NOTE schema.old-key spec.nvPeerDriver\n");
  EXPECT_EQ(said_of_kind("nvidia.com/v1", "ClusterPolicy",
                         "{driver: {enable: true, rdma: {useHostMOFED: true}}}"),
            "WARN schema.key spec.driver.enable\nWARN schema.key spec.driver.rdma.useHostMOFED\n");
}

TEST(LintSchema, values_that_it_refuses) {
  EXPECT_EQ(
      said_of_policy("numVfs: \"8\", linkType: infiniband, deviceType: netdev, isRdma: \"true\""),
      "FAIL schema.value spec.numVfs\nFAIL schema.value spec.linkType\n"
      "FAIL schema.value spec.deviceType\nFAIL schema.value spec.isRdma\n");
  EXPECT_EQ(said_of_policy("nicSelector: {pfNames: a, deviceID: 1017}, priority: 100"),
            "FAIL schema.value spec.nicSelector.pfNames\n"
            "FAIL schema.value spec.nicSelector.deviceID\nFAIL schema.value spec.priority\n");
  EXPECT_EQ(said_of_policy("nodeSelector: {a: true, b: 1}"),
            "FAIL schema.value spec.nodeSelector.a\nFAIL schema.value spec.nodeSelector.b\n");
  EXPECT_EQ(said_of_kind("sriovnetwork.openshift.io/v1", "SriovNetwork", "{spoofChk: on}"),
            "FAIL schema.value spec.spoofChk\n");
  EXPECT_EQ(
      said_of_kind("mellanox.com/v1alpha1", "NicNodePolicy", "{ofedDriver: {version: 24.10}}"),
      "FAIL schema.value spec.ofedDriver.version\n");
}

TEST(LintSchema, what_is_required_and_missing_is_said_of_whole_objects) {
  EXPECT_EQ(said_of_policy("resourceName: r, numVfs: 8, nodeSelector: {a: b}"),
            "FAIL schema.value spec\n");
  EXPECT_EQ(said_of_policy("resourceName: r, numVfs: 8, nodeSelector: {a: b}, nicSelector: null"),
            "FAIL schema.value spec\n");
  EXPECT_EQ(said_of_policy("numVfs: 8"), "");  // a patch
  EXPECT_EQ(said_of_kind("mellanox.com/v1alpha1", "NicClusterPolicy",
                         "{ofedDriver: {startupProbe: {periodSeconds: 20}}}"),
            "FAIL schema.value spec.ofedDriver.startupProbe\n");
}

TEST(LintSchema, what_it_takes_is_not_spoken_of) {
  EXPECT_EQ(said_of_policy("resourceName: r, numVfs: 8, isRdma: yes, linkType: IB, mtu: null, "
                           "nodeSelector: {\"a/b\": \"1\"}, "
                           "nicSelector: {vendor: 15b3, deviceID: 101b}, bridge: {ovs: {bridge: "
                           "{otherConfig: {any: thing}}}}"),
            "");
  EXPECT_EQ(said_of_kind("nvidia.com/v1", "ClusterPolicy",
                         "{driver: {resources: {limits: {cpu: 1, memory: 1Gi}}, env: [{name: A, "
                         "value: b}], upgradePolicy: {maxUnavailable: 25%}}}"),
            "");
  EXPECT_EQ(said_of_kind("kyverno.io/v1", "ClusterPolicy", "{rules: []}"), "");
  EXPECT_EQ(said_of_kind("mellanox.com/v1alpha1", "NicClusterPolicy",
                         "{nodeAffinity: {any: {thing: 1}}, sriovDevicePlugin: {config: \"8\"}}"),
            "");
}

TEST(LintSchema, what_the_api_server_has_taken_is_right) {
  lint::Objects objects;
  read_objects({"m.yaml",
                "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\n"
                "spec: {numVfs: a, other: 1}\n"},
               objects);
  EXPECT_TRUE(lint::lint(lint::give(std::move(objects), {}, true)).empty());
}

}  // namespace
}  // namespace railhead::test
