// SPDX-License-Identifier: Apache-2.0
#include "system/lldp.h"

#include "base/text.h"
#include "host/keep.h"

namespace railhead::system {
namespace {

constexpr std::size_t kMostNeighbours = 16;
constexpr std::size_t kMostFrameBytes = 4096;  // networkctl takes less, too
constexpr std::size_t kMostPortBytes = 64;
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kEthernetHeader = 14;
constexpr std::string_view kEtherType = "\x88\xcc";
constexpr std::string_view kPortVlan = std::string_view("\x00\x80\xc2\x01", 4);
constexpr std::string_view kMaxFrame = std::string_view("\x00\x12\x0f\x04", 4);
constexpr std::string_view kOfPorts = "/_.:-";

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

unsigned two_bytes(std::string_view bytes) {
  return byte_at(bytes, 0) << 8U | byte_at(bytes, 1);
}

/// The port's name: subtype 1 is an alias, 5 an interface's name, 7 what the switch likes. Others
/// are addresses.
std::string port_name_of(std::string_view value) {
  if (value.size() < 2 || value.size() > kMostPortBytes) return "";
  const auto subtype = byte_at(value, 0);
  const auto name = value.substr(1);
  const bool is_name = subtype == 1 || subtype == 5 || subtype == 7;
  return is_name && host::is_made_of(name, kOfPorts) ? std::string(name) : "";
}

/// A TLV: seven bits of type, nine of length, the value.
SwitchPort port_of(std::string_view frame) {
  SwitchPort port;
  if (frame.size() < kEthernetHeader || frame.substr(12, 2) != kEtherType) return port;
  frame.remove_prefix(kEthernetHeader);
  while (frame.size() >= 2) {
    const auto head = two_bytes(frame);
    const auto type = head >> 9U;
    const std::size_t size = head & 0x1ffU;
    if (type == 0 || frame.size() - 2 < size) break;
    const auto value = frame.substr(2, size);
    if (type == 2 && port.port.empty()) port.port = port_name_of(value);
    if (type == 127 && size >= 6) {
      if (value.starts_with(kPortVlan)) port.vlan = two_bytes(value.substr(4));
      if (value.starts_with(kMaxFrame)) port.max_frame = two_bytes(value.substr(4));
    }
    frame.remove_prefix(2 + size);
  }
  return port;
}

std::string line_of(const SwitchPort& port) {
  std::vector<std::string> words;
  if (!port.port.empty()) words.push_back("port=" + port.port);
  // 0: the port has none (IEEE 802.1Q D.2.1).
  if (port.vlan.value_or(0) != 0) words.push_back("vlan=" + std::to_string(*port.vlan));
  if (port.max_frame) words.push_back("frame=" + std::to_string(*port.max_frame));
  return join(words, " ");
}

/// The line of such a text; nothing where it is none.
std::optional<SwitchPort> port_in(std::string_view line) {
  SwitchPort port;
  for (const auto word : split_words(line)) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto key = word.substr(0, equals);
    const auto value = word.substr(equals + 1);
    const auto number = parse_unsigned(value);
    const bool is_small = number && *number <= 0xffffU;
    if (key == "port" && value.size() < kMostPortBytes && host::is_made_of(value, kOfPorts)) {
      port.port = value;
    } else if (key == "vlan" && is_small) {
      port.vlan = static_cast<unsigned>(*number);
    } else if (key == "frame" && is_small) {
      port.max_frame = static_cast<unsigned>(*number);
    } else {
      return std::nullopt;
    }
  }
  if (port == SwitchPort{}) return std::nullopt;
  return port;
}

std::string lines_of(const std::vector<SwitchPort>& ports) {
  std::string kept;
  for (const auto& port : ports) {
    const auto line = line_of(port);
    if (!line.empty()) kept += line + "\n";
  }
  return kept;
}

std::vector<SwitchPort> ports_of_frames(std::string_view content) {
  std::vector<SwitchPort> ports;
  while (content.size() >= kLengthBytes && ports.size() < kMostNeighbours) {
    std::uint64_t size = 0;
    for (std::size_t i = kLengthBytes; i-- > 0;) size = size << 8U | byte_at(content, i);
    content.remove_prefix(kLengthBytes);
    if (size > kMostFrameBytes || size > content.size()) break;
    ports.push_back(port_of(content.substr(0, static_cast<std::size_t>(size))));
    content.remove_prefix(static_cast<std::size_t>(size));
  }
  return ports;
}

}  // namespace

std::string kept_lldp(std::string_view content) {
  auto ports = switch_ports(content);
  if (ports.empty()) ports = ports_of_frames(content);
  return lines_of(ports);
}

std::vector<SwitchPort> switch_ports(std::string_view kept) {
  std::vector<SwitchPort> ports;
  for (const auto line : split(kept, '\n')) {
    if (ports.size() == kMostNeighbours) break;
    if (auto port = port_in(line)) ports.push_back(*std::move(port));
  }
  return ports;
}

}  // namespace railhead::system
