// SPDX-License-Identifier: Apache-2.0
#include "agent/node_doctor.h"

#include <algorithm>

#include "base/text.h"
#include "checks/check.h"
#include "checks/machine.h"
#include "host/bounded_host.h"
#include "host/input_file.h"
#include "host/memory.h"
#include "loop/call_after.h"
#include "node/node.h"
#include "system/system.h"

namespace railhead::agent {
namespace {

/// Of one look; a machine that breaks as a whole does not flood the log.
constexpr std::size_t kMaxChangesLogged = 20;

bool is_bad(checks::State state) {
  return state == checks::State::fail || state == checks::State::warn;
}

double seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string_view word_of(checks::Outcome outcome) {
  switch (outcome) {
    case checks::Outcome::good: return "good";
    case checks::Outcome::problem: return "problem";
    case checks::Outcome::unknown: break;
  }
  return "unknown";
}

/// Whether this was not said before.
bool is_news(std::string& said, const std::string& why) {
  if (said == why) return false;
  said = why;
  return true;
}

/// What the check did, and what was read for it; a reading is shared.
std::map<const checks::Check*, std::chrono::nanoseconds> whole_times(
    const std::vector<checks::CheckTime>& own, const system::PartTimes& readings) {
  std::map<const checks::Check*, std::chrono::nanoseconds> times;
  for (const auto& one : own) {
    auto& time = times[one.check] = one.took;
    for (const auto& [part, took] : readings) {
      if (system::has(one.check->parts, part)) time += took;
    }
  }
  return times;
}

}  // namespace

NodeDoctor::NodeDoctor(Context context, NodeDoctorOptions options, Links links)
    : context_(context),
      options_(std::move(options)),
      links_(std::move(links)),
      timer_(context.loop) {}

void NodeDoctor::start() {
  load_history();
  look_in(std::min<std::chrono::milliseconds>(options_.first, options_.every));
}

void NodeDoctor::look_in(std::chrono::milliseconds time) {
  loop::call_after(timer_, time, [this] {
    look();
    look_in(options_.every);
  });
}

void NodeDoctor::look() {
  judge(diagnose());
  host::give_back_free_memory();
  host::give_back_code_pages();  // it is not needed until the next look
}

void NodeDoctor::judge(Result<checks::Diagnosis> diagnosis) {
  if (!diagnosis) {
    const auto& why = diagnosis.error().message;
    context_.metrics.doctor_runs.add("failed");
    if (is_news(failure_, why)) {
      context_.log.write(config::LogLevel::warn, "checks not made", {{"why", why}});
    }
    tell(checks::unknown_conditions("checks not made: " + why));
    return;
  }
  failure_.clear();
  date(*diagnosis);
  publish(*diagnosis);
  keep_history();
}

Result<checks::Diagnosis> NodeDoctor::diagnose() {
  auto& clock = context_.clock;
  const auto start = clock.now();
  auto wishes = TRY(links_.wishes());
  const auto opened = TRY(links_.open());
  host::BackOffHost backing_off(*opened, clock, refusals_);
  host::BoundedHost bounded(backing_off, clock, options_.limit);
  auto node = node::read_node(bounded);
  // A device that was not looked at would seem to be missing.
  if (bounded.left_out() > 0) {
    return Error{ErrorCode::timeout, "reading the node took longer than " +
                                         std::to_string(options_.limit.count()) + " ms"};
  }
  const auto& wanted = checks::all_checks();
  system::PartTimes readings;
  auto system = system::read_system(bounded, node, checks::parts_of(wanted), clock, readings);
  history_.add(node, system);
  checks::MoreFacts more;
  more.history = history_;
  const checks::Machine machine(std::move(node), std::move(system), std::move(wishes),
                                std::move(more));
  checks::Diagnosis diagnosis;
  std::vector<checks::CheckTime> times;
  diagnosis.findings = checks::run_checks(
      machine, wanted, [&] { return clock.now(); }, times);
  times_ = whole_times(times, readings);
  diagnosis.node = options_.node_name.empty() ? machine.node.name : options_.node_name;
  diagnosis.time = host::utc_text(clock.calendar());
  diagnosis.boot_id = history_.boot_id();
  diagnosis.limit = options_.limit;
  diagnosis.left_out = bounded.left_out();
  diagnosis.took = std::chrono::duration_cast<std::chrono::milliseconds>(clock.now() - start);
  return diagnosis;
}

/// Says of each finding since when it is as it is, and logs what has changed.
void NodeDoctor::date(checks::Diagnosis& diagnosis) {
  decltype(states_) now;
  std::map<std::pair<std::string_view, std::string>, std::size_t> seen;
  std::vector<const checks::Finding*> changed;
  for (auto& finding : diagnosis.findings) {
    // A check may say several things of one subject.
    const auto nth = seen[{finding.id, finding.subject}]++;
    const std::tuple key(finding.id, finding.subject, nth);
    const auto before = states_.find(key);
    const bool is_same = before != states_.end() && before->second.state == finding.state;
    finding.since = is_same ? before->second.since : diagnosis.time;
    now[key] = {finding.state, finding.since};
    const bool was_bad = before != states_.end() && is_bad(before->second.state);
    if (!is_same && (was_bad || is_bad(finding.state))) changed.push_back(&finding);
  }
  states_ = std::move(now);
  log_changes(diagnosis, changed);
}

void NodeDoctor::log_changes(const checks::Diagnosis& diagnosis,
                             const std::vector<const checks::Finding*>& changed) {
  std::size_t logged = 0;
  for (const auto* finding : changed) {
    if (++logged > kMaxChangesLogged) break;
    const auto level = is_bad(finding->state) ? config::LogLevel::warn : config::LogLevel::info;
    context_.log.write(level, "check",
                       {{"id", std::string(finding->id)},
                        {"subject", finding->subject},
                        {"state", std::string(to_string(finding->state))},
                        {"observed", finding->observed},
                        {"expected", finding->expected},
                        {"why", finding->reason},
                        {"remedy", finding->remedy}});
  }
  if (changed.size() <= kMaxChangesLogged) return;
  context_.log.write(config::LogLevel::warn, "more checks changed",
                     {{"checks", std::to_string(changed.size() - kMaxChangesLogged)},
                      {"worst", checks::headline(diagnosis)}});
}

void NodeDoctor::publish(const checks::Diagnosis& diagnosis) {
  auto& metrics = context_.metrics;
  decltype(Metrics::check_findings)::Now findings;
  decltype(Metrics::check_last_run)::Now last_run;
  decltype(Metrics::check_seconds)::Now seconds;
  for (const auto& finding : diagnosis.findings) {
    findings.add(1, label::Check(finding.id),
                 label::CheckState(to_lower(to_string(finding.state))));
  }
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(context_.clock.calendar().time_since_epoch())
          .count();
  for (const auto& [check, time] : times_) {
    last_run.add(now, label::Check(check->id));
    seconds.add(seconds_of(time), label::Check(check->id));
  }
  metrics.check_findings.replace(std::move(findings));
  metrics.check_last_run.replace(std::move(last_run));
  metrics.check_seconds.replace(std::move(seconds));
  metrics.doctor_runs.add(label::DoctorOutcome(word_of(checks::outcome_of(diagnosis))));
  metrics.doctor_run_seconds.set(seconds_of(diagnosis.took));
  metrics.doctor_left_out.set(diagnosis.left_out);
  links_.page.set(report::to_json(checks::report_of(diagnosis, false)));
  tell(checks::conditions_of(diagnosis.findings));
}

void NodeDoctor::tell(std::vector<checks::Condition> conditions) {
  auto& clock = context_.clock;
  links_.conditions.set(std::make_shared<const checks::ConditionsSeen>(
      checks::ConditionsSeen{std::move(conditions), clock.now(), clock.calendar()}));
}

void NodeDoctor::load_history() {
  const auto& path = options_.history_file;
  if (path.empty() || !host::input_file_exists(path)) return;
  const auto text = host::read_file_at_once(path, checks::kMaxHistoryBytes);
  auto history = text ? checks::parse_history(*text) : Result<checks::History>(text.error());
  if (history) {
    history_ = *std::move(history);
  } else {
    context_.log.write(config::LogLevel::warn, "history begins anew",
                       {{"why", path + ": " + history.error().message}});
  }
}

void NodeDoctor::keep_history() {
  const auto& path = options_.history_file;
  if (path.empty() || history_.looks() == 0) return;
  auto kept = host::make_folders(path.substr(0, path.rfind('/')));
  if (kept) kept = host::write_file_atomic(path, checks::to_text(history_));
  if (kept) {
    history_failure_.clear();
  } else if (is_news(history_failure_, kept.error().message)) {
    context_.log.write(config::LogLevel::warn, "history not kept", {{"why", kept.error().message}});
  }
}

}  // namespace railhead::agent
