// SPDX-License-Identifier: Apache-2.0
#include "agent/machine_news.h"

#include <map>
#include <string>
#include <vector>

namespace railhead {
namespace {

std::string usable_text(const Usability& usability) {
  return usability.usable ? "usable" : "not usable: " + usability.reason;
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
  std::vector<MetricRegistry::Sample> by_role;
  std::vector<MetricRegistry::Sample> by_name;
  for (std::size_t n = 0; n < table.node().nics.size(); ++n) {
    const bool usable = table.usable()[n].usable;
    by_role.push_back({{{"role", std::string(to_string(table.deal().roles[n].role))},
                        {"usable", usable ? "true" : "false"}},
                       1});
    by_name.push_back({{{"nic", table.node().nics[n].name}}, usable ? 1.0 : 0.0});
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
  std::map<std::string, std::string> was;
  if (before != nullptr) {
    for (std::size_t n = 0; n < before->node().nics.size(); ++n) {
      was[before->node().nics[n].name] = usable_text(before->usable()[n]);
    }
  }
  for (std::size_t n = 0; n < now.node().nics.size(); ++n) {
    const auto& name = now.node().nics[n].name;
    const auto is = usable_text(now.usable()[n]);
    const auto at = was.find(name);
    const bool same = at != was.end() && at->second == is;
    if (at != was.end()) was.erase(at);
    if (same) continue;
    const bool compute = now.deal().roles[n].role == Role::compute;
    log.write(!now.usable()[n].usable && compute ? LogLevel::warn : LogLevel::info, "nic",
              {{"nic", name},
               {"role", std::string(to_string(now.deal().roles[n].role))},
               {"why", now.deal().roles[n].reason},
               {"state", is}});
  }
  for (const auto& [name, state] : was) log.write(LogLevel::warn, "nic gone", {{"nic", name}});
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
