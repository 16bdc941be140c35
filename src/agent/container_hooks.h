// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/container_book.h"
#include "agent/gpu_claims.h"
#include "agent/log.h"
#include "agent/machine_tables.h"
#include "agent/recent_creations.h"
#include "agent/runtime_link.h"
#include "agent/runtime_process.h"
#include "container/kept_request.h"
#include "inject/decide.h"
#include "metrics/registry.h"
#include "nri/session.h"

namespace railhead {

/// What the hooks need from the agent's services.
struct ContainerHooksParts {
  MachineTables& machine;
  RuntimeReader& runtime;
  RuntimeLink& link;
  Log& log;
  MetricRegistry& metrics;
  KubeletWords* kubelet = nullptr;  ///< null: there is none, the environment is trusted
  ContainerBook* book = nullptr;    ///< where every container is noted
  bool fail_request = false;        ///< the node's policy is fail-closed, which runtimes may honour
};

/// What the runtime's hooks are answered: decides, logs every decision once with its reason,
/// counts.
///
/// A hook waits until what the runtime may do is known, a quarter of the runtime's deadline at most
/// until the machine has been read where it changed, and as long for another reading where a GPU is
/// named that nobody knows. Then it decides by what is known, and says so.
class ContainerHooks : public nri::Handler {
 public:
  explicit ContainerHooks(ContainerHooksParts parts);

  void configured(const nri::RuntimePeer& peer) override;
  void existing(const ContainerRequest& container) override;
  void synchronized(std::size_t pods, std::size_t containers) override;
  [[nodiscard]] bool reads_annotation(std::string_view key) const override;
  void create(const ContainerRequest& request,
              std::function<void(nri::CreateAnswer)> done) override;
  /// Decides without the kubelet's word on GPUs, which is all that can be late: `required` holds,
  /// and GPUs that only the environment names do not count.
  nri::CreateAnswer on_deadline(const ContainerRequest& request) override;
  void disconnected(const Error& why, std::chrono::milliseconds retry_in) override;

  /// Of this table the NCCL topology file is where the runtime sees it; null: of none.
  void set_topology_provided(std::shared_ptr<const DecisionTable> table) {
    topology_provided_ = std::move(table);
  }

 private:
  using Done = std::function<void(nri::CreateAnswer)>;

  /// From where a hook is answered: from within create(), or after a wait for the kubelet or for
  /// the machine. After one for the machine it is not waited for again.
  enum class Called : std::uint8_t { at_once, after_the_kubelet, later };

  /// A hook that has not been answered.
  struct Waiting {
    const ContainerRequest* request;  ///< lives until `done` is gone
    std::function<void()> until_runtime_known;
  };

  void wait_for_table(const ContainerRequest& request, Done done);
  /// True for the first hook that names these GPUs, which nobody knows.
  bool is_first_to_miss(const GpuFacts& gpus);
  void examine_and_answer(const ContainerRequest& request, const Done& done, Called called);
  void answer(const ContainerRequest& request, const ContainerFacts& facts,
              const std::shared_ptr<const DecisionTable>& table, const Done& done, Called called);
  void note_stale(const ContainerRequest& request);
  [[nodiscard]] bool is_topology_provided(const DecisionTable& table) const;
  /// Of a hook that waited: true where it was not answered meanwhile.
  bool resume(const ContainerRequest& request);
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

  ContainerHooksParts parts_;
  std::chrono::milliseconds claim_timeout_{1000};
  RuntimeAbility ability_;
  RecentCreations recent_;
  std::chrono::milliseconds patience_{500};
  bool is_runtime_known_ = true;  ///< false from configured() until it has been read
  std::vector<Waiting> waiting_;
  std::set<std::string> missed_;  ///< ids of GPUs that were looked for in vain
  std::shared_ptr<const DecisionTable> topology_provided_;
  std::shared_ptr<const DecisionTable> at_synchronize_;  ///< one for all containers of it
  std::size_t lacking_ = 0;  ///< containers of this Synchronize without their devices
  std::vector<KeptRequest> undecided_;
  std::size_t undecided_bytes_ = 0;
  std::uint64_t synchronize_ = 0;  ///< tells a late answer from one to the Synchronize after
  bool was_connected_ = true;
  std::string last_error_;
};

}  // namespace railhead
