// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "base/contains.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "inject/codes.h"
#include "inject/memlock.h"
#include "node/unread.h"
#include "topology/layout.h"

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

/// Every NIC as each GPU sees it, for `affinity --explain`. The document has an entry for each; the
/// text puts NICs of which the same is true on one line.
void add_explanation(report::Report& report, const inject::DecisionTable& table,
                     const affinity::Selection& selection) {
  const node::Node& node = table.node();
  report.json["computeNics"] = table.deal().cards.size();
  report.json["nicsPerGpu"] = table.deal().per_gpu;
  report.json["explanation"] = data::Json::array();
  for (const auto& gpu : explain(node, table.topology(), table.deal(), table.usable(), selection)) {
    const auto entry = [&](const affinity::ExplainedNic& nic) {
      return nic_entry(node.nics[nic.nic], nic);
    };
    report.json["explanation"].push_back({{"pci", node.gpus[gpu.gpu].pci.str()},
                                          {"step", gpu.step},
                                          {"nics", data::json_list(gpu.nics, entry)}});
    report.sections.push_back(
        {gpu_label(node.gpus[gpu.gpu]) + ": " + gpu.step, lines_of(node, gpu), {}});
  }
}

struct AffinityFlags {
  std::optional<std::string> gpus;  ///< absent: all
  bool explain = false;
};

/// A GPU named by index, UUID or PCI address. PCI addresses have a colon, indexes only digits.
Result<std::size_t> find_gpu(const inject::DecisionTable& table, std::string_view word) {
  const auto& gpus = table.node().gpus;
  // As it is printed: "GPU0", "GPU 0000:19:00.0".
  const auto has_label = [&](const node::Gpu& gpu) { return gpu_label(gpu) == word; };
  const auto labelled = std::ranges::find_if(gpus, has_label);
  if (labelled != gpus.end()) return static_cast<std::size_t>(labelled - gpus.begin());
  if (const auto index = parse_unsigned(word); index && *index <= 0xffff) {
    if (const auto gpu = table.gpu_by_index(static_cast<unsigned>(*index))) return *gpu;
  } else if (const auto address = node::PciAddress::parse(word)) {
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      if (gpus[g].pci == *address) return g;
    }
  } else if (const auto gpu = table.gpu_by_uuid(word)) {
    return *gpu;
  }
  return Error{ErrorCode::usage, "--gpus: this node has no GPU " + in_quotes(word) + " (" +
                                     std::to_string(gpus.size()) + " GPUs)"};
}

Result<std::vector<std::size_t>> asked_gpus(const inject::DecisionTable& table,
                                            const std::optional<std::string>& text) {
  std::vector<std::size_t> asked;
  if (!text) {
    for (std::size_t g = 0; g < table.node().gpus.size(); ++g) asked.push_back(g);
    return asked;
  }
  for (const auto word : split(*text, ',')) {
    const auto gpu = TRY(find_gpu(table, trim(word)));
    if (!contains(asked, gpu)) asked.push_back(gpu);
  }
  return asked;
}

data::Json selection_json(const inject::DecisionTable& table,
                          const affinity::Selection& selection) {
  return data::json_list(selection.gpus, [&](const affinity::GpuChoice& chosen) {
    auto gpu = gpu_json(table.node(), chosen.gpu);
    gpu["nics"] = data::json_list(chosen.nics, [&](const affinity::Choice& choice) {
      return data::Json{{"name", table.node().nics[choice.nic].name},
                        {"relation", to_string(choice.nearness.relation)},
                        {"standIn", choice.stand_in},
                        {"why", choice.why}};
    });
    return gpu;
  });
}

