// SPDX-License-Identifier: Apache-2.0
#include "agent/decision_reports.h"

#include "base/contains.h"
#include "base/text.h"
#include "proof/container_records.h"

namespace railhead::agent {
namespace {

std::string_view outcome_text(inject::Outcome outcome) {
  switch (outcome) {
    case inject::Outcome::untouched: return "untouched";
    case inject::Outcome::adjusted: return "adjusted";
    case inject::Outcome::refused: return "refused";
  }
  return "unknown";
}

/// With the NICs that it had and those that it was given.
proof::ContainerRecord record_after(const Decided& decided) {
  auto record = proof::record_of(decided.facts, *decided.table);
  if (!decided.decision.nics.empty()) record.off_rdma = decided.decision.off_rdma;
  auto& nics = record.nics;
  for (const auto n : decided.decision.nics) {
    const auto& name = decided.table->node().nics[n].name;
    if (!contains(nics, name)) nics.push_back(name);
  }
  return record;
}

template <typename Add>
void add_identity(const container::Identity& container, const Add& add) {
  add("pod", container.pod_namespace + "/" + container.pod);
  add("container", container.name);
}

}  // namespace

LogFields fields_of(const container::Identity& container) {
  LogFields fields;
  add_identity(container, [&fields](std::string_view name, std::string_view value) {
    fields.emplace_back(name, value);
  });
  return fields;
}

std::string limit_text(std::uint64_t bytes) {
  return bytes == container::kUnlimited ? "unlimited" : std::to_string(bytes);
}

void DecisionReports::note(const container::Facts& facts, const inject::DecisionTable& table) {
  if (containers_ != nullptr)
    containers_->note(proof::record_of(facts, table), facts.gpus.is_claim_checked());
}

void DecisionReports::report(const Decided& decided) {
  if (containers_ != nullptr) {
    containers_->note(record_after(decided), decided.facts.gpus.is_claim_checked());
  }
  const auto& container = decided.facts.identity;
  const bool is_adjusted = decided.decision.outcome == inject::Outcome::adjusted;
  if (is_adjusted && recent_.note(container)) report_again(container);
  count(decided);
  log(decided);
  if (events_ != nullptr) events_->decided(container, decided.decision);
}

void DecisionReports::count(const Decided& decided) {
  const auto& [facts, decision, table, without] = decided;
  metrics_.nri_decisions.add(label::Outcome(outcome_text(decision.outcome)),
                             label::Reason(decision.reason_code));
  for (const auto& one : decision.remarks) {
    metrics_.nri_warnings.add(label::Code(one.code));
  }
  if (decision.outcome != inject::Outcome::adjusted) return;
  for (const auto n : decision.nics) {
    metrics_.nri_injected_nics.add(label::Nic(table->node().nics[n].name));
  }
}

void DecisionReports::log(const Decided& decided) {
  const auto& decision = decided.decision;
  const bool bad = decision.outcome == inject::Outcome::refused || !decision.remarks.empty();
  const auto level = bad ? config::LogLevel::warn : config::LogLevel::info;
  const auto& node = decided.table->node();
  log_.tell(level, "container", [&](auto add) {
    add_identity(decided.facts.identity, add);
    add("outcome", outcome_text(decision.outcome));
    add("reason", decision.reason_code);
    add("why", decision.message);
    if (!decision.gpus.empty()) {
      add("gpus", join(decision.gpus, ",", [&](auto gpu) { return node.gpus[gpu].pci.str(); }));
    }
    if (!decision.nics.empty()) {
      add("nics", join(decision.nics, ",", [&](auto nic) { return node.nics[nic].name; }));
    }
    if (decision.adjustment.memlock_bytes) {
      add("memlock", limit_text(*decision.adjustment.memlock_bytes));
    }
    if (!decided.without.empty()) add("without", decided.without);
    for (const auto& one : decision.remarks) add("remark." + one.code, one.text);
  });
}

/// The creation can fail although our answer is right (RecentCreations).
void DecisionReports::report_again(const container::Identity& container) {
  metrics_.nri_created_again.add();
  auto fields = fields_of(container);
  fields.emplace_back(
      "why",
      "restarted, or its last creation failed after our answer; if the runtime says "
      "that two plugins \"both tried to set\" something, the other one has to skip "
      "what is there already, or run before us");
  log_.write(config::LogLevel::warn, "container created again", fields);
}

}  // namespace railhead::agent
