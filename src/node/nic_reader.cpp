// SPDX-License-Identifier: Apache-2.0
#include "node/nic_reader.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "node/char_device_reader.h"
#include "node/pci_reader.h"
#include "node/port_reader.h"

namespace railhead {
namespace {

constexpr std::uint64_t kHighestSfNumber = 0xffffffff;

std::optional<std::string> read_guid(Reader& reader, const std::string& path) {
  auto guid = reader.text(path);
  if (!guid || is_hex_groups(*guid, 4)) return guid;
  reader.malformed(path, quoted(*guid) + " is not a GUID");
  return std::nullopt;
}

std::optional<std::string> read_node_type(Reader& reader, const std::string& path) {
  const auto text = reader.text(path);
  if (!text) return std::nullopt;
  if (auto type = parse_numbered_name(*text)) return std::move(type->second);
  reader.malformed(path, quoted(*text) + " is not a node type");
  return std::nullopt;
}

/// Netdevs that hang below the same device; a card with one function for two ports (mlx4) has both.
std::vector<std::string> netdevs_of(const ClassEntry& device, const std::vector<ClassEntry>& net) {
  std::vector<std::string> names;
  if (!device.pci) return names;
  for (const auto& netdev : net) {
    const bool same_parent = netdev.parent == device.parent;
    const bool same_function =
        netdev.pci == device.pci && (netdev.parent.empty() || device.parent.empty());
    if (same_parent || same_function) names.push_back(netdev.name);
  }
  return names;
}

const PciDevice* find(const std::vector<PciDevice>& pci, const PciAddress& address) {
  const auto at = std::find_if(pci.begin(), pci.end(),
                               [&](const PciDevice& device) { return device.address == address; });
  return at != pci.end() ? &*at : nullptr;
}

void take_function(const PciDevice& function, Nic& nic) {
  nic.pci = function.address;
  nic.numa_node = function.numa_node;
  nic.driver = function.driver;
}

/// An RDMA device of a scalable function hangs below an auxiliary device of its own, such as
/// mlx5_core.sf.4. Source: Linux drivers/net/ethernet/mellanox/mlx5/core/sf/dev/dev.c
/// (MLX5_SF_DEV_ID_NAME is "sf"; attribute sfnum).
void take_sub_function(Reader& reader, const ClassEntry& entry, Nic& nic) {
  const auto carrier = base_name(entry.parent);
  if (!entry.pci || !glob_match("*.sf.*", carrier)) return;
  nic.sub_function = carrier;
  const auto number = reader.number(entry.parent + "/sfnum", kHighestSfNumber);
  if (number) nic.sf_number = static_cast<unsigned>(*number);
}

/// An entry that is not an RDMA device at all (no ports, no node_type) has gone meanwhile.
std::optional<Nic> read_nic(Reader& reader, const ClassEntry& entry,
                            const std::vector<ClassEntry>& net, const std::vector<PciDevice>& pci) {
  Nic nic;
  nic.name = entry.name;
  nic.node_type = read_node_type(reader, entry.path + "/node_type");
  if (!nic.node_type && !reader.list(entry.path)) return std::nullopt;
  nic.node_guid = read_guid(reader, entry.path + "/node_guid");
  nic.sys_image_guid = read_guid(reader, entry.path + "/sys_image_guid");
  nic.firmware = reader.text(entry.path + "/fw_ver");
  nic.hca_type = reader.text(entry.path + "/hca_type");
  nic.board_id = reader.text(entry.path + "/board_id");
  nic.pci = entry.pci;
  if (const auto* function = entry.pci ? find(pci, *entry.pci) : nullptr) {
    take_function(*function, nic);
  }
  take_sub_function(reader, entry, nic);
  nic.netdevs = netdevs_of(entry, net);
  if (!entry.pci) {
    nic.parent = reader.text(entry.path + "/parent");
    if (nic.parent) nic.netdevs = {*nic.parent};
  }
  nic.ports = read_ports(reader, entry.path);
  return nic;
}

bool would_be_rdma(const PciDevice& function) {
  if (!is_network_class(function.class_code)) return false;
  const bool mellanox_driver = function.driver == "mlx5_core" || function.driver == "mlx4_core";
  const bool infiniband = function.class_code >> 8 == 0x0207;
  if (!infiniband && function.vendor != kVendorMellanox) return false;
  if (function.is_vf()) return mellanox_driver;
  return infiniband || mellanox_driver || !function.driver;
}

PciAddress slot_of(PciAddress address) {
  address.function = 0;
  return address;
}

/// What is left of an RDMA device that has been moved: its nodes, below its function.
Nic moved(Reader& reader, const ClassEntry& entry, const PciDevice& function,
          const std::vector<ClassEntry>& net) {
  Nic nic;
  nic.name = entry.name;
  nic.elsewhere = true;
  take_function(function, nic);
  take_sub_function(reader, entry, nic);
  nic.netdevs = netdevs_of(entry, net);
  return nic;
}

void take_nodes(RdmaCharDevices&& nodes, Nic& nic) {
  nic.uverbs = std::move(nodes.uverbs);
  nic.umads = std::move(nodes.umads);
  nic.issms = std::move(nodes.issms);
}

Nic unregistered(const PciDevice& function, const std::vector<ClassEntry>& net) {
  Nic nic;
  nic.name = function.address.str();
  nic.registered = false;
  take_function(function, nic);
  for (const auto& netdev : net) {
    if (netdev.pci == function.address) nic.netdevs.push_back(netdev.name);
  }
  return nic;
}

}  // namespace

std::vector<Nic> read_nics(Reader& reader, RdmaNetns netns, const std::vector<ClassEntry>& rdma,
                           const std::vector<ClassEntry>& net, const std::vector<PciDevice>& pci) {
  std::vector<Nic> nics;
  auto char_devices = read_char_devices(reader);
  for (const auto& entry : rdma) {
    auto nic = read_nic(reader, entry, net, pci);
    if (!nic) continue;
    if (auto at = char_devices.extract(entry.name)) take_nodes(std::move(at.mapped()), *nic);
    nics.push_back(*std::move(nic));
  }
  if (netns == RdmaNetns::exclusive) {
    for (auto& [name, nodes] : char_devices) {
      const auto* function = nodes.pci ? find(pci, *nodes.pci) : nullptr;
      if (function == nullptr || nodes.uverbs.empty()) continue;
      nics.push_back(moved(reader, {name, "", nodes.parent, nodes.pci}, *function, net));
      take_nodes(std::move(nodes), nics.back());
    }
  }
  std::set<PciAddress> taken;
  for (const auto& nic : nics) {
    if (nic.pci && !nic.sub_function) taken.insert(*nic.pci);
  }
  for (const auto& function : pci) {
    if (would_be_rdma(function) && !taken.contains(function.address)) {
      nics.push_back(unregistered(function, net));
    }
  }
  std::sort(nics.begin(), nics.end(), [](const Nic& a, const Nic& b) {
    return std::tuple(!a.pci, a.pci, a.name) < std::tuple(!b.pci, b.pci, b.name);
  });
  return nics;
}

void drop_bond_members(std::vector<Nic>& nics, const std::vector<Netdev>& netdevs) {
  const auto masters = [&](const Nic& nic) {
    std::set<std::string> names;
    for (const auto& netdev : netdevs) {
      const bool own =
          std::find(nic.netdevs.begin(), nic.netdevs.end(), netdev.name) != nic.netdevs.end();
      if (own && netdev.master) names.insert(*netdev.master);
    }
    return names;
  };
  std::set<std::pair<PciAddress, std::string>> bonds;  // slot and master
  for (const auto& nic : nics) {
    if (!nic.registered || !nic.pci) continue;
    for (const auto& master : masters(nic)) bonds.emplace(slot_of(*nic.pci), master);
  }
  std::erase_if(nics, [&](const Nic& nic) {
    if (nic.registered || !nic.pci || bonds.empty()) return false;
    const auto above = masters(nic);
    return std::any_of(above.begin(), above.end(), [&](const std::string& master) {
      return bonds.contains({slot_of(*nic.pci), master});
    });
  });
}

}  // namespace railhead
