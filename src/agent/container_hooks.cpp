// SPDX-License-Identifier: Apache-2.0
#include "agent/container_hooks.h"

#include <algorithm>
#include <utility>

#include "agent/machine.h"
#include "base/find.h"
#include "inject/annotations.h"
#include "inject/examine.h"
#include "inject/gpus_of.h"
#include "nri/capability.h"

namespace railhead::agent {
namespace {

constexpr std::string_view kRuntimeLimits = "the limits of the runtime";

/// Takes the adjustment out of the decision but for the limit, which is reported.
nri::CreateAnswer take_answer(inject::Decision& decision) {
  nri::CreateAnswer answer;
  if (decision.outcome == inject::Outcome::refused) {
    answer.refusal = decision.message;
  } else if (!decision.adjustment.empty()) {
    answer.adjustment.emplace(std::move(decision.adjustment));
    decision.adjustment.memlock_bytes = answer.adjustment->memlock_bytes;
  }
  return answer;
}

/// The GPUs that a container names are all among those that the kubelet has for it.
bool are_all_held(const container::GpuFacts& named, const container::GpuFacts& held) {
  return !held.indices.empty() && held.remarks.empty() && named.remarks.empty();
}

}  // namespace

ContainerHooks::ContainerHooks(ContainerHooksParts parts)
    : parts_(parts),
      reports_(parts.log, parts.metrics, parts.containers, parts.events),
      existing_({parts.machine, parts.kubelet, reports_, parts.log, parts.metrics, parts.clock}) {}

void ContainerHooks::configured(const nri::RuntimePeer& peer) {
  claim_timeout_ = peer.request_timeout / 2;  // well before the session's own deadline
  patience_ = peer.request_timeout / 4;
  is_runtime_known_ = false;
  was_not_understood_ = false;
  // What was read of the same runtime before counts until it is read again.
  if (ability_.name != peer.name || ability_.version != peer.version) {
    ability_ = ability_of(peer, RuntimeProcess{});
  }
  topology_provided_.reset();
  existing_.begin(patience_);
  decltype(Metrics::nri_runtime_info)::Now runtime;
  runtime.add(1, metrics::Label<"name">(peer.name), label::Version(peer.version),
              metrics::Label<"nri">(peer.nri_version));
  parts_.metrics.nri_runtime_info.replace(std::move(runtime));
  nri::RuntimeFeatures wanted;
  wanted.rlimits = true;
  wanted.failure_policy = parts_.fail_request;
  decltype(Metrics::nri_missing_features)::Now lacking;
  for (const auto& missing : nri::missing_features(wanted, peer.name, peer.version)) {
    parts_.log.write(config::LogLevel::warn, "runtime lacks a feature", {{"what", missing}});
    lacking.add(1, metrics::Label<"what">(missing));
  }
  parts_.metrics.nri_missing_features.replace(std::move(lacking));
  parts_.runtime.read(peer, patience_, [this, peer, asked = ++connection_](const auto& process) {
    if (asked == connection_) runtime_read(peer, process);
  });
}

void ContainerHooks::runtime_read(const nri::RuntimePeer& peer,
                                  const std::optional<RuntimeProcess>& process) {
  if (process) ability_ = ability_of(peer, *process);
  const std::string why =
      process ? process->why
              : "reading them takes longer than " + std::to_string(patience_.count()) + " ms";
  if (!why.empty()) {
    parts_.log.write(config::LogLevel::warn, "runtime limits unknown",
                     {{"runtime", peer.name}, {"why", why}});
  }
  if (process) {
    parts_.log.write(
        config::LogLevel::info, "runtime connected",
        {{"runtime", peer.name},
         {"version", peer.version},
         {"nri", peer.nri_version},
         {"requestTimeoutMs", std::to_string(peer.request_timeout.count())},
         {"memlockCeiling", ability_.memlock_ceiling ? limit_text(*ability_.memlock_ceiling)
                                                     : std::string("unknown")}});
  }
  is_runtime_known_ = true;
  const auto waiting = waiting_;  // an answer changes it
  for (const auto& hook : waiting) {
    if (hook->waits_for != kRuntimeLimits || !resume(*hook)) continue;
    hook->is_patient = process.has_value();
    go_on(hook);
  }
}

void ContainerHooks::not_understood(const Error& why) {
  const bool news = !std::exchange(was_not_understood_, true);
  parts_.log.write(news ? config::LogLevel::error : config::LogLevel::debug,
                   "container request not understood", {{"why", why.message}});
}

void ContainerHooks::answered(std::chrono::nanoseconds took) {
  parts_.metrics.nri_answer_seconds.observe(std::chrono::duration<double>(took).count());
}

bool ContainerHooks::reads_annotation(std::string_view key) const {
  return inject::is_looked_at(key);
}

void ContainerHooks::existing(const container::Request& container) {
  existing_.add(container, ability_);
}

void ContainerHooks::synchronized(const nri::StateCounts& counts) {
  parts_.link.set_connected();
  was_connected_ = true;
  last_error_.clear();
  existing_.end(counts, claim_timeout_, ability_);
}

void ContainerHooks::sandbox_runs(const container::Request& pod) {
  if (parts_.kubelet != nullptr) parts_.kubelet->expect(pod, claim_timeout_);
}

/// Most are answered at once; only one that waits is kept.
void ContainerHooks::create(const container::Request& request,
                            std::function<void(const nri::CreateAnswer&)> done) {
  Hook hook{&request, std::move(done)};
  const auto need = next_need(hook);
  if (need == Need::nothing) return answer(hook);
  begin_wait(std::make_shared<Hook>(std::move(hook)), need);
}

/// As far as it gets: to its answer, or to what it waits for next.
void ContainerHooks::go_on(const HookRef& hook) {
  const auto need = next_need(*hook);
  need == Need::nothing ? answer(*hook) : begin_wait(hook, need);
}

/// Finds the facts on the way.
ContainerHooks::Need ContainerHooks::next_need(Hook& hook) {
  if (hook.is_patient && !is_runtime_known_) return Need::runtime_limits;
  examine_by(parts_.machine.table(), hook);
  if (hook.is_patient && !hook.is_fresh && needs_machine(hook) && parts_.machine.is_behind()) {
    return Need::table;
  }
  if (needs_kubelet_answer(hook) && !is_known_of_kubelet(hook)) return Need::kubelet;
  const bool hangs = parts_.machine.is_stale() && !parts_.machine.is_behind();
  const auto& gpus = hook.examined->facts.gpus;
  const bool is_claim = parts_.kubelet != nullptr && !hook.kubelet_answer &&
                        gpus.claim == container::GpuClaim::unchecked;
  if (hook.is_patient && !hangs && !is_claim && is_first_to_miss(gpus)) {
    return Need::unknown_gpu;
  }
  return Need::nothing;
}

void ContainerHooks::begin_wait(const HookRef& hook, Need need) {
  switch (need) {
    case Need::nothing: return;
    case Need::runtime_limits: return wait(hook, kRuntimeLimits);
    case Need::kubelet: return ask_kubelet(hook);
    case Need::unknown_gpu: parts_.machine.look_again(Machine::kUnknownGpu); [[fallthrough]];
    case Need::table: return wait_for_table(hook);
  }
}

void ContainerHooks::examine_by(std::shared_ptr<const inject::DecisionTable> table,
                                Hook& hook) const {
  if (hook.examined && hook.examined->table == table) return;
  auto& examined = hook.examined.emplace(*hook.request, std::move(table));
  if (hook.kubelet_answer) {
    inject::take_kubelet_answer(*hook.kubelet_answer, *hook.request, *examined.table,
                                examined.facts);
  }
}

bool ContainerHooks::needs_machine(const Hook& hook) {
  return inject::needs_machine(hook.examined->facts, *hook.request);
}

bool ContainerHooks::needs_kubelet_answer(const Hook& hook) const {
  return parts_.kubelet != nullptr && !hook.kubelet_answer &&
         inject::needs_kubelet(hook.examined->facts, *hook.examined->table);
}

void ContainerHooks::wait_for_table(const HookRef& hook) {
  wait(hook, "a fresh reading of the machine");
  parts_.machine.wait(patience_, [this, hook](bool fresh) {
    if (!resume(*hook)) return;
    hook->is_patient = hook->is_fresh = fresh;
    go_on(hook);
  });
}

void ContainerHooks::ask_kubelet(const HookRef& hook) {
  wait(hook, "the answer of the kubelet");
  parts_.kubelet->ask(*hook->request, hook->examined->table, claim_timeout_,
                      [this, hook](inject::KubeletAnswer given) {
                        if (!resume(*hook)) return;
                        take(std::move(given), *hook) ? go_on(hook) : ask_kubelet(hook);
                      });
}

bool ContainerHooks::is_known_of_kubelet(Hook& hook) {
  auto known = parts_.kubelet->known(*hook.request, *hook.examined->table);
  return known && take(*std::move(known), hook);
}

/// False for a kept answer that is not the container's: it has to be asked for anew.
bool ContainerHooks::take(inject::KubeletAnswer given, Hook& hook) {
  if (given.state != inject::KubeletAnswer::State::no_kubelet) {
    auto& [table, facts] = *hook.examined;
    auto held = inject::gpus_of(*hook.request, *table, facts.surroundings.privileged, given);
    if (given.is_kept && !are_all_held(facts.gpus, held)) {
      parts_.kubelet->forget(hook.request->pod_uid);
      return false;
    }
    inject::take_gpus(std::move(held), facts);
  }
  hook.kubelet_answer = std::move(given);
  return true;
}

void ContainerHooks::wait(const HookRef& hook, std::string_view what) {
  hook->waits_for = what;
  waiting_.push_back(hook);
  parts_.link.set_unanswered(waiting_.size());
}

bool ContainerHooks::resume(Hook& hook) {
  hook.waits_for = {};
  const auto erased =
      std::erase_if(waiting_, [&](const HookRef& one) { return one.get() == &hook; });
  parts_.link.set_unanswered(waiting_.size());
  return erased != 0;
}

bool ContainerHooks::is_first_to_miss(const container::GpuFacts& gpus) {
  constexpr std::size_t kMaxMissed = 1024;
  if (!gpus.might_be_new()) return false;
  if (missed_.size() >= kMaxMissed) missed_.clear();
  bool first = false;
  for (const auto& id : gpus.unresolved) first = missed_.insert(id).second || first;
  return first;
}

void ContainerHooks::answer(Hook& hook) {
  const auto done = std::move(hook.done);
  auto decided = conclude(hook);
  done(take_answer(decided.decision));
  reports_.report(decided);  // the runtime need not wait for it
}

nri::CreateAnswer ContainerHooks::on_deadline(const container::Request& request) {
  const auto* waiting =
      find_where(waiting_, [&](const auto& one) { return one->request == &request; });
  const auto hook = waiting != nullptr ? *waiting : std::make_shared<Hook>(Hook{&request, {}});
  const auto without = hook->waits_for;
  (void)resume(*hook);
  examine_by(parts_.machine.table(), *hook);
  if (needs_kubelet_answer(*hook)) {
    inject::take_kubelet_answer({inject::KubeletAnswer::State::unanswered, {}, false}, request,
                                *hook->examined->table, hook->examined->facts);
  }
  auto decided = conclude(*hook);
  decided.without = without;
  auto given = take_answer(decided.decision);
  reports_.report(decided);
  return given;
}

Decided ContainerHooks::conclude(const Hook& hook) {
  const auto& [table, facts] = *hook.examined;
  if (!hook.is_fresh && parts_.machine.is_stale() && needs_machine(hook)) {
    parts_.metrics.nri_stale_decisions.add();
    auto fields = fields_of(facts.identity);
    fields.emplace_back("why",
                        "the machine may have changed: that is not read yet, or cannot be read");
    parts_.log.write(config::LogLevel::warn, "decided by the last reading", fields);
  }
  // A newer table may have the same file.
  ability_.has_topology_file =
      topology_provided_ && (topology_provided_ == table ||
                             topology_provided_->topology_file() == table->topology_file());
  return {facts, inject::decide(*hook.request, facts, *table, ability_), table, {}};
}

void ContainerHooks::disconnected(const Error& why, std::chrono::milliseconds retry_in) {
  ++connection_;
  waiting_.clear();  // nobody hears their answers
  parts_.link.set_unanswered(0);
  parts_.link.set_disconnected(why.message);
  parts_.metrics.nri_disconnects.add();
  const bool news = was_connected_ || why.message != last_error_;
  was_connected_ = false;
  last_error_ = why.message;
  parts_.log.write(news ? config::LogLevel::warn : config::LogLevel::debug, "runtime not connected",
                   {{"why", why.message}, {"retryInMs", std::to_string(retry_in.count())}});
}

}  // namespace railhead::agent
