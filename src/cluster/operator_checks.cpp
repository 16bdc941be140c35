// SPDX-License-Identifier: Apache-2.0
//
// Operators, the drivers that they run on nodes, and device plugins.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "cluster/checks.h"
#include "cluster/driver_pods.h"
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

/// True for a device plugin of NVIDIA's GPUs, or of another maker's hardware.
bool is_device_plugin(const data::Value& set) {
  const auto& containers = items_below(set, {"spec", "template", "spec", "containers"});
  return std::ranges::any_of(containers, [](const data::Value& container) {
    return text_below(container, {"image"}).find("device-plugin") != std::string_view::npos;
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

/// A ConfigMap that a pod cannot start without, and the keys of it.
struct NeededMap {
  std::string name;
  std::vector<std::string> keys;
};

void need(std::vector<NeededMap>& all, const data::Value* source, std::vector<std::string> keys) {
  const auto name = text_below(source, {"name"});
  if (name.empty() || data::is_true(*source, {"optional"})) return;
  all.push_back({std::string(name), std::move(keys)});
}

std::vector<std::string> keys_of_items(const data::Value& source) {
  std::vector<std::string> keys;
  for (const auto& item : items_below(source, {"items"})) {
    keys.emplace_back(text_below(item, {"key"}));
  }
  return keys;
}

/// Source: Kubernetes core/v1 types.go: ConfigMapVolumeSource, ConfigMapProjection,
/// ConfigMapEnvSource, ConfigMapKeySelector.
std::vector<NeededMap> needed_maps(const data::Value& pod_spec) {
  std::vector<NeededMap> all;
  for (const auto& volume : items_below(pod_spec, {"volumes"})) {
    if (const auto* map = below(volume, {"configMap"})) need(all, map, keys_of_items(*map));
    for (const auto& source : items_below(volume, {"projected", "sources"})) {
      if (const auto* map = below(source, {"configMap"})) need(all, map, keys_of_items(*map));
    }
  }
  for (const char* list : {"initContainers", "containers"}) {
    for (const auto& container : items_below(pod_spec, {list})) {
      for (const auto& from : items_below(container, {"envFrom"})) {
        if (const auto* map = below(from, {"configMapRef"})) need(all, map, {});
      }
      for (const auto& variable : items_below(container, {"env"})) {
        const auto* map = below(variable, {"valueFrom", "configMapKeyRef"});
        if (map != nullptr) need(all, map, {std::string(text_below(*map, {"key"}))});
      }
    }
  }
  return all;
}

/// The ConfigMap, or the key of it, that is missing in this namespace; "": nothing.
std::string missing_of(const NeededMap& needed, std::string_view name_space, const Listing& maps) {
  for (const auto& map : maps.items) {
    if (text_below(map, {"metadata", "name"}) != needed.name) continue;
    if (text_below(map, {"metadata", "namespace"}) != name_space) continue;
    for (const auto& key : needed.keys) {
      const auto* data = below(map, {"data"});
      const auto* binary = below(map, {"binaryData"});
      const bool there = (data != nullptr && data->find(key) != nullptr) ||
                         (binary != nullptr && binary->find(key) != nullptr);
      if (!there) return "key " + key + " of ConfigMap " + needed.name;
    }
    return "";
  }
  return "ConfigMap " + needed.name;
}

/// Source of the words: kubelet's "configmap \"NAME\" not found" keeps the pod waiting for ever.
void config_maps(const Cluster& cluster, Findings& found) {
  const auto* sets = known(cluster, "DaemonSet", found);
  const auto* maps = known(cluster, "ConfigMap", found);
  if (sets == nullptr || maps == nullptr) return;
  for (const auto& set : sets->items) {
    const auto* spec = below(set, {"spec", "template", "spec"});
    if (spec == nullptr || !(is_of_rdma(set) || is_device_plugin(set))) continue;
    const auto needed = needed_maps(*spec);
    if (needed.empty()) continue;
    std::string missing;
    for (const auto& one : needed) {
      missing = missing_of(one, text_below(set, {"metadata", "namespace"}), *maps);
      if (!missing.empty()) break;
    }
    const auto wanted =
        parse_unsigned(text_below(set, {"status", "desiredNumberScheduled"})).value_or(0U);
    const auto ready = parse_unsigned(text_below(set, {"status", "numberReady"})).value_or(0U);
    const auto evidence = evidence_of(*sets, set, "spec.template", needed.front().name);
    if (missing.empty()) {
      found.pass(object_name(set), counted(needed.size(), "ConfigMap") + " there", {evidence});
    } else if (ready < wanted) {
      found.fail(object_name(set), missing + " is not there, and its pods wait for it", missing,
                 {evidence, {maps->target, "", missing + " is not there"}});
    } else {
      found.warn(object_name(set), missing + " is not there: its pods start no more", missing,
                 {evidence, {maps->target, "", missing + " is not there"}});
    }
  }
}

/// The last line of what a container logged that says anything, cut.
std::string last_line(std::string_view log) {
  constexpr std::size_t kLine = 256;
  std::string_view last;
  for (const auto line : split(log, '\n')) {
    if (!trim(line).empty()) last = trim(line);
  }
  return std::string(last.substr(0, kLine));
}

/// The last line of a container's log, as evidence; nothing where it was not asked for.
std::optional<checks::Evidence> log_of(const Cluster& cluster, const std::string& container) {
  for (const auto& reply : cluster.driver_logs) {
    if (reply.subject != container) continue;
    if (!reply.problem.empty()) return checks::Evidence{reply.target, "", reply.problem};
    return checks::Evidence{reply.target, last_line(reply.text)};
  }
  return std::nullopt;
}

void pods_ready(const Cluster& cluster, Findings& found, bool (*is_one)(const data::Value&)) {
  const auto* pods = known(cluster, "Pod", found);
  if (pods == nullptr) return;
  for (const auto& pod : pods->items) {
    if (!is_one(pod) || text_below(pod, {"status", "phase"}) == "Succeeded") continue;
    std::string shown(text_below(pod, {"status", "phase"}));
    if (condition(pod, "Ready") == "True") {
      found.pass(object_name(pod), shown, {evidence_of(*pods, pod, "status", shown)});
      continue;
    }
    const auto stopped = stopped_container(pod);
    const bool fails = stopped && !stopped->reason.empty();
    if (fails) shown += ", " + stopped->name + ": " + stopped->reason;
    if (fails && !stopped->message.empty()) shown += " (" + stopped->message + ")";
    std::vector<checks::Evidence> evidence = {evidence_of(*pods, pod, "status", shown)};
    auto log = stopped ? log_of(cluster, object_name(pod) + "/" + stopped->name) : std::nullopt;
    if (log && !log->value.empty()) shown += "; " + stopped->name + " logs: " + log->value;
    if (log) evidence.push_back(*std::move(log));
    if (fails) {
      found.fail(object_name(pod), shown, "Ready", std::move(evidence));
    } else {
      found.warn(object_name(pod), shown + ", not Ready", "Ready", std::move(evidence));
    }
  }
}

void ofed_pods(const Cluster& cluster, Findings& found) {
  pods_ready(cluster, found, is_ofed_pod);
}

void operator_pods(const Cluster& cluster, Findings& found) {
  pods_ready(cluster, found, is_operator_pod);
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
      return is_ofed_pod(pod) && text_below(pod, {"spec", "nodeName"}) == object_name(node) &&
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
    {{"kube.operators", "The pods of operators and of the GPU's driver are ready.",
      "pods, by their labels; the log of the container that is not ready",
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
      "pods with the label key nvidia.com/ofed-driver; the log of the container that is not ready",
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
    {{"kube.configmaps", "ConfigMaps that device plugins, drivers and agents need are there.",
      "DaemonSets of RDMA and of device plugins: volumes, env and envFrom; ConfigMaps",
      "FAIL where one that is not optional, or a key of it, is missing and pods wait, WARN where "
      "none waits yet",
      "the kubelet says \"configmap not found\" -> the pod stays in ContainerCreating -> its node "
      "offers no NIC",
      "Make the ConfigMap in the namespace of the DaemonSet, under the name that it says.",
      RemedyClass::cluster, "DaemonSet of RDMA with a ConfigMap", "D24", "", system::Part::none,
      nullptr, checks::Scope::cluster},
     config_maps},
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
