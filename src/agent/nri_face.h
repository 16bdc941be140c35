// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/gpu_claims.h"
#include "agent/holders.h"
#include "agent/log.h"
#include "agent/machine.h"
#include "agent/recent_creations.h"
#include "agent/runtime_process.h"
#include "container/kept_request.h"
#include "inject/decide.h"
#include "metrics/registry.h"
#include "nri/session.h"

namespace railhead {

/// What the NRI service needs from the agent's other services.
struct NriFaceParts {
  Machine& machine;
  RuntimeReader& runtime;
  Log& log;
  MetricRegistry& metrics;
  KubeletWords* kubelet = nullptr;  ///< null: there is none, the environment is trusted
  ContainerBook* book = nullptr;    ///< where every container is noted
  bool fail_request = false;        ///< the node's policy is fail-closed, which runtimes may honour
};

/// The agent's side of the NRI session: decides, logs every decision once with its reason, counts.
class NriFace : public nri::Handler {
 public:
  explicit NriFace(NriFaceParts parts);

  void configured(const nri::RuntimePeer& peer) override;
  void existing(const ContainerRequest& container) override;
  void synchronized(std::size_t pods, std::size_t containers) override;
  void create(const ContainerRequest& request,
              std::function<void(nri::CreateAnswer)> done) override;
  /// Decides without the kubelet's word on GPUs, which is all that can be late: `required` holds,
  /// and GPUs that only the environment names do not count.
  nri::CreateAnswer on_deadline(const ContainerRequest& request) override;
  void disconnected(const Error& why, std::chrono::milliseconds retry_in) override;

 private:
  void report_missing(const std::string& pod, const std::string& container,
                      const std::string& missing);
  /// Notes a container of a Synchronize, and what it lacks.
  void judge(const ContainerRequest& container, const ContainerFacts& facts,
             const DecisionTable& table);
  void settle_undecided(const Result<std::vector<PodHoldings>>& pods);
  void report_synchronized(std::size_t pods, std::size_t containers, const std::string& doubt);
  void runtime_read(const nri::RuntimePeer& peer, const RuntimeProcess& process);
  /// What decide() says, without what cannot be provided just now.
  Decision decided(const ContainerRequest& request, const ContainerFacts& facts,
                   const DecisionTable& table);
  void note_container(const ContainerFacts& facts, const Decision& decision,
                      const DecisionTable& table);
  void report_again(const ContainerRequest& request);
  /// Notes, counts and logs a decision, once. `remark` is a field of the log line, or empty.
  void report(const ContainerRequest& request, const ContainerFacts& facts,
              const Decision& decision, const DecisionTable& table, const char* remark = "");

  /// Texts of requests that wait for the kubelet's word at a Synchronize; what comes after that is
  /// judged as though there were no kubelet.
  static constexpr std::size_t kMaxUndecidedBytes = std::size_t{4} << 20U;

  NriFaceParts parts_;
  std::chrono::milliseconds claim_timeout_{1000};
  RuntimeAbility ability_;
  RecentCreations recent_;
  std::vector<const ContainerRequest*> waiting_;         ///< for the kubelet's word, unanswered
  std::shared_ptr<const DecisionTable> at_synchronize_;  ///< one for all containers of it
  std::size_t lacking_ = 0;  ///< containers of this Synchronize without their devices
  std::vector<KeptRequest> undecided_;
  std::size_t undecided_bytes_ = 0;
  std::uint64_t synchronize_ = 0;  ///< tells a late answer from one to the Synchronize after
  bool was_connected_ = true;
  std::string last_error_;
};

}  // namespace railhead
