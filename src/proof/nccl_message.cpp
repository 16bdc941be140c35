// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_message.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "proof/nccl_networks.h"

namespace railhead::proof {
namespace {

/// Behind a route: RCCL's communicator, Ray's "[repeated", the end of a JSON string.
constexpr std::string_view kEndsOfRoute = " [\\\"";
constexpr std::size_t kMaxDevices = 64;
constexpr std::size_t kMaxName = 64;
constexpr std::size_t kMaxTestRow = 512;
constexpr std::size_t kMaxAddress = 80;  // of an interface and IPv6

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

/// Takes a decimal number off the front.
std::optional<unsigned> take_number(std::string_view& text) {
  const auto end = std::min(text.find_first_not_of(kDecimalDigits), text.size());
  const auto number = parse_unsigned(text.substr(0, end));
  if (!number || *number > UINT32_MAX) return std::nullopt;
  text.remove_prefix(end);
  return static_cast<unsigned>(*number);
}

/// The number right behind `word`.
std::optional<unsigned> number_behind(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + word.size());
  return take_number(text);
}

std::string name_of(std::string_view text) {
  return std::string(text.substr(0, kMaxName));
}

/// "[0]mlx5_0:1/RoCE", with rail and plane behind the port and with what a plugin adds
/// ("/SHARP"), or "[0]eth0:10.0.0.1<0>".
std::optional<NcclDevice> device_of(std::string_view word) {
  if (!take(word, "[")) return std::nullopt;
  const auto index = take_number(word);
  if (!index || !take(word, "]")) return std::nullopt;
  NcclDevice device;
  device.index = *index;
  const auto colon = std::min(word.find(':'), word.size());
  device.name = name_of(word.substr(0, colon));
  if (device.name.empty()) return std::nullopt;
  word.remove_prefix(std::min(colon + 1, word.size()));
  const auto slash = word.find('/');
  if (slash == std::string_view::npos) return device;
  device.port = take_number(word);
  const auto link = word.substr(word.find('/') + 1);
  device.link_layer = name_of(link.substr(0, link.find('/')));
  return device;
}

/// Ports between braces, as one device. `at` is the word "[0]={[0]" or "[0]={", and moves to the
/// last word of the device.
std::optional<NcclDevice> merged_device(const std::vector<std::string_view>& words,
                                        std::size_t& at) {
  auto head = words[at];
  NcclDevice merged;
  const auto index = take(head, "[") ? take_number(head) : std::nullopt;
  if (!index || !take(head, "]={")) return std::nullopt;
  merged.index = *index;
  bool is_closed = false;
  for (; !is_closed && at < words.size(); ++at) {
    auto word = words[at];
    if (word.find(':') == std::string_view::npos) continue;
    is_closed = word.ends_with('}');
    while (word.ends_with(',') || word.ends_with('}')) word.remove_suffix(1);
    const auto port = device_of("[0]" + std::string(word));
    if (!port) break;
    merged.name = name_of(merged.name.empty() ? port->name : merged.name + "+" + port->name);
    merged.link_layer = port->link_layer;
  }
  --at;
  if (!is_closed) return std::nullopt;
  return merged;
}

/// What follows "NET/<name> : " or "NET/<name>: ", with the name; absent in other messages.
struct NetworkMessage {
  std::string_view network;
  std::string_view rest;
};

std::optional<NetworkMessage> network_message(std::string_view message) {
  if (!take(message, "NET/")) return std::nullopt;
  const auto colon = message.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto network = trim(message.substr(0, colon));
  if (network.empty() || network.size() > kMaxName) return std::nullopt;
  return NetworkMessage{network, trim(message.substr(colon + 1))};
}

/// What stands behind "via NET/" or "via COLLNET/": a name that may hold blanks, the device, who
/// has it, and how. Nothing that is cut or written behind it takes TCP out of the count.
bool read_route(std::string_view route, NcclChannel& channel) {
  if (const auto name = network_over_tcp(route); !name.empty()) {
    channel.network = name;
    route.remove_prefix(std::min(name.size(), route.size()));
    if (take(route, "/")) channel.device = take_number(route).value_or(0);
    channel.gpu_direct = route.find("/GDRDMA") < route.find(' ');
    return true;
  }
  auto slash = route.find('/');
  while (slash != std::string_view::npos && slash + 1 < route.size() &&
         kDecimalDigits.find(route[slash + 1]) == std::string_view::npos) {
    slash = route.find('/', slash + 1);
  }
  if (slash == std::string_view::npos || slash == 0 || slash > kMaxName) return false;
  channel.network = route.substr(0, slash);
  route.remove_prefix(slash + 1);
  const auto device = take_number(route);
  if (!device) return false;
  channel.device = *device;
  if (take(route, "(")) {
    channel.proxy_rank = take_number(route);
    if (!channel.proxy_rank || !take(route, ")")) return false;
  }
  channel.gpu_direct = take(route, "/GDRDMA");
  if (channel.gpu_direct) take(route, "(PCI)");
  take(route, "/Shared");
  // How RCCL, and NCCL since 2.31, make sure that the data has arrived: "/flush=Always".
  if (channel.gpu_direct && take(route, "/flush=")) {
    route.remove_prefix(std::min(route.find_first_of(kEndsOfRoute), route.size()));
  }
  // Whatever else follows: the line was cut, and "/GDR" without the rest proves nothing.
  return route.empty() || kEndsOfRoute.find(route.front()) != std::string_view::npos;
}

/// A name, without what a collector or a person wrote behind it: Ray's "[repeated 3x", a remark.
std::optional<std::string_view> name_before_remark(std::string_view text) {
  for (const std::string_view end :
       {" [", "  ", " #", " //", " <", " -", " (", " \xe2", "\t", "*", "`"}) {
    text = text.substr(0, text.find(end));
  }
  text = trim(text);
  if (text.empty() || text.size() > kMaxName) return std::nullopt;
  return text;
}

/// The rank and the rest behind it, of "3[3] -> 4[0] …".
std::optional<unsigned> take_rank(std::string_view& text) {
  const auto rank = take_number(text);
  if (rank && take(text, "[")) {
    text.remove_prefix(std::min(text.find(']'), text.size()));
    take(text, "]");
  }
  return rank;
}

}  // namespace

