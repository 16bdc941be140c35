// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/membership.h"

namespace railhead::cli {
namespace {

std::vector<node::CharDevice> char_devices(const node::Nic& nic) {
  std::vector<node::CharDevice> all = nic.uverbs;
  all.insert(all.end(), nic.umads.begin(), nic.umads.end());
  all.insert(all.end(), nic.issms.begin(), nic.issms.end());
  return all;
}

data::Json port_json(const node::Port& port) {
  data::Json json = {{"number", port.number},
                     {"state", text_or_null(port.state)},
                     {"physState", report::json_or_null(port.phys_state)},
                     {"linkLayer", text_or_null(known_link_layer(port))},
                     {"rateGbps", report::json_or_null(port.rate_gbps)},
                     {"rate", report::json_or_null(port.rate_text)},
                     {"lid", report::json_or_null(port.lid)},
                     {"smLid", report::json_or_null(port.sm_lid)}};
  json["gids"] = data::Json::array();
  for (const auto& gid : port.gids) {
    json["gids"].push_back({{"index", gid.index},
                            {"gid", gid.value},
                            {"type", report::json_or_null(gid.type)},
                            {"netdev", report::json_or_null(gid.netdev)}});
  }
  json["pkeys"] = port.pkeys;
  return json;
}

data::Json nic_document(const inject::DecisionTable& table, std::size_t n,
                        const Membership& membership) {
  const auto& nic = table.node().nics[n];
  data::Json json = nic_json(table.node(), n);
  json["registered"] = nic.registered;
  json["driver"] = report::json_or_null(nic.driver);
  json["nodeGuid"] = report::json_or_null(nic.node_guid);
  json["sysImageGuid"] = report::json_or_null(nic.sys_image_guid);
  json["firmware"] = report::json_or_null(nic.firmware);
  json["hcaType"] = report::json_or_null(nic.hca_type);
  json["boardId"] = report::json_or_null(nic.board_id);
  json["parent"] = report::json_or_null(nic.parent);
  json["netdevs"] = nic.netdevs;
  json["role"] = to_string(table.deal().roles[n].role);
  json["roleReason"] = table.deal().roles[n].reason;
  json["usable"] = table.usable()[n].usable;
  json["usableReason"] = table.usable()[n].reason;
  const auto& spare = table.deal().spare;
  json["spare"] = std::find(spare.begin(), spare.end(), n) != spare.end();
  json["pool"] =
      membership.pools.empty() ? data::Json(nullptr) : data::Json(membership.pools.front());
  json["pools"] = membership.pools;
  json["notInPool"] = reasons_json(membership);
  json["ports"] = data::Json::array();
  for (const auto& port : nic.ports) json["ports"].push_back(port_json(port));
  json["devices"] = data::Json::array();
  for (const auto& device : char_devices(nic)) {
    json["devices"].push_back(
        {{"path", device.path}, {"major", device.major}, {"minor", device.minor}});
  }
  return json;
}

/// One row a port, as ibdev2netdev and ibstat would say it together.
void add_rows(const inject::DecisionTable& table, std::size_t n, const Membership& membership,
              report::Table& out) {
  const auto& nic = table.node().nics[n];
  std::vector<std::string> devices;
  for (const auto& device : char_devices(nic)) devices.push_back(host::base_name(device.path));
  std::vector<node::Port> ports = nic.ports;
  if (ports.empty()) ports.emplace_back();
  for (const auto& port : ports) {
    const bool real = !nic.ports.empty();
    out.rows.push_back(
        {nic.name, real ? std::to_string(port.number) : "",
         port.state ? std::string(to_string(*port.state)) : "", rate_text(port.rate_gbps),
         real ? std::string(to_string(port.link_layer)) : "", join(nic.netdevs, ","),
         report::text_or_blank(nic.numa_node), nic.pci ? nic.pci->str() : "",
         std::string(to_string(table.deal().roles[n].role)), join(membership.pools, ","),
         table.usable()[n].usable ? "yes" : "no: " + table.usable()[n].reason, join(devices, ","),
         report::text_or_blank(port.phys_state), report::text_or_blank(nic.firmware),
         report::text_or_blank(nic.hca_type), table.deal().roles[n].reason,
         no_pool_text(membership)});
  }
}

report::Report nics_report(const inject::DecisionTable& table) {
  constexpr auto kWide = report::Column::Shown::wide;
  report::Report report;
  report.json = report::make_document("Nics");
  report.json["node"] = table.node().name;
  report.json["rdmaNamespaces"] = report::json_or_null(rdma_namespaces(table.node()));
  report.json["nics"] = data::Json::array();
  report::Table rows{{{"NAME"},
                      {"PORT"},
                      {"STATE"},
                      {"Gbit/s"},
                      {"LINK"},
                      {"NETDEV"},
                      {"NUMA"},
                      {"PCI"},
                      {"ROLE"},
                      {"POOL"},
                      {"USABLE"},
                      {"DEVICES"},
                      {"PHYS", kWide},
                      {"FIRMWARE", kWide},
                      {"TYPE", kWide},
                      {"ROLE BECAUSE", kWide},
                      {"NO POOL BECAUSE", kWide}},
                     {}};
  const auto memberships = memberships_of_functions(table);
  for (std::size_t n = 0; n < table.node().nics.size(); ++n) {
    const auto function = table.pools().function_of(n);
    const auto& membership = function ? memberships[*function] : Membership();
    report.json["nics"].push_back(nic_document(table, n, membership));
    add_rows(table, n, membership, rows);
  }
  report.json["problems"] = problems_json(table.node());
  auto lines = namespace_lines(table.node());
  for (auto& line : problem_lines(table.node())) lines.push_back(std::move(line));
  if (rows.rows.empty()) {
    report.sections.push_back({"", {}, {"no RDMA device on this node"}});
  } else {
    report.sections.push_back({"", std::move(rows), {}});
  }
  if (!lines.empty()) report.sections.push_back({"WARNINGS", {}, lines});
  return report;
}

}  // namespace

void add_nics_command(CLI::App& program, Invocation& invocation) {
  auto* app =
      program.add_subcommand("nics", "Show every RDMA device (ibdev2netdev and ibstat in one)");
  add_machine_options(*app, invocation);
  add_settings(*app, invocation, {"topology.file"});
  add_output_option(*app, invocation);
  app->footer("Exit codes: 0 ok, usable or not, 2 the machine cannot be read.");
  app->callback([&invocation] {
    invocation.run = [&invocation] {
      return invocation.with_machine("nics", [&](const inject::DecisionTable& table) {
        return invocation.print(nics_report(table), kExitOk);
      });
    };
  });
}

}  // namespace railhead::cli
