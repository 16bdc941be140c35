// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <numeric>
#include <ostream>

#include "base/text.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/topology_picture.h"
#include "host/clock.h"
#include "report/text_width.h"
#include "topology/layout.h"

namespace railhead::cli {
namespace {

/// Columns of the matrix: RDMA devices that exist. A function whose driver is missing has no name.
std::vector<std::size_t> matrix_columns(const node::Node& node) {
  std::vector<std::size_t> columns;
  for (std::size_t n = 0; n < node.nics.size(); ++n) {
    if (node.nics[n].registered) columns.push_back(n);
  }
  return columns;
}

/// The words of these rows and columns of a table of relations.
data::Json relation_rows(const std::vector<std::vector<topology::Nearness>>& table,
                         const std::vector<std::size_t>& rows,
                         const std::vector<std::size_t>& columns) {
  return data::json_list(rows, [&](std::size_t row) {
    return data::json_list(
        columns, [&](std::size_t column) { return to_string(table[row][column].relation); });
  });
}

/// The warnings about the PCI tree, and about GPUs without a NIC of their own.
std::vector<std::string> warning_lines(const inject::DecisionTable& table) {
  auto lines = table.topology().warnings;
  for (auto& line : lost_nic_lines(table)) lines.push_back(std::move(line));
  return lines;
}

/// NICs whose relations to each other are said; a thousand have a million.
constexpr std::size_t kMostRelated = 512;

data::Json topology_json(const inject::DecisionTable& table) {
  const auto& node = table.node();
  const auto columns = matrix_columns(node);
  data::Json json = report::make_document("Topology");
  json["node"] = node.name;
  add_source(json, table.topology());
  std::vector<std::size_t> gpus(node.gpus.size());
  std::iota(gpus.begin(), gpus.end(), std::size_t{0});
  json["gpus"] = data::json_list(gpus, [&](std::size_t g) { return gpu_json(node, g); });
  json["nics"] = data::json_list(columns, [&](std::size_t n) {
    auto nic = nic_json(node, n);
    nic["role"] = to_string(table.deal().roles[n].role);
    nic["roleReason"] = table.deal().roles[n].reason;
    return nic;
  });
  json["relations"] = relation_rows(table.topology().gpu_nic, gpus, columns);
  json["gpuRelations"] = relation_rows(table.topology().gpu_gpu, gpus, gpus);
  json["nicRelations"] = node.nics.size() > kMostRelated
                             ? data::Json()
                             : relation_rows(topology::nic_relations(node), columns, columns);
  json["warnings"] = warning_lines(table);
  json["problems"] = problems_json(node);
  return json;
}

constexpr std::size_t kBeforeNics = 3;  ///< columns of the matrix

report::Table matrix(const inject::DecisionTable& table) {
  const auto& node = table.node();
  const auto columns = matrix_columns(node);
  report::Table out{{{"GPU", report::kKept}, {"PCI"}, {"NUMA"}}, {}};
  for (const auto n : columns) out.columns.push_back({node.nics[n].name});
  for (std::size_t g = 0; g < node.gpus.size(); ++g) {
    const auto& gpu = node.gpus[g];
    std::vector<std::string> row{gpu_label(gpu), gpu.pci.str(),
                                 report::text_or_blank(gpu.numa_node)};
    for (const auto n : columns)
      row.emplace_back(to_string(table.topology().gpu_nic[g][n].relation));
    out.rows.push_back(std::move(row));
  }
  return out;
}

/// The same with a line for each NIC, where there are too many for a line of the terminal.
report::Table fitting_matrix(const inject::DecisionTable& table, std::size_t columns) {
  auto by_gpu = matrix(table);
  const auto widest = report::render_table(by_gpu, report::Column::Shown::always).find('\n');
  if (columns == 0 || widest <= columns || table.node().gpus.empty()) return by_gpu;
  report::Table by_nic{{{"NIC", report::kKept}}, {}};
  for (const auto& gpu : table.node().gpus) by_nic.columns.push_back({gpu_label(gpu)});
  const auto nics = matrix_columns(table.node());
  for (std::size_t i = 0; i < nics.size(); ++i) {
    auto& row = by_nic.rows.emplace_back();
    row.push_back(table.node().nics[nics[i]].name);
    for (const auto& gpu : by_gpu.rows) row.push_back(gpu[kBeforeNics + i]);
  }
  return by_nic;
}

report::Report topology_report(const inject::DecisionTable& table, std::size_t columns) {
  const auto& node = table.node();
  report::Report report;
  report.json = topology_json(table);
  if (node.gpus.empty()) {
    report.note("", {no_gpu_text(node)});
  } else {
    report.sections.push_back({"", fitting_matrix(table, columns), {}});
  }
  report.note("", no_rdma_lines(node));
  if (!node.gpus.empty() && !node.nics.empty()) {
    report.note("",
                {"PIX one PCIe switch  PXB several switches  PHB host bridge  NODE same NUMA node  "
                 "SYS across sockets",
                 source_line(table.topology())});
  }
  auto lines = report.json["warnings"].get<std::vector<std::string>>();
  for (auto& line : namespace_lines(node)) lines.push_back(std::move(line));
  for (auto& line : problem_lines(node)) lines.push_back(std::move(line));
  report.note("WARNINGS", std::move(lines));
  return report;
}

/// The machine that is shown, and where it is from.
struct Shown {
  const inject::DecisionTable& table;
  const config::Settings::Host& origin;
};

report::Report tree_report(const inject::DecisionTable& table) {
  report::Report report;
  const auto text = tree_text(table);
  std::vector<std::string> lines;
  for (const auto line : split(std::string_view(text).substr(0, text.rfind('\n')), '\n'))
    lines.emplace_back(line);
  report.add("", std::move(lines));
  report.note("WARNINGS", warning_lines(table));
  return report;
}

std::string to_svg(const Invocation& /*invocation*/, const Shown& shown) {
  auto picture = topology_picture(shown.table);
  // A snapshot and a topology file do not say when they were made.
  if (shown.origin.snapshot.empty() && shown.origin.nccl_topo.empty()) {
    picture.subtitles.push_back("as of " + host::utc_text(host::SystemClock().calendar()));
  }
  return report::to_svg(picture);
}

std::string to_dot(const Invocation& /*invocation*/, const Shown& shown) {
  return report::to_dot(topology_picture(shown.table));
}

std::string to_nccl(const Invocation& invocation, const Shown& shown) {
  const auto topology = topology::nccl_topology_of(shown.table.node());
  for (const auto& warning : topology.warnings) {
    invocation.err << "railhead topology: " << report::printable(warning) << "\n";
  }
  return topology::to_xml(topology);
}

constexpr const char* kTree = "tree";  ///< the PCI tree, for a terminal

/// A file of this command alone, beside those that report::kFormats has for all.
struct TopologyFormat {
  const char* name;
  std::string (*render)(const Invocation& invocation, const Shown& shown);
};

constexpr std::array kTopologyFormats = {
    TopologyFormat{"svg", to_svg},    // a picture
    TopologyFormat{"dot", to_dot},    // the same picture for Graphviz
    TopologyFormat{"nccl", to_nccl},  // for NCCL_TOPO_FILE
};

int print_topology(const Invocation& invocation, const Shown& shown) {
  const auto code = exit_code_for(shown.table.node(), lost_nic_lines(shown.table).empty());
  if (invocation.output == kTree) return invocation.print(tree_report(shown.table), code);
  for (const auto& format : kTopologyFormats) {
    if (invocation.output != format.name) continue;
    invocation.out << format.render(invocation, shown);
    return code;
  }
  const auto columns = invocation.output == "table" ? invocation.style().columns : 0;
  return invocation.print(topology_report(shown.table, columns), code);
}

}  // namespace

void add_topology_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand("topology", "Show how GPUs and NICs are connected");
  add_machine_options(*app, invocation);
  add_settings(*app, invocation, {"topology.file"});
  std::vector<std::string> own_formats = {kTree};
  for (const auto& format : kTopologyFormats) own_formats.emplace_back(format.name);
  add_output_option(*app, invocation, own_formats);
  app->footer(
      "Exit codes: 0 ok; 1 a NIC that is due to a GPU is missing or cannot carry traffic; 2 the\n"
      "machine cannot be read.\n"
      "Examples: railhead topology -o tree\n"
      "          railhead topology -o svg > node.svg\n"
      "          railhead topology -o nccl > /etc/nccl-topology.xml");
  invocation.answer_with_config(*app, [&invocation](const config::Config& config) -> Result<int> {
    const auto table = TRY(load_table(config));
    return print_topology(invocation, {*table, config.settings().host});
  });
}

}  // namespace railhead::cli
