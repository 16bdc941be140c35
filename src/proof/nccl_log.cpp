// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_log.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "proof/line_text.h"
#include "proof/nccl_networks.h"
#include "proof/nccl_process.h"
#include "proof/nccl_source.h"
#include "proof/text_form.h"
#include "proof/wrapped_line.h"

namespace railhead::proof {
namespace {

/// Processes, and GPUs of them: so many in a log of any size, one more for so many bytes of it, and
/// no more than that. One takes 5 KiB, the answer's JSON included.
constexpr std::size_t kAlwaysKept = 10240;
constexpr std::size_t kBytesForOneMore = 768;
constexpr std::size_t kMostKept = 65536;
constexpr std::size_t kMaxChannels = 256;
constexpr std::size_t kMaxVersions = 8;
constexpr std::size_t kMaxNetworks = 8;
constexpr std::size_t kMaxLocalRanks = 4096;
constexpr std::size_t kMaxMembers = 16384;
constexpr std::size_t kHead = 4;
/// A line that a terminal or a person wrapped is not longer.
constexpr std::size_t kMaxWrapped = 1024;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

NcclUse* use_of(NcclWorker& worker, const NcclChannel& channel, std::size_t limit) {
  const auto found = std::find_if(worker.uses.begin(), worker.uses.end(), [&](const NcclUse& use) {
    return use.device == channel.device && use.network == channel.network;
  });
  if (found != worker.uses.end()) return &*found;
  if (worker.uses.size() == limit) return nullptr;
  NcclUse use;
  use.network = channel.network;
  use.device = channel.device;
  return &worker.uses.emplace_back(std::move(use));
}

bool is_tcp(std::string_view message) {
  const auto channel = nccl_channel(message);
  const auto network = nccl_chosen_network(message);
  return (channel && !network_over_tcp(channel->network).empty()) ||
         (network && !network_over_tcp(*network).empty()) ||
         message.starts_with("Initialized NET plugin ");
}

bool says_network(std::string_view message) {
  return message.find(" NET") != std::string_view::npos;
}

bool breaks_off(std::string_view text, const std::vector<NcclRecord>& records) {
  return records.empty() ? transport_breaks_off(text) : nccl_breaks_off(records.back().message);
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
  bytes_ += bytes.size();
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
  log_.unread.push_back(
      {log_.files.size() - 1, std::string(form->what), std::string(form->remedy)});
}

void NcclLogReader::give_up_file(const std::string& why) {
  log_.unread.push_back({log_.files.size() - 1, why, ""});
}

void NcclLogReader::feed_text(std::string_view bytes) {
  while (const auto line = lines_.take(bytes)) read_line(*line);
}

void NcclLogReader::end_file() {
  if (!head_is_judged_ && !head_.empty()) judge_head();
  if (const auto line = lines_.take_rest()) read_line(*line);
  is_at_end_ = true;
  end_unfinished();
  is_at_end_ = false;
  was_test_row_cut_ |= log_.is_test_table_cut;  // with this file; the next one mends nothing
  table_is_between_nodes_ = last_table_was_between_nodes_ = false;
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
  for (auto& process : log_.processes) {
    process.is_before_2_7 |= is_old;
    const auto provider = providers_.find(process.pid);
    const bool is_unnamed = process.library == "NCCL" && process.ofi_provider.empty();
    if (is_unnamed && provider != providers_.end()) process.ofi_provider = provider->second;
  }
  return std::move(log_);
}

NcclPlace NcclLogReader::place() const {
  return {log_.files.size() - 1, line_};
}

void NcclLogReader::read_line(const LogLine& line) {
  if (!is_within_line_) ++line_;
  is_within_line_ = !line.is_end;
  if (line.is_end) ++log_.lines;
  if (line.is_split) ++log_.split_lines;
  const auto bytes = without_frame(line.text);
  if (const auto what = what_is_no_text(bytes); !what.empty()) {
    doubt(NcclDoubt::no_text, bytes, what);
  }
  auto text = plain_text(bytes, room_);
  if (trim(text).empty() && line.is_end) end_unfinished();
  while (!text.empty()) {
    const auto piece = take_piece(text);
    if (!piece.empty()) read_piece(piece);
  }
}

void NcclLogReader::read_piece(std::string_view text) {
  auto records = nccl_records(text);
  if (!unfinished_.empty()) {
    // "NET/IB/0" alone begins as a message does.
    const bool is_rest = records.empty() || (!records[0].pid && nccl_is_route(records[0].message));
    const auto whole =
        is_rest && text.size() <= kMaxWrapped ? join_wrapped(unfinished_, text) : std::nullopt;
    if (whole) {
      unfinished_ = *whole;
      const auto joined = nccl_records(unfinished_);
      const bool goes_on =
          unfinished_.size() <= LogLines::kMaxLine && breaks_off(unfinished_, joined);
      return goes_on ? void() : end_unfinished();
    }
    end_unfinished();
  }
  if (!breaks_off(text, records)) return read_text(text, std::move(records));
  if (!records.empty()) {
    // Without the quotation marks that close it.
    const auto message = records.back().message;
    text = text.substr(0, static_cast<std::size_t>(message.data() + message.size() - text.data()));
  }
  unfinished_ = text;
  unfinished_line_ = line_;
}

void NcclLogReader::end_unfinished() {
  if (unfinished_.empty()) return;
  const auto text = std::move(unfinished_);
  unfinished_.clear();
  const auto line = std::exchange(line_, unfinished_line_);
  read_text(text, nccl_records(text));
  line_ = line;
}

void NcclLogReader::add_test_rank(const NcclTestRank& row) {
  if (log_.test_ranks.size() == kMaxLocalRanks || test_devices_.size() == kMaxLocalRanks) {
    was_test_row_cut_ = log_.is_test_table_cut = true;
    return;
  }
  log_.test_ranks.insert(row.rank);
  if (log_.test_hosts.size() < 2) log_.test_hosts.emplace(row.host);
  was_test_row_cut_ |= !row.is_whole;
  log_.is_test_table_cut = true;
  // NCCL gives no GPU to two ranks: two machines go by this name.
  const auto [device, is_new] = test_devices_.emplace(std::pair(row.host, row.device), row.rank);
  log_.has_ambiguous_host |= !is_new && device->second != row.rank;
}

void NcclLogReader::doubt(NcclDoubt why, std::string_view text, std::string_view what) {
  auto& doubtful = log_.doubts[why];
  if (doubtful.count++ > 0) return;
  doubtful.what = what;
  doubtful.first = nccl_quote(place(), trim(text));
}

void NcclLogReader::note_doubts(std::string_view text, const std::vector<NcclRecord>& records) {
  if (records.empty()) {
    if (has_piece_of_tcp(text)) doubt(NcclDoubt::piece, text);
    return;
  }
  // What another writer left before the first message, up to a host that is known.
  const auto& host = records[0].host;
  const auto* end = host.empty() ? text.data() : host.data() + foreign_part(records[0]);
  const auto before = text.substr(0, static_cast<std::size_t>(end - text.data()));
  if (!before.empty() && has_piece_of_tcp(before)) doubt(NcclDoubt::piece, text);
  for (const auto& record : records) {
    const auto& message = record.message;
    const bool has_name =
        contains(message, "Socket") || contains(message, "FasTrak") || contains(message, "TCPX");
    if (!has_name || is_tcp(message) || !has_piece_of_tcp(message)) continue;
    return doubt(NcclDoubt::piece, message);
  }
}

void NcclLogReader::note_proof(NcclShows shows, std::size_t process, std::string_view text) {
  auto& evidence = log_.processes[process].evidence;
  if (shows == NcclShows::rdma) note(evidence, NcclSign::rdma_proof, place(), text);
  if (shows == NcclShows::tcp) note(evidence, NcclSign::tcp_proof, place(), text);
  if (shows == NcclShows::network) note(evidence, NcclSign::network_proof, place(), text);
  if (shows == NcclShows::no_device) note(evidence, NcclSign::no_device, place(), text);
}

void NcclLogReader::read_text(std::string_view text, std::vector<NcclRecord> records) {
  if (const auto version = nccl_version(text); version && log_.versions.size() < kMaxVersions) {
    log_.versions.insert(*version);
  }
  if (const auto row = nccl_tests_rank(text); row && records.empty()) return add_test_rank(*row);
  was_test_row_cut_ |= nccl_tests_row_is_cut(text);
  if (!trim(text).empty()) log_.is_test_table_cut = was_test_row_cut_;
  if (records.empty()) {
    note_doubts(text, records);
    return read_foreign(text);
  }
  note_doubts(text, records);
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
  if (nccl_used_sockets(record.place, record.message)) {
    note_proof(NcclShows::tcp, *process, record.message);
  }
  read_about_process(log_.processes[*process], record.message, place());
  read_about_worker(record, *process);
}

void NcclLogReader::read_about_worker(const NcclRecord& record, std::size_t process) {
  const auto& message = record.message;
  const auto network = nccl_chosen_network(message);
  const auto channel = network ? std::nullopt : nccl_channel(message);
  const auto membership = network || channel ? std::nullopt : nccl_membership(message);
  const auto local = network || channel || membership ? std::nullopt : nccl_local_channel(message);
  const auto count = nccl_node_count(message);
  if (!network && !channel && !membership && !local && !count) {
    const auto ring = nccl_ring_size(message);
    log_.ring_size = std::max(log_.ring_size, ring);
    // Rank 0 alone prints the order of the rings (src/graph/rings.cc).
    add_tree(ring > 0 ? std::optional(0U) : nccl_tree_rank(message), record.host);
    add_address(record);
    // What breaks off at the end of a log before it names a network says no more than a log that
    // ends a line before.
    const bool is_end = is_at_end_ && message.find(" [") != message.npos && !says_network(message);
    if (is_end || !nccl_may_hide_tcp(message)) return;
    doubt(NcclDoubt::broken, message);
    if (auto* worker = worker_of(record, process)) ++worker->broken;
    return;
  }
  auto* worker = worker_of(record, process);
  if (worker == nullptr) {
    ++log_.left_out;
    return;
  }
  if (count) {
    worker->spans_nodes |= count->nodes > 1;
    if (count->nodes == 1) worker->one_node_size = std::max(worker->one_node_size, count->size);
  } else if (network) {
    worker->network = *network;
    add_network(*worker, *network);
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

void NcclLogReader::add_network(NcclWorker& worker, std::string_view network) {
  const bool is_known = worker.networks.count(std::string(network)) > 0;
  if (!is_known && worker.networks.size() == kMaxNetworks) doubt(NcclDoubt::no_room, network);
  if (worker.networks.size() < kMaxNetworks) worker.networks.emplace(network);
}

void NcclLogReader::add_address(const NcclRecord& record) {
  const auto said = nccl_address(record.message);
  if (!said || addresses_.size() == kMaxPids) return;
  auto key = std::pair(std::string(record.host.substr(0, kMaxHost)), std::string(said->interface));
  const auto [known, is_new] = addresses_.emplace(std::move(key), said->address);
  log_.has_ambiguous_host |= !is_new && known->second != said->address;
}

void NcclLogReader::add_tree(std::optional<unsigned> rank, std::string_view host) {
  if (!rank) return;
  // A second host tells that there is one; more of them tell no more.
  auto known = log_.tree_ranks.find(host);
  if (known == log_.tree_ranks.end() && log_.tree_ranks.size() < 2) {
    known = log_.tree_ranks.emplace(host.substr(0, kMaxHost), std::set<unsigned>()).first;
  }
  if (known == log_.tree_ranks.end() || known->second.size() == kMaxLocalRanks) return;
  known->second.insert(*rank);
}

void NcclLogReader::add_member(const NcclMembership& membership, std::size_t process) {
  if (membership.communicator == 0) return;
  log_.are_members_whole &= members_ < kMaxMembers;
  if (!log_.are_members_whole) return;
  auto& known = log_.members[{membership.size, membership.id}][membership.rank];
  if (known.emplace(process, membership.communicator).second) ++members_;
}

void NcclLogReader::add_connection(NcclWorker& worker, const NcclChannel& channel,
                                   std::string_view message) {
  auto* use = use_of(worker, channel, kMaxUses);
  if (use == nullptr) return doubt(NcclDoubt::no_room, message);
  ++(channel.is_send ? use->sends : use->receives);
  if (channel.gpu_direct) ++use->gpu_direct;
  if (!worker.channel_rank) worker.channel_rank = channel.rank;
  if (channel.proxy_rank) use->through_other_rank = true;
  const bool has_room = worker.channels.size() < kMaxChannels;
  if (channel.number && has_room) worker.channels.insert(*channel.number);
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

std::size_t NcclLogReader::most_kept() const {
  return std::min<std::size_t>(kMostKept, kAlwaysKept + bytes_ / kBytesForOneMore);
}

std::optional<std::size_t> NcclLogReader::process_of(const NcclRecord& record,
                                                     std::string_view library) {
  auto key = key_of(record, library);
  const auto known = process_index_.find(key);
  if (known != process_index_.end()) return known->second;
  if (log_.processes.size() >= most_kept()) return std::nullopt;
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
  if (log_.workers.size() >= most_kept()) return nullptr;
  worker_index_.emplace(std::pair(process, record.gpu), log_.workers.size());
  NcclWorker worker;
  worker.process = process;
  worker.gpu = record.gpu;
  log_.workers.push_back(std::move(worker));
  return &log_.workers.back();
}

}  // namespace railhead::proof
