// SPDX-License-Identifier: Apache-2.0
//
// Manifests as their projects print them: Mellanox/k8s-rdma-shared-dev-plugin deployment/k8s/base,
// Mellanox/network-operator example/crs, k8snetworkplumbingwg/sriov-network-operator doc.
#include "config/plugin_texts.h"

#include <gmock/gmock.h>

namespace railhead::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;
using testing::UnorderedElementsAre;

/// Fails where the text is no manifest or a wrong one.
PluginTexts texts_of(const std::string& text, std::string_view node = "") {
  const auto texts = plugin_texts_of_manifest({"m.yaml", text}, node);
  if (!texts) ADD_FAILURE() << texts.error().message;
  if (texts && !*texts) ADD_FAILURE() << "no manifest";
  return texts && *texts ? **texts : PluginTexts();
}

std::string error_of(const std::string& text) {
  const auto texts = plugin_texts_of_manifest({"m.yaml", text});
  return texts ? "" : texts.error().message;
}

constexpr const char* kConfigMap = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: rdma-devices, namespace: kube-system}
data:
  config.json: |
    {"configList": [{"resourceName": "hca", "rdmaHcaMax": 1000, "devices": ["ib0"]}]}
  notes: nothing of a plugin
)";

TEST(PluginTexts, the_files_of_a_config_map) {
  const auto texts = texts_of(kConfigMap);
  ASSERT_EQ(texts.files.size(), 1U);
  EXPECT_EQ(texts.files[0].name, "m.yaml") << "lines are the manifest's";
  EXPECT_THAT(texts.files[0].text, StartsWith("\n\n\n\n\n    {\"configList\""));
  EXPECT_THAT(texts.warnings, IsEmpty());
  const std::string flat =
      "apiVersion: v1\nkind: ConfigMap\ndata:\n  config.yaml: |\n    resourceCount: 7\n";
  EXPECT_EQ(texts_of(flat).files[0].text, "\n\n\n\n    resourceCount: 7\n\n");
}

TEST(PluginTexts, a_half_written_config_map_names_its_key) {
  EXPECT_THAT(error_of("apiVersion: v1\nkind: ConfigMap\ndata:\n  c.json: '{\"configList\": ['\n"),
              HasSubstr("m.yaml:4:11: data.c.json: line 1"));
  EXPECT_THAT(error_of("apiVersion: v1\nkind: ConfigMap\ndata:\n  c.json: |\n"
                       "    {\"configList\": [\n    ],}\n"),
              HasSubstr("m.yaml: line 6 column 7: not JSON: a comma before the end"));
}

TEST(PluginTexts, of_a_configuration_a_node_the_nodes_own_counts) {
  const std::string two = R"(apiVersion: v1
kind: ConfigMap
data:
  node-1: '{"resourceList": [{"resourceName": "a"}]}'
  node-2: '{"resourceList": [{"resourceName": "b"}]}'
)";
  EXPECT_THAT(error_of(two), HasSubstr("in node-1 and another in node-2; --node-name says whose"));
  const auto texts = texts_of(two, "node-2");
  ASSERT_EQ(texts.files.size(), 1U);
  EXPECT_EQ(texts.files[0].name, "m.yaml:5:11: data.node-2");
}

