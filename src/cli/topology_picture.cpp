// SPDX-License-Identifier: Apache-2.0
#include "cli/topology_picture.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/contains.h"
#include "base/text.h"
#include "cli/describe.h"
#include "cli/picture_boxes.h"
#include "cli/picture_devices.h"

namespace railhead::cli {
namespace {

constexpr std::size_t kMostNames = 8;   ///< of a list in a sentence
constexpr std::size_t kMostLines = 12;  ///< of a note

std::string names_text(std::vector<std::string> names) {
  if (names.size() <= kMostNames) return join(names, ", ");
  const auto more = names.size() - kMostNames;
  names.resize(kMostNames);
  return join(names, ", ") + " and " + std::to_string(more) + " more";
}

std::string machine_text(const node::Dmi& dmi) {
  const auto vendor = dmi.sys_vendor.value_or("");
  auto product = dmi.product_name.value_or("");
  if (product.starts_with(vendor)) return product;
  return vendor + (vendor.empty() || product.empty() ? "" : " ") + product;
}

std::vector<std::string> subtitles_of(const inject::DecisionTable& table,
                                      const report::Diagram& diagram) {
  const auto& node = table.node();
  const auto dealt =
      std::ranges::count_if(diagram.devices, [](const report::DiagramDevice& device) {
        return device.row == report::DiagramRow::lower && !device.groups.empty();
      });
  std::string counts =
      counted(node.gpus.size(), "GPU") + " · " + counted(node.nics.size(), "RDMA device");
  const auto usable =
      std::ranges::count_if(diagram.devices, [](const report::DiagramDevice& device) {
        return device.row == report::DiagramRow::lower && !device.groups.empty() &&
               device.look != report::DiagramLook::broken;
      });
  if (!node.gpus.empty()) {
    counts += ", " + std::to_string(usable) + " usable of " + std::to_string(dealt) + " dealt";
  }
  const auto& topology = table.topology();
  counts += " · topology from " + std::string(to_string(topology.source)) +
            (topology.origin.empty() ? "" : " (" + topology.origin + ")") + ", confidence " +
            std::string(to_string(table.topology().confidence));
  std::vector<std::string> lines;
  if (const auto machine = machine_text(node.dmi); !machine.empty()) lines.push_back(machine);
  lines.push_back(counts);
  return lines;
}

/// What each GPU gets in sentences, for those who do not see it.
std::string description_of(const node::Node& node, const affinity::Selection& selection) {
  std::string text = "Which RDMA NICs serve which GPUs.";
  for (const auto& gpu : selection.gpus) {
    text += " " + gpu_label(node.gpus[gpu.gpu]) + ": ";
    if (gpu.nics.empty()) {
      text += "no NIC.";
      continue;
    }
    std::vector<std::string> names;
    for (const auto& chosen : gpu.nics) names.push_back(node.nics[chosen.nic].name);
    const auto& first = gpu.nics.front();
    text += names_text(names) + (first.stand_in ? " stands in (" : " (") +
            std::string(to_string(first.nearness.relation)) + ").";
  }
  return text;
}

/// NICs with the same fate in one line each.
using Fates = std::vector<std::pair<std::string, std::vector<std::string>>>;

void add_fate(Fates& fates, const std::string& fate, const std::string& name) {
  const auto found =
      std::ranges::find_if(fates, [&](const auto& entry) { return entry.first == fate; });
  if (found == fates.end()) {
    fates.push_back({fate, {name}});
  } else {
    found->second.push_back(name);
  }
}

std::vector<std::string> lines_of(const Fates& fates) {
  std::vector<std::string> lines;
  for (const auto& [fate, names] : fates) {
    lines.push_back(names.front().empty() ? fate : names_text(names) + ": " + fate);
  }
  return lines;
}

/// What is said of several GPUs in the same words is said once.
std::vector<std::string> warnings_of(const inject::DecisionTable& table,
                                     const affinity::Selection& selection) {
  Fates fates;
  for (const auto* list :
       {&table.topology().warnings, &table.deal().warnings, &selection.warnings}) {
    for (const auto& line : *list) {
      const auto colon = line.starts_with("GPU ") ? line.find("): ") : std::string::npos;
      if (colon == std::string::npos) {
        fates.push_back({line, {""}});
      } else {
        add_fate(fates, line.substr(colon + 3), line.substr(0, colon + 1));
      }
    }
  }
  auto lines = lines_of(fates);
  for (auto& line : problem_lines(table.node())) lines.push_back(std::move(line));
  return lines;
}

std::vector<report::Diagram::Note> notes_of(const inject::DecisionTable& table,
                                            const affinity::Selection& selection) {
  const auto& node = table.node();
  Fates aside;
  Fates broken;
  for (std::size_t n = 0; n < node.nics.size(); ++n) {
    const auto& role = table.deal().roles[n];
    const auto& usable = table.usable()[n];
    const auto& spare = table.deal().spare;
    if (role.role != affinity::Role::compute) {
      add_fate(aside, std::string(to_string(role.role)) + ", " + role.reason, node.nics[n].name);
    } else if (!usable.usable && !is_in_bond(node, n)) {
      add_fate(broken, usable.reason, node.nics[n].name);
    } else if (!node.gpus.empty() && contains(spare, n)) {
      add_fate(aside, "spare, there are more NICs than the GPUs share evenly", node.nics[n].name);
    }
  }
  std::vector<report::Diagram::Note> notes = {
      {node.gpus.empty() ? "Not for compute" : "Not dealt to a GPU", lines_of(aside)},
      {"Not usable", lines_of(broken)},
      {"Warnings", warnings_of(table, selection)}};
  for (auto& note : notes) {
    if (note.lines.size() <= kMostLines) continue;
    const auto more = note.lines.size() - kMostLines;
    note.lines.resize(kMostLines);
    note.lines.push_back("and " + std::to_string(more) + " more");
  }
  return notes;
}

}  // namespace

report::Diagram topology_picture(const inject::DecisionTable& table) {
  const auto& node = table.node();
  std::vector<std::size_t> gpus(node.gpus.size());
  std::iota(gpus.begin(), gpus.end(), std::size_t{0});
  const auto selection =
      affinity::select(node, table.topology(), table.deal(), table.usable(), gpus);
  const auto nics = drawn_nics(table, selection);
  auto drawn = draw_devices(table, nics, selection);
  report::Diagram diagram;
  diagram.title = node.name.empty() ? "Node" : node.name;
  diagram.description = description_of(node, selection);
  diagram.boxes = boxes_of(table, drawn.places);
  diagram.devices = std::move(drawn.devices);
  diagram.links = std::move(drawn.links);
  diagram.marks = std::move(drawn.marks);
  diagram.subtitles = subtitles_of(table, diagram);
  diagram.words = {{"PIX", "one PCIe switch"},
                   {"PXB", "several switches"},
                   {"PHB", "one host bridge"},
                   {"NODE", "one NUMA node"},
                   {"SYS", "across NUMA nodes, or unknown"}};
  diagram.meaning_of_links = "colour and number: NIC dealt to that GPU";
  diagram.meaning_of_aside = node.gpus.empty() ? "not for compute" : "not dealt";
  diagram.meaning_of_broken = "not usable";
  diagram.meaning_of_stand_in = "stands in for a NIC that is not usable";
  diagram.notes = notes_of(table, selection);
  return diagram;
}

}  // namespace railhead::cli
