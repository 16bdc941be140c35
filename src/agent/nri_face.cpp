// SPDX-License-Identifier: Apache-2.0
#include "agent/nri_face.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "host/process.h"
#include "inject/topology_file.h"
#include "nri/capability.h"

namespace railhead {
namespace {

/// CAP_SYS_RESOURCE, include/uapi/linux/capability.h
constexpr unsigned kCapSysResource = 24;

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
  return {{"pod", std::string(request.pod_namespace) + "/" + std::string(request.pod_name)},
          {"container", std::string(request.name)}};
}

Result<int> find_runtime(const nri::RuntimePeer& peer, Host& live, const std::string& proc_dir) {
  if (peer.pid) return *peer.pid;
  const auto name = peer.name == "cri-o" ? std::string("crio") : peer.name;
  const auto found = TRY(find_processes(live, proc_dir, name));
  if (found.size() == 1) return found.front();
  return Error{ErrorCode::unavailable, std::to_string(found.size()) + " processes named " +
                                           quoted(name) + " below " + proc_dir};
}

}  // namespace

RuntimeAbility ability_of(const nri::RuntimePeer& peer, Host& live, const std::string& proc_dir,
                          Log& log) {
  RuntimeAbility ability;
  ability.name = peer.name;
  ability.version = peer.version;
  ability.rlimits = nri::features_of(peer.name, peer.version).rlimits;
  const auto pid = find_runtime(peer, live, proc_dir);
  if (!pid) {
    log.write(LogLevel::warn, "runtime limits unknown",
              {{"runtime", peer.name}, {"why", pid.error().message}});
    return ability;
  }
  const auto facts = read_process(live, proc_dir, *pid);
  if (!facts || !*facts) {
    log.write(
        LogLevel::warn, "runtime limits unknown",
        {{"runtime", peer.name},
         {"why", facts ? "process " + std::to_string(*pid) + " is gone" : facts.error().message}});
    return ability;
  }
  const auto& process = **facts;
  ability.memlock_inherited = process.memlock_soft_bytes;
  if (process.cap_effective && ((*process.cap_effective >> kCapSysResource) & 1U) != 0) {
    ability.memlock_ceiling = kUnlimited;
  } else if (process.cap_effective) {
    ability.memlock_ceiling = process.memlock_hard_bytes;
  }
  return ability;
}

NriFace::NriFace(MachineTables& machine, Host& live, std::string proc_dir, bool fail_request,
                 Log& log, MetricRegistry& metrics, AskClaim ask, ContainerBook* book,
                 AskAllClaims ask_all)
    : machine_(machine),
      live_(live),
      proc_dir_(std::move(proc_dir)),
      fail_request_(fail_request),
      log_(log),
      metrics_(metrics),
      ask_(std::move(ask)),
      book_(book),
      ask_all_(std::move(ask_all)) {}

void NriFace::configured(const nri::RuntimePeer& peer) {
  claim_timeout_ = peer.request_timeout / 2;  // well before the session's own deadline
  ability_ = ability_of(peer, live_, proc_dir_, log_);
  lacking_ = 0;
  undecided_.clear();
  ++synchronize_;
  log_.write(LogLevel::info, "runtime connected",
             {{"runtime", peer.name},
              {"version", peer.version},
              {"nri", peer.nri_version},
              {"requestTimeoutMs", std::to_string(peer.request_timeout.count())},
              {"memlockCeiling", ability_.memlock_ceiling ? memlock_text(*ability_.memlock_ceiling)
                                                          : std::string("unknown")}});
  metrics_.clear("railhead_nri_runtime_info");
  metrics_.set("railhead_nri_runtime_info", 1,
               {{"name", peer.name}, {"version", peer.version}, {"nri", peer.nri_version}});
  nri::WantedFeatures wanted;
  wanted.rlimits = true;
  wanted.failure_policy = fail_request_;
  metrics_.clear("railhead_nri_missing_features");
  for (const auto& missing : nri::missing_features(wanted, peer.name, peer.version)) {
    log_.write(LogLevel::warn, "runtime lacks a feature", {{"what", missing}});
    metrics_.set("railhead_nri_missing_features", 1, {{"what", missing}});
  }
}

void NriFace::existing(const ContainerRequest& container) {
  const auto table = machine_.table();
  if (book_ != nullptr) book_->note(holder_of(container, *table));
  const auto missing = [&](GpuClaim claim) {
    return join(missing_devices(container, *table, ability_, claim), ",");
  };
  const auto trusted = missing(GpuClaim::no_kubelet);
  if (trusted.empty()) return;
  if (ask_all_ && needs_gpu_claim(container, *table)) {
    undecided_.push_back({std::string(container.pod_namespace), std::string(container.pod_name),
                          std::string(container.name), trusted, missing(GpuClaim::holds_none)});
    return;
  }
  report_missing(std::string(container.pod_namespace) + "/" + std::string(container.pod_name),
                 std::string(container.name), trusted);
}

void NriFace::report_missing(const std::string& pod, const std::string& container,
                             const std::string& missing) {
  if (missing.empty()) return;
  ++lacking_;
  log_.write(LogLevel::warn, "container without its devices",
             {{"pod", pod},
              {"container", container},
              {"missing", missing},
              {"why", "it was created while no agent was connected; start it again"}});
}

void NriFace::synchronized(std::size_t pods, std::size_t containers) {
  was_connected_ = true;
  last_error_.clear();
  if (undecided_.empty()) return report_synchronized(pods, containers, "");
  ask_all_(machine_.table(), claim_timeout_,
           [this, pods, containers, asked = synchronize_](const auto& claims) {
             if (asked != synchronize_) return;
             settle_undecided(claims);
             const bool doubt = !claims && claims.error().code != ErrorCode::unavailable;
             report_synchronized(pods, containers, doubt ? claims.error().message : "");
           });
}

