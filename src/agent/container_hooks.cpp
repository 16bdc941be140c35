// SPDX-License-Identifier: Apache-2.0
#include "agent/container_hooks.h"

#include <algorithm>
#include <utility>

#include "agent/holders.h"
#include "agent/machine.h"
#include "base/text.h"
#include "inject/annotations.h"
#include "inject/examine.h"
#include "inject/topology_file.h"
#include "nri/capability.h"

namespace railhead {
namespace {

std::string_view outcome_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::untouched: return "untouched";
    case Outcome::adjusted: return "adjusted";
    case Outcome::refused: return "refused";
  }
  return "unknown";
}

std::string gpu_list(const Decision& decision, const Node& node) {
  std::vector<std::string> addresses;
  for (const auto g : decision.gpus) addresses.push_back(node.gpus[g].pci.str());
  return join(addresses, ",");
}

std::string nic_list(const Decision& decision, const Node& node) {
  std::vector<std::string> names;
  for (const auto n : decision.nics) names.push_back(node.nics[n].name);
  return join(names, ",");
}

std::string memlock_text(std::uint64_t bytes) {
  return bytes == kUnlimited ? "unlimited" : std::to_string(bytes);
}

nri::CreateAnswer answer_of(const Decision& decision) {
  nri::CreateAnswer answer;
  if (decision.outcome == Outcome::refused) {
    answer.refusal = decision.message;
  } else if (!decision.adjustment.empty()) {
    answer.adjustment = decision.adjustment;
  }
  return answer;
}

LogFields identity(const ContainerRequest& request) {
  constexpr std::size_t kUsualFields = 12;
  LogFields fields;
  fields.reserve(kUsualFields);
  fields.emplace_back("pod",
                      std::string(request.pod_namespace) + "/" + std::string(request.pod_name));
  fields.emplace_back("container", request.name);
  return fields;
}

const PodHoldings* find_pod(const std::vector<PodHoldings>& pods, const ContainerRequest& request) {
  const auto at = std::find_if(pods.begin(), pods.end(), [&](const PodHoldings& pod) {
    return pod.pod == request.pod_name && pod.pod_namespace == request.pod_namespace;
  });
  return at == pods.end() ? nullptr : &*at;
}

}  // namespace

ContainerHooks::ContainerHooks(ContainerHooksParts parts)
    : parts_(parts) {}

void ContainerHooks::configured(const nri::RuntimePeer& peer) {
  claim_timeout_ = peer.request_timeout / 2;  // well before the session's own deadline
  patience_ = peer.request_timeout / 4;
  is_runtime_known_ = false;
  // What was read of the same runtime before counts until it is read again.
  if (ability_.name != peer.name || ability_.version != peer.version) {
    ability_ = ability_of(peer, RuntimeProcess{});
  }
  lacking_ = 0;
  undecided_.clear();
  undecided_bytes_ = 0;
  at_synchronize_.reset();
  ++synchronize_;
  parts_.metrics.replace(
      "railhead_nri_runtime_info",
      {{{{"name", peer.name}, {"version", peer.version}, {"nri", peer.nri_version}}, 1}});
  nri::WantedFeatures wanted;
  wanted.rlimits = true;
  wanted.failure_policy = parts_.fail_request;
  std::vector<MetricRegistry::Sample> lacking;
  for (const auto& missing : nri::missing_features(wanted, peer.name, peer.version)) {
    parts_.log.write(LogLevel::warn, "runtime lacks a feature", {{"what", missing}});
    lacking.push_back({{{"what", missing}}, 1});
  }
  parts_.metrics.replace("railhead_nri_missing_features", lacking);
  parts_.runtime.read(peer, [this, peer, asked = synchronize_](const RuntimeProcess& process) {
    if (asked == synchronize_) runtime_read(peer, process);
  });
}

void ContainerHooks::runtime_read(const nri::RuntimePeer& peer, const RuntimeProcess& process) {
  ability_ = ability_of(peer, process);
  is_runtime_known_ = true;
  for (const auto& hook : std::vector<Waiting>(waiting_)) {
    if (hook.until_runtime_known) hook.until_runtime_known();
  }
  if (!process.why.empty()) {
    parts_.log.write(LogLevel::warn, "runtime limits unknown",
                     {{"runtime", peer.name}, {"why", process.why}});
  }
  parts_.log.write(
      LogLevel::info, "runtime connected",
      {{"runtime", peer.name},
       {"version", peer.version},
       {"nri", peer.nri_version},
       {"requestTimeoutMs", std::to_string(peer.request_timeout.count())},
       {"memlockCeiling", ability_.memlock_ceiling ? memlock_text(*ability_.memlock_ceiling)
                                                   : std::string("unknown")}});
}

bool ContainerHooks::reads_annotation(std::string_view key) const {
  return is_looked_at(key);
}

void ContainerHooks::existing(const ContainerRequest& container) {
  if (!at_synchronize_) at_synchronize_ = parts_.machine.table();
  const auto facts = examine(container, *at_synchronize_);
  if (parts_.kubelet != nullptr && needs_kubelet(facts, *at_synchronize_) &&
      undecided_bytes_ < kMaxUndecidedBytes) {
    undecided_bytes_ += undecided_.emplace_back(container).bytes();
    return;
  }
  judge(container, facts, *at_synchronize_);
}