std::optional<NcclDeviceList> nccl_device_list(std::string_view message) {
  const auto parts = network_message(message);
  if (!parts || !(parts->rest == "Using" || parts->rest.starts_with("Using "))) {
    return std::nullopt;
  }
  NcclDeviceList list;
  list.network = parts->network;
  const auto end = parts->rest.find("; OOB");
  const auto words = split_words(parts->rest.substr(0, end));
  for (std::size_t i = 0; i < words.size() && list.devices.size() < kMaxDevices; ++i) {
    if (words[i] == "[RO]" || words[i] == "[RO];") list.relaxed_ordering = true;
    const bool is_merged = words[i].find("={") != std::string_view::npos;
    auto device = is_merged ? merged_device(words, i) : device_of(words[i]);
    if (device) list.devices.push_back(std::move(*device));
  }
  // "Using" and nothing up to what stands behind the devices.
  const std::size_t others = list.relaxed_ordering ? 2 : 1;
  const bool is_whole = end != std::string_view::npos || list.relaxed_ordering;
  list.is_empty = is_whole && words.size() == others;
  return list;
}

std::optional<NcclDevice> nccl_old_device(std::string_view message) {
  const auto parts = network_message(message);
  if (!parts || !parts->rest.starts_with('[')) return std::nullopt;
  const auto words = split_words(parts->rest);
  if (words.size() != 2) return std::nullopt;
  auto device = device_of(std::string(words[0]) + std::string(words[1]));
  return device && !device->link_layer.empty() ? device : std::nullopt;
}

std::optional<NcclDevice> nccl_virtual_device(std::string_view message) {
  const auto index = number_behind(message, "Made virtual device [");
  const auto at = message.find("] name=");
  if (!index || at == std::string_view::npos) return std::nullopt;
  const auto name = message.substr(at + 7);
  return NcclDevice{*index, name_of(name.substr(0, name.find(' '))), std::nullopt, ""};
}