report::Table selection_table(const inject::DecisionTable& table,
                              const affinity::Selection& selection) {
  report::Table rows{{{"GPU", report::kKept},
                      {"PCI"},
                      {"NUMA"},
                      {"NIC", report::kKept},
                      {"RELATION", report::kKept},
                      {"WHY", report::kKept}},
                     {}};
  for (const auto& chosen : selection.gpus) {
    const auto& gpu = table.node().gpus[chosen.gpu];
    const std::vector<std::string> start{gpu_label(gpu), gpu.pci.str(),
                                         report::text_or_blank(gpu.numa_node)};
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

void add_new(std::vector<std::string> more, std::vector<std::string>& lines) {
  for (auto& line : more) {
    if (!contains(lines, line)) {
      lines.push_back(std::move(line));
    }
  }
}

std::vector<std::string> warnings_of(const inject::DecisionTable& table,
                                     const affinity::Selection& selection,
                                     const inject::Decision& decision) {
  auto warnings = table.topology().warnings;
  for (auto& line : namespace_lines(table.node())) warnings.push_back(std::move(line));
  for (const auto* more : {&table.deal().warnings, &selection.warnings}) {
    warnings.insert(warnings.end(), more->begin(), more->end());
  }
  for (const auto& remark : decision.remarks) {
    // The selection has said it, once for each GPU.
    if (remark.code == inject::warn::kNicNotUsable || remark.code == inject::warn::kStandIn)
      continue;
    add_new({remark.text}, warnings);
  }
  add_new(problem_lines(table.node()), warnings);
  return warnings;
}

std::vector<std::string> names_of(const node::Node& node, const std::vector<std::size_t>& nics) {
  std::vector<std::string> names;
  for (const auto n : nics) names.push_back(node.nics[n].name);
  return names;
}

/// The fields and lines about the container, and about one whose pod has a network of its own.
void add_container(const node::Node& node, const inject::Decision& decision,
                   const inject::Decision& apart, report::Report& report) {
  std::vector<std::string> lines;
  for (const auto& device : decision.adjustment.devices) lines.push_back(device.path);
  report.json["nics"] = names_of(node, decision.nics);
  report.json["devices"] = lines;
  report.json["env"] = data::Json::object();
  for (const auto& [name, value] : decision.adjustment.env) {
    report.json["env"][name] = value;
    lines.push_back(name + "=" + value);
  }
  const auto& memlock = decision.adjustment.memlock_bytes;
  report.json["memlock"] = nullptr;
  if (memlock) {
    report.json["memlock"] =
        *memlock == container::kUnlimited ? "unlimited" : std::to_string(*memlock);
    lines.push_back("memlock " + inject::memlock_text(*memlock));
  }
  const auto others = names_of(node, apart.nics);
  report.json["ownNetwork"] = {{"nics", others}, {"reason", apart.reason_code}};
  if (apart.nics != decision.nics) {
    lines.push_back("with a network of its own: " +
                    (others.empty() ? "no NIC (" + apart.reason_code + ")" : join(others, ", ")));
  }
  report.add("A CONTAINER WITH THESE GPUS GETS", std::move(lines));
}

report::Report affinity_report(const inject::DecisionTable& table,
                               const std::vector<std::size_t>& gpus, bool with_reasons) {
  const auto& node = table.node();
  const auto selection =
      affinity::select(node, table.topology(), table.deal(), table.usable(), gpus);
  container::Request request;  // of a container on the host's network
  request.pod_namespaces = {"ipc"};
  request.name = "sample";
  const auto decision = inject::decide_holding(gpus, request, table, {});
  request.pod_namespaces.emplace_back("network");
  const auto apart = inject::decide_holding(gpus, request, table, {});
  report::Report report;
  report.json = report::make_document("Affinity");
  report.json["node"] = node.name;
  add_source(report.json, table.topology());
  report.json["gpus"] = selection_json(table, selection);
  if (gpus.empty()) {
    report.note("", {no_gpu_text(node)});
  } else {
    report.sections.push_back({"", selection_table(table, selection), {}});
    if (!node.nics.empty()) report.note("", {source_line(table.topology())});
  }
  report.note("", no_rdma_lines(node));
  add_container(node, decision, apart, report);
  if (with_reasons) add_explanation(report, table, selection);
  auto warnings = warnings_of(table, selection, decision);
  report.json["warnings"] = warnings;
  report.note("WARNINGS", std::move(warnings));
  return report;
}

Result<int> print_affinity(const Invocation& invocation, const AffinityFlags& flags,
                           const inject::DecisionTable& table) {
  const auto gpus = TRY(asked_gpus(table, flags.gpus));
  const auto report = affinity_report(table, gpus, flags.explain);
  if (gpus.empty()) {
    const bool unknown = !topology::unclassified_functions(table.node()).empty();
    return invocation.print(report, unknown ? kExitCannotTell : exit_code_for(table.node(), true));
  }
  const auto selection =
      affinity::select(table.node(), table.topology(), table.deal(), table.usable(), gpus);
  if (report.json["nics"].empty() && node::unread_nic(table.node()) != nullptr) {
    return invocation.print(report, kExitCannotTell);
  }
  const bool is_of_all = gpus.size() == table.node().gpus.size();
  const auto lost = is_of_all ? lost_nic_lines(table) : lost_nic_lines(table, selection);
  const bool is_well = !report.json["nics"].empty() && lost.empty();
  return invocation.print(report, exit_code_for(table.node(), is_well));
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
                  "GPUs by index (0 or GPU0), UUID or PCI address, separated by commas [all]")
      ->type_name("LIST");
  app->add_flag("--explain", flags->explain,
                "every NIC as each GPU sees it, with the reason for or against it");
  app->footer(
      "The container is on the host's network. If one with a network of its own gets other NICs,\n"
      "a line says so: an Ethernet NIC has no address there.\n"
      "Exit codes: 0 ok; 1 the GPUs get no NIC, or one that is due to them is missing or cannot "
      "carry\n"
      "traffic; 2 the machine cannot be read, or its NCCL file names no GPU.\n"
      "Examples: railhead affinity --gpus GPU0,GPU1\n"
      "          railhead affinity --explain --snapshot node.snapshot");
  invocation.answer_with_machine(*app, [&invocation, flags](const inject::DecisionTable& table) {
    return print_affinity(invocation, *flags, table);
  });
}

}  // namespace railhead::cli
