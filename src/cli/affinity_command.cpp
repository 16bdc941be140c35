// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <ostream>

#include "base/text.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/explanation.h"
#include "inject/codes.h"

namespace railhead {
namespace {

struct AffinityFlags {
  std::optional<std::string> gpus;  ///< absent: all
  bool explain = false;
};

/// A GPU named by index, UUID or PCI address. PCI addresses have a colon, indexes only digits.
Result<std::size_t> find_gpu(const DecisionTable& table, std::string_view word) {
  const auto& gpus = table.node().gpus;
  if (const auto index = parse_unsigned(word); index && *index <= 0xffff) {
    if (const auto gpu = table.gpu_by_index(static_cast<unsigned>(*index))) return *gpu;
  } else if (const auto address = PciAddress::parse(word)) {
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      if (gpus[g].pci == *address) return g;
    }
  } else if (const auto gpu = table.gpu_by_uuid(word)) {
    return *gpu;
  }
  return Error{ErrorCode::usage, "--gpus: this node has no GPU " + quoted(word) + " (" +
                                     std::to_string(gpus.size()) + " GPUs)"};
}

Result<std::vector<std::size_t>> asked_gpus(const DecisionTable& table,
                                            const std::optional<std::string>& text) {
  std::vector<std::size_t> asked;
  if (!text) {
    for (std::size_t g = 0; g < table.node().gpus.size(); ++g) asked.push_back(g);
    return asked;
  }
  for (const auto word : split(*text, ',')) {
    const auto gpu = TRY(find_gpu(table, trim(word)));
    if (std::find(asked.begin(), asked.end(), gpu) == asked.end()) asked.push_back(gpu);
  }
  return asked;
}

/// The request that a pod on the host's network with these GPUs would make.
struct SampleContainer {
  std::vector<std::string> texts;
  ContainerRequest request;
};

SampleContainer sample_container(const Node& node, const std::vector<std::size_t>& gpus) {
  SampleContainer sample;
  sample.texts.reserve(gpus.size() + 1);
  sample.request.pod_namespaces = {"ipc"};
  sample.request.name = "sample";
  for (const auto g : gpus) {
    const auto& gpu = node.gpus[g];
    if (gpu.minor) {
      sample.texts.push_back("/dev/nvidia" + std::to_string(*gpu.minor));
      sample.request.devices.push_back({sample.texts.back(), 'c', 195, *gpu.minor});
    } else if (gpu.drm_render) {
      sample.texts.push_back("/dev/dri/renderD" + std::to_string(*gpu.drm_render));
      sample.request.devices.push_back({sample.texts.back(), 'c', 226, *gpu.drm_render});
    }
  }
  if (sample.texts.size() < gpus.size()) {  // no driver: only names are left
    sample.request.devices.clear();
    std::vector<std::string> ids;
    for (const auto g : gpus) {
      const auto& gpu = node.gpus[g];
      if (gpu.uuid) {
        ids.push_back(*gpu.uuid);
      } else if (gpu.index) {
        ids.push_back(std::to_string(*gpu.index));
      }
    }
    if (ids.empty()) return sample;  // no container can be given these GPUs
    sample.texts.push_back("NVIDIA_VISIBLE_DEVICES=" + join(ids, ","));
    sample.request.env = {sample.texts.back()};
  }
  return sample;
}

Json selection_json(const DecisionTable& table, const Selection& selection) {
  Json gpus = Json::array();
  for (const auto& chosen : selection.gpus) {
    auto gpu = gpu_json(table.node(), chosen.gpu);
    gpu["nics"] = Json::array();
    for (const auto& choice : chosen.nics) {
      gpu["nics"].push_back({{"name", table.node().nics[choice.nic].name},
                             {"relation", to_string(choice.nearness.relation)},
                             {"standIn", choice.stand_in},
                             {"why", choice.why}});
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

Table selection_table(const DecisionTable& table, const Selection& selection) {
  Table rows{{{"GPU"}, {"PCI"}, {"NUMA"}, {"NIC"}, {"RELATION"}, {"WHY"}}, {}};
  for (const auto& chosen : selection.gpus) {
    const auto& gpu = table.node().gpus[chosen.gpu];
    const std::vector<std::string> start{gpu_label(gpu), gpu.pci.str(),
                                         text_or_blank(gpu.numa_node)};
    if (chosen.nics.empty()) rows.rows.push_back(start);
    for (const auto& choice : chosen.nics) {
      auto row = start;
      row.push_back(table.node().nics[choice.nic].name);
      row.emplace_back(to_string(choice.nearness.relation));
      row.push_back(choice.why);
      rows.rows.push_back(std::move(row));
    }
  }
  return rows;
}

Report affinity_report(const DecisionTable& table, const std::vector<std::size_t>& gpus,
                       bool with_reasons) {
  const auto& node = table.node();
  const auto selection = select(node, table.topology(), table.deal(), table.usable(), gpus);
  const auto sample = sample_container(node, gpus);
  const auto decision = decide(sample.request, table, {}, GpuClaim::no_kubelet);
  Report report;
  report.json = make_document("Affinity");
  report.json["node"] = node.name;
  add_source(report.json, table.topology());
  report.json["gpus"] = selection_json(table, selection);
  Json names = Json::array();
  for (const auto n : decision.nics) names.push_back(node.nics[n].name);
  Json devices = Json::array();
  std::vector<std::string> lines;
  for (const auto& device : decision.adjustment.devices) devices.push_back(device.path);
  Json env = Json::object();
  for (const auto& [name, value] : decision.adjustment.env) env[name] = value;
  auto warnings = table.topology().warnings;
  for (auto& line : namespace_lines(table.node())) warnings.push_back(std::move(line));
  for (const auto* more : {&table.deal().warnings, &selection.warnings})
    warnings.insert(warnings.end(), more->begin(), more->end());
  for (const auto& remark : decision.remarks) {
    // The selection has said it, once for each GPU.
    if (remark.code == warn::kNicNotUsable || remark.code == warn::kStandIn) continue;
    if (std::find(warnings.begin(), warnings.end(), remark.text) == warnings.end())
      warnings.push_back(remark.text);
  }
  if (gpus.empty()) {
    report.sections.push_back({"", {}, {"no GPU on this node"}});
  } else {
    report.sections.push_back({"", selection_table(table, selection), {}});
    report.sections.push_back({"", {}, {source_line(table.topology())}});
  }
  for (const auto& device : decision.adjustment.devices) lines.push_back(device.path);
  for (const auto& [name, value] : decision.adjustment.env) lines.push_back(name + "=" + value);
  if (!lines.empty()) report.sections.push_back({"A CONTAINER WITH THESE GPUS GETS", {}, lines});
  report.json["nics"] = std::move(names);
  report.json["devices"] = std::move(devices);
  report.json["env"] = std::move(env);
  if (with_reasons) {
    add_explanation(report, table,
                    explain(node, table.topology(), table.deal(), table.usable(), gpus));
  }
  report.json["warnings"] = warnings;
  if (!warnings.empty()) report.sections.push_back({"WARNINGS", {}, warnings});
  return report;
}

int print_affinity(const Invocation& invocation, const AffinityFlags& flags,
                   const DecisionTable& table) {
  const auto gpus = asked_gpus(table, flags.gpus);
  if (!gpus) return invocation.fail("affinity", gpus.error(), kExitUsage);
  const auto report = affinity_report(table, *gpus, flags.explain);
  const bool lacking = !gpus->empty() && report.json["nics"].empty();
  return invocation.print(report, lacking ? kExitProblem : kExitOk);
}

}  // namespace

void add_affinity_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand("affinity",
                                     "Show which NICs a container with some GPUs gets, and why");
  auto flags = std::make_shared<AffinityFlags>();
  add_machine_options(*app, invocation);
  add_settings(*app, invocation, {"topology.file"});
  add_output_option(*app, invocation);
  app->add_option("--gpus", flags->gpus,
                  "indexes, UUIDs or PCI addresses, separated by commas [all]")
      ->type_name("LIST");
  app->add_flag("--explain", flags->explain,
                "every NIC as each GPU sees it, with the reason for or against it");
  app->callback([&invocation, flags] {
    invocation.run = [&invocation, flags] {
      return invocation.with_machine("affinity", [&](const DecisionTable& table) {
        return print_affinity(invocation, *flags, table);
      });
    };
  });
}

}  // namespace railhead
