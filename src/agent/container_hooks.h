// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/decision_reports.h"
#include "agent/existing_containers.h"
#include "agent/gpu_claims.h"
#include "agent/log.h"
#include "agent/machine_tables.h"
#include "agent/metrics.h"
#include "agent/runtime_link.h"
#include "agent/runtime_process.h"
#include "host/clock.h"
#include "inject/decide.h"
#include "inject/examine.h"
#include "nri/session.h"

namespace railhead::agent {

/// What the hooks need from the agent's services.
struct ContainerHooksParts {
  MachineTables& machine;
  RuntimeReader& runtime;
  RuntimeLink& link;
  Log& log;
  Metrics& metrics;
  host::Clock& clock;
  KubeletAnswers* kubelet = nullptr;     ///< null: there is none, the environment is trusted
  ContainerCache* containers = nullptr;  ///< where every container is noted
  PodEvents* events = nullptr;           ///< what is posted to pods; null: nothing
  bool fail_request = false;  ///< the node's policy is fail-closed, which runtimes may honour
};

/// What the runtime's hooks are answered.
///
/// Before a hook is decided it waits, in this order and only where there is something to wait for:
/// until what the runtime may do is known; until the machine has been read where it may have
/// changed and a machine matters to the container; for the kubelet's answer; for another reading
/// where a GPU is named that nobody knows. Each wait for the machine or the runtime is a quarter of
/// the runtime's deadline at most, and after one in vain the hook waits for neither again. Then it
/// is decided by what is known, and the log says what was missing.
class ContainerHooks : public nri::Handler {
 public:
  explicit ContainerHooks(ContainerHooksParts parts);

  void configured(const nri::RuntimePeer& peer) override;
  void existing(const container::Request& container) override;
  void synchronized(const nri::StateCounts& counts) override;
  void not_understood(const Error& why) override;
  void answered(std::chrono::nanoseconds took) override;
  [[nodiscard]] bool reads_annotation(std::string_view key) const override;
  void sandbox_runs(const container::Request& pod) override;
  void create(const container::Request& request,
              std::function<void(const nri::CreateAnswer&)> done) override;
  /// Decides by what the hook has heard. A kubelet that was not heard leaves out only what the
  /// environment alone names; `required` holds.
  nri::CreateAnswer on_deadline(const container::Request& request) override;
  void disconnected(const Error& why, std::chrono::milliseconds retry_in) override;

  /// The runtime sees the NCCL topology file of this table where it is mounted from; null: of none.
  void set_topology_provided(std::shared_ptr<const inject::DecisionTable> table) {
    topology_provided_ = std::move(table);
  }

 private:
  /// What was found out of a container, and the table that it was found with.
  struct Examined {
    Examined(const container::Request& request, std::shared_ptr<const inject::DecisionTable> with)
        : table(std::move(with)),
          facts(inject::examine(request, *table)) {}

    std::shared_ptr<const inject::DecisionTable> table;
    container::Facts facts;
  };

  /// A container whose creation has not been answered.
  struct Hook {
    const container::Request* request;  ///< lives until `done` is gone
    std::function<void(const nri::CreateAnswer&)> done;
    std::optional<Examined> examined = {};  ///< absent until there is nothing to wait for before it
    std::optional<inject::KubeletAnswer> kubelet_answer = {};
    std::string_view waits_for = {};  ///< a literal; "": nothing
    bool is_patient = true;           ///< no wait was in vain
    bool is_fresh = false;            ///< all that had changed when it came has been read
  };

  using HookRef = std::shared_ptr<Hook>;

  /// What a hook waits for.
  enum class Need : std::uint8_t { nothing, runtime_limits, table, kubelet, unknown_gpu };

  Need next_need(Hook& hook);
  void go_on(const HookRef& hook);
  void begin_wait(const HookRef& hook, Need need);
  void wait_for_table(const HookRef& hook);
  void ask_kubelet(const HookRef& hook);
  bool is_known_of_kubelet(Hook& hook);
  bool take(inject::KubeletAnswer given, Hook& hook);
  void wait(const HookRef& hook, std::string_view what);
  /// Ends the wait of a hook. True where it was not answered meanwhile.
  bool resume(Hook& hook);
  void examine_by(std::shared_ptr<const inject::DecisionTable> table, Hook& hook) const;
  [[nodiscard]] static bool needs_machine(const Hook& hook);
  [[nodiscard]] bool needs_kubelet_answer(const Hook& hook) const;
  /// True for the first hook that names these GPUs, which nobody knows.
  bool is_first_to_miss(const container::GpuFacts& gpus);
  void answer(Hook& hook);
  Decided conclude(const Hook& hook);
  void runtime_read(const nri::RuntimePeer& peer, const std::optional<RuntimeProcess>& process);

  ContainerHooksParts parts_;
  DecisionReports reports_;
  ExistingContainers existing_;
  std::chrono::milliseconds claim_timeout_{1000};
  std::chrono::milliseconds patience_{500};
  inject::RuntimeAbility ability_;
  bool is_runtime_known_ = true;  ///< false from configured() until it has been read, or took long
  std::uint64_t connection_ = 0;  ///< tells a late reading of the runtime from one of this one
  std::vector<HookRef> waiting_;
  std::set<std::string> missed_;  ///< ids of GPUs that were looked for in vain
  std::shared_ptr<const inject::DecisionTable> topology_provided_;
  bool was_connected_ = true;
  bool was_not_understood_ = false;  ///< a request of this connection
  std::string last_error_;
};

}  // namespace railhead::agent