/// Where nobody knows, the environment is trusted: a report too many harms nobody.
void NriFace::settle_undecided(
    const Result<std::function<GpuClaim(std::string_view, std::string_view)>>& claims) {
  for (const auto& one : undecided_) {
    const bool denied = claims && (*claims)(one.pod_namespace, one.pod) == GpuClaim::holds_none;
    report_missing(one.pod_namespace + "/" + one.pod, one.container,
                   denied ? one.missing_if_denied : one.missing_if_trusted);
  }
  undecided_.clear();
}

void NriFace::report_synchronized(std::size_t pods, std::size_t containers,
                                  const std::string& doubt) {
  metrics_.set("railhead_nri_containers_missing_devices", static_cast<double>(lacking_));
  LogFields fields{{"pods", std::to_string(pods)},
                   {"containers", std::to_string(containers)},
                   {"withoutDevices", std::to_string(lacking_)}};
  if (!doubt.empty()) fields.emplace_back("judgedWithoutTheKubelet", doubt);
  log_.write(LogLevel::info, "synchronized", fields);
}

Decision NriFace::decided(const ContainerRequest& request, const DecisionTable& table,
                          GpuClaim claim) {
  Decision decision = decide(request, table, ability_, claim);
  if (!decision.adjustment.mounts.empty() && topology_provided_.get() != &table) {
    drop_topology_file(decision.adjustment);
  }
  return decision;
}

void NriFace::create(const ContainerRequest& request, std::function<void(nri::CreateAnswer)> done) {
  const auto table = machine_.table();
  if (ask_ && needs_gpu_claim(request, *table)) {
    ask_(request, table, claim_timeout_, [this, &request, table, done](GpuClaim claim) {
      const auto decision = decided(request, *table, claim);
      report(request, decision, *table);  // before the request goes with `done`
      done(answer_of(decision));
    });
    return;
  }
  const auto decision = decided(request, *table, GpuClaim::no_kubelet);
  done(answer_of(decision));
  report(request, decision, *table);
}

nri::CreateAnswer NriFace::on_deadline(const ContainerRequest& request) {
  const auto table = machine_.table();
  const auto decision = decided(request, *table, GpuClaim::unanswered);
  auto fields = identity(request);
  fields.emplace_back("outcome", std::string(outcome_text(decision.outcome)));
  log_.write(LogLevel::warn, "decided at the deadline, without the kubelet's word", fields);
  report(request, decision, *table);
  return answer_of(decision);
}

void NriFace::disconnected(const Error& why, std::chrono::milliseconds retry_in) {
  metrics_.add("railhead_nri_disconnects_total");
  const bool news = was_connected_ || why.message != last_error_;
  was_connected_ = false;
  last_error_ = why.message;
  log_.write(news ? LogLevel::warn : LogLevel::debug, "runtime not connected",
             {{"why", why.message}, {"retryInMs", std::to_string(retry_in.count())}});
}

void NriFace::report_again(const ContainerRequest& request) {
  metrics_.add("railhead_nri_created_again_total");
  auto fields = identity(request);
  fields.emplace_back(
      "why",
      "restarted, or its last creation failed after our answer; if the runtime says "
      "that two plugins \"both tried to set\" something, the other one has to skip "
      "what is there already, or run before us");
  log_.write(LogLevel::warn, "container created again", fields);
}

/// With the NICs that it had and those that it was given.
void NriFace::note_container(const ContainerRequest& request, const Decision& decision,
                             const DecisionTable& table) {
  auto holder = holder_of(request, table);
  for (const auto n : decision.nics) {
    const auto& name = table.node().nics[n].name;
    auto& nics = holder.nics;
    if (std::find(nics.begin(), nics.end(), name) == nics.end()) nics.push_back(name);
  }
  book_->note(std::move(holder));
}

void NriFace::report(const ContainerRequest& request, const Decision& decision,
                     const DecisionTable& table) {
  if (book_ != nullptr) note_container(request, decision, table);
  if (!decision.adjustment.empty() && recent_.note(request)) report_again(request);
  metrics_.add(
      "railhead_nri_decisions_total",
      {{"outcome", std::string(outcome_text(decision.outcome))}, {"reason", decision.reason_code}});
  for (const auto& remark : decision.remarks) {
    metrics_.add("railhead_nri_warnings_total", {{"code", remark.code}});
  }
  if (decision.outcome == Outcome::adjusted) {
    for (const auto n : decision.nics) {
      metrics_.add("railhead_nri_injected_nics_total", {{"nic", table.node().nics[n].name}});
    }
  }
  const bool bad = decision.outcome == Outcome::refused || !decision.remarks.empty();
  const auto level = bad ? LogLevel::warn : LogLevel::info;
  if (!log_.enabled(level)) return;
  auto fields = identity(request);
  fields.emplace_back("outcome", std::string(outcome_text(decision.outcome)));
  fields.emplace_back("reason", decision.reason_code);
  fields.emplace_back("why", decision.message);
  if (!decision.gpus.empty()) fields.emplace_back("gpus", gpu_list(decision, table.node()));
  if (!decision.nics.empty()) fields.emplace_back("nics", nic_list(decision, table.node()));
  if (decision.adjustment.memlock_bytes) {
    fields.emplace_back("memlock", memlock_text(*decision.adjustment.memlock_bytes));
  }
  for (const auto& remark : decision.remarks)
    fields.emplace_back("remark." + remark.code, remark.text);
  log_.write(level, "container", fields);
}

}  // namespace railhead
