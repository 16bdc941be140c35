// SPDX-License-Identifier: Apache-2.0
#include "node/moved.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/contains.h"
#include "base/find.h"

namespace railhead::node {
namespace {

bool is_same_device(const Nic& a, const Nic& b) {
  return a.pci && a.pci == b.pci && a.sub_function == b.sub_function;
}

const Nic* find_same(const Node& node, const Nic& wanted) {
  return find_where(node.nics,
                    [&](const Nic& nic) { return nic.registered && is_same_device(nic, wanted); });
}

bool is_held_by_same_driver(const Node& before, const Node& now, const PciAddress& address) {
  const auto* was = before.find_pci(address);
  const auto* is = now.find_pci(address);
  return was != nullptr && is != nullptr && is->driver && was->driver == is->driver;
}

/// Takes the place of what says that the function has no RDMA device.
void keep_on_the_way(const Nic& known, Node& now) {
  Nic nic = known;
  nic.elsewhere = true;
  nic.uverbs.clear();
  nic.umads.clear();
  nic.issms.clear();
  nic.netdevs.clear();
  const auto at = std::ranges::find_if(
      now.nics, [&](const Nic& other) { return !other.registered && is_same_device(other, nic); });
  if (at != now.nics.end()) {
    nic.netdevs = at->netdevs;
    *at = std::move(nic);
    return;
  }
  const auto after = std::ranges::find_if(now.nics, [&](const Nic& other) {
    return !other.pci || std::pair(*nic.pci, nic.name) < std::pair(*other.pci, other.name);
  });
  now.nics.insert(after, std::move(nic));
}

/// A netdev of one of these devices that is not seen any more, where the device has no other.
void keep_netdev(const Node& before, const Netdev& gone, const std::set<const Nic*>& bare,
                 Node& now) {
  const auto owner = std::ranges::find_if(before.nics, [&](const Nic& nic) {
    return nic.pci == gone.pci && contains(nic.netdevs, gone.name);
  });
  const bool has_owner = owner != before.nics.end();
  for (auto& nic : now.nics) {
    const bool own = has_owner ? is_same_device(nic, *owner) : nic.pci == gone.pci;
    if (!own) continue;
    if (!bare.contains(&nic)) return;
    nic.netdevs.push_back(gone.name);
  }
  Netdev kept;
  kept.name = gone.name;
  kept.pci = gone.pci;
  kept.elsewhere = true;
  const auto after = std::ranges::find_if(
      now.netdevs, [&](const Netdev& other) { return kept.name < other.name; });
  now.netdevs.insert(after, std::move(kept));
}

/// Netdevs of these functions that are not seen any more.
std::vector<const Netdev*> gone_netdevs(const Node& before, const std::set<PciAddress>& functions,
                                        const Node& now) {
  std::unordered_set<std::string_view> seen;
  for (const auto& netdev : now.netdevs) seen.insert(netdev.name);
  std::vector<const Netdev*> gone;
  for (const auto& netdev : before.netdevs) {
    if (!netdev.pci || seen.contains(netdev.name)) continue;
    if (functions.contains(*netdev.pci)) gone.push_back(&netdev);
  }
  return gone;
}

void keep_netdevs(const Node& before, const std::set<PciAddress>& functions, Node& now) {
  const auto all_gone = gone_netdevs(before, functions, now);
  if (all_gone.empty()) return;
  std::set<const Nic*> bare;
  for (const auto& nic : now.nics) {
    if (nic.netdevs.empty()) bare.insert(&nic);
  }
  std::set<PciAddress> with_netdev;
  for (const auto& netdev : now.netdevs) {
    if (netdev.pci) with_netdev.insert(*netdev.pci);
  }
  for (const auto* netdev : all_gone) {
    if (!is_held_by_same_driver(before, now, *netdev->pci)) continue;
    const bool has_nic =
        std::ranges::any_of(now.nics, [&](const Nic& nic) { return nic.pci == netdev->pci; });
    if (has_nic || !with_netdev.contains(*netdev->pci)) keep_netdev(before, *netdev, bare, now);
  }
}

}  // namespace

void keep_what_moved(const Node& before, const std::set<PciAddress>& functions, Node& now) {
  for (auto& nic : now.nics) {
    const auto* known = nic.elsewhere ? find_same(before, nic) : nullptr;
    if (known == nullptr) continue;
    const NicAttributes& attributes = *known;
    static_cast<NicAttributes&>(nic) = attributes;
    nic.ports = known->ports;
  }
  for (const auto& known : before.nics) {
    const bool seen_with_nodes = known.registered && known.pci && !known.uverbs.empty();
    if (!seen_with_nodes || now.rdma_netns != RdmaNetns::exclusive) continue;
    if (!functions.contains(*known.pci) || find_same(now, known) != nullptr) continue;
    if (is_held_by_same_driver(before, now, *known.pci)) keep_on_the_way(known, now);
  }
  keep_netdevs(before, functions, now);
}

}  // namespace railhead::node
