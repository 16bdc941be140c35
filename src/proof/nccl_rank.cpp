// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_rank.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.h"

namespace railhead::proof {
namespace {

/// What moves the bytes under a network of NCCL's.
enum class Carrier : std::uint8_t { rdma, tcp, unknown };

struct Known {
  std::string_view name;  ///< a glob
  Carrier carrier;
};

/// IB and Socket: NVIDIA/nccl src/transport. IBext*: nccl-rdma-sharp-plugins. IB-CAST: ROCm's RCCL.
/// gIB: Google's RoCE plugin. SHARP: CollNet over InfiniBand. FastSocket, GPUDirectTCPX*, FasTrak:
/// Google's plugins on TCP, which may say GDRDMA all the same.
constexpr std::array kNetworks = {
    Known{"IB", Carrier::rdma},          Known{"IBext*", Carrier::rdma},
    Known{"IB-CAST", Carrier::rdma},     Known{"gIB", Carrier::rdma},
    Known{"SHARP", Carrier::rdma},       Known{"Socket", Carrier::tcp},
    Known{"FastSocket", Carrier::tcp},   Known{"GPUDirectTCPX*", Carrier::tcp},
    Known{"FasTrak", Carrier::tcp},      Known{"AWS Libfabric", Carrier::unknown},
    Known{"Libfabric", Carrier::unknown}};

/// libfabric's fi_provider(7): efa (SRD), cxi (Slingshot), verbs; tcp, sockets, udp. A layered
/// name such as "verbs;ofi_rxm" begins with what is underneath.
constexpr std::array kProviders = {Known{"efa*", Carrier::rdma},    Known{"cxi*", Carrier::rdma},
                                   Known{"verbs*", Carrier::rdma},  Known{"tcp*", Carrier::tcp},
                                   Known{"sockets*", Carrier::tcp}, Known{"udp*", Carrier::tcp}};

template <typename Rows>
Carrier look_up(const Rows& rows, std::string_view name) {
  for (const auto& row : rows) {
    if (glob_match(row.name, name)) return row.carrier;
  }
  return Carrier::unknown;
}

/// By the name that NCCL or a plugin prints. Unknown for names we have no source for, and for
/// layers that choose by themselves (UCX); libfabric is decided by its provider.
Carrier known_carrier(std::string_view network, std::string_view ofi_provider) {
  if (network == "AWS Libfabric" || network == "Libfabric") {
    return look_up(kProviders, ofi_provider);
  }
  return look_up(kNetworks, network);
}

struct Carriers {
  std::uint64_t rdma = 0;
  std::uint64_t tcp = 0;
  std::uint64_t unknown = 0;
};

/// A plugin that lists RDMA ports as NCCL's own code does is carried by them, whatever its name.
Carrier carrier_of(const std::string& network, const NcclProcess& process) {
  const auto carrier = known_carrier(network, process.ofi_provider);
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

/// A network for RDMA was chosen, and the only list of its devices has none.
bool has_no_device(const NcclProcess& process) {
  return process.devices.empty() && process.evidence.count(NcclSign::no_list) > 0;
}

NcclVerdict verdict_of_choice(const std::string& network, const NcclProcess& process) {
  const auto carrier = carrier_of(network, process);
  if (carrier == Carrier::tcp) return NcclVerdict::tcp;
  const bool is_rdma = carrier == Carrier::rdma && !has_no_device(process);
  return is_rdma ? NcclVerdict::rdma : NcclVerdict::unknown;
}

NcclGpuPath path_of(const NcclWorker& worker) {
  std::uint64_t all = 0;
  std::uint64_t direct = 0;
  for (const auto& use : worker.uses) {
    if (use.network == "Socket") continue;
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
  if (process.routes.count("DMA-BUF") > 0) return "DMA-BUF";
  if (process.routes.count("peermem") > 0) return "peermem";
  const bool is_own_ib = worker.network == "IB" && worker.communicators > 0;
  return is_own_ib ? "peermem" : "";
}

std::string networks_of(const NcclWorker& worker) {
  std::vector<std::string> names;
  for (const auto& use : worker.uses) {
    if (std::find(names.begin(), names.end(), use.network) == names.end()) {
      names.push_back(use.network);
    }
  }
  return names.empty() ? worker.network : join(names, "+");
}

NcclUsedDevice device_of(const NcclUse& use, const NcclProcess& process) {
  NcclUsedDevice device{use, "", ""};
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
  const auto has = [&](NcclSign sign) { return process.evidence.count(sign) > 0; };
  if (has(NcclSign::switched_off)) return "; the environment switches RDMA off";
  if (has(NcclSign::no_library)) return "; the image has no libibverbs";
  if (has(NcclSign::not_opened)) return "; a device could not be opened";
  if (has(NcclSign::no_device)) return "; no RDMA device was found in the container";
  if (has(NcclSign::no_list)) return "; the list of RDMA devices is empty";
  if (has(NcclSign::plugin_failed)) return "; the plugin for RDMA did not start";
  return "";
}

std::string why_of(const NcclWorker& worker, const NcclProcess& process, const Carriers& count,
                   const NcclRank& rank) {
  const auto all = count.rdma + count.tcp + count.unknown;
  const auto of_all = " of " + std::to_string(all) + " network connections";
  if (all == 0 && worker.network.empty()) return "the log does not say which network was chosen";
  if (rank.verdict == NcclVerdict::unknown) {
    if (all == 0 && carrier_of(worker.network, process) == Carrier::rdma) {
      return "network " + worker.network + " was chosen, and the list of its devices is empty";
    }
    const bool is_libfabric = rank.transport.find("Libfabric") != std::string::npos;
    return rank.transport + (is_libfabric ? ": the log does not name libfabric's provider"
                                          : " is a network we know nothing about");
  }
  if (all == 0) {
    const std::string local = worker.local_connections > 0
                                  ? "; all connections in this log are within the node"
                                  : "; this log has no connection through it";
    return "network " + worker.network + " was chosen" + local +
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
    if (!is_obstacle || verdict != NcclVerdict::rdma) quotes.push_back(quote);
  }
  std::stable_sort(quotes.begin(), quotes.end(),
                   [](const auto& a, const auto& b) { return a.line < b.line; });
  return quotes;
}

}  // namespace

std::string_view to_string(NcclVerdict verdict) {
  switch (verdict) {
    case NcclVerdict::rdma: return "RDMA";
    case NcclVerdict::tcp: return "TCP";
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

NcclRank judge_rank(const NcclWorker& worker, const NcclProcess& process) {
  NcclRank rank;
  rank.rank = worker.membership ? worker.membership->rank : worker.channel_rank;
  if (worker.membership) rank.size = worker.membership->size;
  rank.host = process.host;
  rank.pid = process.pid;
  rank.gpu = worker.gpu;
  const auto count = count_carriers(worker, process);
  rank.verdict =
      worker.uses.empty() ? verdict_of_choice(worker.network, process) : verdict_of(count);
  rank.transport = networks_of(worker);
  rank.plugin = process.plugin;
  rank.gpu_path = path_of(worker);
  rank.route = route_of(worker, process, rank.gpu_path);
  rank.devices = devices_of(worker, process);
  rank.available = process.devices;
  rank.relaxed_ordering = process.relaxed_ordering;
  rank.channels = worker.channels.size();
  rank.communicators = worker.communicators;
  rank.why = why_of(worker, process, count, rank);
  rank.evidence = evidence_of(worker, process, rank.verdict);
  return rank;
}

}  // namespace railhead::proof
