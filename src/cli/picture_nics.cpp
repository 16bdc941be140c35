// SPDX-License-Identifier: Apache-2.0
#include "cli/picture_nics.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "affinity/card.h"
#include "base/text.h"
#include "cli/describe.h"

namespace railhead::cli {
namespace {

constexpr std::size_t kMostAlike = 16;  ///< NICs that are drawn one by one though they are alike

/// What NICs of one pack have in common.
using Likeness = std::tuple<std::optional<node::PciAddress>, std::string, std::string>;

Likeness likeness_of(const inject::DecisionTable& table, std::size_t nic) {
  const auto& value = table.node().nics[nic];
  const auto* function = value.pci ? table.node().find_pci(*value.pci) : nullptr;
  const std::string role(to_string(table.deal().roles[nic].role));
  if (function != nullptr && function->is_vf()) return {function->physfn, "", role};
  return {std::nullopt, function == nullptr ? "" : function->root,
          role + " " + short_link_text(value) + " " + state_word(value) + " " +
              table.usable()[nic].reason};
}

/// The bonds that netdevs of a NIC are in.
std::vector<std::string> bonds_of(const node::Node& node, const node::Nic& nic) {
  std::vector<std::string> bonds;
  for (const auto& name : nic.netdevs) {
    const auto* netdev = node.find_netdev(name);
    if (netdev != nullptr && netdev->master) bonds.push_back(*netdev->master);
  }
  return bonds;
}

/// NICs that have a link in the picture.
std::vector<bool> linked_nics(const inject::DecisionTable& table,
                              const affinity::Selection& selection) {
  std::vector<bool> linked(table.node().nics.size());
  for (const auto& gpu : table.deal().gpus) {
    for (const auto n : gpu.nics) linked[n] = true;
  }
  for (const auto n : selection.nics) linked[n] = true;
  return linked;
}

}  // namespace

std::string short_link_text(const node::Nic& nic) {
  const auto summary = summarize(nic);
  std::string text = nic.ports.size() > 1 ? std::to_string(nic.ports.size()) + "× " : "";
  if (!summary.link_layer && !summary.rate_gbps) return text + "link unknown";
  if (summary.link_layer) text += std::string(to_string(*summary.link_layer));
  if (summary.link_layer && summary.rate_gbps) text += " ";
  return text + (summary.rate_gbps ? rate_text(summary.rate_gbps) + "G" : "");
}

std::string state_word(const node::Nic& nic) {
  if (!nic.registered) return nic.driver ? "not registered" : "no driver";
  const auto summary = summarize(nic);
  return summary.state ? std::string(to_string(*summary.state)) : "no state";
}

std::string ports_text(const node::Nic& nic) {
  const auto active = std::ranges::count_if(
      nic.ports, [](const auto& port) { return port.state == node::PortState::active; });
  if (active == 0 || static_cast<std::size_t>(active) == nic.ports.size()) return state_word(nic);
  return std::to_string(active) + " of " + std::to_string(nic.ports.size()) + " ACTIVE";
}

std::string pcie_text(const node::Node& node, const node::Nic& nic) {
  const auto* function = nic.pci ? node.find_pci(*nic.pci) : nullptr;
  if (function == nullptr || !function->link_gts || !function->link_width) return "";
  return "PCIe " + decimal_text(*function->link_gts) + " GT/s x" +
         std::to_string(*function->link_width);
}

bool is_in_bond(const node::Node& node, std::size_t nic) {
  const auto& own = node.nics[nic];
  if (own.registered) return false;
  const auto bonds = bonds_of(node, own);
  return std::ranges::any_of(node.nics, [&](const node::Nic& other) {
    if (!other.registered || !affinity::are_in_one_slot(own, other)) return false;
    const auto others = bonds_of(node, other);
    return std::find_first_of(bonds.begin(), bonds.end(), others.begin(), others.end()) !=
           bonds.end();
  });
}

std::string fault_word(const node::Node& node, std::size_t index) {
  const auto& nic = node.nics[index];
  if (is_in_bond(node, index)) return "in the bond";
  auto word = state_word(nic);
  if (word != to_string(node::PortState::active)) return word;
  const auto* function = nic.pci ? node.find_pci(*nic.pci) : nullptr;
  return function != nullptr && function->sriov_numvfs.value_or(0) > 0 ? "has VFs" : "unusable";
}

std::vector<std::vector<std::size_t>> gpus_by_nic(const inject::DecisionTable& table) {
  std::vector<std::vector<std::size_t>> gpus(table.node().nics.size());
  for (std::size_t g = 0; g < table.deal().gpus.size(); ++g) {
    for (const auto n : table.deal().gpus[g].nics) gpus[n].push_back(g);
  }
  return gpus;
}

std::vector<DrawnNic> drawn_nics(const inject::DecisionTable& table,
                                 const affinity::Selection& selection) {
  const auto linked = linked_nics(table, selection);
  std::map<Likeness, std::vector<std::size_t>> alike;
  for (std::size_t n = 0; n < linked.size(); ++n) {
    if (!linked[n]) alike[likeness_of(table, n)].push_back(n);
  }
  std::vector<DrawnNic> drawn;
  for (std::size_t n = 0; n < linked.size(); ++n) {
    const auto likeness = likeness_of(table, n);
    const auto pack = linked[n] ? alike.end() : alike.find(likeness);
    const bool virtual_function = std::get<0>(likeness).has_value();
    if (pack == alike.end() || (!virtual_function && pack->second.size() <= kMostAlike)) {
      drawn.push_back({{n}, virtual_function});
    } else if (pack->second.front() == n) {
      drawn.push_back({pack->second, virtual_function});
    }
  }
  return drawn;
}

}  // namespace railhead::cli
