// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_log.h"

#include <algorithm>

namespace railhead::proof {
namespace {

/// NCCL's longest line lists the devices (2,048 bytes); collectors put less than that in front.
constexpr std::size_t kMaxLine = 16384;
constexpr std::size_t kMaxProcesses = 65536;
constexpr std::size_t kMaxWorkers = 65536;
constexpr std::size_t kMaxNamedDevices = 64;
constexpr std::size_t kMaxUses = 64;
constexpr std::size_t kMaxChannels = 256;
constexpr std::size_t kMaxVersions = 8;
constexpr std::size_t kMaxHost = 253;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

void note(NcclEvidence& evidence, NcclSign sign, std::uint64_t line, std::string_view text) {
  if (evidence.find(sign) == evidence.end()) evidence.emplace(sign, nccl_quote(line, text));
}

void read_devices(NcclProcess& process, NcclDeviceList list) {
  if (list.devices.empty()) return;
  if (list.network == "Socket") {
    process.interfaces = std::move(list.devices);
    return;
  }
  for (const auto& device : list.devices) process.names[device.index] = device.name;
  process.relaxed_ordering = list.relaxed_ordering;
  process.devices = std::move(list.devices);
}

void read_capability(NcclProcess& process, const NcclGpuDirect& said) {
  if (process.names.size() < kMaxNamedDevices && !said.device.name.empty()) {
    process.names.emplace(said.device.index, said.device.name);
  }
  if (said.enabled && !said.route.empty()) process.routes.emplace(said.route);
}

/// Why there is no RDMA, in the words of the versions since 2.18.
std::optional<NcclSign> obstacle(std::string_view message) {
  if (contains(message, "NET/IB : No device found")) return NcclSign::no_device;
  if (contains(message, "Failed to open libibverbs")) return NcclSign::no_library;
  if (contains(message, "Unable to open device")) return NcclSign::not_opened;
  if (contains(message, "NCCL_IB_DISABLE set by environment to 1")) return NcclSign::switched_off;
  if (contains(message, "NCCL_NET set by environment to Socket")) return NcclSign::switched_off;
  if (contains(message, "Failed to initialize NET plugin IB") ||
      contains(message, "NET/OFI No eligible providers")) {
    return NcclSign::plugin_failed;
  }
  return std::nullopt;
}

/// The name in `NET/Plugin: Loaded net plugin IBext_v8 (v8)` and in `P2P plugin IBext_v8`.
std::string_view loaded_plugin(std::string_view message) {
  for (const std::string_view word : {"Loaded net plugin ", "P2P plugin "}) {
    const auto at = message.find(word);
    if (at == std::string_view::npos) continue;
    const auto name = message.substr(at + word.size());
    return name.substr(0, std::min<std::size_t>(name.find(" (v"), 64));
  }
  return {};
}

void read_about_process(NcclProcess& process, std::string_view message, std::uint64_t line) {
  if (auto list = nccl_device_list(message)) {
    if (list->network != "Socket") {
      note(process.evidence, list->is_empty ? NcclSign::no_list : NcclSign::devices, line, message);
    }
    read_devices(process, std::move(*list));
  } else if (const auto merged = nccl_virtual_device(message)) {
    if (process.names.size() < kMaxNamedDevices) process.names[merged->index] = merged->name;
  } else if (const auto said = nccl_gpu_direct(message)) {
    note(process.evidence, NcclSign::capability, line, message);
    read_capability(process, *said);
  } else if (const auto provider = nccl_ofi_provider(message)) {
    note(process.evidence, NcclSign::provider, line, message);
    process.ofi_provider = *provider;
  } else if (contains(message, "DMA-BUF is available on GPU device")) {
    note(process.evidence, NcclSign::dma_buf, line, message);
    process.routes.emplace("DMA-BUF");
  } else if (const auto plugin = loaded_plugin(message); !plugin.empty()) {
    note(process.evidence, NcclSign::plugin, line, message);
    process.plugin = plugin;
  } else if (const auto why = obstacle(message)) {
    note(process.evidence, *why, line, message);
  }
}

NcclUse* use_of(NcclWorker& worker, const NcclChannel& channel) {
  const auto found = std::find_if(worker.uses.begin(), worker.uses.end(), [&](const NcclUse& use) {
    return use.device == channel.device && use.network == channel.network;
  });
  if (found != worker.uses.end()) return &*found;
  if (worker.uses.size() == kMaxUses) return nullptr;
  NcclUse use;
  use.network = channel.network;
  use.device = channel.device;
  return &worker.uses.emplace_back(std::move(use));
}

/// No collector puts a slash in front of a line: it is from the end of a route ("…/GDRDMA").
bool is_behind_slash(std::string_view text, std::string_view host) {
  return !host.empty() && host.data() > text.data() && host.data()[-1] == '/';
}

}  // namespace

void NcclLogReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto part = bytes.substr(0, end);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    if (end != std::string_view::npos && pending_.empty() && part.size() <= kMaxLine) {
      read_line(part);
      continue;
    }
    const auto room = kMaxLine - pending_.size();
    overlong_ = overlong_ || part.size() > room;
    pending_ += part.substr(0, room);
    if (end == std::string_view::npos) return;
    read_line(pending_);
    pending_.clear();
  }
}

NcclLog NcclLogReader::finish() {
  if (!pending_.empty()) read_line(pending_);
  pending_.clear();
  log_.problems = problems_.take();
  return std::move(log_);
}

