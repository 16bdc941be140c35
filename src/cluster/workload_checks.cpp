// SPDX-License-Identifier: Apache-2.0
//
// Pods that wait for a NIC, what the logs of those that run say, and every object by lint's rules.
#include <algorithm>

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
    const bool asks = std::any_of(containers.begin(), containers.end(), [&](const auto& value) {
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
               {{pods->target, counted(asking, "pod"), ""}});
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
    checks::Evidence evidence{reply.target, job.why, ""};
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
    const checks::Evidence evidence{one.object, one.what, ""};
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
               {{cluster.server, counted(cluster.given.objects.size(), "object"), ""}});
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
