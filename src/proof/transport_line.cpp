// SPDX-License-Identifier: Apache-2.0
#include "proof/transport_line.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace railhead::proof {
namespace {

constexpr std::size_t kMaxLanes = 32;
/// Fewer characters of a message are no beginning of it.
constexpr std::size_t kLeastBeginning = 10;

/// Transports within a node (src/uct/sm, cuda, rocm, ze): the first reach a peer on this node only,
/// "self" none but the process itself.
constexpr std::array kShared = {"sysv", "posix", "cma", "knem", "xpmem", "self", "mm"};
constexpr std::array kGpuCopies = {"cuda_*", "gdr_copy", "rocm_*", "ze_*", "gaudi_*"};

/// How the sources of ai-dynamo/nixl (src/core, src/plugins, src/utils) and of Mooncake's transfer
/// engine begin whose errors are about moving data.
constexpr std::array<std::string_view, 10> kSources = {
    "nixl_", "ucx_",          "libfabric_",    "transfer_engine",
    "rdma_", "tcp_transport", "transfer_task", "worker_pool",
    "efa_",  "cxi_"};

template <typename Rows>
bool is_one_of(const Rows& rows, std::string_view name) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](std::string_view row) { return glob_match(row, name); });
}

bool is_transport_name(std::string_view name) {
  return !name.empty() && name.size() <= 32 && std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter_or_digit(c) || c == '_';
  });
}

/// Reads "tag(rc_mlx5/mlx5_0:1 tcp/eth0) rma(…)".
void read_lanes(std::string_view text, UcxEndpoint& endpoint) {
  for (auto open = text.find('('); open != std::string_view::npos; open = text.find('(')) {
    text.remove_prefix(open + 1);
    const auto close = text.find(')');
    const bool is_cut = close == std::string_view::npos;
    for (const auto word : split_words(text.substr(0, close))) {
      const auto slash = word.find('/');
      if (slash == std::string_view::npos) continue;
      const UcxLane lane{word.substr(0, slash), word.substr(slash + 1)};
      // Of the lanes without room those over TCP are kept.
      const bool has_room = endpoint.lanes.size() < kMaxLanes || lane.transport == "tcp";
      if (!is_transport_name(lane.transport) || !has_room) continue;
      const bool is_shared = is_one_of(kShared, lane.transport);
      // Of a line that was cut nothing counts but TCP to another node.
      if (is_cut && is_shared) return;
      if (is_cut && lane.transport != "tcp") continue;
      if (is_shared && lane.transport != "self") endpoint.is_local = true;
      const bool is_inside = is_shared || is_one_of(kGpuCopies, lane.transport);
      const bool is_known =
          std::any_of(endpoint.lanes.begin(), endpoint.lanes.end(), [&](const UcxLane& other) {
            return other.transport == lane.transport && other.device == lane.device;
          });
      if (!is_inside && !is_known) endpoint.lanes.push_back(lane);
    }
  }
}

/// The word behind `start`, up to a blank or comma.
std::string_view word_behind(std::string_view line, std::string_view start) {
  const auto at = line.find(start);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + start.size());
  return line.substr(0, std::min<std::size_t>(line.find_first_of(" ,\"\\"), 64));
}

/// A line of Mooncake's, NVSHMEM's or NIXL's, its network, and the source file of the text.
struct ChosenRow {
  std::string_view text;
  std::string_view library;
  std::string_view network;
  std::string_view source;    ///< versions and file, for people
  bool names_device = false;  ///< the word behind the text is a device
};