std::optional<std::string_view> nccl_chosen_network(std::string_view message) {
  if (take(message, "CUDA Dev ")) {
    const auto end = message.find(" NIC distance : ");
    const auto start = message.find("], ");
    if (end == std::string_view::npos || start >= end) return std::nullopt;
    return name_before_remark(message.substr(start + 3, end - start - 3));
  }
  const bool is_assigned = take(message, "Assigned NET plugin ");
  if (!is_assigned && !take(message, "Using network ") &&
      !take(message, "Using internal Network ")) {
    return std::nullopt;
  }
  if (is_assigned) message = message.substr(0, message.find(" to"));
  const auto name = name_before_remark(message);
  // A name that breaks off counts, if nothing but TCP begins so.
  const auto by_tcp = name ? network_over_tcp(*name) : std::string_view();
  const bool is_cut = !by_tcp.empty() && by_tcp.size() > name->size() && *name == trim(message);
  const bool is_cut_behind = is_assigned && !by_tcp.empty();
  return is_cut || is_cut_behind ? std::optional(by_tcp) : name;
}

std::optional<std::string_view> nccl_plugin(std::string_view message) {
  for (const std::string_view word : {"Loaded net plugin ", "P2P plugin "}) {
    const auto at = message.find(word);
    if (at == std::string_view::npos) continue;
    auto name = message.substr(at + word.size());
    // nccl-rdma-sharp-plugins puts the version of the interface in front: "v8 IBext_v8".
    const auto blank = name.find(' ');
    if (blank != std::string_view::npos && blank < 4 && name.starts_with('v')) {
      name.remove_prefix(blank + 1);
    }
    return name_before_remark(name.substr(0, name.find(" (v")));
  }
  return std::nullopt;
}

std::optional<NcclChannel> nccl_channel(std::string_view message) {
  NcclChannel channel;
  const bool is_collnet = take(message, "CollNet ");
  const bool is_whole = is_collnet || take(message, "Channel ") || take(message, "Ring ");
  if (is_whole) channel.number = take_number(message);
  const auto via = message.find(" via ");
  if (is_whole != channel.number.has_value() || via == std::string_view::npos) return std::nullopt;
  auto route = trim(message.substr(via + 5));
  if (!take(route, is_collnet ? "COLLNET/" : "NET/")) return std::nullopt;
  auto ends = message.substr(0, via);
  channel.is_send = ends.find("[send]") != std::string_view::npos;
  const auto colon = ends.find(": ");
  const bool is_tail = !is_whole && (channel.is_send || ends.find("[receive]") != ends.npos);
  if (colon == std::string_view::npos && !is_tail) return std::nullopt;
  if (colon != std::string_view::npos) ends.remove_prefix(colon + 2);
  const auto arrow = ends.find("-> ");
  if (!channel.is_send && arrow != std::string_view::npos) ends.remove_prefix(arrow + 3);
  channel.rank = take_number(ends);
  return read_route(route, channel) ? std::optional(channel) : std::nullopt;
}

std::optional<NcclLocalChannel> nccl_local_channel(std::string_view message) {
  if (!message.starts_with("Channel ") && !message.starts_with("Ring ")) return std::nullopt;
  const auto via = message.find(" via ");
  const auto colon = message.find(" : ");
  if (via == std::string_view::npos || colon > via) return std::nullopt;
  auto how = message.substr(via + 5);
  const bool is_local = how.starts_with("SHM/") || how.starts_with("direct shared memory") ||
                        (take(how, "P2P/") && !how.starts_with("MNNVL"));
  if (!is_local) return std::nullopt;
  auto ends = message.substr(colon + 3, via - colon - 3);
  const auto from = take_rank(ends);
  if (!from || !(take(ends, " -> ") || take(ends, " <- "))) return std::nullopt;
  const auto to = take_rank(ends);
  if (!to) return std::nullopt;
  return NcclLocalChannel{*from, *to};
}

std::optional<NcclMembership> nccl_membership(std::string_view message) {
  // Who quotes it leaves the address out.
  const bool is_quoted = message.starts_with("comm ") || message.starts_with("ncclComm");
  const auto comm = message.find(is_quoted ? "comm " : "comm 0x");
  if (comm != std::string_view::npos) message.remove_prefix(comm);
  // 2.3 says "rank 0 nranks 3" and no more.
  const bool is_short = message.starts_with("rank ");
  if (comm == std::string_view::npos && !is_short) return std::nullopt;
  const auto rank = number_behind(message, is_short ? "rank " : " rank ");
  auto size = number_behind(message, " nranks ");
  if (!size) size = number_behind(message, " nRanks ");
  if (!rank || !size || *rank >= *size) return std::nullopt;
  const bool is_complete = message.find("Init COMPLETE") != std::string_view::npos;
  const bool has_address = message.starts_with("comm 0x");
  const auto pointer = has_address ? message.substr(7, message.find(' ', 7) - 7) : "";
  const auto id = message.find(" commId 0x");
  const auto digits = id == std::string_view::npos ? "" : message.substr(id + 10);
  const bool spans_machines = number_behind(message, " MNNVL ").value_or(0) > 0;
  return NcclMembership{*rank,
                        *size,
                        spans_machines ? std::nullopt : number_behind(message, " nNodes "),
                        is_complete,
                        parse_hex(pointer).value_or(0),
                        parse_hex(digits.substr(0, digits.find(' '))).value_or(0)};
}

