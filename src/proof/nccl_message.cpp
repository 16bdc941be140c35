// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_message.h"

#include <algorithm>

#include "base/text.h"

namespace railhead::proof {
namespace {

/// Behind a route: RCCL's communicator, Ray's "[repeated", the end of a JSON string.
constexpr std::string_view kEndsOfRoute = " [\\\"";
constexpr std::size_t kMaxDevices = 64;
constexpr std::size_t kMaxName = 64;

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
/// has it, and how.
bool read_route(std::string_view route, NcclChannel& channel) {
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
  // Whatever else follows: the line was cut, and "/GDR" without the rest proves nothing.
  return route.empty() || kEndsOfRoute.find(route.front()) != std::string_view::npos;
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
  for (const auto word : words) {
    if (word == "[RO]" || word == "[RO];") list.relaxed_ordering = true;
    if (list.devices.size() == kMaxDevices) break;
    if (auto device = device_of(word)) list.devices.push_back(std::move(*device));
  }
  // "Using" and nothing up to what stands behind the devices.
  const std::size_t others = list.relaxed_ordering ? 2 : 1;
  const bool is_whole = end != std::string_view::npos || list.relaxed_ordering;
  list.is_empty = is_whole && words.size() == others;
  return list;
}

std::optional<NcclDevice> nccl_virtual_device(std::string_view message) {
  const auto index = number_behind(message, "Made virtual device [");
  const auto at = message.find("] name=");
  if (!index || at == std::string_view::npos) return std::nullopt;
  const auto name = message.substr(at + 7);
  return NcclDevice{*index, name_of(name.substr(0, name.find(' '))), std::nullopt, ""};
}

std::optional<std::string_view> nccl_chosen_network(std::string_view message) {
  if (!take(message, "Using network ")) return std::nullopt;
  // Ray says how often it left the same line out.
  const auto name = trim(message.substr(0, message.find(" [repeated ")));
  if (name.empty() || name.size() > kMaxName) return std::nullopt;
  return name;
}

std::optional<NcclChannel> nccl_channel(std::string_view message) {
  NcclChannel channel;
  const bool is_collnet = take(message, "CollNet ");
  if (!is_collnet && !take(message, "Channel ") && !take(message, "Ring ")) return std::nullopt;
  const auto number = take_number(message);
  const auto via = message.find(is_collnet ? " via COLLNET/" : " via NET/");
  if (!number || via == std::string_view::npos) return std::nullopt;
  channel.number = *number;
  auto ends = message.substr(0, via);
  channel.is_send = ends.find("[send]") != std::string_view::npos;
  const auto colon = ends.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  ends.remove_prefix(colon + 2);
  const auto arrow = ends.find("-> ");
  if (!channel.is_send && arrow != std::string_view::npos) ends.remove_prefix(arrow + 3);
  channel.rank = take_number(ends);
  const auto start = via + (is_collnet ? 13 : 9);
  return read_route(message.substr(start), channel) ? std::optional(channel) : std::nullopt;
}

bool is_nccl_local_channel(std::string_view message) {
  if (!message.starts_with("Channel ")) return false;
  return message.find(" via P2P/") != std::string_view::npos ||
         message.find(" via SHM/") != std::string_view::npos;
}

std::optional<NcclMembership> nccl_membership(std::string_view message) {
  const bool is_complete = message.find("Init COMPLETE") != std::string_view::npos;
  if (!is_complete && message.find("Init START") == std::string_view::npos) return std::nullopt;
  const auto rank = number_behind(message, " rank ");
  const auto size = number_behind(message, " nranks ");
  if (!rank || !size || *rank >= *size) return std::nullopt;
  return NcclMembership{*rank, *size, is_complete};
}

std::optional<NcclGpuDirect> nccl_gpu_direct(std::string_view message) {
  const auto parts = network_message(message);
  if (!parts) return std::nullopt;
  auto rest = parts->rest;
  if (!take(rest, "GPU Direct RDMA ")) return std::nullopt;
  NcclGpuDirect said;
  if (take(rest, "(nvidia-peermem) ")) said.route = "peermem";
  if (take(rest, "(DMABUF) ")) said.route = "DMA-BUF";
  said.enabled = take(rest, "Enabled ") || take(rest, "enabled ");
  const auto index = number_behind(rest, "for HCA ");
  if (!index) return std::nullopt;
  said.device.index = *index;
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

std::optional<unsigned> nccl_completion_status(std::string_view message) {
  const auto at = message.find("Got completion from peer");
  if (at == std::string_view::npos) return std::nullopt;
  message.remove_prefix(at);
  if (const auto number = number_behind(message, "with error ")) return number;
  if (const auto number = number_behind(message, "status=")) return number;
  const auto status = message.find("status=");
  if (status == std::string_view::npos) return std::nullopt;
  message.remove_prefix(status);
  return number_behind(message.substr(0, message.find(' ')), "(");
}

}  // namespace railhead::proof
