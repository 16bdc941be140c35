// SPDX-License-Identifier: Apache-2.0
#include "agent/machine.h"

#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "host/input_file.h"
#include "host/memory.h"
#include "node/moved.h"

namespace railhead {
namespace {

std::string usable_text(const Usability& usability) {
  return usability.usable ? "usable" : "not usable: " + usability.reason;
}

std::set<PciAddress> handed_to_one_pod(const DecisionTable& table) {
  std::set<PciAddress> addresses;
  const auto& pools = table.pools();
  for (std::size_t f = 0; f < pools.functions.size(); ++f) {
    if (pools.exclusive[f] && pools.functions[f].pci) addresses.insert(*pools.functions[f].pci);
  }
  return addresses;
}

}  // namespace

Machine::Machine(Open open, std::unique_ptr<Watch> watch, std::vector<RoleOverride> roles,
                 InjectionPolicy policy, Clock& clock, Log& log, MetricRegistry& metrics,
                 ReadTopologyFile read_topology_file)
    : open_(std::move(open)),
      watch_(std::move(watch)),
      roles_(std::move(roles)),
      policy_(std::move(policy)),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      read_file_(std::move(read_topology_file)) {}

Result<bool> Machine::read_topology_file() {
  if (!read_file_) return false;
  auto file = TRY(read_file_());
  if (file == topology_file_) return false;
  std::optional<NcclTopology> topology;
  if (file) topology = TRY(parse_nccl_topology(file->text, file->path));
  from_operator_ = std::move(topology);
  topology_file_ = std::move(file);
  return true;
}

bool Machine::refresh_topology_file() {
  const auto changed = read_topology_file();
  const std::string error = changed ? "" : changed.error().message;
  if (!error.empty() && error != topology_error_) {
    log_.write(LogLevel::error, "topology file not read, what it said before counts",
               {{"error", error}});
  }
  topology_error_ = error;
  return changed && *changed;
}

Status Machine::read(std::string_view cause) {
  auto done = read_anew(cause);
  give_back_free_memory();  // a reading needs several times what is kept of it
  return done;
}

Status Machine::read_anew(std::string_view cause) {
  if (watch_) watch_->drain();  // events up to here are covered by this reading
  const auto start = clock_.now();
  auto host = TRY(open_());
  Node node = read_node(*host);
  ports_.emplace(node);
  if (table_) keep_what_moved(as_read_, handed_to_one_pod(*table_), node);
  host_ = watch_ ? std::move(host) : nullptr;
  const std::chrono::duration<double> took = clock_.now() - start;
  metrics_.add("railhead_node_reads_total", {{"cause", std::string(cause)}});
  metrics_.set("railhead_node_read_seconds", took.count());
  const bool other_file = table_ ? refresh_topology_file() : TRY(read_topology_file());
  if (table_ && !other_file && as_read_ == node) return {};
  auto fresh = std::make_shared<const DecisionTable>(node, roles_, policy_, from_operator_);
  as_read_ = std::move(node);
  log_changes(table_.get(), *fresh, cause);
  publish(*fresh);
  table_ = std::move(fresh);
  return {};
}

Status Machine::look_at_ports() {
  if (!host_ || !ports_->differ(*host_)) return {};
  auto done = read("port");
  if (!done) host_.reset();  // said once; the next reading that succeeds looks on
  return done;
}

Status Machine::reconfigure(std::vector<RoleOverride> roles, InjectionPolicy policy,
                            ReadTopologyFile read_topology_file) {
  std::optional<TextFile> file;
  if (read_topology_file) file = TRY(read_topology_file());
  std::optional<NcclTopology> topology;
  if (file) topology = TRY(parse_nccl_topology(file->text, file->path));
  auto fresh = std::make_shared<const DecisionTable>(as_read_, roles, policy, topology);
  const auto& conflicts = fresh->pools().conflicts;
  if (!conflicts.empty()) return Error{ErrorCode::malformed, conflicts.front()};
  roles_ = std::move(roles);
  policy_ = std::move(policy);
  read_file_ = std::move(read_topology_file);
  topology_file_ = std::move(file);
  from_operator_ = std::move(topology);
  topology_error_.clear();
  log_changes(table_.get(), *fresh, "configuration");
  publish(*fresh);
  table_ = std::move(fresh);
  return {};
}

std::shared_ptr<const DecisionTable> Machine::table() {
  if (watch_ && watch_->drain()) {
    const auto done = read("event");
    if (!done) log_.write(LogLevel::error, "node not read", {{"error", done.error().message}});
  }
  return table_;
}

bool Machine::provide_topology_file(const DecisionTable& table) {
  const auto& file = table.topology_file();
  if (!file) return false;
  if (provided_ == file && input_file_exists(file->path)) return true;
  Status done = make_folders(file->path.substr(0, file->path.rfind('/')));
  if (done) done = write_file_atomic(file->path, file->text);
  const std::string error = done ? "" : done.error().message;
  if (!error.empty() && error != provide_error_) {
    log_.write(LogLevel::error, "containers get no NCCL topology file", {{"error", error}});
  }
  provide_error_ = error;
  provided_ = done ? file : std::nullopt;
  return provided_.has_value();
}

std::vector<int> Machine::descriptors() const {
  return watch_ ? watch_->descriptors() : std::vector<int>{};
}

void Machine::publish(const DecisionTable& table) {
  metrics_.set("railhead_node_gpus", static_cast<double>(table.node().gpus.size()));
  metrics_.set("railhead_node_problems", static_cast<double>(table.node().problems.size()));
  const Topology& topology = table.topology();
  metrics_.clear("railhead_topology_info");
  metrics_.set("railhead_topology_info", 1,
               {{"source", std::string(to_string(topology.source))},
                {"confidence", std::string(to_string(topology.confidence))},
                {"origin", topology.origin}});
  metrics_.clear("railhead_node_nics");
  metrics_.clear("railhead_nic_usable");
  for (std::size_t n = 0; n < table.node().nics.size(); ++n) {
    const bool usable = table.usable()[n].usable;
    const Labels kind{{"role", std::string(to_string(table.deal().roles[n].role))},
                      {"usable", usable ? "true" : "false"}};
    metrics_.set("railhead_node_nics", metrics_.value("railhead_node_nics", kind) + 1, kind);
    metrics_.set("railhead_nic_usable", usable ? 1 : 0, {{"nic", table.node().nics[n].name}});
  }
}

void Machine::log_changes(const DecisionTable* before, const DecisionTable& now,
                          std::string_view cause) {
  log_.write(LogLevel::info, "node read",
             {{"cause", std::string(cause)},
              {"gpus", std::to_string(now.node().gpus.size())},
              {"nics", std::to_string(now.node().nics.size())},
              {"problems", std::to_string(now.node().problems.size())},
              {"topology", std::string(to_string(now.topology().source))},
              {"origin", now.topology().origin},
              {"confidence", std::string(to_string(now.topology().confidence))}});
  std::map<std::string, std::string> was;
  if (before != nullptr) {
    for (std::size_t n = 0; n < before->node().nics.size(); ++n) {
      was[before->node().nics[n].name] = usable_text(before->usable()[n]);
    }
  }
  for (std::size_t n = 0; n < now.node().nics.size(); ++n) {
    const auto& name = now.node().nics[n].name;
    const auto is = usable_text(now.usable()[n]);
    const auto at = was.find(name);
    const bool same = at != was.end() && at->second == is;
    if (at != was.end()) was.erase(at);
    if (same) continue;
    const bool compute = now.deal().roles[n].role == Role::compute;
    log_.write(!now.usable()[n].usable && compute ? LogLevel::warn : LogLevel::info, "nic",
               {{"nic", name},
                {"role", std::string(to_string(now.deal().roles[n].role))},
                {"why", now.deal().roles[n].reason},
                {"state", is}});
  }
  for (const auto& [name, state] : was) log_.write(LogLevel::warn, "nic gone", {{"nic", name}});
  for (const auto& problem : now.node().problems) {
    log_.write(LogLevel::warn, "node problem", {{"path", problem.path}, {"what", problem.what}});
  }
  for (const auto& warning : now.topology().warnings) {
    log_.write(LogLevel::warn, "topology", {{"what", warning}});
  }
  for (const auto& conflict : now.pools().conflicts) {
    log_.write(LogLevel::error, "pools", {{"what", conflict}});
  }
  for (const auto& warning : now.deal().warnings) {
    log_.write(LogLevel::warn, "deal", {{"what", warning}});
  }
}

}  // namespace railhead
