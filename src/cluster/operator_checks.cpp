// SPDX-License-Identifier: Apache-2.0
//
// Operators, the drivers that they run on nodes, and device plugins.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "cluster/checks.h"
#include "data/below.h"

namespace railhead::cluster {
namespace {

using checks::Findings;
using checks::RemedyClass;
using data::below;
using data::items_below;
using data::text_below;

void policy_state(const Cluster& cluster, Findings& found) {
  for (const char* kind : {"NicClusterPolicy", "ClusterPolicy"}) {
    const auto* policies = known(cluster, kind, found);
    if (policies == nullptr) continue;
    for (const auto& policy : policies->items) {
      const std::string state(text_below(policy, {"status", "state"}));
      const auto subject = std::string(kind) + " " + object_name(policy);
      const auto evidence = evidence_of(*policies, policy, "status.state", state);
      if (state == "ready") {
        found.pass(subject, state, {evidence});
      } else if (state.empty()) {
        found.unknown(subject, "its operator has not said a state", {evidence});
      } else if (state == "ignored") {
        found.warn(subject, state, "ready", {evidence});
      } else {
        found.fail(subject, state, "ready", {evidence});
      }
    }
  }
}

/// Words in images of DaemonSets on which RDMA of pods rests.
constexpr std::array<std::string_view, 9> kImages = {"k8s-rdma-shared-dev-plugin",
                                                     "sriov-network-device-plugin",
                                                     "k8s-rdma-device-plugin",
                                                     "doca-driver",
                                                     "mofed",
                                                     "nri-ulimit-adjuster",
                                                     "railhead",
                                                     "nvidia-peermem",
                                                     "multus-cni"};

bool is_of_rdma(const data::Value& set) {
  const auto& containers = items_below(set, {"spec", "template", "spec", "containers"});
  return std::ranges::any_of(containers, [](const data::Value& container) {
    const auto image = text_below(container, {"image"});
    return std::ranges::any_of(
        kImages, [&](std::string_view word) { return image.find(word) != std::string_view::npos; });
  });
}

void daemon_sets(const Cluster& cluster, Findings& found) {
  const auto* sets = known(cluster, "DaemonSet", found);
  if (sets == nullptr) return;
  for (const auto& set : sets->items) {
    if (!is_of_rdma(set)) continue;
    const auto wanted =
        parse_unsigned(text_below(set, {"status", "desiredNumberScheduled"})).value_or(0U);
    const auto ready = parse_unsigned(text_below(set, {"status", "numberReady"})).value_or(0U);
    const auto shown = std::to_string(ready) + " of " + std::to_string(wanted) + " ready";
    const auto evidence = evidence_of(*sets, set, "status.numberReady", shown);
    const auto subject = object_name(set);
    if (wanted == 0) {
      auto& finding =
          found.warn(subject, "it is wanted on no node", "a node that it selects", {evidence});
      finding.remedy = "Compare its nodeSelector and affinity with the labels of the nodes.";
    } else if (ready == wanted) {
      found.pass(subject, shown, {evidence});
    } else if (ready == 0) {
      found.fail(subject, shown, "all of them", {evidence});
    } else {
      found.warn(subject, shown, "all of them", {evidence});
    }
  }
}

/// Why a container of the pod waits; "" where none does.
std::string waiting_reason(const data::Value& pod) {
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const auto& status : items_below(pod, {"status", list})) {
      const auto reason = text_below(status, {"state", "waiting", "reason"});
      if (!reason.empty() && reason != "PodInitializing") {
        return std::string(text_below(status, {"name"})) + ": " + std::string(reason);
      }
    }
  }
  return "";
}

/// The driver's pods have a label that changes with the kernel, and a key that does not.
/// Source: Mellanox/network-operator manifests/state-ofed-driver/0050_ofed-driver-ds.yaml.
bool is_ofed(const data::Value& pod) {
  const auto* labels = below(pod, {"metadata", "labels"});
  return labels != nullptr && labels->find("nvidia.com/ofed-driver") != nullptr;
}

