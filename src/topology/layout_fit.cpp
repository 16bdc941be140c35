// SPDX-License-Identifier: Apache-2.0
#include "topology/layout_fit.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"

namespace railhead::topology {
namespace {

/// Hyper-V's guest takes the PCI domain from two bytes of a GUID (Linux
/// drivers/pci/controller/pci-hyperv.c). Where the host chose that GUID with care the numbers are
/// small; drawn at random, fifteen of sixteen are above this.
constexpr std::uint32_t kHighestChosenDomain = 0x0fff;

using Model = std::pair<std::uint16_t, std::uint16_t>;

Model model_of(const node::PciDevice& function) {
  return {function.vendor, function.device};
}

bool is_management(const node::Node& node, const node::Nic& nic) {
  return std::ranges::any_of(
      nic.netdevs, [&](const std::string& name) { return node.carries_main_route(name); });
}

struct Nics {
  std::vector<const node::PciDevice*> known;
  std::vector<std::pair<const node::Nic*, const node::PciDevice*>>
      unknown;  ///< that could carry the fabric
};

Nics sort_out(const Layout& layout, const node::Node& node) {
  Nics nics;
  for (const auto& nic : node.nics) {
    const node::PciDevice* function = nic.pci ? node.find_pci(*nic.pci) : nullptr;
    if (function == nullptr) continue;
    if (find_position(layout, *function) != nullptr) {
      nics.known.push_back(function);
    } else if (!is_management(node, nic)) {
      nics.unknown.emplace_back(&nic, function);
    }
  }
  return nics;
}

/// GPUs that the layout does not know, by address; the ones it knows go into `known`.
std::vector<std::string> unknown_gpus(const Layout& layout, const node::Node& node,
                                      std::vector<const node::PciDevice*>& known) {
  std::vector<std::string> unknown;
  for (const auto& gpu : node.gpus) {
    const node::PciDevice* function = node.find_pci(gpu.pci);
    if (function != nullptr && find_position(layout, *function) != nullptr) {
      known.push_back(function);
    } else {
      unknown.push_back(gpu.pci.str());
    }
  }
  return unknown;
}

std::vector<std::string> left_out(const Nics& nics) {
  std::set<Model> models;
  for (const auto* function : nics.known) models.insert(model_of(*function));
  std::vector<std::string> names;
  for (const auto& [nic, function] : nics.unknown) {
    if (models.contains(model_of(*function))) names.push_back(nic->name);
  }
  return names;
}

}  // namespace

LayoutFit fit_of(const Layout& layout, const node::Node& node) {
  LayoutFit fit;
  std::vector<const node::PciDevice*> known;
  const auto gpus = unknown_gpus(layout, node, known);
  if (!gpus.empty()) {
    fit.refusal =
        std::string("does not know GPU") + (gpus.size() > 1 ? "s " : " ") + join(gpus, ", ");
    return fit;
  }
  const Nics nics = sort_out(layout, node);
  if (nics.known.empty() && !nics.unknown.empty()) {
    fit.refusal = "knows no NIC of this machine";
    return fit;
  }
  if (const auto names = left_out(nics); !names.empty()) {
    fit.confidence = Confidence::medium;
    fit.remarks.push_back("leaves out " + join(names, ", ") + "; there the PCI tree counts");
  }
  known.insert(known.end(), nics.known.begin(), nics.known.end());
  const auto random = std::ranges::find_if(known, [](const node::PciDevice* function) {
    return function->address.domain > kHighestChosenDomain;
  });
  if (node.hypervisor && random != known.end()) {
    fit.confidence = Confidence::low;
    fit.remarks.push_back("names " + (*random)->address.str() +
                          ": the hypervisor draws such PCI domains at random, so it may be wrong "
                          "after the next start and on other nodes");
  }
  return fit;
}

}  // namespace railhead::topology
