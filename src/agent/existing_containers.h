// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/decision_reports.h"
#include "agent/gpu_claims.h"
#include "agent/machine_tables.h"
#include "container/kept_request.h"
#include "host/clock.h"
#include "nri/session.h"

namespace railhead::agent {

/// The containers that the runtime had when the agent came: books them, and reports those that lack
/// what they would be given now. Judged as they come; those that rest on the kubelet's answer wait
/// until all are there, and are asked for at once. One that gives no answer is asked once more,
/// with more patience; until it has answered, they hold no GPUs and are not judged.
class ExistingContainers {
 public:
  struct Parts {
    MachineTables& machine;
    KubeletAnswers* kubelet;  ///< null: there is none, claims are trusted
    DecisionReports& reports;
    Log& log;
    Metrics& metrics;
    host::Clock& clock;
  };

  explicit ExistingContainers(Parts parts)
      : parts_(parts) {}

  /// A new Synchronize begins; what is on its way for the one before is forgotten. Judging takes
  /// `budget` at most, and as much once the kubelet has answered: all containers share one timeout
  /// of the runtime, and their annotations can be laborious. The rest is not judged.
  void begin(std::chrono::milliseconds budget);
  void add(const container::Request& container, const inject::RuntimeAbility& runtime);
  /// After the last one.
  void end(const nri::StateCounts& counts, std::chrono::milliseconds patience,
           const inject::RuntimeAbility& runtime);

 private:
  /// A clock that runs while containers are judged.
  class Work;

  void ask(const nri::StateCounts& counts, std::chrono::milliseconds patience,
           const inject::RuntimeAbility& runtime, bool asks_again);
  void judge(const container::Request& container, const container::Facts& facts,
             const inject::DecisionTable& table, const inject::RuntimeAbility& runtime);
  /// Books a container that names GPUs, where nobody has said whether it holds them.
  void leave_open(const container::Request& container, container::Facts facts);
  void settle(const Result<std::vector<container::PodHoldings>>& pods,
              const inject::RuntimeAbility& runtime);
  void report(const nri::StateCounts& counts, const std::string& no_answer);

  /// Texts of requests that wait for the kubelet's answer; what comes after that is not judged.
  static constexpr std::size_t kMaxUndecidedBytes = std::size_t{4} << 20U;

  Parts parts_;
  std::shared_ptr<const inject::DecisionTable>
      table_;                   ///< one for all; absent before the first container
  bool is_read_ = false;        ///< the table is of a machine that was read
  std::size_t lacking_ = 0;     ///< containers without their devices
  std::size_t not_judged_ = 0;  ///< because the machine has not been read, or time was up
  std::chrono::nanoseconds budget_{0};
  std::chrono::nanoseconds left_{0};  ///< of the budget
  std::vector<container::KeptRequest> undecided_;
  std::size_t undecided_bytes_ = 0;
  std::uint64_t round_ = 0;  ///< tells a late answer of the kubelet from one to this Synchronize
};

}  // namespace railhead::agent
