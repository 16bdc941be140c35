// SPDX-License-Identifier: Apache-2.0
#include "node/nic_reader.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/find.h"
#include "base/text.h"
#include "node/name_walk.h"
#include "node/pci_reader.h"
#include "node/port_reader.h"
#include "node/rdma_models.h"

namespace railhead::node {
namespace {

constexpr std::uint64_t kHighestSfNumber = 0xffffffff;

std::optional<std::string> read_node_type(Reader& reader, const std::string& path) {
  const auto text = reader.text(path);
  if (!text) return std::nullopt;
  if (auto type = parse_numbered_name(*text)) return std::move(type->second);
  reader.malformed(path, in_quotes(*text) + " is not a node type");
  return std::nullopt;
}

/// Netdevs by where they hang.
class NetdevPlaces {
 public:
  explicit NetdevPlaces(const ClassList& net) {
    for (const auto& [name, item] : net.items) {
      if (item.entry.pci) by_function_.push_back(&item.entry);
    }
    std::ranges::stable_sort(
        by_function_, [](const ClassEntry* a, const ClassEntry* b) { return *a->pci < *b->pci; });
  }

  /// Of one device; a card with one function for two ports (mlx4) has both.
  [[nodiscard]] std::vector<std::string> below(const std::string& parent,
                                               const std::optional<PciAddress>& pci) const {
    std::vector<std::string> names;
    if (!pci) return names;
    for (auto at = first_of(*pci); at != by_function_.end() && (*at)->pci == pci; ++at) {
      const auto& own = (*at)->parent;
      if (own == parent || own.empty() || parent.empty()) names.push_back((*at)->name);
    }
    return names;
  }

  [[nodiscard]] std::vector<std::string> of_function(const PciAddress& address) const {
    return below("", address);
  }

 private:
  using Entries = std::vector<const ClassEntry*>;

  [[nodiscard]] Entries::const_iterator first_of(const PciAddress& address) const {
    return std::ranges::lower_bound(by_function_, address, {},
                                    [](const ClassEntry* one) { return *one->pci; });
  }