bool is_operator(const data::Value& pod) {
  const auto name = text_below(pod, {"metadata", "labels", "app.kubernetes.io/name"});
  const auto app = text_below(pod, {"metadata", "labels", "app"});
  return name == "network-operator" || name == "gpu-operator" || app == "gpu-operator" ||
         app == "nvidia-driver-daemonset" || name == "sriov-network-operator";
}

void pods_ready(const Cluster& cluster, Findings& found, bool (*is_one)(const data::Value&)) {
  const auto* pods = known(cluster, "Pod", found);
  if (pods == nullptr) return;
  for (const auto& pod : pods->items) {
    if (!is_one(pod) || text_below(pod, {"status", "phase"}) == "Succeeded") continue;
    const std::string phase(text_below(pod, {"status", "phase"}));
    const auto reason = waiting_reason(pod);
    const auto shown = reason.empty() ? phase : phase + ", " + reason;
    const auto evidence = evidence_of(*pods, pod, "status", shown);
    if (condition(pod, "Ready") == "True") {
      found.pass(object_name(pod), shown, {evidence});
    } else if (reason.empty()) {
      found.warn(object_name(pod), shown + ", not Ready", "Ready", {evidence});
    } else {
      found.fail(object_name(pod), shown, "Ready", {evidence});
    }
  }
}

void ofed_pods(const Cluster& cluster, Findings& found) {
  pods_ready(cluster, found, is_ofed);
}

void operator_pods(const Cluster& cluster, Findings& found) {
  pods_ready(cluster, found, is_operator);
}

void feature_discovery(const Cluster& cluster, Findings& found) {
  const auto* sets = known(cluster, "Deployment", found);
  if (sets == nullptr) return;
  std::vector<std::string> masters;
  for (const auto& set : sets->items) {
    const auto& containers = items_below(set, {"spec", "template", "spec", "containers"});
    const bool is_nfd = std::ranges::any_of(containers, [](const auto& one) {
      return text_below(one, {"image"}).find("node-feature-discovery") != std::string_view::npos;
    });
    if (is_nfd && object_name(set).ends_with("master")) masters.push_back(object_name(set));
  }
  if (masters.empty()) return;
  const checks::Evidence evidence{sets->target, join(masters, ", ")};
  if (masters.size() == 1) {
    found.pass(kCluster, masters[0], {evidence});
  } else {
    found.warn(kCluster, evidence.value, "one of them", {evidence});
  }
}

void mofed_wait(const Cluster& cluster, Findings& found) {
  const auto* nodes = known(cluster, "Node", found);
  const auto* pods = known(cluster, "Pod", found);
  if (nodes == nullptr || pods == nullptr) return;
  constexpr std::string_view kLabel = "network.nvidia.com/operator.mofed.wait";
  for (const auto& node : nodes->items) {
    const std::string value(text_below(node, {"metadata", "labels", kLabel}));
    if (value.empty()) continue;
    const auto evidence = evidence_of(*nodes, node, "label " + std::string(kLabel), value);
    const bool is_driver_ready = std::ranges::any_of(pods->items, [&](const data::Value& pod) {
      return is_ofed(pod) && text_below(pod, {"spec", "nodeName"}) == object_name(node) &&
             condition(pod, "Ready") == "True";
    });
    if (value != "true") {
      found.pass(object_name(node), value, {evidence});
    } else if (is_driver_ready) {
      found.fail(object_name(node), "true, and the driver is ready", "false", {evidence});
    } else {
      found.warn(object_name(node), "true: the driver is not ready", "false", {evidence});
    }
  }
}

void feature_label(const Cluster& cluster, Findings& found) {
  const auto* nodes = known(cluster, "Node", found);
  if (nodes == nullptr || cluster.kind("NicClusterPolicy").items.empty()) return;
  std::size_t labelled = 0;
  for (const auto& node : nodes->items) {
    const auto* labels = below(node, {"metadata", "labels"});
    if (labels == nullptr) continue;
    labelled += std::ranges::any_of(labels->entries, [](const auto& entry) {
      return entry.key.starts_with("feature.node.kubernetes.io/pci-") &&
             entry.key.ends_with("15b3.present");
    });
  }
  const checks::Evidence evidence{
      nodes->target + " labels feature.node.kubernetes.io/pci-15b3.present",
      counted(labelled, "node")};
  if (labelled > 0) {
    found.pass(kCluster, evidence.value, {evidence});
  } else {
    found.fail(kCluster, "no node has the label", "each node with such a NIC", {evidence});
  }
}

