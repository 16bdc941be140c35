// SPDX-License-Identifier: Apache-2.0
#include "agent/existing_containers.h"

#include <utility>

#include "base/find.h"
#include "base/text.h"
#include "inject/examine.h"

namespace railhead::agent {
namespace {

/// A kubelet that starts together with us has answered by then.
constexpr std::chrono::seconds kSecondPatience{30};

const container::PodHoldings* find_pod(const std::vector<container::PodHoldings>& pods,
                                       const container::Request& request) {
  return find_where(pods, [&](const container::PodHoldings& pod) {
    return pod.pod == request.pod_name && pod.pod_namespace == request.pod_namespace;
  });
}

}  // namespace

class ExistingContainers::Work {
 public:
  explicit Work(ExistingContainers& whose)
      : whose_(whose),
        since_(whose.parts_.clock.now()) {}

  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  ~Work() { whose_.left_ -= whose_.parts_.clock.now() - since_; }

 private:
  ExistingContainers& whose_;
  std::chrono::steady_clock::time_point since_;
};

void ExistingContainers::begin(std::chrono::milliseconds budget) {
  budget_ = left_ = budget;
  table_.reset();
  lacking_ = 0;
  not_judged_ = 0;
  undecided_.clear();
  undecided_bytes_ = 0;
  ++round_;
}

void ExistingContainers::add(const container::Request& container,
                             const inject::RuntimeAbility& runtime) {
  if (!table_) {
    table_ = parts_.machine.table();
    is_read_ = parts_.machine.is_read();
  }
  if (left_.count() <= 0) {
    ++not_judged_;
    return;
  }
  const Work work(*this);
  auto facts = inject::examine(container, *table_);
  if (parts_.kubelet == nullptr || !inject::needs_kubelet(facts, *table_)) {
    return judge(container, facts, *table_, runtime);
  }
  if (undecided_bytes_ < kMaxUndecidedBytes) {
    undecided_bytes_ += undecided_.emplace_back(container).bytes();
    return;
  }
  ++not_judged_;
  leave_open(container, std::move(facts));
}

void ExistingContainers::leave_open(const container::Request& container, container::Facts facts) {
  inject::take_kubelet_answer({inject::KubeletAnswer::State::unanswered, {}, false}, container,
                              *table_, facts);
  parts_.reports.note(facts, *table_);
}

void ExistingContainers::judge(const container::Request& container, const container::Facts& facts,
                               const inject::DecisionTable& table,
                               const inject::RuntimeAbility& runtime) {
  parts_.reports.note(facts, table);
  if (!is_read_) {
    ++not_judged_;
    return;
  }
  const auto missing = inject::missing_devices(container, facts, table, runtime);
  if (missing.empty()) return;
  ++lacking_;
  auto fields = fields_of(facts.identity);
  fields.emplace_back("missing", join(missing, ","));
  fields.emplace_back("why", "it was created while no agent was connected; start it again");
  parts_.log.write(config::LogLevel::warn, "container without its devices", fields);
}

void ExistingContainers::end(const nri::StateCounts& counts, std::chrono::milliseconds patience,
                             const inject::RuntimeAbility& runtime) {
  not_judged_ += counts.passed_over;
  if (undecided_.empty()) {
    table_.reset();
    return report(counts, "");
  }
  ask(counts, patience, runtime, true);
}

void ExistingContainers::ask(const nri::StateCounts& counts, std::chrono::milliseconds patience,
                             const inject::RuntimeAbility& runtime, bool asks_again) {
  parts_.kubelet->ask_all(
      patience, [this, counts, runtime, asks_again, asked = round_](const auto& all) {
        if (asked != round_) return;
        left_ = budget_;
        if (all || all.error().code == ErrorCode::unavailable) {
          settle(all, runtime);
          return report(counts, "");
        }
        if (!asks_again) {
          report(counts, all.error().message);
          undecided_.clear();
          return table_.reset();
        }
        for (const auto& kept : undecided_) {
          const Work work(*this);
          if (left_.count() > 0)
            leave_open(kept.request(), inject::examine(kept.request(), *table_));
        }
        report(counts, all.error().message);
        ask(counts, kSecondPatience, runtime, false);
      });
}

/// Where there is no kubelet, claims are trusted.
void ExistingContainers::settle(const Result<std::vector<container::PodHoldings>>& pods,
                                const inject::RuntimeAbility& runtime) {
  const auto table = std::exchange(table_, nullptr);
  for (const auto& kept : std::exchange(undecided_, {})) {
    if (left_.count() <= 0) {
      ++not_judged_;
      continue;
    }
    const Work work(*this);
    const auto& request = kept.request();
    inject::KubeletAnswer answer;
    if (pods) {
      const auto* pod = find_pod(*pods, request);
      answer = inject::kubelet_answer_for(request.name,
                                          pod != nullptr ? *pod : container::PodHoldings{}, *table);
    }
    auto facts = inject::examine(request, *table);
    inject::take_kubelet_answer(answer, request, *table, facts);
    judge(request, facts, *table, runtime);
  }
}

void ExistingContainers::report(const nri::StateCounts& counts, const std::string& no_answer) {
  const auto not_judged = not_judged_ + undecided_.size();
  parts_.metrics.nri_containers_missing_devices.set(lacking_);
  LogFields fields{{"pods", std::to_string(counts.pods)},
                   {"containers", std::to_string(counts.containers)},
                   {"withoutDevices", std::to_string(lacking_)}};
  if (not_judged > 0) fields.emplace_back("notJudged", std::to_string(not_judged));
  if (!no_answer.empty()) fields.emplace_back("noAnswer", no_answer);
  parts_.log.write(config::LogLevel::info, "synchronized", fields);
}

}  // namespace railhead::agent