constexpr std::array kChosen = {
    ChosenRow{"RDMA device: ", "Mooncake", "RDMA",
              "Mooncake 0.2.0 to 0.3.12, src/transport/rdma_transport/rdma_context.cpp", true},
    ChosenRow{"EFA device (libfabric): ", "Mooncake", "RDMA",
              "Mooncake 0.3.10 to 0.3.12, src/transport/efa_transport/efa_context.cpp", true},
    ChosenRow{"EfaTransport: Initialized EFA device ", "Mooncake", "RDMA",
              "Mooncake 0.3.10 to 0.3.12, src/transport/efa_transport/efa_transport.cpp", true},
    ChosenRow{"EfaTransport: Started ", "Mooncake", "RDMA",
              "Mooncake 0.3.10 to 0.3.12, src/transport/efa_transport/efa_transport.cpp"},
    ChosenRow{"EFA transport installed successfully", "Mooncake", "RDMA",
              "Mooncake 0.3.10 to 0.3.12, ../mooncake-integration/transfer_engine"},
    ChosenRow{"CXI device (libfabric): ", "Mooncake", "RDMA",
              "Mooncake 0.3.12, src/transport/cxi_transport/cxi_context.cpp", true},
    ChosenRow{"CxiTransport: Initialized CXI device ", "Mooncake", "RDMA",
              "Mooncake 0.3.12, src/transport/cxi_transport/cxi_transport.cpp", true},
    ChosenRow{"CXI transport installed successfully", "Mooncake", "RDMA",
              "Mooncake 0.3.12, ../mooncake-integration/transfer_engine"},
    ChosenRow{"installTransport, type=rdma", "Mooncake", "RDMA",
              "Mooncake 0.3.8 to 0.3.12, src/transfer_engine_impl.cpp"},
    ChosenRow{"installTransport, type=efa", "Mooncake", "RDMA",
              "Mooncake 0.3.10 to 0.3.12, src/transfer_engine_impl.cpp"},
    ChosenRow{"installTransport, type=barex", "Mooncake", "RDMA",
              "Mooncake 0.3.10 to 0.3.12, src/transfer_engine_impl.cpp"},
    ChosenRow{"installTransport, type=tcp", "Mooncake", "TCP",
              "as people write it: Mooncake installs TCP without a word"},
    ChosenRow{"Using TCP transport (no HCA detected)", "Mooncake", "TCP",
              "Mooncake after 0.3.12, src/transfer_engine_impl.cpp"},
    ChosenRow{"Using RDMA transport (", "Mooncake", "RDMA",
              "Mooncake 0.3.8 to 0.3.12, src/transfer_engine_impl.cpp"},
    ChosenRow{"Using specified RDMA devices: ", "Mooncake", "RDMA",
              "Mooncake 0.3.6 to 0.3.12, ../mooncake-store/src/client_service.cpp"},
    ChosenRow{"TcpTransport: listen on port ", "Mooncake", "TCP",
              "Mooncake 0.3.0 to 0.3.12, src/transport/tcp_transport/tcp_transport.cpp"},
    ChosenRow{"Installing TCP transport (auto_discover disabled in ", "Mooncake", "TCP",
              "Mooncake 0.3.10 to 0.3.12, ../mooncake-integration/transfer_engine"},
    ChosenRow{"TCP transport installed successfully", "Mooncake", "TCP",
              "Mooncake 0.3.10 to 0.3.12, ../mooncake-integration/transfer_engine"},
    ChosenRow{"MC_FORCE_TCP is set, using TCP", "Mooncake", "TCP",
              "Mooncake 0.3.12, src/transfer_engine_impl.cpp"},
    ChosenRow{"Topology discovery complete. Found 0 HCAs", "Mooncake", "TCP",
              "Mooncake 0.3.0 to 0.3.12, src/transfer_engine_impl.cpp"},
    ChosenRow{"Using NVLink transport (", "Mooncake", "NVLink",
              "Mooncake after 0.3.12, src/transfer_engine_impl.cpp"},
    ChosenRow{"TcpTransport: cannot start", "Mooncake", "TCP",
              "Mooncake 0.3.0 to 0.3.12, src/transport/tcp_transport/tcp_transport.cpp"},
    ChosenRow{"Successfully initialized the transport: ibrc", "NVSHMEM", "RDMA",
              "NVSHMEM 2.7 to 3.4, src/host/transport/transport.cpp"},
    ChosenRow{"Successfully initialized the transport: IBRC", "NVSHMEM", "RDMA",
              "NVSHMEM 2.7 to 3.4, as NVSHMEM_REMOTE_TRANSPORT has it"},
    ChosenRow{"Successfully initialized the transport: ibdevx", "NVSHMEM", "RDMA",
              "NVSHMEM 2.7 to 3.4, src/host/transport/transport.cpp"},
    ChosenRow{"Successfully initialized the transport: IBGDA", "NVSHMEM", "RDMA",
              "NVSHMEM 2.7 to 3.4, src/host/transport/transport.cpp"},
    ChosenRow{"Successfully initialized the transport: ucx", "NVSHMEM", "UCX",
              "NVSHMEM 2.7 to 3.4, src/host/transport/transport.cpp"},
    ChosenRow{"Successfully initialized the transport: libfabric", "NVSHMEM", "Libfabric",
              "NVSHMEM 2.7 to 3.4, src/host/transport/transport.cpp"},
    ChosenRow{"Selected remote transport: ibrc", "NVSHMEM", "RDMA",
              "NVSHMEM 3.7, in its published logs"},
    ChosenRow{"NIXL INFO falling back to TCP transport", "NIXL", "TCP",
              "NVIDIA Dynamo, its guide to disaggregated communication"},
    ChosenRow{" rails using provider=", "NIXL", "Libfabric",
              "NIXL 0.6 to 1.4, src/utils/libfabric/libfabric_rail_manager.cpp"}};

}  // namespace