TEST(PluginTexts, what_a_nic_cluster_policy_gives_its_plugins) {
  const auto texts = texts_of(R"(apiVersion: mellanox.com/v1alpha1
kind: NicClusterPolicy
metadata: {name: nic-cluster-policy}
spec:
  ofedDriver: {image: doca-driver}
  rdmaSharedDevicePlugin:
    image: k8s-rdma-shared-dev-plugin
    config: |
      {"configList": [{"resourceName": "a", "rdmaHcaMax": 63, "selectors": {"vendors": ["15b3"]}}]}
  sriovDevicePlugin:
    useCdi: true
    config: |
      {"resourceList": [{"resourcePrefix": "nvidia.com", "resourceName": "hostdev",
                         "selectors": {"vendors": ["15b3"], "isRdma": true}}]}
)");
  ASSERT_EQ(texts.files.size(), 2U);
  EXPECT_THAT(texts.files[0].text, HasSubstr("\n      {\"configList\""));
  EXPECT_THAT(texts.files[1].text, HasSubstr("\n      {\"resourceList\""));
  EXPECT_THAT(texts.flags, ElementsAre(Pair(SettingRow("devicePlugin.handout"), "cdi")));
  EXPECT_EQ(texts_of("apiVersion: mellanox.com/v1alpha1\nkind: NicNodePolicy\nspec:\n"
                     "  sriovDevicePlugin: {config: '{\"resourceList\": []}'}\n")
                .files.size(),
            1U);
}

constexpr const char* kNodePolicy = R"(apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata:
  name: mellanox-policy
  namespace: sriov-network-operator
spec:
  deviceType: netdevice
  nicSelector:
    vendor: "15b3"        # Mellanox
    deviceID: "1017"      # ConnectX-5
    pfNames: ["enp3s0f0#0-3"]
  nodeSelector:
    feature.node.kubernetes.io/network-sriov.capable: "true"
  numVfs: 8
  resourceName: mlx_sriov_netdevice
  isRdma: true           # Enable RDMA capabilities
  linkType: IB
  priority: 10
)";

TEST(PluginTexts, what_the_operator_makes_of_a_node_policy) {
  const auto texts = texts_of(kNodePolicy);
  ASSERT_EQ(texts.files.size(), 1U);
  EXPECT_EQ(texts.files[0].text, R"({
  "resourceList": [
    {
      "resourceName": "mlx_sriov_netdevice",
      "selectors": {
        "isRdma": true,
        "needVhostNet": false,
        "vendors": [
          "15b3"
        ],
        "devices": [
          "1018"
        ],
        "pfNames": [
          "enp3s0f0#0-3"
        ],
        "linkTypes": [
          "infiniband"
        ]
      },
      "excludeTopology": false
    }
  ]
}
)");
  EXPECT_TRUE(texts.has_policies);
  EXPECT_THAT(texts.warnings, IsEmpty());
}

TEST(PluginTexts, node_policies_of_one_resource_are_one_in_order_of_priority) {
  const auto policy = [](const char* name, const char* resource, const char* priority,
                         const char* nics) {
    return std::string("---\napiVersion: sriovnetwork.openshift.io/v1\n") +
           "kind: SriovNetworkNodePolicy\nmetadata: {name: " + name +
           "}\nspec: {resourceName: " + resource + ", numVfs: 4, priority: " + priority +
           ", nicSelector: " + nics + "}\n";
  };
  const auto texts = texts_of(policy("a", "last", "1", "{vendor: '8086'}") +
                              policy("b", "both", "99", "{pfNames: [eth0]}") +
                              policy("c", "both", "99", "{pfNames: [eth1, eth0]}") +
                              policy("default", "none", "0", "{}"));
  const auto text = texts.files.at(0).text;
  EXPECT_LT(text.find("both"), text.find("last"));
  EXPECT_EQ(text.find("none"), std::string::npos);
  EXPECT_EQ(text.find("both"), text.rfind("both"));
  EXPECT_LT(text.find("eth0"), text.find("eth1"));
  EXPECT_EQ(text.find("eth0"), text.rfind("eth0"));
}

