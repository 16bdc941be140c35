// SPDX-License-Identifier: Apache-2.0
//
// What a log says without a message of NCCL's: UCX, NIXL, NVSHMEM, Mooncake, libfabric.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "proof/nccl_log.h"
#include "proof/nccl_process.h"
#include "proof/wrapped_line.h"

namespace railhead::proof {
namespace {

/// Whose line it is: Mooncake's have the name of the source, a completion that a framework quotes
/// is NCCL's.
const char* library_of(std::string_view line) {
  if (line.find("NET/") != line.npos) return "NCCL";
  static constexpr std::array<std::string_view, 3> kSigns = {"tcp_transport.cpp", "worker_pool.cpp",
                                                             "RdmaTransport: "};
  const bool is_of_store = std::any_of(kSigns.begin(), kSigns.end(), [&](std::string_view sign) {
    return line.find(sign) != line.npos;
  });
  return is_of_store ? "Mooncake" : "UCX";
}

}  // namespace

void NcclLogReader::read_foreign(std::string_view line) {
  if (const auto library = library_in(line); !library.empty()) log_.other_libraries.insert(library);
  if (transport_may_hide_tcp(line)) doubt(NcclDoubt::broken, line);
  const auto shows = problems_.read_foreign(line, place());
  if (const auto completion = fabric_completion(line); completion && providers_.size() < kMaxPids) {
    providers_.emplace(completion->pid, completion->provider);
  }
  if (const auto endpoint = ucx_endpoint(line)) return add_endpoint(*endpoint, line);
  if (const auto row = read_table(line)) return add_endpoint(*row, line);
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

std::optional<UcxEndpoint> NcclLogReader::read_table(std::string_view line) {
  if (const auto is_between = is_ucx_table_between_nodes(line)) {
    table_is_between_nodes_ = last_table_was_between_nodes_ = *is_between;
    return std::nullopt;
  }
  if (!last_table_was_between_nodes_) return std::nullopt;
  auto row = ucx_table_row(line);
  if (!table_is_between_nodes_) {
    // Another writer has come between the rows of a table.
    const bool is_tcp =
        row && std::any_of(row->lanes.begin(), row->lanes.end(),
                           [](const auto& lane) { return lane.transport == "tcp"; });
    if (is_tcp) doubt(NcclDoubt::piece, line);
    return std::nullopt;
  }
  table_is_between_nodes_ = row.has_value();
  return row && !row->lanes.empty() ? row : std::nullopt;
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
    } else {
      doubt(NcclDoubt::no_room, line);
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
  add_network(*worker, chosen.network);
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

}  // namespace railhead::proof
