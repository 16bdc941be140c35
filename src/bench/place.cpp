// SPDX-License-Identifier: Apache-2.0
#include "bench/place.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace railhead::bench {
namespace {

constexpr std::uint64_t kMaxPort = 255;  // the verbs have eight bits for it

Error no_device(std::string_view name, const std::string& why) {
  return {ErrorCode::unavailable, std::string(name) + ": " + why};
}

bool is_active(const node::Port& port) {
  return port.state == node::PortState::active;
}

/// Smaller is better.
auto rank_of(const node::Gid& gid) {
  constexpr std::string_view kMappedIpv4 = "0000:0000:0000:0000:0000:ffff:";
  const bool v2 = gid.type && *gid.type == "RoCE v2";
  const int kind = gid.value.rfind(kMappedIpv4, 0) == 0 ? 0
                   : gid.value.rfind("fe80:", 0) == 0   ? 2
                                                        : 1;
  return std::tuple(v2 ? 0 : 1, kind, gid.index);
}

const node::Gid* choose_gid(const node::Port& port, std::optional<unsigned> wanted) {
  const node::Gid* best = nullptr;
  for (const auto& gid : port.gids) {
    if (wanted ? gid.index != *wanted : best != nullptr && rank_of(*best) < rank_of(gid)) continue;
    best = &gid;
  }
  return best;
}

const node::Port* choose_port(const node::Nic& nic, std::optional<unsigned> wanted) {
  for (const auto& port : nic.ports) {
    if (wanted ? port.number == *wanted : is_active(port)) return &port;
  }
  return nullptr;
}

std::optional<PcieLink> link_of(std::optional<double> gts, std::optional<unsigned> width) {
  const PcieLink link{gts.value_or(0), width.value_or(0)};
  return link.speed() > 0 ? std::optional(link) : std::nullopt;
}

std::optional<PcieLink> slower(std::optional<PcieLink> a, std::optional<PcieLink> b) {
  if (!a || !b) return a ? a : b;
  return b->speed() < a->speed() ? b : a;
}

/// What both ends of a link can train it to.
std::optional<PcieLink> common(std::optional<PcieLink> a, std::optional<PcieLink> b) {
  if (!a || !b) return a ? a : b;
  return PcieLink{std::min(a->gts, b->gts), std::min(a->width, b->width)};
}

/// The slowest link on the way from the NIC to its root port. From below, each link has a device at
/// its lower and a port at its upper end; both say how it is trained.
void add_pcie(const node::Node& node, const node::PciAddress& address, Place& place) {
  const auto* function = node.find_pci(address);
  if (function == nullptr) return;
  std::vector<node::PciAddress> way = function->bridges;
  way.push_back(address);
  std::optional<PcieLink> lower;
  for (std::size_t i = 0; i < way.size(); ++i) {
    const auto* device = node.find_pci(way[way.size() - 1 - i]);
    const auto now = device ? link_of(device->link_gts, device->link_width) : std::nullopt;
    const auto most = device ? link_of(device->max_link_gts, device->max_link_width) : std::nullopt;
    place.pcie = slower(place.pcie, now);
    const bool is_upper = i % 2 == 1;
    place.pcie_possible = slower(place.pcie_possible, is_upper ? common(lower, most) : most);
    lower = most;
  }
}

std::vector<unsigned> cpus_of(const node::Node& node, std::optional<int> numa_node) {
  for (const auto& numa : node.numa) {
    if (numa.id == numa_node) return numa.cpus;
  }
  return {};
}

}  // namespace

std::vector<std::string> active_nics(const node::Node& node) {
  std::vector<std::string> names;
  for (const auto& nic : node.nics) {
    if (choose_port(nic, std::nullopt) != nullptr) names.push_back(nic.name);
  }
  return names;
}

Result<Place> find_place(const node::Node& node, std::string_view name,
                         std::optional<unsigned> gid_index) {
  const auto colon = name.find(':');
  const auto* nic = node.find_nic(name.substr(0, colon));
  if (nic == nullptr) {
    const auto active = active_nics(node);
    return no_device(name, "no such RDMA device; with an active port there are: " +
                               (active.empty() ? "none" : join(active, ", ")));
  }
  std::optional<unsigned> wanted;
  if (colon != std::string_view::npos) {
    const auto number = parse_unsigned(name.substr(colon + 1));
    if (!number || *number > kMaxPort) return no_device(name, "no such port");
    wanted = static_cast<unsigned>(*number);
  }
  if (nic->node_type == "RNIC") {
    return Error{ErrorCode::unsupported,
                 nic->name + ": iWARP connects through rdma_cm only, which is not here"};
  }
  const auto* port = choose_port(*nic, wanted);
  if (port == nullptr) return no_device(name, wanted ? "no such port" : "no port is ACTIVE");
  if (!is_active(*port)) {
    return no_device(name, "port is " + std::string(port->state ? to_string(*port->state) : "?"));
  }
  Place place;
  place.nic = nic->name;
  place.port = port->number;
  place.infiniband = port->link_layer == node::LinkLayer::infiniband;
  if (!place.infiniband || gid_index) {
    const auto* gid = choose_gid(*port, gid_index);
    if (gid == nullptr) {
      return no_device(name, gid_index ? "no GID " + std::to_string(*gid_index)
                                       : "no GID: its netdev has no address in this network "
                                         "namespace, or is not in it");
    }
    place.gid_index = gid->index;
    place.gid = gid->value;
    place.gid_type = gid->type;
  }
  place.numa_node = nic->numa_node;
  place.cpus = cpus_of(node, nic->numa_node);
  place.rate_gbps = port->rate_gbps;
  place.firmware = nic->firmware;
  place.driver = nic->driver;
  if (nic->pci) {
    place.pci = nic->pci->str();
    add_pcie(node, *nic->pci, place);
  }
  return place;
}

Result<std::vector<std::string>> served_nics(const node::Node& node,
                                             const std::vector<std::string>& named,
                                             std::optional<unsigned> gid_index,
                                             std::vector<std::string>& left_out) {
  const auto asked = named.empty() ? active_nics(node) : named;
  if (asked.empty()) {
    return Error{ErrorCode::unavailable, node.nics.empty()
                                             ? "this machine has no RDMA device"
                                             : "no RDMA device of this machine has an active port"};
  }
  std::vector<std::string> usable;
  for (const auto& name : asked) {
    const auto place = find_place(node, name, gid_index);
    if (place) {
      usable.push_back(name);
    } else {
      left_out.push_back(place.error().message);
    }
  }
  if (!usable.empty()) return usable;
  return Error{ErrorCode::unavailable, join(left_out, "; ")};
}

}  // namespace railhead::bench
