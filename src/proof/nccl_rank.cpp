// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_rank.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "proof/nccl_networks.h"

namespace railhead::proof {
namespace {

struct Carriers {
  std::uint64_t rdma = 0;
  std::uint64_t tcp = 0;
  std::uint64_t unknown = 0;
};

/// A plugin that lists RDMA ports as NCCL's own code does is carried by them, whatever its name.
Carrier carrier_of(const std::string& network, const NcclProcess& process) {
  if (process.library == "UCX") return carrier_of_ucx(network);
  if (process.library != "NCCL") {
    const auto carrier = carrier_of_store(network);
    if (carrier != Carrier::unknown || process.library != "NIXL") return carrier;
  }
  const auto& provider = process.ofi_provider.empty() ? process.ofi_filter : process.ofi_provider;
  const auto carrier = carrier_of_network(network, provider);
  const bool has_ports = std::any_of(process.devices.begin(), process.devices.end(),
                                     [](const auto& device) { return !device.link_layer.empty(); });
  const bool own_name =
      !network.empty() && network == process.plugin && process.ofi_provider.empty();
  if (carrier == Carrier::unknown && own_name && has_ports) return Carrier::rdma;
  return carrier;
}

Carriers count_carriers(const NcclWorker& worker, const NcclProcess& process) {
  Carriers count;
  for (const auto& use : worker.uses) {
    const auto connections = use.sends + use.receives;
    switch (carrier_of(use.network, process)) {
      case Carrier::rdma: count.rdma += connections; break;
      case Carrier::tcp: count.tcp += connections; break;
      case Carrier::unknown: count.unknown += connections; break;
    }
  }
  return count;
}

/// A connection that is known to be TCP decides, whatever the others are.
NcclVerdict verdict_of(const Carriers& count) {
  if (count.tcp > 0) return count.rdma > 0 ? NcclVerdict::mixed : NcclVerdict::tcp;
  return count.unknown > 0 ? NcclVerdict::unknown : NcclVerdict::rdma;
}

bool has(const NcclProcess& process, NcclSign sign) {
  return process.evidence.count(sign) > 0;
}

/// A network for RDMA was chosen, and none of its devices is there: the only list of them is empty,
/// those who look for them found none, or the environment switches it off.
bool has_no_device(const std::string& network, const NcclProcess& process) {
  // NCCL_IB_DISABLE and NCCL_NET switch off NCCL's own, not the plugins.
  if (network == "IB" && has(process, NcclSign::switched_off)) return true;
  const bool looked = network == "IB" || glob_match("IBext*", network) || process.library != "NCCL";
  return process.devices.empty() &&
         (has(process, NcclSign::no_list) || (looked && has(process, NcclSign::no_device)));
}

/// The stub of nccl-rdma-sharp-plugins goes by the name of what it has loaded.
std::string real_name(const std::string& network, const NcclProcess& process) {
  const bool is_stub = network.starts_with("NCCL RDMA Plugin");
  return is_stub && !process.plugin.empty() ? process.plugin : network;
}

/// The network that was chosen, also where only what was set up before tells it; "" where nothing
/// does.
std::string chosen_network(const NcclWorker& worker, const NcclProcess& process) {
  if (!worker.network.empty()) return real_name(worker.network, process);
  if (!process.initialized.empty()) return real_name(process.initialized, process);
  if (carrier_of_network(process.listed) == Carrier::tcp) return process.listed;
  if (!process.surveyed.empty()) return real_name(process.surveyed, process);
  // The plugin chose its provider, and NCCL's own sockets were not set up in its place.
  if (!process.ofi_provider.empty()) return process.interfaces.empty() ? "Libfabric" : "";
  // The plugin for verbs looks for the same devices as NCCL does.
  const bool is_on_verbs = glob_match("IBext*", process.plugin) && process.devices.empty();
  if (!process.plugin.empty() && !is_on_verbs) return "";
  // Before 2.7 the first network that has devices is taken, and IB is asked before Socket.
  if (!process.devices.empty()) return process.is_before_2_7 ? "IB" : "";
  // Without a plugin there is nothing left but sockets.
  const bool has_no_ib = has(process, NcclSign::no_device) || has(process, NcclSign::no_library) ||
                         has(process, NcclSign::switched_off);
  return has_no_ib ? "Socket" : "";
}

/// Some communicator of the rank, or of another that goes by its name, chose a network over TCP.
bool has_chosen_tcp(const NcclWorker& worker, const NcclProcess& process) {
  return std::any_of(worker.networks.begin(), worker.networks.end(), [&](const auto& network) {
    return carrier_of(real_name(network, process), process) == Carrier::tcp;
  });
}

NcclVerdict verdict_of_choice(const std::string& network, const NcclWorker& worker,
                              const NcclProcess& process) {
  const bool is_store = process.library != "NCCL" && process.library != "UCX";
  if (is_store && worker.networks.size() > 1) return NcclVerdict::unknown;
  const auto carrier = carrier_of(network, process);
  if (carrier == Carrier::tcp) return NcclVerdict::tcp;
  const bool is_rdma = carrier == Carrier::rdma && !has_no_device(network, process);
  if (is_rdma && has_chosen_tcp(worker, process)) return NcclVerdict::mixed;
  return is_rdma ? NcclVerdict::rdma_chosen : NcclVerdict::unknown;
}

/// What went wrong shows what was in use.
std::optional<NcclVerdict> verdict_of_proof(const std::string& network,
                                            const NcclProcess& process) {
  const bool is_rdma =
      has(process, NcclSign::rdma_proof) || has(process, NcclSign::queue_pair) ||
      (has(process, NcclSign::network_proof) && carrier_of(network, process) == Carrier::rdma);
  const bool is_tcp = has(process, NcclSign::tcp_proof);
  if (is_rdma && is_tcp) return NcclVerdict::mixed;
  if (is_rdma) return NcclVerdict::rdma;
  return is_tcp ? std::optional(NcclVerdict::tcp) : std::nullopt;
}

NcclVerdict verdict_of_rank(const NcclWorker& worker, const NcclProcess& process,
                            const Carriers& count, const std::string& network) {
  if (!worker.uses.empty()) {
    const auto verdict = verdict_of(count);
    const bool is_tcp = has(process, NcclSign::tcp_proof) || has_chosen_tcp(worker, process);
    return verdict == NcclVerdict::rdma && is_tcp ? NcclVerdict::mixed : verdict;
  }
  if (const auto verdict = verdict_of_proof(network, process)) return *verdict;
  const bool is_local = worker.local_connections > 0;
  if (process.library == "UCX" && is_local) return NcclVerdict::intra_node;
  return verdict_of_choice(network, worker, process);
}

NcclGpuPath path_of(const NcclWorker& worker) {
  std::uint64_t all = 0;
  std::uint64_t direct = 0;
  for (const auto& use : worker.uses) {
    if (use.network == "Socket" || !use.device_name.empty()) continue;
    all += use.sends + use.receives;
    direct += use.gpu_direct;
  }
  if (all == 0) return NcclGpuPath::unknown;
  if (direct == all) return NcclGpuPath::direct;
  return direct == 0 ? NcclGpuPath::staged : NcclGpuPath::mixed;
}

/// NCCL takes DMA-BUF where kernel, driver and NIC can, else peermem (useDmaBuf in
/// src/transport/net.cc); it says at the start of a communicator that it can.
std::string route_of(const NcclWorker& worker, const NcclProcess& process, NcclGpuPath path) {
  if (path != NcclGpuPath::direct && path != NcclGpuPath::mixed) return "";
  if (process.routes.count("DMA-BUF") > 0 && !process.dma_buf_is_off) return "DMA-BUF";
  if (process.routes.count("peermem") > 0) return "peermem";
  const bool is_own_ib = worker.network == "IB" && worker.communicators > 0;
  return is_own_ib ? "peermem" : "";
}

std::string networks_of(const NcclWorker& worker, const std::string& chosen) {
  std::vector<std::string> names;
  for (const auto& use : worker.uses) {
    if (std::find(names.begin(), names.end(), use.network) == names.end()) {
      names.push_back(use.network);
    }
  }
  return names.empty() ? chosen : join(names, "+");
}

NcclUsedDevice device_of(const NcclUse& use, const NcclProcess& process) {
  NcclUsedDevice device{use, use.device_name, ""};
  if (!device.name.empty()) return device;
  const bool is_socket = use.network == "Socket";
  const auto name = process.names.find(use.device);
  if (!is_socket && name != process.names.end()) device.name = name->second;
  for (const auto& listed : is_socket ? process.interfaces : process.devices) {
    if (listed.index != use.device) continue;
    if (device.name.empty()) device.name = listed.name;
    device.link_layer = listed.link_layer;
  }
  return device;
}

std::vector<NcclUsedDevice> devices_of(const NcclWorker& worker, const NcclProcess& process) {
  std::vector<NcclUsedDevice> devices;
  for (const auto& use : worker.uses) devices.push_back(device_of(use, process));
  std::stable_sort(devices.begin(), devices.end(),
                   [](const auto& a, const auto& b) { return a.use.device < b.use.device; });
  return devices;
}

/// What the process said that explains the absence of RDMA, most telling first.
std::string obstacle_of(const NcclProcess& process) {
  if (has(process, NcclSign::switched_off)) return "; the environment switches RDMA off";
  if (has(process, NcclSign::no_library)) return "; the image has no libibverbs";
  if (has(process, NcclSign::not_opened)) return "; a device could not be opened";
  if (has(process, NcclSign::no_device)) return "; no RDMA device was found in the container";
  if (has(process, NcclSign::no_list)) return "; the list of RDMA devices is empty";
  if (has(process, NcclSign::plugin_failed)) return "; the plugin for RDMA did not start";
  return "";
}

/// Why the log does not say.
std::string why_unknown(const NcclProcess& process, const NcclRank& rank) {
  if (process.library == "NIXL" && rank.transport.empty()) {
    return "NIXL uses UCX, and UCX says which transport it takes with UCX_LOG_LEVEL=info only";
  }
  const bool has_failed = has_no_device(rank.transport, process);
  if (process.library == "Mooncake" && !has_failed) return "Mooncake names several transports";
  if (rank.transport.empty()) {
    return rank.has_candidates_only
               ? "the log lists RDMA devices, and does not say which network was chosen"
               : "the log does not say which network was chosen";
  }
  if (carrier_of(rank.transport, process) == Carrier::rdma) {
    if (has(process, NcclSign::switched_off)) {
      return "network " + rank.transport + " was chosen, and the environment switches it off";
    }
    const bool is_list = has(process, NcclSign::no_list);
    return "network " + rank.transport + " was chosen, and " +
           (is_list ? "the list of its devices is empty" : "none of its devices could be used");
  }
  const bool is_libfabric = rank.transport.find("Libfabric") != std::string::npos;
  return rank.transport + (is_libfabric ? ": the log does not name libfabric's provider"
                                        : " is a network we know nothing about");
}

std::string why_of(const NcclProcess& process, const Carriers& count, const NcclRank& rank) {
  const auto all = count.rdma + count.tcp + count.unknown;
  const auto of_all = " of " + std::to_string(all) + " network connections";
  if (rank.verdict == NcclVerdict::unknown) return why_unknown(process, rank);
  if (rank.verdict == NcclVerdict::intra_node) {
    return "its endpoints in this log lead to the same node";
  }
  if (rank.verdict == NcclVerdict::mixed && count.tcp == 0) {
    return "networks over RDMA and over TCP were in use or chosen";
  }
  if (all == 0 && verdict_of_proof(rank.transport, process) == rank.verdict) {
    return "no connection is in this log, but what only " + std::string(to_string(rank.verdict)) +
           " prints";
  }
  if (all == 0) {
    const std::string local = rank.local_connections > 0
                                  ? "; all connections in this log are within the node"
                                  : "; this log has no connection through it";
    return "network " + rank.transport + " was chosen" + local +
           (rank.verdict == NcclVerdict::tcp ? obstacle_of(process) : "");
  }
  if (rank.verdict == NcclVerdict::tcp) {
    return std::to_string(count.tcp) + of_all + " are TCP" + obstacle_of(process);
  }
  if (rank.verdict == NcclVerdict::mixed) {
    return std::to_string(count.tcp) + of_all + " are TCP, the others RDMA";
  }
  return std::to_string(count.rdma) + of_all + " are RDMA";
}

std::vector<NcclQuote> evidence_of(const NcclWorker& worker, const NcclProcess& process,
                                   NcclVerdict verdict) {
  static constexpr NcclSign kObstacles[] = {NcclSign::no_device,  NcclSign::no_library,
                                            NcclSign::not_opened, NcclSign::switched_off,
                                            NcclSign::no_list,    NcclSign::plugin_failed};
  std::vector<NcclQuote> quotes;
  for (const auto& [sign, quote] : worker.evidence) quotes.push_back(quote);
  for (const auto& [sign, quote] : process.evidence) {
    const bool is_obstacle =
        std::find(std::begin(kObstacles), std::end(kObstacles), sign) != std::end(kObstacles);
    const bool is_rdma = verdict == NcclVerdict::rdma || verdict == NcclVerdict::rdma_chosen;
    if (!is_obstacle || !is_rdma) quotes.push_back(quote);
  }
  std::stable_sort(quotes.begin(), quotes.end(), [](const auto& a, const auto& b) {
    return std::tie(a.place.file, a.place.line) < std::tie(b.place.file, b.place.line);
  });
  return quotes;
}

}  // namespace

std::string_view to_string(NcclVerdict verdict) {
  switch (verdict) {
    case NcclVerdict::rdma: return "RDMA";
    case NcclVerdict::rdma_chosen: return "RDMA (chosen)";
    case NcclVerdict::tcp: return "TCP";
    case NcclVerdict::intra_node: return "intra-node";
    case NcclVerdict::mixed: return "mixed";
    case NcclVerdict::unknown: return "unknown";
  }
  return "";
}

std::string_view to_string(NcclGpuPath path) {
  switch (path) {
    case NcclGpuPath::direct: return "yes";
    case NcclGpuPath::staged: return "staged";
    case NcclGpuPath::mixed: return "mixed";
    case NcclGpuPath::unknown: return "unknown";
  }
  return "";
}

bool is_silent(const NcclRank& rank) {
  return rank.verdict == NcclVerdict::unknown && rank.transport.empty() && rank.library == "NCCL";
}

void make_intra_node(NcclRank& rank, std::string why) {
  rank.verdict = NcclVerdict::intra_node;
  rank.why = std::move(why);
}

NcclRank judge_rank(const NcclWorker& worker, const NcclProcess& process) {
  NcclRank rank;
  rank.library = process.library;
  rank.file = process.file;
  rank.rank = worker.membership ? worker.membership->rank : worker.channel_rank;
  if (worker.membership) rank.size = worker.membership->size;
  rank.host = process.host;
  rank.pid = process.pid;
  rank.gpu = worker.gpu;
  rank.local_connections = worker.local_connections;
  const auto network = chosen_network(worker, process);
  const auto count = count_carriers(worker, process);
  rank.verdict = verdict_of_rank(worker, process, count, network);
  rank.transport = networks_of(worker, network);
  rank.plugin = process.plugin;
  rank.gpu_path = path_of(worker);
  rank.route = route_of(worker, process, rank.gpu_path);
  rank.devices = devices_of(worker, process);
  rank.available = process.devices;
  rank.has_candidates_only = rank.devices.empty() && !rank.available.empty();
  rank.relaxed_ordering = process.relaxed_ordering;
  rank.channels = worker.channels.size();
  rank.communicators = worker.communicators;
  rank.why = why_of(process, count, rank);
  const bool is_rdma =
      rank.verdict == NcclVerdict::rdma || rank.verdict == NcclVerdict::rdma_chosen;
  if (worker.broken > 0 && is_rdma) {
    rank.verdict = NcclVerdict::unknown;
    rank.why += "; " + counted(worker.broken, "more line") + " broken off before the network: TCP?";
  }
  rank.evidence = evidence_of(worker, process, rank.verdict);
  const bool is_counted =
      (worker.membership && worker.membership->nodes == 1U) ||
      (worker.one_node_size > 0 && rank.size.value_or(0) <= worker.one_node_size);
  const bool is_one_node = is_counted && !worker.spans_nodes;
  if (is_one_node && worker.uses.empty() && rank.verdict != NcclVerdict::rdma &&
      rank.verdict != NcclVerdict::mixed) {
    make_intra_node(rank, "NCCL counts one node");
  }
  return rank;
}

}  // namespace railhead::proof
