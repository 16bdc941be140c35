// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/text.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/membership.h"
#include "options/options.h"

namespace railhead::cli {
namespace {

constexpr std::size_t kShownMembers = 8;
constexpr std::size_t kShownReasons = 4;

std::vector<std::string> nic_names(const inject::DecisionTable& table,
                                   const pools::NetFunction& function) {
  std::vector<std::string> names;
  for (const auto nic : function.nics) {
    if (table.node().nics[nic].registered) names.push_back(table.node().nics[nic].name);
  }
  return names;
}

/// A pool hands out functions by address, or admission to NICs by name.
std::string member_label(const inject::DecisionTable& table, const pools::Pool& pool,
                         const pools::Member& member) {
  const auto& function = table.pools().functions[member.function];
  const auto names = nic_names(table, function);
  return pool.spec.mode == pools::PoolMode::exclusive || names.empty() ? function.id
                                                                       : join(names, "+");
}

std::string members_text(const inject::DecisionTable& table, const pools::Pool& pool, bool all) {
  std::vector<std::string> labels;
  for (const auto& member : pool.members) {
    if (!all && labels.size() == kShownMembers && pool.members.size() > kShownMembers) {
      return join(labels, ",") + ",… (" + std::to_string(pool.members.size()) + ")";
    }
    labels.push_back(member_label(table, pool, member));
  }
  return join(labels, ",");
}

std::string devices_text(const pools::Pool& pool) {
  auto text = std::to_string(pools::device_count(pool));
  if (pool.spec.slots_per_nic) text += " (" + std::to_string(*pool.spec.slots_per_nic) + " a NIC)";
  return text;
}

std::size_t ready_members(const pools::Pool& pool) {
  return static_cast<std::size_t>(std::ranges::count_if(
      pool.members,
      [](const pools::Member& member) { return member.state == pools::MemberState::ready; }));
}

data::Json member_json(const inject::DecisionTable& table, const pools::Member& member) {
  const auto& function = table.pools().functions[member.function];
  return {{"id", function.id},
          {"kind", to_string(function.kind)},
          {"nics", nic_names(table, function)},
          {"pci", function.pci ? data::Json(function.pci->str()) : data::Json(nullptr)},
          {"netdevs", function.netdevs},
          {"numaNode", report::json_or_null(function.numa_node)},
          {"ready", member.state == pools::MemberState::ready},
          {"reason", member.reason}};
}

data::Json pool_json(const inject::DecisionTable& table, const pools::Pool& pool) {
  const bool fungible = pool.spec.mode == pools::PoolMode::shared && !pool.spec.slots_per_nic;
  const auto member = [&](const pools::Member& one) { return member_json(table, one); };
  return {{"name", pool.spec.name},
          {"mode", to_string(pool.spec.mode)},
          {"slots", fungible ? data::Json(pool.spec.slots) : data::Json(nullptr)},
          {"slotsPerNic", report::json_or_null(pool.spec.slots_per_nic)},
          {"devices", pools::device_count(pool)},
          {"health", to_string(pool.spec.health)},
          {"narrow", pool.spec.narrow},
          {"source", to_string(pool.spec.origin.flavour)},
          {"where", report::text_or_null(pool.spec.origin.where)},
          {"remarks", pool.remarks},
          {"members", data::json_list(pool.members, member)}};
}

/// "vendors: 15b3 is not 8086 (4 functions)": the reasons of a pool without members, most first.
std::vector<std::string> empty_pool_lines(const inject::DecisionTable& table, std::size_t p) {
  std::map<std::string, std::size_t> counts;
  const auto reasons = table.why_not_in(p);
  for (std::size_t f = 0; f < reasons.size(); ++f) {
    if (pools::may_matter(table.pools(), table.pools().functions[f])) ++counts[reasons[f]];
  }
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  const auto& name = table.pools().pools[p].spec.name;
  if (sorted.empty()) return {name + ": this node has no RDMA device"};
  std::vector<std::string> lines;
  for (const auto& [reason, count] : sorted) {
    if (lines.size() == kShownReasons) {
      lines.push_back(name + ": … (-o wide names them all)");
      break;
    }
    lines.push_back(name + ": " + reason + " (" + counted(count, "function") + ")");
  }
  return lines;
}

/// For each function and each pool that it is not in, why; fills the JSON beside.
report::Table reasons_table(const inject::DecisionTable& table, data::Json& functions) {
  report::Table rows{{{"FUNCTION"}, {"KIND"}, {"NIC"}, {"NOT IN"}, {"BECAUSE"}}, {}};
  const auto memberships = memberships_of_functions(table);
  for (std::size_t f = 0; f < memberships.size(); ++f) {
    const auto& function = table.pools().functions[f];
    if (!pools::may_matter(table.pools(), function)) continue;
    const auto names = nic_names(table, function);
    functions.push_back({{"id", function.id},
                         {"kind", to_string(function.kind)},
                         {"nics", names},
                         {"pools", memberships[f].pools},
                         {"notInPool", reasons_json(memberships[f])}});
    for (const auto& [pool, reason] : memberships[f].reasons) {
      rows.rows.push_back(
          {function.id, std::string(to_string(function.kind)), join(names, ","), pool, reason});
    }
  }
  return rows;
}

report::Table pools_table(const inject::DecisionTable& table, bool wide) {
  report::Table rows;
  for (const auto& pool : table.pools().pools) {
    const auto ready = std::to_string(ready_members(pool));
    const auto& where = pool.spec.origin.where;
    rows.add({{"POOL", pool.spec.name, report::kKept},
              {"MODE", std::string(to_string(pool.spec.mode))},
              {"DEVICES", devices_text(pool)},
              {"READY", ready + "/" + std::to_string(pool.members.size()), report::kKept,
               ready == "0" && !pool.members.empty()},
              {"MEMBERS", members_text(table, pool, wide)},
              {"SOURCE", std::string(to_string(pool.spec.origin.flavour)), report::kWide},
              {"WHERE", where.empty() ? "default" : where, report::kWide}});
  }
  return rows;
}

report::Report pools_report(const inject::DecisionTable& table, const pools::PoolSpecs& specs,
                            bool wide) {
  report::Report report;
  report.json = report::make_document("Pools");
  report.json["node"] = table.node().name;
  report.json["pools"] = data::Json::array();
  std::vector<std::string> empty;
  std::vector<std::string> remarks;
  for (std::size_t p = 0; p < table.pools().pools.size(); ++p) {
    const auto& pool = table.pools().pools[p];
    report.json["pools"].push_back(pool_json(table, pool));
    for (const auto& remark : pool.remarks) remarks.push_back(pool.spec.name + ": " + remark);
    if (!pool.members.empty()) continue;
    for (auto& line : empty_pool_lines(table, p)) empty.push_back(std::move(line));
  }
  report.json["functions"] = data::Json::array();
  auto reasons = reasons_table(table, report.json["functions"]);
  report.json["conflicts"] = table.pools().conflicts;
  report.json["warnings"] = specs.warnings;
  report.json["leftOut"] = specs.left_out;
  report.json["problems"] = problems_json(table.node());
  report.add(pools_table(table, wide), "no pool is configured");
  report.note("", no_rdma_lines(table.node()));
  report.note("EMPTY", std::move(empty));
  report.note("REMARKS", std::move(remarks));
  if (wide && !reasons.rows.empty()) report.sections.push_back({"NOT IN A POOL", reasons, {}});
  report.note("CONFLICTS", table.pools().conflicts);
  report.note("LEFT OUT", specs.left_out);
  auto warnings = specs.warnings;
  for (auto& line : problem_lines(table.node())) warnings.push_back(std::move(line));
  report.note("WARNINGS", std::move(warnings));
  return report;
}

int exit_code(const inject::DecisionTable& table, const pools::PoolSpecs& specs) {
  const auto& pools = table.pools().pools;
  if (!table.pools().conflicts.empty() || !specs.left_out.empty()) return kExitProblem;
  for (std::size_t p = 0; p < pools.size(); ++p) {
    if (!pools[p].spec.origin.where.empty() && table.is_useless(p)) return kExitProblem;
  }
  return exit_code_for(table.node(), true);
}

Result<int> show_pools(const Invocation& invocation, const config::Config& config) {
  auto specs = TRY(options::pool_specs(config));
  specs.warnings.insert(specs.warnings.begin(), config.warnings().begin(), config.warnings().end());
  const auto table = TRY(load_table(config));
  return invocation.print(pools_report(*table, specs, invocation.output == "wide"),
                          exit_code(*table, specs));
}

}  // namespace

void add_pools_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand(
      "pools", "Show the resources of this node: what is in each pool, and what is not and why");
  add_machine_options(*app, invocation);
  add_settings(*app, invocation, {"devicePlugin.resourcePrefix"});
  add_output_option(*app, invocation);
  app->footer(
      "A pool that selects nothing on this node is empty by design, and no problem.\n"
      "Exit codes: 0 ok; 1 a configured pool selects functions and can give none (no driver, or\n"
      "none is ready), two exclusive pools want the same function, or a resource of another\n"
      "plugin's file is left out; 2 the machine cannot be read.\n"
      "Examples: railhead pools -o wide\n"
      "          railhead pools --config pools.yaml --snapshot node.snapshot");
  invocation.answer_with_config(
      *app, [&invocation](const config::Config& config) { return show_pools(invocation, config); });
}

}  // namespace railhead::cli
