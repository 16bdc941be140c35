// SPDX-License-Identifier: Apache-2.0
#include "agent/machine_news.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace railhead {
namespace {

std::string usable_text(const Usability& usability) {
  return usability.usable ? "usable" : "not usable: " + usability.reason;
}

/// To whoever reads the log.
bool is_same(const Usability& a, const Usability& b) {
  return a.usable == b.usable && (a.usable || a.reason == b.reason);
}

/// Most NICs are, and at the same place.
bool is_same_at(std::size_t n, const DecisionTable& before, const DecisionTable& now) {
  const auto& old_nics = before.node().nics;
  const auto& nics = now.node().nics;
  return n < old_nics.size() && n < nics.size() && old_nics[n].name == nics[n].name &&
         is_same(before.usable()[n], now.usable()[n]);
}

}  // namespace

void publish_machine(const DecisionTable& table, MetricRegistry& metrics) {
  metrics.set("railhead_node_gpus", static_cast<double>(table.node().gpus.size()));
  metrics.set("railhead_node_problems", static_cast<double>(table.node().problems.size()));
  const Topology& topology = table.topology();
  metrics.replace("railhead_topology_info",
                  {{{{"source", std::string(to_string(topology.source))},
                     {"confidence", std::string(to_string(topology.confidence))},
                     {"origin", topology.origin}},
                    1}});
  std::map<std::pair<Role, bool>, double> counts;
  std::vector<MetricRegistry::Sample> by_name;
  by_name.reserve(table.node().nics.size());
  for (std::size_t n = 0; n < table.node().nics.size(); ++n) {
    const bool usable = table.usable()[n].usable;
    ++counts[{table.deal().roles[n].role, usable}];
    by_name.push_back({{{"nic", table.node().nics[n].name}}, usable ? 1.0 : 0.0});
  }
  std::vector<MetricRegistry::Sample> by_role;
  for (const auto& [kind, count] : counts) {
    by_role.push_back(
        {{{"role", std::string(to_string(kind.first))}, {"usable", kind.second ? "true" : "false"}},
         count});
  }
  metrics.replace("railhead_node_nics", by_role);
  metrics.replace("railhead_nic_usable", by_name);
}

void log_machine(const DecisionTable* before, const DecisionTable& now, std::string_view cause,
                 Log& log) {
  log.write(LogLevel::info, "node read",
            {{"cause", std::string(cause)},
             {"gpus", std::to_string(now.node().gpus.size())},
             {"nics", std::to_string(now.node().nics.size())},
             {"problems", std::to_string(now.node().problems.size())},
             {"topology", std::string(to_string(now.topology().source))},
             {"origin", now.topology().origin},
             {"confidence", std::string(to_string(now.topology().confidence))}});
  std::map<std::string_view, const Usability*> was;  // of changed ones; null: is still there
  for (std::size_t n = 0; before != nullptr && n < before->node().nics.size(); ++n) {
    if (!is_same_at(n, *before, now)) was[before->node().nics[n].name] = &before->usable()[n];
  }
  for (std::size_t n = 0; n < now.node().nics.size(); ++n) {
    if (before != nullptr && is_same_at(n, *before, now)) continue;
    const auto& name = now.node().nics[n].name;
    const auto& is = now.usable()[n];
    const auto at = was.find(name);
    const auto* known = at != was.end() ? std::exchange(at->second, nullptr) : nullptr;
    if (known != nullptr && is_same(*known, is)) continue;
    const bool compute = now.deal().roles[n].role == Role::compute;
    log.write(!now.usable()[n].usable && compute ? LogLevel::warn : LogLevel::info, "nic",
              {{"nic", name},
               {"role", std::string(to_string(now.deal().roles[n].role))},
               {"why", now.deal().roles[n].reason},
               {"state", usable_text(is)}});
  }
  for (const auto& [name, known] : was) {
    if (known != nullptr) log.write(LogLevel::warn, "nic gone", {{"nic", std::string(name)}});
  }
  for (const auto& problem : now.node().problems) {
    log.write(LogLevel::warn, "node problem", {{"path", problem.path}, {"what", problem.what}});
  }
  for (const auto& warning : now.topology().warnings) {
    log.write(LogLevel::warn, "topology", {{"what", warning}});
  }
  for (const auto& conflict : now.pools().conflicts) {
    log.write(LogLevel::error, "pools", {{"what", conflict}});
  }
  for (const auto& warning : now.deal().warnings) {
    log.write(LogLevel::warn, "deal", {{"what", warning}});
  }
}

}  // namespace railhead