std::optional<NcclNodeCount> nccl_node_count(std::string_view message) {
  std::optional<unsigned> size;
  std::optional<unsigned> nodes;
  if (message.starts_with("comm:0x")) {
    // RCCL of ROCm 7: "comm:0x1, nRanks:4, nNodes:1, coll channels:8 …".
    size = number_behind(message, ", nRanks:");
    nodes = number_behind(message, ", nNodes:");
  } else if (message.starts_with("NET/OFI ") && message.find("uner init") != message.npos) {
    size = number_behind(message, ": comm with ");
    nodes = number_behind(message, " ranks and ");
  }
  if (!size || !nodes || *nodes > *size) return std::nullopt;
  return NcclNodeCount{*size, *nodes};
}

std::optional<NcclAddress> nccl_address(std::string_view message) {
  auto at = message.find("; OOB ");
  if (at != std::string_view::npos) {
    message.remove_prefix(at + 6);
  } else if (take(message, "Bootstrap")) {
    at = message.find("Using ");
    if (at == std::string_view::npos) return std::nullopt;
    message.remove_prefix(at + 6);
    take(message, "[0]");
  } else {
    return std::nullopt;
  }
  const auto colon = message.find(':');
  const auto end = message.find('<');
  if (colon == 0 || colon >= end || end == std::string_view::npos || end > kMaxAddress) {
    return std::nullopt;
  }
  return NcclAddress{message.substr(0, colon), message.substr(colon + 1, end - colon - 1)};
}

std::optional<unsigned> nccl_tree_rank(std::string_view message) {
  if (!take(message, "Trees [0] ")) return std::nullopt;
  const auto arrow = message.find("->");
  if (arrow == std::string_view::npos) return std::nullopt;
  message.remove_prefix(arrow + 2);
  const auto rank = take_number(message);
  return message.starts_with("->") ? rank : std::nullopt;
}

std::size_t nccl_ring_size(std::string_view message) {
  if (!take(message, "Channel ") || !take_number(message) || !take(message, "/")) return 0;
  if (!take_number(message) || !take(message, " : ")) return 0;
  const auto words = split_words(message);
  const bool are_ranks = std::all_of(words.begin(), words.end(), [](std::string_view word) {
    return parse_unsigned(word).has_value();
  });
  return are_ranks && words.size() < 20 ? words.size() : 0;
}

std::optional<NcclGpuDirect> nccl_gpu_direct(std::string_view message) {
  const auto parts = network_message(message);
  if (!parts) return std::nullopt;
  auto rest = parts->rest;
  if (!take(rest, "GPU Direct RDMA ")) return std::nullopt;
  NcclGpuDirect said;
  said.network = parts->network;
  if (take(rest, "(nvidia-peermem) ")) said.route = "peermem";
  if (take(rest, "(DMABUF) ")) said.route = "DMA-BUF";
  said.enabled = take(rest, "Enabled ") || take(rest, "enabled ");
  if (!said.enabled) take(rest, "Disabled ");
  // "for GPU 0[b1000] / HCA 0 (distance …)" up to 2.6.
  auto index = number_behind(rest, "for HCA ");
  if (!index) index = number_behind(rest, " / HCA ");
  // Who quotes it from memory leaves the index out.
  if (!index && !take(rest, "for HCA ")) return std::nullopt;
  said.device.index = index.value_or(0);
  const auto quote = rest.find('\'');
  if (quote != std::string_view::npos) {
    const auto name = rest.substr(quote + 1);
    said.device.name = name_of(name.substr(0, name.find('\'')));
  }
  return said;
}