constexpr ClusterCheck kOperatorChecks[] = {
    {{"kube.operators", "The pods of operators are ready.", "pods, by their labels",
      "FAIL where a container waits with a reason, WARN where it is only not ready",
      "the operator changes nothing -> drivers and plugins stay as they are",
      "kubectl describe the pod, and read its log.", RemedyClass::cluster,
      "pod of an operator of NVIDIA or SR-IOV", "k8s.operators D08 D27", "", system::Part::none,
      nullptr, checks::Scope::cluster},
     operator_pods},
    {{"kube.policies", "The policies of the operators are ready.",
      "NicClusterPolicy, ClusterPolicy: status.state", "FAIL where it is not ready",
      "a part of the driver stack is missing", "Look at the policy's status and its DaemonSets.",
      RemedyClass::cluster, "policy of NVIDIA's operators", "D27 D28 F10", "", system::Part::none,
      nullptr, checks::Scope::cluster},
     policy_state},
    {{"kube.nfd", "Node feature discovery runs once.", "Deployments, by their images",
      "WARN for two", "they overwrite each other's labels -> drivers come and go",
      "Set nfd.enabled=false in one of the charts.", RemedyClass::cluster, "node feature discovery",
      "k8s.nfd D09 C07", "", system::Part::none, nullptr, checks::Scope::cluster},
     feature_discovery},
    {{"kube.nfd-label", "Nodes with ConnectX NICs have their label.",
      "nodes: labels feature.node.kubernetes.io/pci-…15b3.present",
      "FAIL where a NicClusterPolicy is there and no node has it",
      "no label -> the operator's DaemonSets select no node",
      "Look at the worker of node feature discovery. In virtual machines the functions are VFs "
      "(101e): a rule by ids of physical functions finds none.",
      RemedyClass::cluster, "NicClusterPolicy", "D10", "", system::Part::none, nullptr,
      checks::Scope::cluster},
     feature_label},
    {{"kube.ofed", "The pods of the OFED driver are ready.",
      "pods with the label key nvidia.com/ofed-driver",
      "FAIL where a container waits with a reason, WARN where it is only not ready",
      "the driver is not there, or not that of OFED -> plugins and nvidia_peermem wait",
      "Read the log of mofed-container: the image has no build for this kernel or distribution, "
      "or storage modules hold the old driver (UNLOAD_STORAGE_MODULES).",
      RemedyClass::cluster, "pod of the OFED driver", "D11 D12 D04 F11 E12", "", system::Part::none,
      nullptr, checks::Scope::cluster},
     ofed_pods},
    {{"kube.ofed-wait", "No node waits for an OFED driver that is there.",
      "nodes: label network.nvidia.com/operator.mofed.wait",
      "FAIL where it is true and the driver's pod is ready, WARN where it is true",
      "the plugins' DaemonSets select false -> the node offers nothing",
      "Restart the network operator's pod.", RemedyClass::cluster, "node with the label", "C08", "",
      system::Part::none, nullptr, checks::Scope::cluster},
     mofed_wait},
    {{"kube.daemonsets", "DaemonSets on which RDMA rests are ready on all their nodes.",
      "DaemonSets, by their images", "FAIL where none is ready, WARN where some are not",
      "a node without the plugin or driver offers no NIC", "kubectl describe a pod that is not.",
      RemedyClass::cluster, "DaemonSet of RDMA", "D11 D25 C08 L09", "", system::Part::none, nullptr,
      checks::Scope::cluster},
     daemon_sets},
};

}  // namespace

std::span<const ClusterCheck> operator_checks() {
  return kOperatorChecks;
}

}  // namespace railhead::cluster