UcxWriter ucx_writer(std::string_view line) {
  const auto name = line.find("UCX ");
  auto text = line.substr(0, name == std::string_view::npos ? 0 : name);
  const auto close = text.rfind(']');
  const auto open = close == std::string_view::npos ? close : text.rfind('[', close);
  if (open == std::string_view::npos) return {};
  text = text.substr(open + 1, close - open - 1);
  const auto parts = split(text, ':');
  if (parts.size() < 2) return {};
  const auto pid = parse_unsigned(trim(parts[1]));
  if (!pid || *pid > UINT32_MAX) return {};
  return {parts[0], static_cast<std::uint32_t>(*pid)};
}

std::optional<UcxEndpoint> ucx_endpoint(std::string_view line) {
  const auto old = line.find("ep_cfg[");
  const auto at = old != std::string_view::npos ? old : line.find("cfg#");
  if (at == std::string_view::npos) return std::nullopt;
  const auto before = line.substr(0, at);
  // The name of the library may have been cut away with the rest of the prefix.
  const bool is_of_ucx = line.find("UCX ") < at || before.ends_with("-node ");
  if (!is_of_ucx || before.ends_with("self ")) return std::nullopt;
  UcxEndpoint endpoint;
  endpoint.writer = ucx_writer(line);
  endpoint.is_local = before.ends_with("intra-node ");
  read_lanes(line.substr(at), endpoint);
  if (endpoint.lanes.empty() && !endpoint.is_local) return std::nullopt;
  return endpoint;
}

std::optional<bool> is_ucx_table_between_nodes(std::string_view line) {
  const auto bar = line.find('|');
  const auto name = bar == std::string_view::npos ? bar : line.find(" cfg#", bar);
  if (name == std::string_view::npos || line.find('|', name) == std::string_view::npos) {
    return std::nullopt;
  }
  return line.substr(bar, name - bar).ends_with("inter-node");
}

std::optional<UcxEndpoint> ucx_table_row(std::string_view line) {
  auto text = trim(line);
  const bool is_row = text.ends_with('|');
  if (!is_row && !text.ends_with("-+")) return std::nullopt;
  UcxEndpoint endpoint;
  endpoint.writer = ucx_writer(line);
  text.remove_suffix(1);
  const auto bar = text.rfind('|');
  if (!is_row || bar == std::string_view::npos) return endpoint;
  // Nothing stands before the first cell but what UCX or a quotation puts in front of a line.
  const auto front = trim(text.substr(0, text.find('|')));
  if (!front.empty() && front.back() != ']' && front.back() != '>') return std::nullopt;
  for (const auto word : split_words(text.substr(bar + 1))) {
    const auto slash = word.find('/');
    if (slash == std::string_view::npos || endpoint.lanes.size() == kMaxLanes) continue;
    const auto device = word.substr(slash + 1);
    const UcxLane lane{word.substr(0, slash), device.substr(0, device.find_first_of("/)"))};
    const bool is_inside =
        is_one_of(kShared, lane.transport) || is_one_of(kGpuCopies, lane.transport);
    if (is_transport_name(lane.transport) && !is_inside) endpoint.lanes.push_back(lane);
  }
  return endpoint;
}

bool is_ucx_tcp_connection(std::string_view line) {
  const auto at = line.find("tcp_ep ");
  if (at == std::string_view::npos || line.find("UCX ") > at) return false;
  const auto start = line.find(" for the [", at);
  const auto middle = line.find("]<->[", start);
  if (start == std::string_view::npos || middle == std::string_view::npos) return false;
  const auto address = [](std::string_view end) { return end.substr(0, end.rfind(':')); };
  const auto from = address(line.substr(start + 10, middle - start - 10));
  const auto peer = line.substr(middle + 5);
  return from != address(peer.substr(0, peer.find(']')));
}

