// SPDX-License-Identifier: Apache-2.0
//
// The API server itself, nodes, and the resources that they offer.
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cluster/checks.h"
#include "data/below.h"
#include "data/value.h"
#include "topology/known_machine.h"

namespace railhead::cluster {
namespace {

using checks::Findings;
using checks::RemedyClass;
using data::below;
using data::text_below;

void readable(const Cluster& cluster, Findings& found) {
  std::size_t objects = 0;
  std::size_t kinds = 0;
  for (const auto& [name, listing] : cluster.kinds) {
    if (!listing.problem.empty()) {
      found.unknown(name, listing.problem, {{listing.target, "", listing.problem}});
    } else if (!listing.is_absent) {
      objects += listing.items.size();
      ++kinds;
    }
  }
  if (kinds > 0) {
    found.pass(kCluster, counted(objects, "object") + " of " + counted(kinds, "kind"),
               {{cluster.server, counted(objects, "object")}});
  }
}

void version(const Cluster& cluster, Findings& found) {
  const auto& reply = cluster.version;
  const auto parsed = reply.problem.empty()
                          ? data::parse_json(reply.text)
                          : Result<data::Value>(Error{ErrorCode::unavailable, reply.problem});
  if (!parsed) {
    found.unknown(kCluster, parsed.error().message, {{reply.target, "", parsed.error().message}});
    return;
  }
  const std::string text(text_below(*parsed, {"gitVersion"}));
  auto minor = text_below(*parsed, {"minor"});
  if (minor.ends_with('+')) minor.remove_suffix(1);
  const auto number = parse_unsigned(minor);
  const checks::Evidence evidence{reply.target, text};
  if (!number || text_below(*parsed, {"major"}) != "1") {
    found.unknown(kCluster, "version " + in_quotes(text) + " is not understood", {evidence});
  } else if (*number < 26) {
    found.warn(kCluster, text, "v1.26 or later", {evidence});
  } else {
    found.pass(kCluster, text, {evidence});
  }
}

/// The GPUs, or NICs, among a node's resources: name and allocatable count.
template <typename Use>
void for_each_resource(const data::Value& node, Use use) {
  const auto* capacity = below(node, {"status", "capacity"});
  const auto* allocatable = below(node, {"status", "allocatable"});
  if (capacity == nullptr) return;
  for (const auto& entry : capacity->entries) {
    if (entry.key.find('/') == std::string::npos) continue;
    const auto free =
        allocatable == nullptr ? std::string_view() : text_below(*allocatable, {entry.key});
    use(entry.key, lint::quantity(entry.value.scalar), lint::quantity(free));
  }
}

std::uint64_t gpus_of_node(const Cluster& cluster, const data::Value& node) {
  std::uint64_t gpus = 0;
  for_each_resource(node, [&](const std::string& name, std::uint64_t, std::uint64_t free) {
    if (lint::is_gpu(cluster.given, name)) gpus += free;
  });
  return gpus;
}

void gpu_nodes(const Cluster& cluster, Findings& found) {
  const auto* nodes = known(cluster, "Node", found);
  if (nodes == nullptr) return;
  std::vector<std::string> names;
  for (const auto& node : nodes->items) {
    if (gpus_of_node(cluster, node) > 0) names.push_back(object_name(node));
  }
  if (names.empty()) return;
  const checks::Evidence evidence{nodes->target + " status.allocatable",
                                  counted(names.size(), "node") + " with GPUs"};
  if (names.size() == 1) {
    found.warn(kCluster, "one node with GPUs, " + names[0], "two or more", {evidence});
  } else {
    found.pass(kCluster, evidence.value, {evidence});
  }
}

/// "Standard_ND96isr_H100_v5": the letters behind the number say what the size has; r is RDMA.
/// Source: Azure's naming conventions of virtual machine sizes.
std::optional<bool> has_rdma_by_name(std::string_view type) {
  constexpr std::string_view kPrefix = "Standard_N";
  if (!type.starts_with(kPrefix)) return std::nullopt;
  type.remove_prefix(kPrefix.size());
  const auto end = type.find('_');
  const auto digits = type.substr(0, end).find_last_of(kDecimalDigits);
  if (digits == std::string_view::npos) return std::nullopt;
  return type.substr(digits + 1, end - digits - 1).find('r') != std::string_view::npos;
}

/// What the table has of a size, else what its name says.
std::optional<bool> has_rdma(std::string_view type) {
  const auto known = topology::find_size(type, topology::known_machines());
  if (known.machine != nullptr) return known.machine->nics > 0;
  return has_rdma_by_name(type);
}

/// Whole GPUs that the node's plugin knows of, healthy or not; nothing where it deals out parts.
std::optional<std::uint64_t> whole_gpus(const Cluster& cluster, const data::Value& node) {
  std::uint64_t gpus = 0;
  bool has_parts = false;
  for_each_resource(node, [&](const std::string& name, std::uint64_t all, std::uint64_t) {
    if (!lint::is_gpu(cluster.given, name)) return;
    gpus += all;
    has_parts = has_parts || name.find("mig") != std::string::npos;
  });
  if (gpus == 0 || has_parts) return std::nullopt;
  return gpus;
}

void machine_type(const Cluster& cluster, Findings& found) {
  const auto* nodes = known(cluster, "Node", found);
  if (nodes == nullptr) return;
  constexpr std::string_view kLabel = "node.kubernetes.io/instance-type";
  for (const auto& node : nodes->items) {
    const std::string type(text_below(node, {"metadata", "labels", kLabel}));
    const auto rdma = has_rdma(type);
    if (!rdma || gpus_of_node(cluster, node) == 0) continue;
    const auto evidence = evidence_of(*nodes, node, "label " + std::string(kLabel), type);
    const auto known = topology::find_size(type, topology::known_machines());
    const auto gpus = whole_gpus(cluster, node);
    if (known.size != nullptr && gpus && *gpus < known.size->gpus) {
      auto& finding = found.fail(
          object_name(node), counted(*gpus, "GPU"),
          std::to_string(known.size->gpus) + " of " + type,
          {evidence, evidence_of(*nodes, node, "status.capacity", counted(*gpus, "GPU"))});
      finding.effect = "a GPU fell off the bus -> jobs that ask for all GPUs stay Pending";
      finding.remedy =
          "railhead doctor on the node says which function is missing; then redeploy "
          "or report the machine.";
    } else if (*rdma) {
      found.pass(object_name(node), type, {evidence});
    } else {
      found.warn(object_name(node), type + ", which has no RDMA NIC",
                 type.starts_with("Standard_") ? "a size with r in its name" : "a size with RDMA",
                 {evidence});
    }
  }
}

/// Whether an operator of NVIDIA installs a driver on nodes, for what its images are built.
bool has_driver_of_operator(const Cluster& cluster) {
  for (const auto& policy : cluster.kind("NicClusterPolicy").items) {
    if (below(policy, {"spec", "ofedDriver"}) != nullptr) return true;
  }
  for (const auto& policy : cluster.kind("ClusterPolicy").items) {
    if (!data::is_false(policy, {"spec", "driver", "enabled"})) return true;
  }
  return false;
}

/// AKS labels the nodes of its pools, and those whose size has GPUs of NVIDIA, driver or not.
/// Source: learn.microsoft.com/azure/aks/use-labels, reserved labels.
bool is_gpu_node_of_aks(const Cluster& cluster, const data::Value& node) {
  const auto label = [&](std::string_view name) {
    return text_below(node, {"metadata", "labels", name});
  };
  if (label("kubernetes.azure.com/agentpool").empty() && label("agentpool").empty() &&
      label("kubernetes.azure.com/cluster").empty()) {
    return false;
  }
  if (label("kubernetes.azure.com/accelerator") == "nvidia" || label("accelerator") == "nvidia") {
    return true;
  }
  const auto type = label("node.kubernetes.io/instance-type");
  const auto known = topology::find_size(type, topology::known_machines());
  return gpus_of_node(cluster, node) > 0 || (known.size != nullptr && known.size->gpus > 0);
}

void node_system(const Cluster& cluster, Findings& found) {
  const auto* nodes = known(cluster, "Node", found);
  if (nodes == nullptr || !has_driver_of_operator(cluster)) return;
  for (const auto& node : nodes->items) {
    if (!is_gpu_node_of_aks(cluster, node)) continue;
    const std::string image(text_below(node, {"status", "nodeInfo", "osImage"}));
    const auto evidence = evidence_of(*nodes, node, "status.nodeInfo.osImage", image);
    if (image.empty()) {
      found.unknown(object_name(node), "the kubelet has not said its system", {evidence});
    } else if (image.starts_with("Ubuntu")) {
      found.pass(object_name(node), image, {evidence});
    } else {
      found.warn(object_name(node), image, "Ubuntu", {evidence});
    }
  }
}

/// Labels that say how the NICs of a node are set; Railhead's feature file has them.
constexpr std::array<std::string_view, 4> kSettings = {
    "railhead.io/rdma.link-layer", "railhead.io/rdma.rate-gbps", "railhead.io/rdma.total-vfs",
    "railhead.io/rails"};

/// How many nodes of one size have each value of a label.
using Spread = std::map<std::string, std::size_t, std::less<>>;

/// The value that more than half of them have; "": none.
std::string usual_of(const Spread& spread) {
  std::size_t all = 0;
  for (const auto& [value, count] : spread) all += count;
  for (const auto& [value, count] : spread) {
    if (2 * count > all) return value;
  }
  return "";
}

void nic_settings(const Cluster& cluster, Findings& found) {
  const auto* nodes = known(cluster, "Node", found);
  if (nodes == nullptr) return;
  const auto label = [](const data::Value& node, std::string_view name) {
    return std::string(text_below(node, {"metadata", "labels", name}));
  };
  constexpr std::string_view kSize = "node.kubernetes.io/instance-type";
  std::map<std::pair<std::string, std::string_view>, Spread> spreads;
  for (const auto& node : nodes->items) {
    for (const auto name : kSettings) {
      const auto value = label(node, name);
      const auto size = label(node, kSize);
      if (!value.empty() && !size.empty() && value != "unknown") ++spreads[{size, name}][value];
    }
  }
  for (const auto& node : nodes->items) {
    std::size_t said = 0;
    std::vector<std::string> others;
    std::vector<checks::Evidence> evidence;
    for (const auto name : kSettings) {
      const auto value = label(node, name);
      const auto at = spreads.find({label(node, kSize), name});
      if (at == spreads.end() || value.empty() || value == "unknown") continue;
      ++said;
      const auto usual = usual_of(at->second);
      if (usual.empty() || usual == value) continue;
      others.push_back(std::string(name) + " " + value + " and not " + usual);
      evidence.push_back(evidence_of(*nodes, node, "label " + std::string(name), value));
    }
    if (others.empty() && said > 0) {
      found.pass(object_name(node), "as most nodes of its size",
                 {evidence_of(*nodes, node, "labels railhead.io/", counted(said, "label"))});
    } else if (!others.empty()) {
      found.warn(object_name(node), join(others, ", "), "as most nodes of its size",
                 std::move(evidence));
    }
  }
}

bool is_configured(const Cluster& cluster, const std::string& resource) {
  const auto* offer = cluster.given.offers.find(resource);
  return offer != nullptr && offer->object != nullptr;
}

void resources(const Cluster& cluster, Findings& found) {
  const auto* nodes = known(cluster, "Node", found);
  if (nodes == nullptr) return;
  for (const auto& node : nodes->items) {
    for_each_resource(node, [&](const std::string& name, std::uint64_t all, std::uint64_t free) {
      if (lint::is_gpu(cluster.given, name)) return;
      const bool is_nic = is_configured(cluster, name) || name.starts_with("rdma/") ||
                          name.starts_with("rdma.io/") || name.find("rdma") != std::string::npos;
      if (!is_nic) return;
      const auto subject = object_name(node) + "/" + name;
      const auto shown = std::to_string(free) + " of " + std::to_string(all);
      const auto evidence = evidence_of(*nodes, node, "status.allocatable " + name, shown);
      if (free > 0 && free == all) {
        found.pass(subject, shown, {evidence});
      } else if (free > 0) {
        found.warn(subject, shown + " can be allocated", "all of them", {evidence});
      } else if (is_configured(cluster, name)) {
        found.fail(subject, shown + " can be allocated", "one or more", {evidence});
      } else {
        auto& finding = found.warn(subject, shown + ", and no plugin's file here names it",
                                   "a resource with devices, or none", {evidence});
        finding.effect = "the plugin that offered it is gone -> the kubelet keeps the name";
        finding.remedy =
            "If no plugin is to offer it any more, restart the node's kubelet, or remove the name "
            "by a JSON patch of the node's status (op remove, path /status/capacity/" +
            std::string("DOMAIN~1NAME).");
      }
    });
  }
}

void offered(const Cluster& cluster, Findings& found) {
  const auto* nodes = known(cluster, "Node", found);
  if (nodes == nullptr) return;
  std::map<std::string, std::string> by_node;
  for (const auto& node : nodes->items) {
    for_each_resource(node, [&](const std::string& name, std::uint64_t, std::uint64_t) {
      by_node.emplace(name, object_name(node));
    });
  }
  std::set<std::string> done;
  for (const auto& offer : cluster.given.offers) {
    if (offer.object == nullptr || !done.insert(offer.name).second) continue;
    const checks::Evidence evidence{offer.by, offer.name};
    const auto at = by_node.find(offer.name);
    if (at != by_node.end()) {
      found.pass(offer.name, "node " + at->second + " has it", {evidence});
    } else {
      found.warn(offer.name, "no node has it", "a node that has it",
                 {evidence, {nodes->target + " status.capacity", ""}});
    }
  }
}

void topology_manager(const Cluster& cluster, Findings& found) {
  for (const auto& reply : cluster.configz) {
    if (!reply.problem.empty()) {
      found.unknown(reply.subject, reply.problem, {{reply.target, "", reply.problem}});
      continue;
    }
    const auto parsed = data::parse_json(reply.text);
    const auto* config = parsed ? below(*parsed, {"kubeletconfig"}) : nullptr;
    if (config == nullptr) {
      const std::string why = parsed ? "has no kubeletconfig" : parsed.error().message;
      found.unknown(reply.subject, why, {{reply.target, "", why}});
      continue;
    }
    const auto said = text_below(*config, {"topologyManagerPolicy"});
    const std::string policy(said.empty() ? "none" : said);
    const checks::Evidence evidence{reply.target + " topologyManagerPolicy", policy};
    if (policy == "none") {
      found.warn(reply.subject, "topologyManagerPolicy none", "best-effort or stricter",
                 {evidence});
    } else {
      found.pass(reply.subject, policy, {evidence});
    }
  }
}

constexpr ClusterCheck kNodeChecks[] = {
    {{"kube.readable", "Everything that is looked at can be listed.", "the API server",
      "UNKNOWN for each kind that cannot be listed; a kind that is not installed is no fault", "",
      "Give the user or service account get and list of this kind.", RemedyClass::cluster, "kind",
      "", "", system::Part::none, nullptr, checks::Scope::cluster},
     readable},
    {{"kube.version", "Kubernetes is 1.26 or later.", "/version", "WARN below 1.26",
      "device plugins and NRI of today need it", "Upgrade the cluster.", RemedyClass::reboot,
      "version", "N14 F04", "", system::Part::none, nullptr, checks::Scope::cluster},
     version},
    {{"kube.gpu-nodes", "Two nodes or more have GPUs.", "nodes: status.allocatable", "WARN for one",
      "RDMA between nodes cannot be proved with one",
      "Scale the pool to two nodes; wide expert parallelism needs more.", RemedyClass::cluster,
      "node with GPUs", "D01 L12", "", system::Part::none, nullptr, checks::Scope::cluster},
     gpu_nodes},
    {{"kube.machine-type", "A node with GPUs is of a size that has RDMA, and has all its GPUs.",
      "nodes: label node.kubernetes.io/instance-type, status.capacity; the table of known machines",
      "WARN for a size without RDMA, of Azure one without r; FAIL for fewer GPUs than the size has",
      "the size has no RDMA NIC -> everything between nodes goes over TCP",
      "Use a size with r in its name, as Standard_ND96isr_H100_v5.", RemedyClass::hardware,
      "node of a known size", "D02 L01 L02", "", system::Part::none, nullptr,
      checks::Scope::cluster},
     machine_type},
    {{"kube.node-system", "A GPU node of AKS runs Ubuntu where an operator installs its drivers.",
      "nodes: status.nodeInfo.osImage, labels of AKS; NicClusterPolicy ofedDriver, ClusterPolicy "
      "driver.enabled",
      "WARN for another system; no other node, and none without such an operator, is looked at",
      "there is no image of the driver for this system -> its pods stay in ImagePullBackOff",
      "Make the node pool with --os-sku Ubuntu; the system of a pool cannot be changed in place to "
      "every other one.",
      RemedyClass::cluster, "GPU node of AKS with an operator's driver", "", "", system::Part::none,
      nullptr, checks::Scope::cluster},
     node_system},
    {{"kube.nic-settings", "NICs of nodes of one size are set alike.",
      "nodes: labels railhead.io/rdma.link-layer, rdma.rate-gbps, rdma.total-vfs and rails, "
      "node.kubernetes.io/instance-type",
      "WARN where more than half of the nodes of the size have another value; nodes without these "
      "labels, and values that are unknown, do not count",
      "jobs and policies that run on the other nodes fail, or are slower, on this one",
      "railhead doctor on the node says which NIC: sriov.firmware, link.layer, link.rate, "
      "topo.missing-nic.",
      RemedyClass::reboot, "node with Railhead's labels", "", "", system::Part::none, nullptr,
      checks::Scope::cluster},
     nic_settings},
    {{"kube.resources", "A node can allocate all NICs that it has.",
      "nodes: status.capacity, status.allocatable",
      "FAIL for 0 of a configured resource, WARN for fewer than all, or 0 of one that nobody "
      "configures",
      "the plugin is not there, or finds no healthy device -> 0 can be allocated -> pods stay "
      "Pending",
      "Look at the plugin's pod on the node, and run railhead doctor there: a missing ib_umad, "
      "rdma_ucm or char device makes plugins drop a NIC.",
      RemedyClass::live, "resource of RDMA", "k8s.resources D26 C11 C14 L10 F20 N06", "",
      system::Part::none, nullptr, checks::Scope::cluster},
     resources},
    {{"kube.offered", "What plugins are configured to offer is offered by some node.",
      "ConfigMaps, NicClusterPolicy, SriovNetworkNodePolicies; nodes: status.capacity",
      "WARN where no node has it",
      "selectors match no function, or the plugin does not run -> pods stay Pending",
      "Compare the selectors with a node's functions: railhead pools shows what each lacks.",
      RemedyClass::cluster, "configured resource", "k8s.plugin.selectors D24 C06", "",
      system::Part::none, nullptr, checks::Scope::cluster},
     offered},
    {{"kube.topology-manager", "The kubelet aligns GPUs and NICs by NUMA node.",
      "nodes/NAME/proxy/configz, 16 nodes with GPUs", "WARN for the policy none",
      "GPU and NIC of a pod are on different sockets -> slower by a third and more",
      "Set topologyManagerPolicy to best-effort or restricted in the kubelet's configuration.",
      RemedyClass::restart, "node with GPUs", "F37 N04", "", system::Part::none, nullptr,
      checks::Scope::cluster},
     topology_manager},
};

}  // namespace

std::span<const ClusterCheck> node_checks() {
  return kNodeChecks;
}

}  // namespace railhead::cluster