void ContainerHooks::judge(const ContainerRequest& container, const ContainerFacts& facts,
                           const DecisionTable& table) {
  if (parts_.book != nullptr) {
    parts_.book->note(holder_of(facts, table), facts.gpus.kubelet_answered);
  }
  report_missing(std::string(container.pod_namespace) + "/" + std::string(container.pod_name),
                 std::string(container.name),
                 join(missing_devices(container, facts, table, ability_), ","));
}

void ContainerHooks::report_missing(const std::string& pod, const std::string& container,
                                    const std::string& missing) {
  if (missing.empty()) return;
  ++lacking_;
  parts_.log.write(LogLevel::warn, "container without its devices",
                   {{"pod", pod},
                    {"container", container},
                    {"missing", missing},
                    {"why", "it was created while no agent was connected; start it again"}});
}

void ContainerHooks::synchronized(std::size_t pods, std::size_t containers) {
  parts_.link.set_connected(true);
  was_connected_ = true;
  last_error_.clear();
  if (undecided_.empty()) {
    at_synchronize_.reset();
    return report_synchronized(pods, containers, "");
  }
  parts_.kubelet->ask_all(claim_timeout_,
                          [this, pods, containers, asked = synchronize_](const auto& all) {
                            if (asked != synchronize_) return;
                            settle_undecided(all);
                            const bool doubt = !all && all.error().code != ErrorCode::unavailable;
                            report_synchronized(pods, containers, doubt ? all.error().message : "");
                          });
}

/// Where nobody knows, the environment is trusted: a report too many harms nobody.
void ContainerHooks::settle_undecided(const Result<std::vector<PodHoldings>>& pods) {
  const auto table = std::exchange(at_synchronize_, nullptr);
  for (const auto& kept : std::exchange(undecided_, {})) {
    const auto& request = kept.request();
    KubeletWord word;
    if (pods) {
      const auto* pod = find_pod(*pods, request);
      word = word_on(request.name, pod != nullptr ? *pod : PodHoldings{}, *table);
    }
    judge(request, with_word(examine(request, *table), request, *table, word), *table);
  }
}

void ContainerHooks::report_synchronized(std::size_t pods, std::size_t containers,
                                         const std::string& doubt) {
  parts_.metrics.set("railhead_nri_containers_missing_devices", static_cast<double>(lacking_));
  LogFields fields{{"pods", std::to_string(pods)},
                   {"containers", std::to_string(containers)},
                   {"withoutDevices", std::to_string(lacking_)}};
  if (!doubt.empty()) fields.emplace_back("judgedWithoutTheKubelet", doubt);
  parts_.log.write(LogLevel::info, "synchronized", fields);
}

/// A newer table may have the same file.
bool ContainerHooks::is_topology_provided(const DecisionTable& table) const {
  return topology_provided_ && (topology_provided_.get() == &table ||
                                topology_provided_->topology_file() == table.topology_file());
}

Decision ContainerHooks::decided(const ContainerRequest& request, const ContainerFacts& facts,
                                 const DecisionTable& table) {
  Decision decision = decide(request, facts, table, ability_);
  if (!decision.adjustment.mounts.empty() && !is_topology_provided(table)) {
    drop_topology_file(decision.adjustment);
  }
  return decision;
}

void ContainerHooks::create(const ContainerRequest& request, Done done) {
  if (!is_runtime_known_) {
    waiting_.push_back({&request, [this, &request, done] {
                          if (resume(request)) create(request, done);
                        }});
    return;
  }
  if (parts_.machine.is_behind()) return wait_for_table(request, std::move(done));
  examine_and_answer(request, done, Called::at_once);
}

bool ContainerHooks::resume(const ContainerRequest& request) {
  return std::erase_if(waiting_, [&](const Waiting& one) { return one.request == &request; }) != 0;
}

void ContainerHooks::wait_for_table(const ContainerRequest& request, Done done) {
  waiting_.push_back({&request, {}});
  parts_.machine.wait(patience_, [this, &request, done = std::move(done)](bool fresh) {
    if (!resume(request)) return;  // answered at its deadline
    if (!fresh) note_stale(request);
    examine_and_answer(request, done, Called::later);
  });
}

bool ContainerHooks::is_first_to_miss(const GpuFacts& gpus) {
  constexpr std::size_t kMaxMissed = 1024;
  if (!gpus.might_be_new()) return false;
  if (missed_.size() >= kMaxMissed) missed_.clear();
  bool first = false;
  for (const auto& id : gpus.unresolved) first = missed_.insert(id).second || first;
  return first;
}

void ContainerHooks::examine_and_answer(const ContainerRequest& request, const Done& done,
                                        Called called) {
  const auto table = parts_.machine.table();
  auto facts = examine(request, *table);
  if (parts_.kubelet != nullptr && needs_kubelet(facts, *table)) {
    waiting_.push_back({&request, {}});
    parts_.kubelet->ask(
        request, table, claim_timeout_,
        [this, &request, facts = std::move(facts), table, done,
         called](const KubeletWord& word) mutable {
          if (!resume(request)) return;
          answer(request, with_word(std::move(facts), request, *table, word), table, done,
                 called == Called::at_once ? Called::after_the_kubelet : Called::later);
        });
    return;
  }
  answer(request, facts, table, done, called);
}

