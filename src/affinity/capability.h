// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "node/node.h"

namespace railhead::affinity {

/// What a NIC is able to do, whatever its links do at the moment. Roles, cards and the deal look at
/// nothing else: a port that goes down reports SDR, a driver that is not bound reports no port, and
/// neither may move another GPU's NIC.
struct Capability {
  node::LinkLayer link_layer = node::LinkLayer::unknown;
  unsigned gbps = 0;   ///< of its fastest port, as a class of speed; 0: not known
  unsigned lanes = 0;  ///< PCIe lanes that device and slot can use together; 0: not known
  /// The ports say that theirs is neither (EFA): the PCI class decides, and texts leave it out.
  bool unnamed_layer = false;

  friend bool operator==(const Capability&, const Capability&) = default;
};

/// The ports' own word, else the class of the PCI function (0x0207 is InfiniBand, 0x0200 Ethernet;
/// ConnectX changes it with the configured port type). A function without RDMA driver has no ports.
node::LinkLayer link_layer_of(const node::Nic& nic, const node::PciDevice* function);

/// Speed: the least of what the device model is sold for and what its PCIe interface can carry,
/// both constants of the hardware. Only where neither is known (some virtual functions), the
/// fastest ACTIVE port among NICs of the same PCI ids, so that one port that is down does not count
/// as slow.
Capability capability_of(const node::Node& node, const node::Nic& nic);

/// Rate of the fastest port of a device model, in Gb/s; absent for models not in the table.
std::optional<unsigned> model_gbps(std::uint16_t vendor, std::uint16_t device);

/// "InfiniBand 400 Gb/s", "Ethernet" where the rate is not known, "400 Gb/s" for an EFA.
std::string to_text(const Capability& capability);

/// An NVIDIA BlueField data processing unit, by its PCI ids.
bool is_bluefield(const node::PciDevice& pci);

}  // namespace railhead::affinity
