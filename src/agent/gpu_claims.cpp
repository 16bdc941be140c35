// SPDX-License-Identifier: Apache-2.0
#include "agent/gpu_claims.h"

#include <utility>

namespace railhead::agent {

GpuClaims::GpuClaims(kubelet::PodResources& resources, host::Clock& clock)
    : resources_(resources),
      answers_(clock) {}

void GpuClaims::ask(const container::Request& request,
                    std::shared_ptr<const inject::DecisionTable> table,
                    std::chrono::milliseconds timeout,
                    std::function<void(inject::KubeletAnswer)> done) {
  if (const auto* known = answers_.find(request.pod_uid, request.name)) {
    return done(inject::kubelet_answer_for(request.name, *known, *table));
  }
  resources_.pod(std::string(request.pod_namespace), std::string(request.pod_name), timeout,
                 [this, uid = std::string(request.pod_uid), name = std::string(request.name),
                  table = std::move(table),
                  done = std::move(done)](const Result<container::PodHoldings>& holdings) {
                   if (holdings) answers_.keep(uid, name, *holdings);
                   done(inject::kubelet_answer_for(name, holdings, *table));
                 });
}

void GpuClaims::ask_all(std::chrono::milliseconds timeout,
                        std::function<void(Result<std::vector<container::PodHoldings>>)> done) {
  resources_.all(timeout, std::move(done));
}

}  // namespace railhead::agent
