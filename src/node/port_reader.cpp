// SPDX-License-Identifier: Apache-2.0
#include "node/port_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/text.h"
#include "node/sysfs_class.h"

namespace railhead::node {
namespace {

constexpr unsigned kHighestPort = 255;
constexpr std::string_view kZeroGid = "0000:0000:0000:0000:0000:0000:0000:0000";

/// Names that are numbers, in numerical order, at most `limit`.
std::vector<unsigned> numbers_in(Reader& reader, const std::string& folder, std::size_t limit) {
  std::vector<unsigned> numbers;
  for (const auto& name : reader.names(folder)) {
    if (const auto number = trailing_number(name, "")) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  if (numbers.size() > limit) {
    reader.malformed(folder, std::to_string(numbers.size()) + " entries, only the first " +
                                 std::to_string(limit) + " are read");
    numbers.resize(limit);
  }
  return numbers;
}

/// Of "400 Gb/sec (4X NDR)", "2.5 Gb/sec (1X)". Source: rate_show() of sysfs.c.
std::optional<double> gbps_of(std::string_view text) {
  double rate = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, rate, std::chars_format::fixed);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  const bool is_rate = problem == std::errc{} && rate >= 0 && rate < 1e6;
  return is_rate && unit.starts_with(" Gb/sec") ? std::optional(rate) : std::nullopt;
}

enum class Slot : std::uint8_t { taken, empty };

/// One slot, added where it is taken. Type and netdev of an empty slot answer EINVAL and are not
/// read, and only RoCE has netdevs (rdma_read_gid_attr_ndev_rcu() in drivers/infiniband/core).
Slot take_gid(Reader& reader, const std::string& path, unsigned index, LinkLayer layer,
              std::vector<Gid>& gids) {
  const std::string slot = "/" + std::to_string(index);
  auto value = reader.text_if_any(path + slot);
  if (!value || *value == kZeroGid) return Slot::empty;
  if (!is_hex_groups(*value, 8)) {
    reader.malformed(path + slot, in_quotes(*value) + " is not a GID");
    return Slot::taken;
  }
  const auto attributes = parent_path(path) + "/gid_attrs";
  Gid gid{.index = index, .value = *std::move(value), .type = {}, .netdev = {}};
  gid.type = reader.text_if_any(attributes + "/types" + slot);
  if (layer != LinkLayer::infiniband) {
    gid.netdev = reader.text_if_any(attributes + "/ndevs" + slot);
  }
  gids.push_back(std::move(gid));
  return Slot::taken;
}

/// The table of RoCE is sparse: an address that has gone leaves a hole, so every slot is looked at.
/// That of InfiniBand has the port's own GID, then those that the subnet manager added, and is read
/// to its first empty slot.
std::vector<Gid> read_gids(Reader& reader, const std::string& path, LinkLayer layer) {
  std::vector<Gid> gids;
  if (layer == LinkLayer::infiniband) {
    unsigned index = 0;
    while (index < kMaxGids && take_gid(reader, path, index, layer, gids) == Slot::taken) ++index;
    return gids;
  }
  for (const auto index : numbers_in(reader, path, kMaxGids)) {
    take_gid(reader, path, index, layer, gids);
  }
  return gids;
}

/// Slot by slot: the table leaves no number out, and to list it costs as much as to read it.
std::vector<std::uint16_t> read_pkeys(Reader& reader, const std::string& path) {
  std::vector<std::uint16_t> pkeys;
  std::size_t hole = 0;
  for (std::size_t slot = 0; hole < kMaxPkeyHole; ++slot) {
    const auto pkey = reader.slot(path + "/" + std::to_string(slot), 0xffff);
    if (!pkey) break;
    if (slot == kMaxPkeys) {
      reader.malformed(path, "only the first " + std::to_string(kMaxPkeys) + " are read");
      break;
    }
    if (*pkey && **pkey != 0) pkeys.push_back(static_cast<std::uint16_t>(**pkey));
    hole = *pkey && **pkey == 0 ? hole + 1 : 0;
  }
  return pkeys;
}

}  // namespace

std::optional<PortState> read_port_state(Reader& reader, const std::string& path) {
  const auto text = reader.text(path);
  if (!text) return std::nullopt;
  const auto state = parse_port_state(*text);
  if (!state) reader.malformed(path, in_quotes(*text) + " is not a port state");
  return state;
}

LinkLayer read_link_layer(Reader& reader, const std::string& path) {
  const auto text = reader.text(path);
  if (!text || *text == to_string(LinkLayer::unknown)) return LinkLayer::unknown;
  for (const auto layer : {LinkLayer::infiniband, LinkLayer::ethernet}) {
    if (*text == to_string(layer)) return layer;
  }
  reader.malformed(path, in_quotes(*text) + " is not a link layer");
  return LinkLayer::unknown;
}

std::optional<std::string> read_rate(Reader& reader, const std::string& path) {
  auto text = reader.text(path);
  if (!text || gbps_of(*text)) return text;
  reader.malformed(path, in_quotes(*text) + " is not a rate");
  return std::nullopt;
}

std::optional<std::string> read_phys_state(Reader& reader, const std::string& path) {
  const auto text = reader.text(path);
  if (!text) return std::nullopt;
  if (auto state = parse_numbered_name(*text)) return std::move(state->second);
  reader.malformed(path, in_quotes(*text) + " is not a physical state");
  return std::nullopt;
}

std::optional<std::uint32_t> read_number(Reader& reader, const std::string& path) {
  const auto number = reader.number(path, std::numeric_limits<std::uint32_t>::max());
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

std::optional<PortState> parse_port_state(std::string_view text) {
  const auto state = parse_numbered_name(trim(text));
  if (!state || state->first > static_cast<std::uint64_t>(PortState::active_defer)) {
    return std::nullopt;
  }
  return static_cast<PortState>(state->first);
}

std::vector<Port> read_ports(Reader& reader, const std::string& device_path) {
  std::vector<Port> ports;
  const std::string folder = device_path + "/ports";
  for (const auto number : numbers_in(reader, folder, kHighestPort)) {
    const std::string path = folder + "/" + std::to_string(number);
    Port port;
    port.number = number;
    read_attributes(kPortAttributes, reader, path, port);
    port.gids = read_gids(reader, path + "/gids", port.link_layer);
    port.pkeys = read_pkeys(reader, path + "/pkeys");
    if (port.rate_text) port.rate_gbps = gbps_of(*port.rate_text);
    ports.push_back(std::move(port));
  }
  return ports;
}

}  // namespace railhead::node
