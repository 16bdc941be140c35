// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_log.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "proof/text_form.h"

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
constexpr std::size_t kMaxNetworks = 8;
constexpr std::size_t kMaxLocalRanks = 4096;
constexpr std::size_t kMaxMembers = 65536;
constexpr std::size_t kHead = 4;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

void note(NcclEvidence& evidence, NcclSign sign, NcclPlace place, std::string_view text) {
  if (evidence.find(sign) == evidence.end()) evidence.emplace(sign, nccl_quote(place, text));
}

void read_devices(NcclProcess& process, NcclDeviceList list) {
  if (list.devices.empty()) return;
  if (list.network == "Socket") {
    process.interfaces = std::move(list.devices);
    return;
  }
  process.listed = list.network;
  for (const auto& device : list.devices) process.names[device.index] = device.name;
  process.relaxed_ordering = list.relaxed_ordering;
  process.devices = std::move(list.devices);
}

void read_capability(NcclProcess& process, const NcclGpuDirect& said) {
  if (process.names.size() < kMaxNamedDevices && !said.device.name.empty()) {
    process.names.emplace(said.device.index, said.device.name);
  }
  process.surveyed = said.network;
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

/// Google's plugins over TCP announce themselves: the first words of what they print.
std::string_view tcp_plugin(std::string_view message) {
  for (const std::string_view name : {"FastSocket", "FasTrak", "GPUDirectTCPX"}) {
    if (message.starts_with("NET/" + std::string(name))) return name;
  }
  return contains(message, "tcpxResult_t") ? "GPUDirectTCPX" : std::string_view();
}

constexpr std::string_view kInitialized = "Initialized NET plugin ";

/// What a process says of itself without a place of its own among the evidence.
void read_traits(NcclProcess& process, std::string_view message) {
  if (message.starts_with(kInitialized)) {
    process.initialized = message.substr(kInitialized.size(), 64);
    process.initialized = process.initialized.substr(0, process.initialized.find_first_of(" \t"));
  }
  // 2.4; from 2.5 on the words go on behind the bracket.
  if (message.starts_with("NET/Plugin : No plugin found (libnccl-net.so).")) {
    process.is_before_2_7 = true;
  }
  if (nccl_dma_buf_is_off(message)) process.dma_buf_is_off = true;
  if (const auto name = tcp_plugin(message); !name.empty()) process.listed = name;
}

void read_about_process(NcclProcess& process, std::string_view message, NcclPlace place) {
  read_traits(process, message);
  if (!tcp_plugin(message).empty() || message.starts_with(kInitialized)) {
    note(process.evidence, NcclSign::plugin, place, message);
  }
  if (auto list = nccl_device_list(message)) {
    if (list->network != "Socket") {
      note(process.evidence, list->is_empty ? NcclSign::no_list : NcclSign::devices, place,
           message);
    }
    read_devices(process, std::move(*list));
  } else if (auto old = nccl_old_device(message)) {
    note(process.evidence, NcclSign::devices, place, message);
    process.is_before_2_7 = true;
    const bool has_room = process.names.size() < kMaxNamedDevices;
    if (has_room && process.names.emplace(old->index, old->name).second) {
      process.devices.push_back(std::move(*old));
    }
  } else if (const auto merged = nccl_virtual_device(message)) {
    if (process.names.size() < kMaxNamedDevices) process.names[merged->index] = merged->name;
  } else if (const auto said = nccl_gpu_direct(message)) {
    note(process.evidence, NcclSign::capability, place, message);
    read_capability(process, *said);
  } else if (const auto provider = nccl_ofi_provider(message)) {
    note(process.evidence, NcclSign::provider, place, message);
    process.ofi_provider = *provider;
  } else if (contains(message, "DMA-BUF is available on GPU device")) {
    note(process.evidence, NcclSign::dma_buf, place, message);
    process.routes.emplace("DMA-BUF");
  } else if (const auto plugin = nccl_plugin(message)) {
    note(process.evidence, NcclSign::plugin, place, message);
    // What sits in the plugin says more than the plugin's name.
    if (process.plugin.empty() || message.starts_with("P2P plugin")) process.plugin = *plugin;
  } else if (nccl_made_queue_pair(message)) {
    note(process.evidence, NcclSign::queue_pair, place, message);
  } else if (message.starts_with("transport/net_socket.cc:") && contains(message, " -> ")) {
    // The trace of an error through NCCL's own sockets.
    note(process.evidence, NcclSign::tcp_proof, place, message);
  } else if (const auto why = obstacle(message)) {
    note(process.evidence, *why, place, message);
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

/// Whose line it is: Mooncake's have the name of the source, a completion that a framework quotes
/// is NCCL's.
const char* library_of(std::string_view line) {
  if (contains(line, "NET/IB")) return "NCCL";
  const bool is_of_store = contains(line, "tcp_transport.cpp") || contains(line, "worker_pool.cpp");
  return is_of_store ? "Mooncake" : "UCX";
}

/// No collector puts a slash in front of a line: it is from the end of a route ("…/GDRDMA").
bool is_behind_slash(std::string_view text, std::string_view host) {
  return !host.empty() && host.data() > text.data() && host.data()[-1] == '/';
}

}  // namespace

void NcclLogReader::begin_file(std::string name) {
  end_file();
  log_.files.push_back(std::move(name));
}

void NcclLogReader::feed(std::string_view bytes) {
  if (log_.files.empty()) log_.files.emplace_back();
  if (!head_is_judged_) {
    const auto part = bytes.substr(0, kHead - head_.size());
    head_ += part;
    bytes.remove_prefix(part.size());
    if (head_.size() < kHead) return;
    judge_head();
  }
  if (is_text_) feed_text(bytes);
}

void NcclLogReader::judge_head() {
  head_is_judged_ = true;
  const auto* form = form_other_than_text(head_);
  is_text_ = form == nullptr;
  if (is_text_) return feed_text(head_);
  log_.unread.push_back({log_.files.size() - 1, form->what, form->remedy});
}

void NcclLogReader::feed_text(std::string_view bytes) {
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

void NcclLogReader::end_file() {
  if (!head_is_judged_ && !head_.empty()) judge_head();
  if (!pending_.empty()) read_line(pending_);
  pending_.clear();
  head_.clear();
  head_is_judged_ = false;
  is_text_ = true;
  line_ = 0;
}

NcclLog NcclLogReader::finish() {
  end_file();
  log_.problems = problems_.take();
  log_.problems_left_out = problems_.left_out();
  const bool is_old =
      !log_.versions.empty() &&
      std::all_of(log_.versions.begin(), log_.versions.end(),
                  [](const auto& version) { return is_before_using_network(version); });
  for (auto& process : log_.processes) process.is_before_2_7 |= is_old;
  return std::move(log_);
}

NcclPlace NcclLogReader::place() const {
  return {log_.files.size() - 1, line_};
}

void NcclLogReader::read_line(std::string_view line) {
  ++log_.lines;
  ++line_;
  if (overlong_) ++log_.cut_lines;
  overlong_ = false;
  line = plain_text(line, room_);
  // A progress bar writes over its line: each piece stands for itself.
  while (!line.empty()) {
    const auto end = std::min(line.find('\r'), line.size());
    if (end > 0) read_text(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
}

void NcclLogReader::read_foreign(std::string_view line) {
  const auto shows = problems_.read_foreign(line, place());
  if (const auto endpoint = ucx_endpoint(line)) return add_endpoint(*endpoint, line);
  if (const auto chosen = chosen_transport(line)) return add_chosen(*chosen, line);
  const bool is_on_ucx = is_nixl_on_ucx(line);
  const bool is_by_tcp = is_ucx_emulation(line) || is_ucx_tcp_connection(line);
  if (shows == NcclShows::nothing && !is_on_ucx && !is_by_tcp) return;
  const auto writer = ucx_writer(line);
  NcclRecord record;
  record.host = writer.host;
  if (writer.pid != 0) record.pid = writer.pid;
  const auto* library = is_on_ucx ? "NIXL" : library_of(line);
  const auto process = process_of(record, library);
  if (!process) return;
  auto& found = log_.processes[*process];
  if (is_on_ucx) note(found.evidence, NcclSign::plugin, place(), trim(line));
  note_proof(is_by_tcp ? NcclShows::tcp : shows, *process, trim(line));
}

void NcclLogReader::note_proof(NcclShows shows, std::size_t process, std::string_view text) {
  auto& evidence = log_.processes[process].evidence;
  if (shows == NcclShows::rdma) note(evidence, NcclSign::rdma_proof, place(), text);
  if (shows == NcclShows::tcp) note(evidence, NcclSign::tcp_proof, place(), text);
  if (shows == NcclShows::network) note(evidence, NcclSign::network_proof, place(), text);
}

void NcclLogReader::add_endpoint(const UcxEndpoint& endpoint, std::string_view line) {
  NcclRecord record;
  record.host = endpoint.writer.host;
  if (endpoint.writer.pid != 0) record.pid = endpoint.writer.pid;
  const auto process = process_of(record, "UCX");
  auto* worker = process ? worker_of(record, *process) : nullptr;
  if (worker == nullptr) {
    ++log_.left_out;
    return;
  }
  ++log_.records;
  if (endpoint.is_local) {
    ++worker->local_connections;
    return;
  }
  for (const auto& lane : endpoint.lanes) {
    const auto known = std::find_if(worker->uses.begin(), worker->uses.end(), [&](const auto& use) {
      return use.network == lane.transport && use.device_name == lane.device;
    });
    if (known != worker->uses.end()) {
      ++known->sends;
    } else if (worker->uses.size() < kMaxUses) {
      NcclUse use;
      use.network = lane.transport.substr(0, kMaxHost);
      use.device_name = lane.device.substr(0, kMaxHost);
      use.sends = 1;
      worker->uses.push_back(std::move(use));
    }
    const bool is_tcp = lane.transport == "tcp";
    note(worker->evidence, is_tcp ? NcclSign::sockets : NcclSign::staged, place(), trim(line));
  }
}

void NcclLogReader::add_chosen(const ChosenTransport& chosen, std::string_view line) {
  const NcclRecord nobody;
  const auto process = process_of(nobody, chosen.library);
  auto* worker = process ? worker_of(nobody, *process) : nullptr;
  if (worker == nullptr) return;
  ++log_.records;
  auto& found = log_.processes[*process];
  worker->network = chosen.network;
  worker->networks.emplace(chosen.network);
  note(worker->evidence, NcclSign::network, place(), trim(line));
  if (!chosen.provider.empty()) found.ofi_provider = chosen.provider;
  const bool is_new = !chosen.device.empty() && found.devices.size() < kMaxNamedDevices &&
                      std::none_of(found.devices.begin(), found.devices.end(),
                                   [&](const auto& known) { return known.name == chosen.device; });
  if (!is_new) return;
  NcclDevice device;
  device.index = static_cast<unsigned>(found.devices.size());
  device.name = chosen.device;
  found.devices.push_back(std::move(device));
}

void NcclLogReader::read_text(std::string_view text) {
  if (const auto version = nccl_version(text); version && log_.versions.size() < kMaxVersions) {
    log_.versions.insert(*version);
  }
  auto records = nccl_records(text);
  if (records.empty()) return read_foreign(text);
  // The place of a warning names the plugin that prints it.
  const bool is_of_tcpx = contains(text, "tcpxResult_t");
  if (!records.empty() && is_behind_slash(text, records[0].host)) {
    records[0].host.remove_prefix(foreign_part(records[0]));
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto& record = records[i];
    const auto process = process_of(record);
    if (process && is_of_tcpx) {
      log_.processes[*process].listed = "GPUDirectTCPX";
      note(log_.processes[*process].evidence, NcclSign::plugin, place(), record.message);
    }
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
    return process_index_.count({*record.pid, std::string(name), "NCCL", 0}) > 0;
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
  const auto shows = problems_.read(record, place());
  const auto process = process_of(record);
  if (!process) {
    ++log_.left_out;
    return;
  }
  note_proof(shows, *process, record.message);
  read_about_process(log_.processes[*process], record.message, place());
  read_about_worker(record, *process);
}

void NcclLogReader::read_about_worker(const NcclRecord& record, std::size_t process) {
  const auto& message = record.message;
  const auto network = nccl_chosen_network(message);
  const auto channel = network ? std::nullopt : nccl_channel(message);
  const auto membership = network || channel ? std::nullopt : nccl_membership(message);
  const auto local = network || channel || membership ? std::nullopt : nccl_local_channel(message);
  if (!network && !channel && !membership && !local) {
    log_.ring_size = std::max(log_.ring_size, nccl_ring_size(message));
    return;
  }
  auto* worker = worker_of(record, process);
  if (worker == nullptr) {
    ++log_.left_out;
    return;
  }
  if (network) {
    worker->network = *network;
    if (worker->networks.size() < kMaxNetworks) worker->networks.emplace(*network);
    worker->evidence[NcclSign::network] = nccl_quote(place(), message);
  } else if (channel) {
    add_connection(*worker, *channel, message);
  } else if (membership) {
    if (membership->is_complete) ++worker->communicators;
    worker->spans_nodes |= membership->nodes.value_or(1) > 1;
    add_member(*membership, process);
    const bool is_larger = !worker->membership || membership->size > worker->membership->size;
    if (is_larger) {
      worker->membership = membership;
    } else if (membership->size == worker->membership->size && membership->nodes) {
      worker->membership->nodes = membership->nodes;
    }
  } else {
    ++worker->local_connections;
    for (const auto rank : {local->from, local->to}) {
      if (worker->local_ranks.size() < kMaxLocalRanks) worker->local_ranks.insert(rank);
    }
  }
}

void NcclLogReader::add_member(const NcclMembership& membership, std::size_t process) {
  // With one less it is not whole.
  if (membership.communicator == 0 || members_ == kMaxMembers) return;
  auto& known = log_.members[membership.size][membership.rank];
  if (known.emplace(process, membership.communicator).second) ++members_;
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
  note(worker.evidence, by_sockets ? NcclSign::sockets : direct, place(), message);
}

NcclLogReader::ProcessKey NcclLogReader::key_of(const NcclRecord& record,
                                                std::string_view library) const {
  const auto pid = record.pid.value_or(0);
  const auto host = record.host.substr(0, kMaxHost);
  const bool is_nameless = pid == 0 && host.empty();
  return {pid, std::string(host), library, is_nameless ? log_.files.size() : 0};
}

std::optional<std::size_t> NcclLogReader::process_of(const NcclRecord& record,
                                                     std::string_view library) {
  auto key = key_of(record, library);
  const auto known = process_index_.find(key);
  if (known != process_index_.end()) return known->second;
  if (log_.processes.size() == kMaxProcesses) return std::nullopt;
  NcclProcess process;
  process.library = library;
  process.file = place().file;
  process.host = std::get<std::string>(key);
  process.pid = std::get<std::uint32_t>(key);
  process_index_.emplace(std::move(key), log_.processes.size());
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
