// SPDX-License-Identifier: Apache-2.0
#include "agent/gpu_claims.h"

#include <utility>

namespace railhead::agent {

GpuClaims::GpuClaims(kubelet::PodResources& resources, host::Clock& clock)
    : resources_(resources),
      clock_(clock),
      answers_(clock) {}

std::optional<inject::KubeletAnswer> GpuClaims::known(const container::Request& request,
                                                      const inject::DecisionTable& table) {
  auto answer = kept(request.pod_uid, request.name, table);
  if (answer) return answer;
  const auto failure = resources_.asked_in_vain();
  if (!failure) return std::nullopt;
  return inject::kubelet_answer_of(*failure);
}

void GpuClaims::ask(const container::Request& request,
                    std::shared_ptr<const inject::DecisionTable> table,
                    std::chrono::milliseconds timeout,
                    std::function<void(inject::KubeletAnswer)> done) {
  Waiter waiter{std::string(request.pod_namespace),
                std::string(request.pod_name),
                std::string(request.pod_uid),
                std::string(request.name),
                std::move(table),
                clock_.now() + timeout,
                std::move(done)};
  const auto ahead = ahead_.find(request.pod_uid);
  if (ahead == ahead_.end()) return ask_now(std::move(waiter));
  ahead->second.push_back(std::move(waiter));
}

std::optional<inject::KubeletAnswer> GpuClaims::kept(std::string_view pod_uid,
                                                     std::string_view name,
                                                     const inject::DecisionTable& table) {
  const auto* holdings = answers_.find(pod_uid, name);
  if (holdings == nullptr) return std::nullopt;
  auto answer = inject::kubelet_answer_for(name, *holdings, table);
  answer.is_kept = true;
  return answer;
}

void GpuClaims::ask_now(Waiter waiter) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(waiter.end - clock_.now());
  const auto pod_namespace = waiter.pod_namespace;
  const auto pod = waiter.pod;
  resources_.pod(
      pod_namespace, pod, left,
      [this, waiter = std::move(waiter)](const Result<container::PodHoldings>& holdings) {
        if (holdings) {
          has_answered_ = true;
          answers_.keep(waiter.pod_uid, waiter.name, *holdings);
        }
        waiter.done(inject::kubelet_answer_for(waiter.name, holdings, *waiter.table));
      });
}

void GpuClaims::expect(const container::Request& pod, std::chrono::milliseconds timeout) {
  answers_.forget(pod.pod_uid);  // its sandbox is a new one
  if (!has_answered_ || pod.pod_uid.empty() || ahead_.size() >= kMostAhead) return;
  if (!ahead_.try_emplace(std::string(pod.pod_uid)).second) return;
  resources_.pod(
      std::string(pod.pod_namespace), std::string(pod.pod_name), timeout,
      [this, uid = std::string(pod.pod_uid)](const Result<container::PodHoldings>& holdings) {
        const auto waiting = ahead_.extract(uid);
        if (holdings) answers_.keep(uid, *holdings);
        for (auto& one : waiting.mapped()) {
          const auto answer = kept(uid, one.name, *one.table);
          answer ? one.done(*answer) : ask_now(std::move(one));
        }
      });
}

void GpuClaims::ask_all(std::chrono::milliseconds timeout,
                        std::function<void(Result<std::vector<container::PodHoldings>>)> done) {
  resources_.all(timeout, std::move(done));
}

}  // namespace railhead::agent