std::optional<std::string_view> nccl_ofi_provider(std::string_view message) {
  if (!take(message, "NET/OFI Selected ")) return std::nullopt;
  if (!take(message, "provider is ") && !take(message, "Provider is ")) return std::nullopt;
  const auto name = trim(message.substr(0, message.find_first_of(", ")));
  if (name.empty() || name.size() > kMaxName) return std::nullopt;
  return name;
}

std::optional<std::string_view> nccl_ofi_provider_of_address(std::string_view message) {
  return message.find("fi_addr_efa://") == std::string_view::npos
             ? std::nullopt
             : std::optional<std::string_view>("efa");
}

std::optional<std::string_view> nccl_ofi_filter(std::string_view message) {
  if (!take(message, "NET/OFI Setting provider_filter to ")) return std::nullopt;
  const auto name = trim(message.substr(0, message.find_first_of(", ")));
  if (name.empty() || name.size() > kMaxName) return std::nullopt;
  return name;
}

bool nccl_dma_buf_is_off(std::string_view message) {
  return message.find("NCCL_DMABUF_ENABLE set by environment to 0") != std::string_view::npos ||
         message.find("Support for DMA-BUF registrations: false") != std::string_view::npos ||
         message.find("Dmabuf feature disabled") != std::string_view::npos;
}

std::optional<NcclTestRank> nccl_tests_rank(std::string_view line) {
  const auto start = line.substr(0, kMaxTestRow).find("Rank ");
  if (start == std::string_view::npos) return std::nullopt;
  const auto words = split_words(line.substr(start, kMaxTestRow));
  const auto after = [&](std::string_view word) {
    const auto found = std::find(words.begin(), words.end(), word);
    return found == words.end() || found + 1 == words.end() ? std::string_view() : found[1];
  };
  const auto rank = parse_unsigned(after("Rank"));
  const auto device = parse_unsigned(after("device"));
  const auto host = after("on");
  const bool is_row = rank && device && parse_unsigned(after("Pid")) && *rank <= UINT32_MAX &&
                      *device <= UINT32_MAX;
  if (!is_row || host.empty() || host.size() > 253) return std::nullopt;
  return NcclTestRank{static_cast<unsigned>(*rank), host, static_cast<unsigned>(*device),
                      line.substr(start).find("] ") != std::string_view::npos};
}

bool nccl_tests_row_is_cut(std::string_view line) {
  auto text = line.substr(0, kMaxTestRow);
  const auto mark = text.find('#');
  if (mark == std::string_view::npos) return false;
  text = trim(text.substr(mark + 1));
  if (!take(text, "Rank ")) return false;
  text = trim(text);
  return take_number(text) && (text.empty() || text.front() == ' ') && !nccl_tests_rank(line);
}

std::optional<std::string> nccl_version(std::string_view line) {
  const auto at = line.find("CCL version");
  if (at == 0 || at == std::string_view::npos) return std::nullopt;
  const char first = line[at - 1];
  if (first != 'N' && first != 'R') return std::nullopt;
  auto rest = trim(line.substr(at + 11));
  if (take(rest, ":")) rest = trim(rest);
  if (rest.empty() || kDecimalDigits.find(rest.front()) == std::string_view::npos)
    return std::nullopt;
  return std::string(1, first) + "CCL " + name_of(rest.substr(0, rest.find_first_of(" \\\"")));
}

bool is_before_using_network(std::string_view version) {
  if (!take(version, "NCCL 2.")) return false;
  const auto minor = take_number(version);
  return minor && *minor < 7;
}

std::optional<unsigned> nccl_completion_status(std::string_view message) {
  const auto at = message.find("Got completion ");
  if (at == std::string_view::npos) return std::nullopt;
  message.remove_prefix(at);
  if (const auto number = number_behind(message, "with error ")) return number;
  if (const auto number = number_behind(message, "completion error ")) return number;
  // A page of the web may have put blanks around the sign.
  const auto status = message.find("status");
  if (status == std::string_view::npos) return std::nullopt;
  auto text = trim(message.substr(status + 6));
  if (!take(text, "=")) return std::nullopt;
  text = trim(text);
  // "(IBV_WC_RETRY_EXC_ERR)12" of NCCL that goes on over another port, else the number is behind.
  if (text.starts_with('(')) text.remove_prefix(std::min(text.find(')') + 1, text.size()));
  if (const auto number = take_number(text)) return number;
  return number_behind(text.substr(0, text.find(' ')), "(");
}

}  // namespace railhead::proof
