// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "affinity/affinity.h"
#include "affinity/capability.h"
#include "node/node.h"

namespace railhead::affinity {

/// What is looked up again and again while roles are decided. Points into the Node. Virtual
/// functions count nowhere: there may be hundreds, and their card speaks for them.
class NicFacts {
 public:
  explicit NicFacts(const node::Node& node);

  [[nodiscard]] const node::Node& node() const { return node_; }

  [[nodiscard]] const node::Nic& nic(std::size_t at) const { return node_.nics[at]; }

  [[nodiscard]] const node::PciDevice* function(std::size_t at) const { return functions_[at]; }

  [[nodiscard]] const std::vector<Capability>& capabilities() const { return capabilities_; }

  /// A virtual function or sub-function whose card is a NIC of this node. Where it is not (handed
  /// to a guest, or not an RDMA device), the virtual function speaks for itself.
  [[nodiscard]] bool is_vf(std::size_t at) const { return virtual_[at]; }

  /// Physical functions with an RDMA device in the slot of this NIC, itself included.
  [[nodiscard]] unsigned functions_in_slot(std::size_t at) const;
  /// The fewest functions that any slot has.
  [[nodiscard]] unsigned fewest_functions() const;

  [[nodiscard]] unsigned widest_lanes() const { return widest_; }

 private:
  using Slot = std::tuple<std::uint32_t, std::uint8_t, std::uint8_t>;

  void find_virtual();

  const node::Node& node_;
  std::vector<const node::PciDevice*> functions_;
  std::vector<bool> virtual_;
  std::vector<Capability> capabilities_;
  std::map<Slot, unsigned> slots_;
  unsigned widest_ = 0;
};

/// The netdev by which a NIC carries the node's main default route; "" where it does not.
std::string main_route_of(const NicFacts& facts, std::size_t nic);

/// The role that a device shows by itself, whatever the other cards are: soft device, virtual
/// function, NVLink management. Absent: it has to be compared with the others.
std::optional<RoleDecision> role_by_itself(const NicFacts& facts, std::size_t nic);

}  // namespace railhead::affinity
