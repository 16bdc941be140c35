// SPDX-License-Identifier: Apache-2.0
#include "cli/describe.h"

#include <algorithm>
#include <numeric>

#include "affinity/shortage.h"
#include "base/contains.h"
#include "base/text.h"
#include "node/unread.h"
#include "report/report.h"
#include "shell/exit_code.h"
#include "topology/layout.h"

namespace railhead::cli {
namespace {

/// ACTIVE before everything else, then as far as the link came up.
int state_rank(const node::Port& port) {
  return port.state ? static_cast<int>(*port.state) : -1;
}

std::string_view kind_text(node::Problem::Kind kind) {
  return kind == node::Problem::Kind::malformed ? "malformed" : "unreadable";
}

}  // namespace

data::Json json_of(node::LinkLayer layer) {
  return layer == node::LinkLayer::unknown ? data::Json(nullptr) : data::Json(to_string(layer));
}

data::Json json_of(const std::vector<node::Gid>& gids) {
  return data::json_list(gids, [](const node::Gid& gid) {
    return data::Json{{"index", gid.index},
                      {"gid", gid.value},
                      {"type", report::json_or_null(gid.type)},
                      {"netdev", report::json_or_null(gid.netdev)}};
  });
}

NicSummary summarize(const node::Nic& nic) {
  const node::Port* best = nullptr;
  for (const auto& port : nic.ports) {
    if (best == nullptr || state_rank(port) > state_rank(*best)) best = &port;
  }
  if (best == nullptr) return {};
  const auto layer = best->link_layer;
  const bool known = layer != node::LinkLayer::unknown;
  return {best->state, known ? std::optional(layer) : std::nullopt, best->rate_gbps};
}

std::string rate_text(std::optional<double> gbps) {
  return gbps ? decimal_text(*gbps) : "";
}

std::string range_list(const std::vector<unsigned>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (end != i) text += "-" + std::to_string(numbers[end]);
    i = end + 1;
  }
  return text;
}

data::Json gpu_json(const node::Node& node, std::size_t gpu) {
  const auto& value = node.gpus[gpu];
  return {{"index", report::json_or_null(value.index)},
          {"pci", value.pci.str()},
          {"uuid", report::json_or_null(value.uuid)},
          {"minor", report::json_or_null(value.minor)},
          {"numaNode", report::json_or_null(value.numa_node)}};
}

data::Json nic_json(const node::Node& node, std::size_t nic) {
  const auto& value = node.nics[nic];
  const auto summary = summarize(value);
  return {{"name", value.name},
          {"pci", value.pci ? data::Json(value.pci->str()) : data::Json(nullptr)},
          {"numaNode", report::json_or_null(value.numa_node)},
          {"linkLayer", json_of(summary.link_layer)},
          {"state", json_of(summary.state)},
          {"rateGbps", report::json_or_null(summary.rate_gbps)}};
}

void add_source(data::Json& document, const topology::Topology& topology) {
  document["source"] = to_string(topology.source);
  document["origin"] = report::text_or_null(topology.origin);
  document["confidence"] = to_string(topology.confidence);
}

std::string source_line(const topology::Topology& topology) {
  std::string line = "source: " + std::string(to_string(topology.source));
  if (!topology.origin.empty()) line += " (" + topology.origin + ")";
  return line + ", confidence " + std::string(to_string(topology.confidence));
}

std::string gpu_label(const node::Gpu& gpu) {
  return gpu.index ? "GPU" + std::to_string(*gpu.index) : "GPU " + gpu.pci.str();
}

std::string no_gpu_text(const node::Node& node) {
  const auto unknown = topology::unclassified_functions(node).size();
  if (unknown == 0) return "no GPU on this node";
  return "no GPU is known, and of " + std::to_string(unknown) +
         " functions the file does not say what they are; on a machine of this kind it can be "
         "topology.file";
}

std::optional<std::string> rdma_namespaces(const node::Node& node) {
  switch (node.rdma_netns) {
    case node::RdmaNetns::shared: return "shared";
    case node::RdmaNetns::exclusive: return "exclusive";
    case node::RdmaNetns::unknown: break;
  }
  return std::nullopt;
}

std::vector<std::string> namespace_lines(const node::Node& node) {
  if (node.rdma_netns != node::RdmaNetns::exclusive) return {};
  return {
      "RDMA namespaces are exclusive (ib_core.netns_mode=0): a NIC is in one network namespace, "
      "and "
      "only pods on the host's network are dealt to"};
}

std::vector<std::string> lost_nic_lines(const inject::DecisionTable& table,
                                        const affinity::Selection& selection) {
  const auto& node = table.node();
  std::vector<std::string> lines;
  for (const auto& choice : selection.gpus) {
    for (const auto nic : choice.lost) {
      const auto& trouble = table.trouble_of(nic);
      const bool is_known = unread_rdma_device(node, node.nics[nic]) == nullptr;
      if (trouble.empty() || !is_known) continue;
      lines.push_back(gpu_label(node.gpus[choice.gpu]) + " lacks " + node.nics[nic].name + ": " +
                      trouble);
    }
  }
  for (const auto& missing : table.deal().missing) {
    const auto is_concerned = [&](const affinity::GpuChoice& choice) {
      return contains(missing.gpus, choice.gpu);
    };
    if (std::ranges::any_of(selection.gpus, is_concerned)) {
      lines.push_back(affinity::missing_nic_text(node, missing));
    }
  }
  return lines;
}

std::vector<std::string> lost_nic_lines(const inject::DecisionTable& table) {
  std::vector<std::size_t> gpus(table.node().gpus.size());
  std::iota(gpus.begin(), gpus.end(), std::size_t{0});
  auto lines = lost_nic_lines(
      table, affinity::select(table.node(), table.topology(), table.deal(), table.usable(), gpus));
  // A type may be sold without NICs, and lacks none then.
  if (table.deal().cards.empty()) return lines;
  auto text = affinity::shortage_text(table.node(), table.topology(), table.deal());
  if (!text.empty()) lines.push_back(std::move(text));
  return lines;
}

int exit_code_for(const node::Node& node, bool is_well) {
  if (!is_well) return shell::kExitProblem;
  return unread_device(node) != nullptr ? shell::kExitCannotTell : shell::kExitOk;
}

std::vector<std::string> problem_lines(const node::Node& node) {
  std::vector<std::string> lines;
  for (const auto& problem : node.problems) {
    lines.push_back(problem.path + ": " + std::string(kind_text(problem.kind)) + ": " +
                    problem.what);
  }
  return lines;
}

data::Json problems_json(const node::Node& node) {
  return data::json_list(node.problems, [](const node::Problem& problem) {
    return data::Json{
        {"path", problem.path}, {"kind", kind_text(problem.kind)}, {"what", problem.what}};
  });
}

}  // namespace railhead::cli