std::string_view library_in(std::string_view line) {
  struct Words {
    std::string_view text;
    std::string_view library;
  };

  static constexpr std::array kWords = {Words{"UCX  ", "UCX"},
                                        Words{"UCX ERROR", "UCX"},
                                        Words{"NVSHMEM", "NVSHMEM"},
                                        Words{"nvshmem", "NVSHMEM"},
                                        Words{"ibgda", "NVSHMEM"},
                                        Words{"ibrc.cpp:", "NVSHMEM"},
                                        Words{"ibdevx.cpp:", "NVSHMEM"},
                                        Words{"(expected HCA interface: ", "NVSHMEM"},
                                        Words{"necessary atomic operations", "NVSHMEM"},
                                        Words{"rdma_transport", "Mooncake"},
                                        Words{"as an mlx5 device. Skipping", "NVSHMEM"},
                                        Words{"memory type. Skipping", "NVSHMEM"},
                                        Words{"GPU cannot map UAR", "NVSHMEM"},
                                        Words{"init failed for transport: ", "NVSHMEM"},
                                        Words{"nvidia_peermem detected. Skipping", "NVSHMEM"},
                                        Words{"transfer_engine", "Mooncake"},
                                        Words{"rdma_context", "Mooncake"},
                                        Words{"rdma_endpoint", "Mooncake"},
                                        Words{"RdmaTransport", "Mooncake"},
                                        Words{"worker_pool.cpp", "Mooncake"},
                                        Words{"Mooncake", "Mooncake"},
                                        Words{"libfabric:", "libfabric"},
                                        Words{"libfabric_rail", "NIXL"},
                                        Words{"nixl_", "NIXL"},
                                        Words{"NIXL ", "NIXL"}};
  const auto found = std::find_if(kWords.begin(), kWords.end(), [&](const Words& words) {
    return line.find(words.text) != std::string_view::npos;
  });
  return found == kWords.end() ? std::string_view() : found->library;
}

bool is_transport_error(std::string_view line) {
  const auto library = line.find("UCX ");
  if (library != std::string_view::npos) {
    return trim(line.substr(library + 4)).starts_with("ERROR ");
  }
  const auto words = split_words(line.substr(0, 160));
  // "E0421", or with the year, the time, the thread and the place; people shorten it to "E".
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const auto date = words[i];
    const bool is_date = date.starts_with('E') && (date.size() == 5 || date.size() == 9) &&
                         parse_unsigned(date.substr(1)).has_value();
    if (!is_date && date != "E") continue;
    const auto at = i + (is_date ? 3 : 1);
    return at < words.size() && words[at].ends_with(']') &&
           std::any_of(kSources.begin(), kSources.end(),
                       [&](std::string_view source) { return words[at].starts_with(source); });
  }
  return false;
}

bool is_ucx_emulation(std::string_view line) {
  const auto at = line.find("software emulation");
  if (at == std::string_view::npos) return false;
  const auto bar = line.find('|', at);
  return bar != std::string_view::npos && trim(line.substr(bar + 1)).starts_with("tcp/");
}

std::optional<ChosenTransport> chosen_transport(std::string_view line) {
  for (const auto& row : kChosen) {
    if (line.find(row.text) == std::string_view::npos) continue;
    ChosenTransport chosen{row.library, row.network, {}, {}};
    if (row.text.ends_with("provider=")) chosen.provider = word_behind(line, row.text);
    // Other programs print these words, too; Mooncake goes on with the port's address.
    const bool is_other =
        row.text == "RDMA device: " && line.find(", LID: ") == std::string_view::npos;
    if (is_other) continue;
    if (row.names_device) chosen.device = word_behind(line, row.text);
    return chosen;
  }
  return std::nullopt;
}

std::string_view begun_choice(std::string_view line) {
  if (line.empty()) return {};
  std::string_view network;
  for (const auto& row : kChosen) {
    const auto most = std::min(row.text.size() - 1, line.size());
    for (auto size = most; size >= kLeastBeginning; --size) {
      if (row.text[size - 1] != line.back() || !line.ends_with(row.text.substr(0, size))) continue;
      if (network != "TCP") network = row.network;
      break;
    }
  }
  return network;
}

std::optional<FabricCompletion> fabric_completion(std::string_view line) {
  const auto at = line.find("libfabric:");
  if (at == std::string_view::npos) return std::nullopt;
  // The process, the time (and since 1.16 its prefix), the provider, the part of it.
  const auto parts = split(line.substr(at, 160), ':');
  if (parts.size() < 6) return std::nullopt;
  const std::size_t provider = parts[3].empty() ? 4 : 3;
  const auto pid = parse_unsigned(parts[1]);
  if (!pid || *pid > UINT32_MAX || parts[provider + 1] != "cq") return std::nullopt;
  return FabricCompletion{static_cast<std::uint32_t>(*pid), parts[provider]};
}

bool is_nixl_on_ucx(std::string_view line) {
  return line.find("Backend UCX was instantiated") != std::string_view::npos;
}

}  // namespace railhead::proof