  Entries by_function_;  ///< by function, then by name
};

const PciDevice* find(const std::vector<PciDevice>& pci, const PciAddress& address) {
  return find_sorted(pci, &PciDevice::address, address);
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
  const auto carrier = host::base_name(entry.parent);
  if (!entry.pci || !glob_match("*.sf.*", carrier)) return;
  nic.sub_function = carrier;
  const auto number = reader.number(entry.parent + "/sfnum", kHighestSfNumber);
  if (number) nic.sf_number = static_cast<unsigned>(*number);
}

/// An entry that is not an RDMA device at all (no ports, no node_type) has gone meanwhile, or is
/// not seen.
std::optional<Nic> read_nic(Reader& reader, const ClassEntry& entry) {
  Nic nic;
  nic.name = entry.name;
  nic.node_type = read_node_type(reader, entry.path + "/node_type");
  if (!nic.node_type && !reader.list(entry.path)) {
    reader.unseen("/sys/class/infiniband/" + entry.name, entry.path);
    return std::nullopt;
  }
  read_attributes(kNicAttributes, reader, entry.path, nic);
  nic.pci = entry.pci;
  take_sub_function(reader, entry, nic);
  if (!entry.pci) nic.parent = reader.text(entry.path + "/parent");
  nic.ports = read_ports(reader, entry.path);
  return nic;
}

/// Whether the driver that is bound is its own. ConnectX has two, by its generation.
bool has_own_driver(const PciDevice& function, const RdmaModel& model) {
  const bool is_mlx = function.driver == "mlx5_core" || function.driver == "mlx4_core";
  return function.driver == model.driver || (function.vendor == kVendorMellanox && is_mlx);
}

/// Whether an RDMA device of it is missed whatever else the machine has.
bool would_be_rdma(const PciDevice& function) {
  if (!is_network_class(function.class_code)) return false;
  const auto* model = rdma_model_of(function);
  const bool is_made_for_it = model != nullptr && model->promise == RdmaPromise::made_for_it;
  const bool own_driver = is_made_for_it && has_own_driver(function, *model);
  if (function.is_vf()) return own_driver;
  const bool infiniband = function.class_code >> 8 == 0x0207;
  return infiniband || own_driver || (is_made_for_it && !function.driver);
}

/// Vendor and device.
using Model = std::pair<std::uint16_t, std::uint16_t>;

/// Whether it is an Ethernet NIC without the RDMA device that its likes have here.
bool lacks_what_others_have(const PciDevice& function, const std::set<Model>& registered) {
  const auto* model = rdma_model_of(function);
  return model != nullptr && is_network_class(function.class_code) && !function.is_vf() &&
         (!function.driver || function.driver == model->driver) &&
         registered.contains({function.vendor, function.device});
}

PciAddress slot_of(PciAddress address) {
  address.function = 0;
  return address;
}

/// What is left of an RDMA device that has been moved: its nodes, below its function.
Nic moved(Reader& reader, const std::string& name, const std::string& parent,
          const PciDevice& function) {
  Nic nic;
  nic.name = name;
  nic.elsewhere = true;
  take_function(function, nic);
  take_sub_function(reader, {name, "", parent, function.address}, nic);
  return nic;
}

void take_nodes(RdmaCharDevices&& nodes, Nic& nic) {
  nic.uverbs = std::move(nodes.uverbs);
  nic.umads = std::move(nodes.umads);
  nic.issms = std::move(nodes.issms);
}

/// Each is moved once: a NIC is large, and a machine may have a thousand.
std::vector<Nic> in_order(std::vector<Nic> nics) {
  std::vector<Nic*> order;
  order.reserve(nics.size());
  for (auto& nic : nics) order.push_back(&nic);
  std::ranges::sort(order, [](const Nic* a, const Nic* b) {
    return std::tuple(!a->pci, a->pci, std::string_view(a->name)) <
           std::tuple(!b->pci, b->pci, std::string_view(b->name));
  });
  std::vector<Nic> sorted;
  sorted.reserve(order.size());
  for (auto* nic : order) sorted.push_back(std::move(*nic));
  return sorted;
}

Nic unregistered(const PciDevice& function) {
  Nic nic;
  nic.name = function.address.str();
  nic.registered = false;
  take_function(function, nic);
  return nic;
}

}  // namespace

std::optional<std::string> read_text(Reader& reader, const std::string& path) {
  return reader.text(path);
}

std::optional<std::string> read_guid(Reader& reader, const std::string& path) {
  auto guid = reader.text(path);
  if (!guid || is_hex_groups(*guid, 4)) return guid;
  reader.malformed(path, in_quotes(*guid) + " is not a GUID");
  return std::nullopt;
}

void NicList::refresh(Reader& reader, const ClassList& rdma, const Again& again) {
  NameWalk<Item> walk(items_);
  for (const auto& [name, listed] : rdma.items) {
    const auto [item, is_new] = walk.next(name);
    if (!is_new && !listed.fresh && !again.rdma.contains(name)) continue;
    item.nic = read_nic(reader, listed.entry);
    item.problems = reader.take_problems();
  }
  walk.end();
}

void NicList::add_relatives(const ClassList& rdma, const ClassList& net,
                            const host::MachineChanges::Names& netdevs,
                            host::MachineChanges::Names& named) const {
  if (netdevs.empty()) return;
  std::set<std::string_view> parents;
  for (const auto& name : netdevs) {
    const auto at = net.items.find(name);
    if (at != net.items.end() && !at->second.entry.parent.empty()) {
      parents.insert(at->second.entry.parent);
    }
  }
  for (const auto& [name, listed] : rdma.items) {
    if (parents.contains(listed.entry.parent)) named.insert(name);
  }
  for (const auto& [name, item] : items_) {
    if (item.nic && item.nic->parent && netdevs.contains(*item.nic->parent)) named.insert(name);
  }
}

std::set<std::string> NicList::parents() const {
  std::set<std::string> parents;
  for (const auto& [name, item] : items_) {
    if (item.nic && item.nic->parent) parents.insert(*item.nic->parent);
  }
  return parents;
}

std::vector<Nic> NicList::nics(Reader& reader, RdmaNetns netns, const ClassList& rdma,
                               const ClassList& net, const std::vector<PciDevice>& pci,
                               std::map<std::string, RdmaCharDevices> nodes) {
  std::vector<Nic> nics;
  nics.reserve(items_.size());
  const NetdevPlaces places(net);
  for (const auto& [name, item] : items_) {
    if (!item.nic) continue;
    const auto& entry = rdma.items.find(name)->second.entry;
    Nic& nic = nics.emplace_back(*item.nic);
    if (const auto* function = entry.pci ? find(pci, *entry.pci) : nullptr) {
      take_function(*function, nic);
    }
    nic.netdevs = places.below(entry.parent, entry.pci);
    if (nic.parent) nic.netdevs = {*nic.parent};
    const auto own = nodes.find(name);
    if (own != nodes.end()) take_nodes(std::exchange(own->second, {}), nic);
  }
  for (auto& [name, own] : nodes) {
    const auto* function = own.pci ? find(pci, *own.pci) : nullptr;
    if (netns != RdmaNetns::exclusive || function == nullptr || own.uverbs.empty()) continue;
    Nic& nic = nics.emplace_back(moved(reader, name, own.parent, *function));
    nic.netdevs = places.below(own.parent, own.pci);
    take_nodes(std::move(own), nic);
  }
  elsewhere_problems_ = reader.take_problems();
  std::set<PciAddress> taken;
  std::set<Model> registered;
  for (const auto& nic : nics) {
    if (!nic.pci || nic.sub_function) continue;
    taken.insert(*nic.pci);
    const auto* function = find(pci, *nic.pci);
    if (function != nullptr) registered.emplace(function->vendor, function->device);
  }
  for (const auto& function : pci) {
    if (taken.contains(function.address)) continue;
    if (!would_be_rdma(function) && !lacks_what_others_have(function, registered)) continue;
    nics.push_back(unregistered(function));
    nics.back().netdevs = places.of_function(function.address);
  }
  return in_order(std::move(nics));
}

void NicList::report(Reader& reader) const {
  for (const auto& [name, item] : items_) reader.report(item.problems);
  reader.report(elsewhere_problems_);
}

void drop_bond_members(std::vector<Nic>& nics, const std::vector<Netdev>& netdevs) {
  std::map<std::string_view, const std::string*> master_of;  // by the name of its member
  for (const auto& netdev : netdevs) {
    if (netdev.master) master_of.emplace(netdev.name, &*netdev.master);
  }
  if (master_of.empty()) return;
  const auto masters = [&](const Nic& nic) {
    std::set<std::string> names;
    for (const auto& netdev : nic.netdevs) {
      const auto at = master_of.find(netdev);
      if (at != master_of.end()) names.insert(*at->second);
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
    return std::ranges::any_of(above, [&](const std::string& master) {
      return bonds.contains({slot_of(*nic.pci), master});
    });
  });
}

}  // namespace railhead::node
