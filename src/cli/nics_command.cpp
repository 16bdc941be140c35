// SPDX-License-Identifier: Apache-2.0

#include <ostream>

#include "base/contains.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/membership.h"
#include "features/features.h"
#include "features/gpu_direct.h"
#include "node/rdma_models.h"
#include "options/options.h"

namespace railhead::cli {
namespace {

std::vector<node::CharDevice> char_devices(const node::Nic& nic) {
  std::vector<node::CharDevice> all = nic.uverbs;
  all.insert(all.end(), nic.umads.begin(), nic.umads.end());
  all.insert(all.end(), nic.issms.begin(), nic.issms.end());
  return all;
}

template <typename Table, typename Owner>
void add_attributes(const Table& table, const Owner& owner, data::Json& json) {
  node::for_each_attribute(table, [&](const auto& row) {
    if (!row.json.empty()) json[row.json] = json_of(owner.*row.member);
  });
}

data::Json port_json(const node::Port& port) {
  data::Json json = {{"number", port.number}};
  add_attributes(node::kPortAttributes, port, json);
  return json;
}

data::Json nic_document(const inject::DecisionTable& table, std::size_t n,
                        const Membership& membership) {
  const auto& nic = table.node().nics[n];
  data::Json json = nic_json(table.node(), n);
  json["registered"] = nic.registered;
  json["driver"] = report::json_or_null(nic.driver);
  add_attributes(node::kNicAttributes, nic, json);
  json["netdevs"] = nic.netdevs;
  json["role"] = to_string(table.deal().roles[n].role);
  json["roleReason"] = table.deal().roles[n].reason;
  json["usable"] = table.usable()[n].usable;
  json["usableReason"] = table.usable()[n].reason;
  json["slowReason"] = table.usable()[n].slow;
  const auto& spare = table.deal().spare;
  json["spare"] = contains(spare, n);
  json["pool"] = membership.pools.empty() ? nullptr : data::Json(membership.pools.front());
  json["pools"] = membership.pools;
  json["notInPool"] = reasons_json(membership);
  json["ports"] = data::json_list(nic.ports, port_json);
  json["devices"] = data::json_list(char_devices(nic), [](const node::CharDevice& device) {
    return data::Json{{"path", device.path}, {"major", device.major}, {"minor", device.minor}};
  });
  return json;
}

template <typename Table, typename Owner>
void add_cells(const Table& table, const Owner* owner, std::vector<report::Cell>& cells) {
  node::for_each_attribute(table, [&](const auto& row) {
    if (row.column.empty()) return;
    const auto json = owner != nullptr ? json_of(owner->*row.member) : data::Json(nullptr);
    const auto text = json.is_string() ? json.template get<std::string>() : json.dump();
    cells.push_back({row.column, json.is_null() ? "" : text, report::kWide});
  });
}

std::string usable_text(const affinity::Usability& state, const node::Port* port) {
  if (state.usable && port && port->state && port->state != node::PortState::active) {
    return "no: port is " + std::string(to_string(*port->state));
  }
  if (!state.usable) return "no: " + state.reason;
  return state.slow.empty() ? "yes" : "yes, slow: " + state.slow;
}

/// A line is a port, as ibdev2netdev and ibstat would say it together, or a NIC without any.
std::vector<report::Cell> line_of(const inject::DecisionTable& table, std::size_t n,
                                  const Membership& membership, const node::Port* port) {
  const auto& nic = table.node().nics[n];
  const auto& role = table.deal().roles[n];
  const auto& state = table.usable()[n];
  const bool is_down = port && port->state != node::PortState::active;
  std::vector<std::string> devices;
  for (const auto& device : char_devices(nic)) devices.push_back(host::base_name(device.path));
  std::vector<report::Cell> cells = {
      {"NAME", nic.name, report::kKept},
      {"PORT", port ? std::to_string(port->number) : ""},
      {"STATE", port && port->state ? std::string(to_string(*port->state)) : "", report::kKept,
       is_down && !state.usable},
      {"Gbit/s", port ? rate_text(port->rate_gbps) : ""},
      {"LINK", port ? std::string(to_string(port->link_layer)) : ""},
      {"NETDEV", join(nic.netdevs, ",")},
      {"NUMA", report::text_or_blank(nic.numa_node)},
      {"PCI", nic.pci ? nic.pci->str() : ""},
      {"ROLE", std::string(to_string(role.role))},
      {"POOL", join(membership.pools, ",")},
      {"USABLE", usable_text(state, port), report::kKept, !state.usable},
      {"DEVICES", join(devices, ",")},
  };
  add_cells(node::kPortAttributes, port, cells);
  add_cells(node::kNicAttributes, &nic, cells);
  cells.push_back({"ROLE BECAUSE", role.reason, report::kWide});
  cells.push_back({"NO POOL BECAUSE", no_pool_text(membership), report::kWide});
  return cells;
}

data::Json candidate_json(const node::PciDevice* function) {
  const auto& model = *node::rdma_model_of(*function);
  return {{"pci", function->address.str()},
          {"driver", report::json_or_null(function->driver)},
          {"module", model.module},
          {"rdma", to_string(model.promise)}};
}

report::Report nics_report(const inject::DecisionTable& table) {
  report::Report report;
  report.json = report::make_document("Nics");
  report.json["node"] = table.node().name;
  report.json["rdmaNamespaces"] = report::json_or_null(rdma_namespaces(table.node()));
  report.json["nics"] = data::Json::array();
  report.json["candidates"] = data::json_list(rdma_candidates(table.node()), candidate_json);
  report::Table rows;
  const auto memberships = memberships_of_functions(table);
  for (std::size_t n = 0; n < table.node().nics.size(); ++n) {
    const auto function = table.pools().function_of(n);
    const auto& membership = function ? memberships[*function] : Membership();
    report.json["nics"].push_back(nic_document(table, n, membership));
    const auto& ports = table.node().nics[n].ports;
    if (ports.empty()) rows.add(line_of(table, n, membership, nullptr));
    for (const auto& port : ports) rows.add(line_of(table, n, membership, &port));
  }
  auto lines = lost_nic_lines(table);
  report.json["warnings"] = lines;
  report.json["problems"] = problems_json(table.node());
  for (auto& line : namespace_lines(table.node())) lines.push_back(std::move(line));
  for (auto& line : problem_lines(table.node())) lines.push_back(std::move(line));
  if (rows.rows.empty()) {
    report.note("", no_rdma_lines(table.node()));
  } else {
    report.sections.push_back({"", std::move(rows), {}});
  }
  report.note("WARNINGS", std::move(lines));
  return report;
}

constexpr const char* kFeatureFile = "nfd";

/// The labels of the node as the file that nfd.file of the agent is.
Result<int> print_features(const Invocation& invocation, const inject::DecisionTable& table,
                           int code) {
  const auto config = TRY(invocation.config());
  system::System system;
  if (config.settings().host.nccl_topo.empty()) {
    const auto origin = TRY(options::machine_origin(config.settings()));
    const auto host = TRY(options::open_machine(origin));
    system = system::read_system(*host, table.node(), features::kGpuDirectParts);
  }
  const auto text = features::to_feature_file(
      features::features_of(table.node(), table.topology(), table.deal(), system, {}), {});
  if (text != invocation.last_printed) invocation.out << text << std::flush;
  if (invocation.watch) invocation.last_printed = text;
  return code;
}

}  // namespace

void add_nics_command(CLI::App& program, Invocation& invocation) {
  auto* app =
      program.add_subcommand("nics", "Show every RDMA device (ibdev2netdev and ibstat in one)");
  add_machine_options(*app, invocation);
  add_settings(*app, invocation, {"topology.file"});
  add_output_option(*app, invocation, {kFeatureFile});
  add_watch_option(*app, invocation);
  app->footer(
      "Exit codes: 0 ok; 1 a NIC that is due to a GPU is missing or cannot carry traffic; 2 the\n"
      "machine, or a device of it, cannot be read.\n"
      "The MTU of a port is not in sysfs: ibv_devinfo asks the device.\n"
      "-o nfd prints the labels that nfd.file of the agent has for node-feature-discovery.\n"
      "Examples: railhead nics -o wide\n"
      "          railhead nics -o json | jq -r '.nics[] | select(.usable | not) | .name'");
  invocation.answer_with_machine(
      *app, [&invocation](const inject::DecisionTable& table) -> Result<int> {
        const auto report = nics_report(table);
        const int code = exit_code_for(table.node(), report.json["warnings"].empty());
        if (invocation.output == kFeatureFile) return print_features(invocation, table, code);
        return invocation.print(report, code);
      });
}

}  // namespace railhead::cli