TEST(PluginTexts, what_of_a_node_policy_does_not_count_is_said) {
  const auto with = [](const std::string& nics) {
    return texts_of(
        "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\n"
        "metadata: {name: p}\nspec:\n  resourceName: r\n  numVfs: 2\n"
        "  nicSelector: " +
        nics + "\n");
  };
  EXPECT_THAT(with("{vendor: '15b3', pfName: [eth0]}").warnings,
              ElementsAre("m.yaml:7:33: unknown key \"nicSelector.pfName\" ignored, as by the API "
                          "server"));
  EXPECT_THAT(with("{deviceID: beef, pfNames: [eth0]}").warnings,
              ElementsAre(HasSubstr("the id of its virtual functions is not known")));
  const auto filtered = with("{netFilter: 'aws/NetworkID:x'}");
  EXPECT_THAT(filtered.warnings, ElementsAre(HasSubstr("the policy is left out")));
  EXPECT_THAT(filtered.files.at(0).text, HasSubstr("\"resourceList\": []"));
  EXPECT_THAT(error_of("apiVersion: v1\nkind: SriovNetworkNodePolicy\nspec: {numVfs: 1}\n"),
              HasSubstr("needs resourceName and nicSelector"));
}

TEST(PluginTexts, values_of_a_helm_chart) {
  const auto texts = texts_of(
      "rdma:\n  enableDevicePlugin: true\n  resourceName: a.io/b\n  resourceCount: 7\n"
      "gpuRdmaAutoInject: true\n");
  EXPECT_THAT(
      texts.environment,
      ElementsAre(Pair("RDMA_ENABLE_DEVICE_PLUGIN", "true"), Pair("RDMA_GPU_AUTO_INJECT", "true"),
                  Pair("RDMA_RESOURCE_COUNT", "7"), Pair("RDMA_RESOURCE_NAME", "a.io/b")));
  for (const char* other : {"rdma: {}", "rdma: 1", "rdma: {more: 1}", "resourceName: a.io/b"}) {
    EXPECT_FALSE(*config::plugin_texts_of_manifest({"m.yaml", other})) << other;
  }
}

TEST(PluginTexts, what_the_api_server_refuses_is_an_error) {
  const auto with = [](const std::string& number) {
    return error_of(
        "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\n"
        "metadata: {name: p}\nspec:\n  resourceName: r\n  nicSelector: {deviceID: '1017'}\n  " +
        number + "\n");
  };
  EXPECT_THAT(with("numVfs: -1"), HasSubstr("m.yaml:7:11: numVfs: -1 is below 0"));
  EXPECT_THAT(with("numVfs: many"), HasSubstr("m.yaml:7:11: numVfs: "));
  EXPECT_THAT(with("priority: 100"), HasSubstr("m.yaml:7:13: priority: 100 is above 99"));
  EXPECT_THAT(with("priority: -1"), HasSubstr("priority: -1 is below 0"));
  EXPECT_THAT(with("linkType: ethernet"),
              HasSubstr("m.yaml:7:13: linkType \"ethernet\" is none that the API server takes"));
  EXPECT_THAT(with("deviceType: vfio"), HasSubstr("deviceType \"vfio\" is none"));
}

TEST(PluginTexts, flags_and_variables_of_a_daemon_set) {
  const auto daemon_set = [](const std::string& container) {
    return texts_of("apiVersion: apps/v1\nkind: DaemonSet\nspec: {template: {spec: {containers: [" +
                    container + "]}}}\n");
  };
  const auto sriov = daemon_set(
      "{command: [sriovdp], args: ['--log-level=10', --resource-prefix, nvidia.com, --use-cdi]}");
  EXPECT_THAT(sriov.flags,
              UnorderedElementsAre(Pair(SettingRow("devicePlugin.handout"), "cdi"),
                                   Pair(SettingRow("devicePlugin.resourcePrefix"), "nvidia.com")));
  EXPECT_THAT(daemon_set("{args: ['--use-cdi=false', --resource-prefix=a.b]}").flags,
              ElementsAre(Pair(SettingRow("devicePlugin.resourcePrefix"), "a.b")));
  const auto flat = daemon_set(
      "{command: [k8s-rdma-device-plugin, --config=/c.yaml, --gpu-rdma-auto-inject],"
      " env: [{name: RDMA_RESOURCE_COUNT, value: '5'}, {name: PATH, value: /bin},"
      " {name: RDMA_GPU_AUTO_INJECT, value: 'false'}, {name: RDMA_RESOURCE_NAME}]}");
  EXPECT_THAT(flat.environment, UnorderedElementsAre(Pair("RDMA_GPU_AUTO_INJECT", "true"),
                                                     Pair("RDMA_RESOURCE_COUNT", "5")));
  EXPECT_THAT(flat.warnings, ElementsAre(HasSubstr("RDMA_RESOURCE_NAME has no value here")));
}

