// SPDX-License-Identifier: Apache-2.0
#include "cli/explanation.h"

#include "base/text.h"
#include "cli/describe.h"

namespace railhead::cli {
namespace {

data::Json nic_entry(const node::Nic& nic, const affinity::ExplainedNic& entry) {
  return {{"name", nic.name},
          {"relation", to_string(entry.nearness.relation)},
          {"candidate", entry.candidate},
          {"nearest", entry.nearest},
          {"dealt", entry.dealt},
          {"chosen", entry.chosen},
          {"reason", entry.reason}};
}

bool same_line(const affinity::ExplainedNic& a, const affinity::ExplainedNic& b) {
  return a.chosen == b.chosen && a.nearness.relation == b.nearness.relation && a.reason == b.reason;
}

/// "mlx5_0, mlx5_1", of many "mlx5_4 … mlx5_35 (32)".
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 3;
  if (names.size() <= kMostNames) return join(names, ", ");
  return names.front() + " … " + names.back() + " (" + std::to_string(names.size()) + ")";
}

/// Nearest first; neighbours of which the same is true share a line.
report::Table lines_of(const node::Node& node, const affinity::ExplainedGpu& gpu) {
  report::Table table{{{"NIC"}, {"RELATION"}, {"CHOSEN"}, {"REASON"}}, {}};
  for (auto at = gpu.nics.begin(); at != gpu.nics.end();) {
    std::vector<std::string> names;
    const affinity::ExplainedNic& first = *at;
    for (; at != gpu.nics.end() && (&*at == &first || same_line(first, *at)); ++at) {
      names.push_back(node.nics[at->nic].name);
    }
    table.rows.push_back({names_text(names), std::string(to_string(first.nearness.relation)),
                          first.chosen ? "yes" : "", first.reason});
  }
  return table;
}

}  // namespace

void add_explanation(report::Report& report, const inject::DecisionTable& table,
                     const affinity::Explanation& explanation) {
  const node::Node& node = table.node();
  report.json["computeNics"] = explanation.candidates;
  report.json["nicsPerGpu"] = explanation.per_gpu;
  report.json["explanation"] = data::Json::array();
  for (const auto& gpu : explanation.gpus) {
    data::Json json = {{"pci", node.gpus[gpu.gpu].pci.str()}, {"step", gpu.step}};
    for (const auto& nic : gpu.nics) json["nics"].push_back(nic_entry(node.nics[nic.nic], nic));
    report.json["explanation"].push_back(std::move(json));
    report.sections.push_back(
        {gpu_label(node.gpus[gpu.gpu]) + ": " + gpu.step, lines_of(node, gpu), {}});
  }
}

}  // namespace railhead::cli