void ContainerHooks::answer(const ContainerRequest& request, const ContainerFacts& facts,
                            const std::shared_ptr<const DecisionTable>& table, const Done& done,
                            Called called) {
  if (called != Called::later && is_first_to_miss(facts.gpus)) {
    parts_.machine.look_again(Machine::kUnknownGpu);
    return wait_for_table(request, done);
  }
  const auto decision = decided(request, facts, *table);
  if (called != Called::at_once) {  // the request goes with `done`
    report(request, facts, decision, *table);
    return done(answer_of(decision));
  }
  done(answer_of(decision));  // the runtime need not wait for the log
  report(request, facts, decision, *table);
}

void ContainerHooks::note_stale(const ContainerRequest& request) {
  parts_.metrics.add("railhead_nri_stale_decisions_total");
  auto fields = identity(request);
  fields.emplace_back("why", "the machine changed, and reading it takes longer than " +
                                 std::to_string(patience_.count()) + " ms");
  parts_.log.write(LogLevel::warn, "decided by the last reading", fields);
}

nri::CreateAnswer ContainerHooks::on_deadline(const ContainerRequest& request) {
  (void)resume(request);
  const auto table = parts_.machine.table();
  const auto facts = with_word(examine(request, *table), request, *table,
                               {KubeletWord::State::unanswered, {}, false});
  const auto decision = decided(request, facts, *table);
  report(request, facts, decision, *table, "without the kubelet's word");
  return answer_of(decision);
}

void ContainerHooks::disconnected(const Error& why, std::chrono::milliseconds retry_in) {
  parts_.link.set_connected(false);
  parts_.metrics.add("railhead_nri_disconnects_total");
  const bool news = was_connected_ || why.message != last_error_;
  was_connected_ = false;
  last_error_ = why.message;
  parts_.log.write(news ? LogLevel::warn : LogLevel::debug, "runtime not connected",
                   {{"why", why.message}, {"retryInMs", std::to_string(retry_in.count())}});
}

void ContainerHooks::report_again(const ContainerRequest& request) {
  parts_.metrics.add("railhead_nri_created_again_total");
  auto fields = identity(request);
  fields.emplace_back(
      "why",
      "restarted, or its last creation failed after our answer; if the runtime says "
      "that two plugins \"both tried to set\" something, the other one has to skip "
      "what is there already, or run before us");
  parts_.log.write(LogLevel::warn, "container created again", fields);
}

/// With the NICs that it had and those that it was given.
void ContainerHooks::note_container(const ContainerFacts& facts, const Decision& decision,
                                    const DecisionTable& table) {
  auto holder = holder_of(facts, table);
  for (const auto n : decision.nics) {
    const auto& name = table.node().nics[n].name;
    auto& nics = holder.nics;
    if (std::find(nics.begin(), nics.end(), name) == nics.end()) nics.push_back(name);
  }
  parts_.book->note(holder, facts.gpus.kubelet_answered);
}

void ContainerHooks::report(const ContainerRequest& request, const ContainerFacts& facts,
                            const Decision& decision, const DecisionTable& table,
                            const char* remark) {
  if (parts_.book != nullptr) note_container(facts, decision, table);
  if (!decision.adjustment.empty() && recent_.note(request)) report_again(request);
  parts_.metrics.add(
      "railhead_nri_decisions_total",
      {{"outcome", std::string(outcome_text(decision.outcome))}, {"reason", decision.reason_code}});
  for (const auto& one : decision.remarks) {
    parts_.metrics.add("railhead_nri_warnings_total", {{"code", one.code}});
  }
  if (decision.outcome == Outcome::adjusted) {
    for (const auto n : decision.nics) {
      parts_.metrics.add("railhead_nri_injected_nics_total", {{"nic", table.node().nics[n].name}});
    }
  }
  const bool bad = decision.outcome == Outcome::refused || !decision.remarks.empty();
  const auto level = bad ? LogLevel::warn : LogLevel::info;
  if (!parts_.log.enabled(level)) return;
  auto fields = identity(request);
  fields.emplace_back("outcome", outcome_text(decision.outcome));
  fields.emplace_back("reason", decision.reason_code);
  fields.emplace_back("why", decision.message);
  if (!decision.gpus.empty()) fields.emplace_back("gpus", gpu_list(decision, table.node()));
  if (!decision.nics.empty()) fields.emplace_back("nics", nic_list(decision, table.node()));
  if (decision.adjustment.memlock_bytes) {
    fields.emplace_back("memlock", memlock_text(*decision.adjustment.memlock_bytes));
  }
  if (*remark != '\0') fields.emplace_back("decided", remark);
  for (const auto& one : decision.remarks) fields.emplace_back("remark." + one.code, one.text);
  parts_.log.write(level, "container", fields);
}

}  // namespace railhead
