// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/describe.h"
#include "cli/topology_picture.h"
#include "report/text_width.h"
#include "topology/layout.h"

namespace railhead::cli {
namespace {

/// A line and what hangs below it, in PCI order.
struct TreeBranch {
  std::string text;
  std::map<std::string, TreeBranch> below;  ///< by sort key
};

/// A bridge with one child and no device of its own says nothing: the child takes its place.
void collapse(TreeBranch& branch, bool keep_self) {
  for (auto& [key, child] : branch.below) collapse(child, false);
  if (keep_self || branch.below.size() != 1 || !branch.text.starts_with("switch")) return;
  TreeBranch only = std::move(branch.below.begin()->second);
  branch = std::move(only);
}

void print(const TreeBranch& branch, const std::string& indent, std::string& out) {
  std::size_t left = branch.below.size();
  for (const auto& [key, child] : branch.below) {
    const bool last = --left == 0;
    out += indent + (last ? "└─ " : "├─ ") + report::printable(child.text) + "\n";
    print(child, indent + (last ? "   " : "│  "), out);
  }
}

std::string numa_text(std::optional<int> numa) {
  return numa ? "NUMA node " + std::to_string(*numa) : "NUMA node unknown";
}

std::string gpu_text(const inject::DecisionTable& table, std::size_t gpu) {
  const auto& node = table.node();
  std::vector<std::string> names;
  for (const auto n : table.deal().gpus[gpu].nics) names.push_back(node.nics[n].name);
  const std::string dealt =
      names.empty() ? "no NIC"
                    : join(names, ",") + " (" +
                          std::string(to_string(table.deal().gpus[gpu].nearness.relation)) + ")";
  std::vector<std::string> stand_ins;
  const auto selection =
      affinity::select(node, table.topology(), table.deal(), table.usable(), {gpu});
  for (const auto& choice : selection.gpus.front().nics) {
    if (choice.stand_in) {
      stand_ins.push_back(node.nics[choice.nic].name + " (" +
                          std::string(to_string(choice.nearness.relation)) + ")");
    }
  }
  return gpu_label(node.gpus[gpu]) + " " + node.gpus[gpu].pci.str() + "  → " + dealt +
         (stand_ins.empty() ? "" : ", not usable; " + join(stand_ins, ",") + " stands in");
}

std::string nic_text(const inject::DecisionTable& table, std::size_t nic) {
  const auto& value = table.node().nics[nic];
  const auto summary = summarize(value);
  std::string text = value.name;
  if (!value.registered) {
    text += "  no RDMA driver";
  } else if (value.pci) {
    text += " " + value.pci->str();
  }
  std::vector<std::string> link;
  if (summary.link_layer) link.emplace_back(to_string(*summary.link_layer));
  if (summary.rate_gbps) link.push_back(rate_text(summary.rate_gbps) + " Gb/s");
  if (summary.state) link.emplace_back(to_string(*summary.state));
  if (!link.empty()) text += "  " + join(link, " ");
  return text + "  " + std::string(to_string(table.deal().roles[nic].role));
}

void place(TreeBranch& root, const inject::DecisionTable& table,
           const std::optional<node::PciAddress>& pci, std::optional<int> numa,
           const std::string& text) {
  TreeBranch* at = &root.below[numa_text(numa)];
  at->text = numa_text(numa);
  const auto* device = pci ? table.node().find_pci(*pci) : nullptr;
  if (device != nullptr && !device->root.empty()) {
    // Other sources than sysfs know no host bridges and name them after a switch (pciffff:ff:01.0).
    if (device->root.find('.') == std::string::npos) {
      at = &at->below[device->root];
      at->text = "host bridge " + device->root;
    }
    for (const auto& bridge : device->bridges) {
      at = &at->below[bridge.str()];
      at->text = topology::is_invented(bridge) ? "switch" : "switch " + bridge.str();
    }
  }
  at->below[(pci ? pci->str() : "~") + text].text = text;
}

}  // namespace

std::string tree_text(const inject::DecisionTable& table) {
  TreeBranch root;
  const auto& node = table.node();
  for (std::size_t g = 0; g < node.gpus.size(); ++g) {
    place(root, table, node.gpus[g].pci, node.gpus[g].numa_node, gpu_text(table, g));
  }
  for (std::size_t n = 0; n < node.nics.size(); ++n) {
    place(root, table, node.nics[n].pci, node.nics[n].numa_node, nic_text(table, n));
  }
  collapse(root, true);
  std::string out = (node.name.empty() ? std::string("node") : report::printable(node.name)) + "\n";
  print(root, "", out);
  return out;
}

}  // namespace railhead::cli