TEST(PluginTexts, a_flag_that_is_none_names_file_and_flag) {
  EXPECT_EQ(error_of("apiVersion: apps/v1\nkind: DaemonSet\nspec: {template: {spec: {containers: ["
                     "{args: ['--use-cdi=maybe']}]}}}\n"),
            "m.yaml: --use-cdi: \"maybe\" is neither true nor false");
}

/// The root folder that a DaemonSet of a container with these words and mounts, and with these
/// volumes shows; "" where it shows none.
std::string root_of(const std::string& container, const std::string& volumes) {
  const auto texts = texts_of(
      "apiVersion: apps/v1\nkind: DaemonSet\nspec: {template: {spec: {containers: [{args: "
      "[--resource-prefix=a.b], " +
      container + "}], volumes: [" + volumes + "]}}}\n");
  const auto at = texts.flags.find("kubelet.rootDir");
  EXPECT_EQ(texts.warnings.empty(), at == texts.flags.end()) << container << volumes;
  return at == texts.flags.end() ? "" : at->second;
}

TEST(PluginTexts, host_paths_and_arguments_show_the_kubelets_root_folder) {
  const std::string usual =
      "volumeMounts: [{name: a, mountPath: /var/lib/kubelet/device-plugins},"
      " {name: b, mountPath: /var/lib/kubelet/plugins_registry}]";
  const auto volumes = [](const std::string& a, const std::string& b) {
    return "{name: a, hostPath: {path: " + a + "}}, {name: b, hostPath: {path: " + b + "}}";
  };
  for (const std::string root : {"/data/kubelet", "/var/lib/k0s/kubelet", "/data/k",
                                 "/var/snap/microk8s/common/var/lib/kubelet"}) {
    EXPECT_EQ(root_of(usual, volumes(root + "/device-plugins", root + "/plugins_registry/")), root);
    EXPECT_EQ(root_of(usual, volumes(root + "/device-plugins", "/dev")), root);
    // The device-plugins folder stays where it is.
    EXPECT_EQ(
        root_of(usual, volumes("/var/lib/kubelet/device-plugins", root + "/plugins_registry")),
        root);
  }
  EXPECT_EQ(root_of(usual, volumes("/var/lib/kubelet/device-plugins/",
                                   "/var/lib/kubelet//plugins_registry")),
            "");
  const std::string volume = "{name: x, hostPath: {path: /data}}";
  EXPECT_EQ(
      root_of("volumeMounts: [{name: x, mountPath: /p, subPath: kubelet/pod-resources}]", volume),
      "/data/kubelet");
  EXPECT_EQ(root_of("volumeMounts: [{name: x, mountPath: /var/lib/kubelet, subPath: k}]", volume),
            "/data/k");
  EXPECT_EQ(root_of("volumeMounts: [{name: s, mountPath: /s.sock}]",
                    "{name: s, hostPath: {path: /data/kubelet/device-plugins/kubelet.sock}}"),
            "/data/kubelet");
  EXPECT_EQ(root_of("command: [a, --kubelet-root-dir=/data/kubelet/]", ""), "/data/kubelet");
  EXPECT_EQ(root_of("command: [a, --kubelet-root-dir, /data/kubelet]", ""), "/data/kubelet");
}

