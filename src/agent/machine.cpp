// SPDX-License-Identifier: Apache-2.0
#include "agent/machine.h"

#include <set>
#include <utility>

#include "agent/machine_news.h"
#include "host/host_error.h"
#include "node/device_numbers.h"
#include "node/moved.h"

namespace railhead::agent {
namespace {

std::set<node::PciAddress> handed_to_one_pod(const inject::DecisionTable& table) {
  std::set<node::PciAddress> addresses;
  const auto& pools = table.pools();
  for (std::size_t f = 0; f < pools.functions.size(); ++f) {
    if (!pools.exclusive[f] || !pools.functions[f].pci) continue;
    addresses.insert(addresses.end(), *pools.functions[f].pci);  // they come in this order
  }
  return addresses;
}

/// A file that cannot be used is a configuration that cannot be used.
Error at_setting(const MachineSettings& settings, const Error& error) {
  return {ErrorCode::usage, settings.topology_setting + ": " + error.message};
}

Result<std::optional<node::TextFile>> text_of(const MachineSettings& settings) {
  if (!settings.read_topology_file) return std::optional<node::TextFile>();
  auto file = settings.read_topology_file();
  if (!file) return at_setting(settings, file.error());
  return file;
}

Result<std::optional<topology::NcclTopology>> parsed(const std::optional<node::TextFile>& file,
                                                     const MachineSettings& settings) {
  if (!file) return std::optional<topology::NcclTopology>();
  auto topology = topology::parse_nccl_topology(file->text, file->path);
  if (!topology) return at_setting(settings, topology.error());
  return std::optional(std::move(topology).value());
}

}  // namespace

Machine::Machine(MachineSource source, MachineSettings settings, Links links)
    : source_(std::move(source)),
      settings_(std::move(settings)),
      clock_(links.clock),
      log_(links.log),
      metrics_(links.metrics) {
  look_for_events();
}

void Machine::look_for_events() {
  if (!source_.open_watch) return;
  std::string blind;
  if (watch_) {
    watch_->retry();
    blind = watch_->blind();
  } else if (auto opened = source_.open_watch()) {
    watch_ = std::move(opened).value();
    blind = watch_->blind();
  } else {
    blind = opened.error().message;
  }
  if (blind != blind_) {
    log_.write(blind.empty() ? config::LogLevel::info : config::LogLevel::warn,
               blind.empty() ? "events are seen again" : "not all events are seen",
               {{"why", blind}});
  }
  blind_ = std::move(blind);
}

Result<bool> Machine::read_topology_file() {
  auto file = TRY(text_of(settings_));
  if (file == topology_file_) return false;
  from_operator_ = TRY(parsed(file, settings_));
  topology_file_ = std::move(file);
  return true;
}

/// No event tells of the file, and it may lie on a file server that hangs: only a timer's reading
/// waits for it, and what comes meanwhile.
bool Machine::refresh_topology_file(std::string_view cause) {
  if (cause != kTimer) return false;
  const auto changed = read_topology_file();
  const std::string error = changed ? "" : changed.error().message;
  if (!error.empty() && error != topology_error_) {
    log_.write(config::LogLevel::error, "topology file not read, what it said before counts",
               {{"error", error}});
  }
  topology_error_ = error;
  return changed && *changed;
}

Status Machine::read(std::string_view cause) {
  auto done = read_anew(cause);
  note_outcome(done, cause);
  return done;
}

void Machine::note_outcome(const Status& done, std::string_view cause) {
  const int error = done ? 0 : host::errno_of(done.error());
  if (!done) {
    metrics_.node_read_failures.add(label::Cause(cause));
    changes_.everything = true;
  }
  const bool is_news = table_ && error != error_;
  error_ = error;
  if (!is_news) return;
  if (done) return log_.write(config::LogLevel::info, "node is read again");
  log_.write(config::LogLevel::error, "node not read", {{"error", done.error().message}});
}

Status Machine::read_anew(std::string_view cause) {
  drain();  // events up to here are covered by this reading
  const auto start = clock_.now();
  auto host = TRY(source_.open());
  node::Node node = TRY(read_node(*host, cause));
  ports_.emplace(node);
  if (table_) node::keep_what_moved(as_read_, handed_to_one_pod(*table_), node);
  host_ = source_.open_watch ? std::move(host) : nullptr;
  const std::chrono::duration<double> took = clock_.now() - start;
  metrics_.node_reads.add(label::Cause(cause));
  metrics_.node_read_seconds.set(took.count());
  if (!table_) {
    TRY(read_topology_file());
  } else if (!refresh_topology_file(cause) && as_read_ == node) {
    return {};
  }
  auto fresh = std::make_shared<const inject::DecisionTable>(node, settings_.rules,
                                                             settings_.policy, from_operator_);
  as_read_ = std::move(node);
  take(std::move(fresh), cause);
  return {};
}

void Machine::take(std::shared_ptr<const inject::DecisionTable> fresh, std::string_view cause) {
  log_machine(table_.get(), *fresh, cause, log_);
  publish_machine(*fresh, metrics_);
  table_ = std::move(fresh);
}

Result<node::Node> Machine::read_node(host::Host& host, std::string_view cause) {
  if (cause == kUnknownGpu) changes_.gpus = true;
  const auto changes = std::exchange(changes_, {});
  const bool named = cause == kEvent || cause == kPort || cause == kUnknownGpu;
  return named ? reader_.read_again(host, changes) : reader_.read(host);
}

bool Machine::drain() {
  if (watch_) changes_.merge(watch_->drain());
  return !changes_.empty();
}

Status Machine::look_at_ports() {
  if (!host_) return {};
  const auto changes = ports_->changed(*host_);
  if (changes.empty()) return {};
  changes_.merge(changes);
  auto done = read(kPort);
  if (!done) host_.reset();  // said once; the next reading that succeeds looks on
  return done;
}

bool Machine::numbers_differ() {
  const auto host = source_.open();
  return !host || node::device_numbers_differ(**host, as_read_);
}

bool Machine::look_at_touched() {
  const auto touched = watch_ ? watch_->touched() : host::MachineChanges();
  if (!touched) return false;
  const auto host = source_.open();
  const auto changes = host ? node::changed_nodes(**host, as_read_, touched) : touched;
  changes_.merge(changes);
  return !changes.empty();
}

Status Machine::reconfigure(MachineSettings settings) {
  auto file = TRY(text_of(settings));
  auto topology = TRY(parsed(file, settings));
  auto fresh = std::make_shared<const inject::DecisionTable>(as_read_, settings.rules,
                                                             settings.policy, topology);
  const auto& conflicts = fresh->pools().conflicts;
  if (!conflicts.empty()) return Error{ErrorCode::malformed, conflicts.front()};
  settings_ = std::move(settings);
  topology_file_ = std::move(file);
  from_operator_ = std::move(topology);
  topology_error_.clear();
  take(std::move(fresh), "configuration");
  return {};
}

std::optional<int> Machine::events() const {
  return watch_ ? std::optional(watch_->descriptor()) : std::nullopt;
}

std::optional<int> Machine::touches() const {
  return watch_ ? watch_->touches() : std::nullopt;
}

}  // namespace railhead::agent
