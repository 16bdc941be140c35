// SPDX-License-Identifier: Apache-2.0
#include "agent/gpu_claims.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"

namespace railhead {
namespace {

bool is_of_gpus(const kubelet::Holding& holding, const DecisionTable& table,
                const std::vector<std::string>& resources) {
  if (holding.ids.empty()) return false;
  const bool named = std::any_of(resources.begin(), resources.end(), [&](const auto& pattern) {
    return glob_match(pattern, holding.resource);
  });
  return named || std::any_of(holding.ids.begin(), holding.ids.end(),
                              [&](const auto& id) { return table.gpu_by_uuid(id).has_value(); });
}

}  // namespace

GpuClaim claim_in(const Result<kubelet::PodHoldings>& holdings, const DecisionTable& table,
                  const std::vector<std::string>& resources) {
  if (!holdings) {
    const bool nobody = holdings.error().code == ErrorCode::unavailable;
    return nobody ? GpuClaim::no_kubelet : GpuClaim::unanswered;
  }
  for (const auto& container : holdings->containers) {
    for (const auto& holding : container.devices) {
      if (is_of_gpus(holding, table, resources)) return GpuClaim::holds;
    }
  }
  return GpuClaim::holds_none;
}

GpuClaims::GpuClaims(std::string socket, std::vector<std::string> resources, Mailbox& mailbox,
                     Clock& clock)
    : resources_(std::move(resources)),
      answers_(clock),
      pod_resources_(std::move(socket), mailbox) {}

void GpuClaims::ask(const ContainerRequest& request, std::shared_ptr<const DecisionTable> table,
                    std::chrono::milliseconds timeout, Done done) {
  if (const auto* known = answers_.find(request.pod_uid, request.name)) {
    return done(claim_in(*known, *table, resources_));
  }
  pod_resources_.pod(std::string(request.pod_namespace), std::string(request.pod_name), timeout,
                     [this, uid = std::string(request.pod_uid), name = std::string(request.name),
                      table = std::move(table),
                      done = std::move(done)](const Result<kubelet::PodHoldings>& holdings) {
                       if (holdings) answers_.keep(uid, name, *holdings);
                       done(claim_in(holdings, *table, resources_));
                     });
}

void GpuClaims::ask_all(std::shared_ptr<const DecisionTable> table,
                        std::chrono::milliseconds timeout,
                        std::function<void(Result<ClaimOfPod>)> done) {
  pod_resources_.all(timeout, [this, table = std::move(table), done = std::move(done)](
                                  const Result<std::vector<kubelet::PodHoldings>>& all) {
    if (!all) return done(all.error());
    std::set<std::pair<std::string, std::string>> holders;
    for (const auto& pod : *all) {
      if (claim_in(pod, *table, resources_) != GpuClaim::holds) continue;
      holders.emplace(pod.pod_namespace, pod.pod);
    }
    done(ClaimOfPod([holders = std::move(holders)](std::string_view space, std::string_view pod) {
      const bool holds = holders.count({std::string(space), std::string(pod)}) != 0;
      return holds ? GpuClaim::holds : GpuClaim::holds_none;
    }));
  });
}

}  // namespace railhead