TEST(PluginTexts, other_folders_and_what_is_not_known_show_no_root_folder) {
  const auto of_path = [](const std::string& path, const std::string& more = "") {
    return root_of("volumeMounts: [{name: x, mountPath: /x" + more + "}]",
                   "{name: x, hostPath: {path: '" + path + "'}}");
  };
  for (const char* path : {"/opt/device-plugins", "/etc/kubelet", "/",
                           "relative/kubelet/pod-resources", "{{ .Values.root }}/device-plugins",
                           "/$(ROOT)/kubelet/device-plugins", "/data/kubelet/pods", ""}) {
    EXPECT_EQ(of_path(path), "") << path;
  }
  EXPECT_EQ(of_path("/data/kubelet", ", subPathExpr: pod-resources"), "");
  EXPECT_EQ(root_of("command: [a, --kubelet-root-dir]", ""), "");
  EXPECT_EQ(root_of("command: [a, --kubelet-root-dir=$(ROOT)]", ""), "");
}

TEST(PluginTexts, two_root_folders_are_no_setting) {
  const auto texts = texts_of(
      "apiVersion: apps/v1\nkind: DaemonSet\nspec: {template: {spec: {containers: [{args: "
      "[--resource-prefix=a.b, --kubelet-root-dir=/a/kubelet, "
      "--kubelet-root-dir=/b/kubelet]}]}}}\n");
  EXPECT_EQ(texts.flags.size(), 1U);
  ASSERT_EQ(texts.warnings.size(), 1U);
  EXPECT_THAT(texts.warnings[0], testing::AllOf(HasSubstr("/a/kubelet"), HasSubstr("/b/kubelet")));
}

TEST(PluginTexts, documents_and_lists_are_read_and_lines_are_the_files) {
  const std::string set =
      "apiVersion: apps/v1\nkind: DaemonSet\n"
      "spec: {template: {spec: {containers: [{args: [--resource-prefix=a.b]}]}}}\n";
  const auto texts = texts_of("---\n" + set + "--- # next\n" + kConfigMap);
  EXPECT_EQ(texts.files.size(), 1U);
  EXPECT_EQ(texts.flags.size(), 1U);
  EXPECT_THAT(error_of("---\n" + set + "---\n" +
                       "apiVersion: v1\nkind: ConfigMap\ndata:\n  c: '{\"configList\": ['\n"),
              HasSubstr("m.yaml:9:6: data.c"));
  const std::string list = R"({"apiVersion": "v1", "kind": "List", "items": [
      {"apiVersion": "v1", "kind": "Namespace"},
      {"apiVersion": "v1", "kind": "ConfigMap", "data": {"c": "resourceCount: 3"}}]})";
  EXPECT_EQ(texts_of(list).files.at(0).text, "resourceCount: 3");
}

TEST(PluginTexts, dashes_in_a_block_end_no_document) {
  const auto texts = texts_of(
      "apiVersion: v1\nkind: ConfigMap\ndata:\n  config.yaml: |\n    ---\n    configList: []\n");
  ASSERT_EQ(texts.files.size(), 1U);
  EXPECT_THAT(texts.files[0].text, HasSubstr("configList"));
}

TEST(PluginTexts, what_is_none_is_left_to_others) {
  for (const char* text : {"", "resourceCount: 7\n", R"({"configList": []})", "kind: ConfigMap\n",
                           "apiVersion: railhead.io/v1alpha1\nkind: Config\n", "- a\n"}) {
    const auto texts = plugin_texts_of_manifest({"f", text});
    ASSERT_TRUE(texts) << text;
    EXPECT_FALSE(*texts) << text;
  }
  EXPECT_THAT(error_of("apiVersion: v1\nkind: Pod\n"),
              HasSubstr("m.yaml: no configuration of a plugin in Pod"));
  std::string many;
  for (int i = 0; i < 300; ++i) many += "---\n";
  EXPECT_THAT(error_of(many), HasSubstr("more than 256 documents"));
}

}  // namespace
}  // namespace railhead::config