void NcclLogReader::read_line(std::string_view line) {
  ++log_.lines;
  if (overlong_) ++log_.cut_lines;
  overlong_ = false;
  line = plain_text(line, room_);
  if (!contains(line, "CCL ")) return problems_.read_foreign(line, log_.lines);
  // A progress bar writes over its line: each piece stands for itself.
  while (!line.empty()) {
    const auto end = std::min(line.find('\r'), line.size());
    if (end > 0) read_text(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
}

void NcclLogReader::read_text(std::string_view text) {
  if (const auto version = nccl_version(text); version && log_.versions.size() < kMaxVersions) {
    log_.versions.insert(*version);
  }
  auto records = nccl_records(text);
  if (!records.empty() && is_behind_slash(text, records[0].host)) {
    records[0].host.remove_prefix(foreign_part(records[0]));
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto& record = records[i];
    process_of(record);
    if (i + 1 < records.size()) give_back(record.message, records[i + 1]);
    // The end of a line in the JSON of a container runtime's log file.
    record.message = record.message.substr(0, record.message.find("\\n\""));
    read_record(record);
  }
}

void NcclLogReader::give_back(std::string_view& message, NcclRecord& next) const {
  const auto part = foreign_part(next);
  if (part == 0) return;
  const auto* end = next.host.data() + part;
  const auto* start = message.empty() ? next.host.data() : message.data();
  message = {start, static_cast<std::size_t>(end - start)};
  next.host.remove_prefix(part);
}

std::size_t NcclLogReader::foreign_part(const NcclRecord& record) const {
  const auto& host = record.host;
  const auto is_known = [&](std::string_view name) {
    return process_index_.count({*record.pid, std::string(name)}) > 0;
  };
  if (!record.pid || is_known(host)) return 0;
  for (std::size_t n = host.size() > kMaxHost ? host.size() - kMaxHost : 1; n < host.size(); ++n) {
    if (is_known(host.substr(n))) return n;
  }
  return 0;
}

void NcclLogReader::read_record(const NcclRecord& record) {
  ++log_.records;
  if (!record.pid) ++log_.nameless;
  problems_.read(record, log_.lines);
  const auto process = process_of(record);
  if (!process) {
    ++log_.left_out;
    return;
  }
  read_about_process(log_.processes[*process], record.message, log_.lines);
  read_about_worker(record, *process);
}

void NcclLogReader::read_about_worker(const NcclRecord& record, std::size_t process) {
  const auto& message = record.message;
  const auto network = nccl_chosen_network(message);
  const auto channel = network ? std::nullopt : nccl_channel(message);
  const auto membership = network || channel ? std::nullopt : nccl_membership(message);
  const bool is_local = !network && !channel && !membership && is_nccl_local_channel(message);
  if (!network && !channel && !membership && !is_local) return;
  auto* worker = worker_of(record, process);
  if (worker == nullptr) {
    ++log_.left_out;
    return;
  }
  if (network) {
    worker->network = *network;
    worker->evidence[NcclSign::network] = nccl_quote(log_.lines, message);
  } else if (channel) {
    add_connection(*worker, *channel, message);
  } else if (membership) {
    if (membership->is_complete) ++worker->communicators;
    if (!worker->membership || membership->size > worker->membership->size) {
      worker->membership = membership;
    }
  } else {
    ++worker->local_connections;
  }
}

void NcclLogReader::add_connection(NcclWorker& worker, const NcclChannel& channel,
                                   std::string_view message) {
  auto* use = use_of(worker, channel);
  if (use == nullptr) return;
  ++(channel.is_send ? use->sends : use->receives);
  if (channel.gpu_direct) ++use->gpu_direct;
  if (!worker.channel_rank) worker.channel_rank = channel.rank;
  if (channel.proxy_rank) use->through_other_rank = true;
  if (worker.channels.size() < kMaxChannels) worker.channels.insert(channel.number);
  const bool by_sockets = channel.network == "Socket";
  const auto direct = channel.gpu_direct ? NcclSign::gpu_direct : NcclSign::staged;
  note(worker.evidence, by_sockets ? NcclSign::sockets : direct, log_.lines, message);
}

std::optional<std::size_t> NcclLogReader::process_of(const NcclRecord& record) {
  const auto pid = record.pid.value_or(0);
  const auto host = record.host.substr(0, kMaxHost);
  const auto known = process_index_.find({pid, std::string(host)});
  if (known != process_index_.end()) return known->second;
  if (log_.processes.size() == kMaxProcesses) return std::nullopt;
  NcclProcess process;
  process.host = host;
  process.pid = pid;
  process_index_.emplace(std::pair(pid, process.host), log_.processes.size());
  log_.processes.push_back(std::move(process));
  return log_.processes.size() - 1;
}

NcclWorker* NcclLogReader::worker_of(const NcclRecord& record, std::size_t process) {
  const auto known = worker_index_.find({process, record.gpu});
  if (known != worker_index_.end()) return &log_.workers[known->second];
  if (log_.workers.size() == kMaxWorkers) return nullptr;
  worker_index_.emplace(std::pair(process, record.gpu), log_.workers.size());
  NcclWorker worker;
  worker.process = process;
  worker.gpu = record.gpu;
  log_.workers.push_back(std::move(worker));
  return &log_.workers.back();
}

}  // namespace railhead::proof
