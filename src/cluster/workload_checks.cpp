// SPDX-License-Identifier: Apache-2.0
//
// Pods that wait for a NIC, what the logs of those that run say, and every object by lint's rules.
#include <algorithm>
#include <map>
#include <optional>

#include "base/contains.h"
#include "base/text.h"
#include "cluster/checks.h"
#include "data/below.h"
#include "lint/lint.h"
#include "proof/nccl_job.h"
#include "proof/nccl_log.h"

namespace railhead::cluster {
namespace {

using checks::Findings;
using checks::RemedyClass;
using data::items_below;
using data::text_below;

/// "Insufficient NAME" of the scheduler's message that is a NIC; "" where it says none.
std::string missing_nic(const Cluster& cluster, std::string_view message) {
  constexpr std::string_view kWord = "Insufficient ";
  for (auto at = message.find(kWord); at != std::string_view::npos;
       at = message.find(kWord, at + 1)) {
    auto name = message.substr(at + kWord.size());
    name = name.substr(0, name.find_first_of(" ,;"));
    while (name.ends_with('.')) name.remove_suffix(1);
    if (lint::is_nic(cluster.given, name)) return std::string(name);
  }
  return "";
}

void pending(const Cluster& cluster, Findings& found) {
  const auto* pods = known(cluster, "Pod", found);
  if (pods == nullptr) return;
  std::size_t asking = 0;
  for (const auto& pod : pods->items) {
    const auto& containers = items_below(pod, {"spec", "containers"});
    const bool asks = std::ranges::any_of(containers, [&](const auto& value) {
      lint::Container one;
      one.value = &value;
      return lint::nics_of(cluster.given, one) > 0;
    });
    if (!asks) continue;
    ++asking;
    if (text_below(pod, {"status", "phase"}) != "Pending") continue;
    for (const auto& one : items_below(pod, {"status", "conditions"})) {
      if (text_below(one, {"type"}) != "PodScheduled") continue;
      const auto message = text_below(one, {"message"});
      const auto name = missing_nic(cluster, message);
      if (name.empty()) continue;
      found.fail(object_name(pod), "Pending: no node has enough " + name, "scheduled",
                 {evidence_of(*pods, pod, "status.conditions PodScheduled",
                              std::string(message.substr(0, 256)))});
    }
  }
  if (asking > 0) {
    found.pass(kCluster, counted(asking, "pod") + " asks for NICs",
               {{pods->target, counted(asking, "pod")}});
  }
}

/// Where an address or a GUID was seen.
struct AddressUse {
  const data::Value* pod = nullptr;
  std::string annotation;
};

/// By network and address, "ai/rail0 192.168.4.7"; a GUID is one for all networks.
using AddressUses = std::map<std::string, std::vector<AddressUse>>;

/// A list of Multus in an annotation; nothing where the pod has none, or a plain list of names.
std::optional<data::Value> list_in(const data::Value& pod, std::string_view annotation) {
  const auto text = text_below(pod, {"metadata", "annotations", annotation});
  if (text.empty() || text.find('[') == std::string_view::npos) return std::nullopt;
  auto parsed = data::parse_json(text);
  if (!parsed) return std::nullopt;
  return *std::move(parsed);
}

constexpr std::string_view kNetworkStatus = "k8s.v1.cni.cncf.io/network-status";
constexpr std::string_view kNetworks = "k8s.v1.cni.cncf.io/networks";

/// Source: k8snetworkplumbingwg/multi-net-spec, 4.1.2.1 and 5; the GUID is Mellanox/ib-kubernetes'.
void take_addresses(const data::Value& pod, AddressUses& holders) {
  const auto add = [&](std::string key, std::string_view annotation) {
    constexpr std::size_t kMaxAddresses = 200'000;
    if (holders.size() < kMaxAddresses) {
      holders[std::move(key)].push_back({&pod, std::string(annotation)});
    }
  };
  if (const auto status = list_in(pod, kNetworkStatus)) {
    for (const auto& network : status->items) {
      if (text_below(network, {"default"}) == "true") continue;
      for (const auto& address : items_below(network, {"ips"})) {
        add(std::string(text_below(network, {"name"})) + " " + address.scalar, kNetworkStatus);
      }
    }
  }
  if (const auto networks = list_in(pod, kNetworks)) {
    for (const auto& network : networks->items) {
      for (const auto guid :
           {text_below(network, {"infiniband-guid"}), text_below(network, {"cni-args", "guid"})}) {
        if (!guid.empty()) add("GUID " + to_lower(guid), kNetworks);
      }
    }
  }
}

void addresses(const Cluster& cluster, Findings& found) {
  const auto* pods = known(cluster, "Pod", found);
  if (pods == nullptr) return;
  AddressUses holders;
  for (const auto& pod : pods->items) {
    if (text_below(pod, {"status", "phase"}) == "Running") take_addresses(pod, holders);
  }
  if (holders.empty()) return;
  std::size_t shared = 0;
  for (const auto& [address, all] : holders) {
    std::vector<std::string> names;
    std::vector<checks::Evidence> evidence;
    for (const auto& holder : all) {
      const auto name = object_name(*holder.pod);
      if (contains(names, name)) continue;
      names.push_back(name);
      evidence.push_back(evidence_of(*pods, *holder.pod, holder.annotation, address));
    }
    if (names.size() < 2) continue;
    ++shared;
    constexpr std::size_t kShown = 4;
    if (evidence.size() > kShown) evidence.resize(kShown);
    found.fail(address, join(names, ", "), "one pod", std::move(evidence));
  }
  if (shared == 0) {
    found.pass(kCluster, counted(holders.size(), "address") + ", each of one pod",
               {{pods->target + " annotations " + std::string(kNetworkStatus),
                 counted(holders.size(), "address")}});
  }
}

void logs(const Cluster& cluster, Findings& found) {
  for (const auto& reply : cluster.logs) {
    if (!reply.problem.empty()) {
      found.unknown(reply.subject, reply.problem, {{reply.target, "", reply.problem}});
      continue;
    }
    proof::NcclLogReader reader;
    reader.feed(reply.text);
    const auto job = proof::judge(reader.finish());
    const std::string verdict(to_string(job.verdict));
    checks::Evidence evidence{reply.target, job.why};
    for (const auto& rank : job.ranks) {
      if (rank.evidence.empty()) continue;
      evidence.value = rank.evidence.front().text;
      break;
    }
    switch (job.verdict) {
      case proof::NcclVerdict::tcp:
      case proof::NcclVerdict::mixed:
        found.fail(reply.subject, verdict + ": " + job.why, "RDMA", {evidence});
        break;
      case proof::NcclVerdict::unknown:
        found.skip(reply.subject, "its log says nothing of a transport: " + job.why, {evidence});
        break;
      default: found.pass(reply.subject, verdict, {evidence});
    }
  }
}

/// A rule that says that something is not there, and the kind in which it would be.
struct Needs {
  std::string_view rule;
  std::string_view kind;
};

constexpr Needs kNeeds[] = {{"resource.no-pool", "Node"},
                            {"annotation.network", "NetworkAttachmentDefinition"},
                            {"daemon.idle-adjuster", "Pod"},
                            {"pod.memlock", "DaemonSet"}};

/// Why this finding proves nothing here; "": it does.
std::string unproved(const Cluster& cluster, std::string_view rule) {
  for (const auto& one : kNeeds) {
    if (one.rule == rule && !cluster.kind(one.kind).problem.empty()) {
      return cluster.kind(one.kind).problem;
    }
  }
  return "";
}

void manifests(const Cluster& cluster, Findings& found) {
  std::size_t complaints = 0;
  for (const auto& one : lint::lint(cluster.given)) {
    if (one.severity == lint::Severity::note) continue;
    ++complaints;
    const auto subject = one.object + " " + std::string(one.rule);
    const checks::Evidence evidence{one.object, one.what};
    const auto why = unproved(cluster, one.rule);
    if (!why.empty()) {
      found.unknown(subject, why, {{one.object, "", why}});
      continue;
    }
    // A pool of nodes may have been scaled to none: pods that wait are found by themselves.
    const bool fails = one.severity == lint::Severity::fail && one.rule != "resource.no-pool";
    auto& finding = fails
                        ? found.fail(subject, one.what, "see " + std::string(one.rule), {evidence})
                        : found.warn(subject, one.what, "see " + std::string(one.rule), {evidence});
    finding.effect = one.why;
    finding.remedy = one.remedy;
  }
  if (complaints == 0 && !cluster.given.objects.empty()) {
    found.pass(kCluster, counted(cluster.given.objects.size(), "object"),
               {{cluster.server, counted(cluster.given.objects.size(), "object")}});
  }
}

constexpr ClusterCheck kWorkloadChecks[] = {
    {{"kube.pending", "No pod waits for a NIC.", "pods: status.conditions PodScheduled",
      "FAIL where the scheduler says Insufficient of a resource of NICs",
      "no node has enough of the resource -> the pod stays Pending",
      "See kube.resources and kube.offered for why no node has it; else other pods hold all.",
      RemedyClass::cluster, "pod that asks for NICs", "D33 D26", "", system::Part::none, nullptr,
      checks::Scope::cluster},
     pending},
    {{"kube.addresses",
      "No two pods have the same address, or the same GUID, on a network of NICs.",
      "pods: annotations k8s.v1.cni.cncf.io/network-status and networks",
      "FAIL for an address that two running pods have on one network, and for a GUID that two have",
      "a GID is made of the address, a port known by its GUID: packets arrive at the other pod -> "
      "queue pairs time out",
      "Use an IPAM that knows the cluster (nv-ipam, whereabouts) in place of host-local, keep its "
      "range apart from other users of the network, and let ib-kubernetes give out GUIDs.",
      RemedyClass::cluster, "pod with an address on a second network", "link.guid roce.gid C13 F21",
      "", system::Part::none, nullptr, checks::Scope::cluster},
     addresses},
    {{"kube.logs", "What containers log of NCCL, UCX and NIXL shows RDMA.",
      "pods/NAME/log, the first 512 KiB of 16 containers with GPUs or NICs",
      "FAIL where it shows TCP; SKIP where it says nothing",
      "data between nodes goes over TCP -> slower by an order of magnitude",
      "railhead nccl-log says why, line by line; set NCCL_DEBUG=INFO where a log says nothing.",
      RemedyClass::cluster, "running container with GPUs or NICs", "log.scan D35 C22 F30", "",
      system::Part::none, nullptr, checks::Scope::cluster},
     logs},
    {{"kube.manifests", "The cluster's objects pass the rules of railhead lint.",
      "all objects that are listed", "as the rule says; advice (NOTE) is left out", "",
      "railhead lint --explain RULE says all of the rule.", RemedyClass::cluster, "object",
      "D07 D29 D32 L09 L11 N02 N03 N05 N08 C09 C13 C17 F13 F21 F22 F26 F27 F28 F29 F42", "",
      system::Part::none, nullptr, checks::Scope::cluster},
     manifests},
};

}  // namespace

std::span<const ClusterCheck> workload_checks() {
  return kWorkloadChecks;
}

}  // namespace railhead::cluster
