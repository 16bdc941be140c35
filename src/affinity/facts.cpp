// SPDX-License-Identifier: Apache-2.0
#include "affinity/facts.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/find.h"

namespace railhead::affinity {
namespace {

constexpr unsigned kManagementLanes = 2;
constexpr unsigned kNvlinkManagementLanes = 4;
constexpr unsigned kComputeLanes = 8;
constexpr unsigned kManagementFunctions = 4;

/// ConnectX-7 functions on HGX B200 and B300 baseboards belong to the NVLink fabric manager and
/// carry no data: a link of two lanes (four in guests) or four functions of one device, as
/// published PCI trees and matrices of these machines show.
std::optional<RoleDecision> manages_nvlink(const NicFacts& facts, std::size_t at) {
  const Capability& own = facts.capabilities()[at];
  const node::PciDevice* pci = facts.function(at);
  const bool connectx7 = pci != nullptr && pci->vendor == 0x15b3 && pci->device == 0x1021 &&
                         own.link_layer == node::LinkLayer::infiniband;
  const unsigned narrow = connectx7 ? kNvlinkManagementLanes : kManagementLanes;
  if (own.lanes != 0 && own.lanes <= narrow && facts.widest_lanes() >= kComputeLanes) {
    return RoleDecision{connectx7 ? Role::nvlink_management : Role::management,
                        "PCIe x" + std::to_string(own.lanes) + " where others have x" +
                            std::to_string(facts.widest_lanes())};
  }
  const unsigned functions = facts.functions_in_slot(at);
  if (!connectx7 || functions < kManagementFunctions ||
      facts.fewest_functions() >= kManagementFunctions) {
    return std::nullopt;
  }
  return RoleDecision{Role::nvlink_management, "one of " + std::to_string(functions) +
                                                   " InfiniBand functions of one ConnectX-7"};
}

}  // namespace

NicFacts::NicFacts(const node::Node& node)
    : node_(node),
      functions_(node.nics.size()),
      virtual_(node.nics.size()),
      capabilities_(node.nics.size()) {
  find_virtual();
  for (std::size_t i = 0; i < node.nics.size(); ++i) {
    const auto& address = node.nics[i].pci;
    if (is_vf(i)) continue;
    capabilities_[i] = capability_of(node, node.nics[i]);
    widest_ = std::max(widest_, capabilities_[i].lanes);
    const bool vf = functions_[i] != nullptr && functions_[i]->is_vf();
    if (address && !vf) ++slots_[{address->domain, address->bus, address->device}];
  }
}

void NicFacts::find_virtual() {
  const auto slot_of = [](const node::PciAddress& address) {
    return Slot{address.domain, address.bus, address.device};
  };
  std::set<Slot> cards;
  for (std::size_t i = 0; i < node_.nics.size(); ++i) {
    const node::Nic& nic = node_.nics[i];
    if (nic.pci) functions_[i] = node_.find_pci(*nic.pci);
    const bool vf = functions_[i] != nullptr && functions_[i]->is_vf();
    if (nic.pci && !vf && !nic.sub_function) cards.insert(slot_of(*nic.pci));
  }
  for (std::size_t i = 0; i < node_.nics.size(); ++i) {
    const node::Nic& nic = node_.nics[i];
    const auto parent = nic.sub_function           ? nic.pci
                        : functions_[i] != nullptr ? functions_[i]->physfn
                                                   : std::nullopt;
    virtual_[i] = parent && cards.contains(slot_of(*parent));
  }
}

unsigned NicFacts::functions_in_slot(std::size_t at) const {
  const auto& address = node_.nics[at].pci;
  if (!address) return 1;
  const auto slot = slots_.find({address->domain, address->bus, address->device});
  return slot != slots_.end() ? slot->second : 1;
}

unsigned NicFacts::fewest_functions() const {
  unsigned fewest = std::numeric_limits<unsigned>::max();
  for (const auto& slot : slots_) fewest = std::min(fewest, slot.second);
  return fewest;
}

std::string main_route_of(const NicFacts& facts, std::size_t at) {
  const auto* carrier = find_where(facts.nic(at).netdevs, [&](const std::string& netdev) {
    return facts.node().carries_main_route(netdev);
  });
  return carrier != nullptr ? *carrier : "";
}

std::optional<RoleDecision> role_by_itself(const NicFacts& facts, std::size_t at) {
  const node::Nic& nic = facts.nic(at);
  if (!nic.pci) return RoleDecision{Role::compute, "a soft device, without a PCI function"};
  const node::PciDevice* pci = facts.function(at);
  if (facts.is_vf(at)) {
    return RoleDecision{Role::virtual_function,
                        nic.sub_function ? "a sub-function of " + nic.pci->str()
                                         : "a virtual function of " + pci->physfn->str()};
  }
  if (pci == nullptr && nic.ports.empty()) {
    return RoleDecision{Role::unknown, "neither its ports nor its PCI function can be read"};
  }
  return manages_nvlink(facts, at);
}

}  // namespace railhead::affinity
