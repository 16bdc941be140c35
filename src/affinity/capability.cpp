// SPDX-License-Identifier: Apache-2.0
#include "affinity/capability.h"

#include <algorithm>
#include <array>

#include "base/contains.h"
#include "node/rdma_models.h"

namespace railhead::affinity {
namespace {

constexpr std::array kSpeedClasses = {1600U, 800U, 400U, 200U, 100U, 50U, 40U, 25U, 10U, 1U};

/// The class of a rate: the greatest that is not above it by more than rounding.
unsigned speed_class(double gbps) {
  for (const unsigned known : kSpeedClasses) {
    if (gbps * 1.02 >= known) return known;
  }
  return 0;
}

/// Payload of a PCIe interface in Gb/s: 8b/10b up to 5 GT/s, 128b/130b to 32, one in one above.
double pcie_gbps(double gts, unsigned lanes) {
  const double coding = gts <= 5.0 ? 0.8 : gts <= 32.0 ? 128.0 / 130.0 : 1.0;
  return gts * coding * lanes;
}

unsigned own_pcie_class(const node::PciDevice& pci) {
  if (!pci.max_link_gts || !pci.max_link_width || *pci.max_link_width == 0) return 0;
  return speed_class(pcie_gbps(*pci.max_link_gts, *pci.max_link_width));
}

bool same_model(const node::PciDevice& a, const node::PciDevice& b) {
  return a.vendor == b.vendor && a.device == b.device && a.subsystem_vendor == b.subsystem_vendor &&
         a.subsystem_device == b.subsystem_device;
}

unsigned fastest_active(const node::Nic& nic) {
  double fastest = 0;
  for (const auto& port : nic.ports) {
    if (port.state == node::PortState::active)
      fastest = std::max(fastest, port.rate_gbps.value_or(0));
  }
  return speed_class(fastest);
}

/// The fastest ACTIVE port among the NICs of this model.
unsigned fastest_sibling(const node::Node& node, const node::Nic& nic, const node::PciDevice* pci) {
  unsigned fastest = fastest_active(nic);
  if (pci == nullptr) return fastest;
  for (const auto& other : node.nics) {
    const node::PciDevice* function = other.pci ? node.find_pci(*other.pci) : nullptr;
    if (function != nullptr && same_model(*pci, *function)) {
      fastest = std::max(fastest, fastest_active(other));
    }
  }
  return fastest;
}

unsigned speed_of(const node::Node& node, const node::Nic& nic, const node::PciDevice* pci) {
  const unsigned interface = pci != nullptr ? own_pcie_class(*pci) : 0;
  const auto model = pci != nullptr ? model_gbps(pci->vendor, pci->device) : std::nullopt;
  if (model && interface != 0) return std::min(*model, interface);
  if (model) return *model;
  return interface != 0 ? interface : fastest_sibling(node, nic, pci);
}

/// Lanes that card and slot have in common; virtual slots invent theirs.
unsigned lanes_of(const node::Node& node, const node::PciDevice* pci) {
  if (pci == nullptr) return 0;
  const unsigned own = pci->max_link_width.value_or(0);
  if (own == 0 || node.hypervisor || pci->bridges.empty()) return own;
  const node::PciDevice* slot = node.find_pci(pci->bridges.back());
  const unsigned theirs = slot != nullptr ? slot->max_link_width.value_or(0) : 0;
  return theirs == 0 ? own : std::min(own, theirs);
}

}  // namespace

node::LinkLayer link_layer_of(const node::Nic& nic, const node::PciDevice* pci) {
  for (const auto& port : nic.ports) {
    if (port.link_layer != node::LinkLayer::unknown) return port.link_layer;
  }
  const unsigned kind = pci != nullptr ? pci->class_code >> 8 : 0;
  if (kind == 0x0207) return node::LinkLayer::infiniband;
  return kind == 0x0200 ? node::LinkLayer::ethernet : node::LinkLayer::unknown;
}

std::optional<unsigned> model_gbps(std::uint16_t vendor, std::uint16_t device) {
  const auto* known = node::rdma_model_of(vendor, device);
  return known != nullptr && known->gbps != 0 ? std::optional(known->gbps) : std::nullopt;
}

Capability capability_of(const node::Node& node, const node::Nic& nic) {
  const node::PciDevice* pci = nic.pci ? node.find_pci(*nic.pci) : nullptr;
  return {link_layer_of(nic, pci), speed_of(node, nic, pci), lanes_of(node, pci),
          !nic.ports.empty() && std::ranges::all_of(nic.ports, [](const node::Port& port) {
            return port.link_layer == node::LinkLayer::unknown;
          })};
}

std::string to_text(const Capability& capability) {
  std::string text;
  if (!capability.unnamed_layer) text = to_string(capability.link_layer);
  if (capability.gbps == 0) return text.empty() ? "no known link layer" : text;
  return text + (text.empty() ? "" : " ") + std::to_string(capability.gbps) + " Gb/s";
}

bool is_bluefield(const node::PciDevice& pci) {
  constexpr std::array kBlueFields = {0xa2d2, 0xa2d6, 0xa2d9, 0xa2dc, 0xa2df};
  return pci.vendor == 0x15b3 && contains(kBlueFields, pci.device);
}

}  // namespace railhead::affinity
