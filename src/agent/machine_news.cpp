// SPDX-License-Identifier: Apache-2.0
#include "agent/machine_news.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "affinity/shortage.h"
#include "base/contains.h"
#include "node/unread.h"

namespace railhead::agent {
namespace {

/// To whoever reads the log.
bool is_same(const affinity::Usability& a, const affinity::Usability& b) {
  return a.usable == b.usable && (a.usable || a.reason == b.reason);
}

/// Which NIC was which.
struct Matched {
  std::vector<std::optional<std::size_t>> before;  ///< for each NIC, in the node before
  std::vector<std::size_t> gone;                   ///< of the node before
};

/// By name, else by function: a NIC whose driver lets go of it has its function's address for a
/// name, and is the same NIC. Most NICs are at the place where they were.
Matched match(const std::vector<node::Nic>& before, const std::vector<node::Nic>& now) {
  Matched all;
  all.before.resize(now.size());
  std::map<std::string_view, std::size_t> names;
  for (std::size_t n = 0; n < before.size(); ++n) {
    const bool is_here = n < now.size() && now[n].name == before[n].name;
    if (is_here) all.before[n] = n;
    if (!is_here) names[before[n].name] = n;
  }
  for (std::size_t n = 0; n < now.size(); ++n) {
    const auto known = all.before[n] ? names.end() : names.find(now[n].name);
    if (known == names.end()) continue;
    all.before[n] = known->second;
    names.erase(known);
  }
  std::map<node::PciAddress, std::size_t> functions;
  for (const auto& [name, n] : names) {
    if (before[n].pci) functions.emplace(*before[n].pci, n);
  }
  for (std::size_t n = 0; n < now.size(); ++n) {
    const auto known = all.before[n] || !now[n].pci ? functions.end() : functions.find(*now[n].pci);
    if (known == functions.end()) continue;
    all.before[n] = known->second;
    names.erase(before[known->second].name);
    functions.erase(known);
  }
  for (const auto& [name, n] : names) all.gone.push_back(n);
  return all;
}

void log_nics(const inject::DecisionTable* before, const inject::DecisionTable& now, Log& log) {
  static const std::vector<node::Nic> none;
  const auto& old_nics = before != nullptr ? before->node().nics : none;
  const auto& nics = now.node().nics;
  const auto matched = match(old_nics, nics);
  for (std::size_t n = 0; n < nics.size(); ++n) {
    const auto& was = matched.before[n];
    const auto& is = now.usable()[n];
    const bool is_renamed = was && old_nics[*was].name != nics[n].name;
    if (was && !is_renamed && is_same(before->usable()[*was], is)) continue;
    const auto& role = now.deal().roles[n];
    const bool is_bad = !is.usable && role.role == affinity::Role::compute;
    LogFields fields{{"nic", nics[n].name},
                     {"role", std::string(to_string(role.role))},
                     {"why", role.reason},
                     {"state", is.usable ? "usable" : "not usable: " + is.reason}};
    if (is_renamed) fields.emplace_back("was", old_nics[*was].name);
    log.write(is_bad ? config::LogLevel::warn : config::LogLevel::info, "nic", fields);
  }
  for (const auto n : matched.gone) {
    log.write(config::LogLevel::warn, "nic gone", {{"nic", old_nics[n].name}});
  }
}

/// Of what was said of the table before (null: the first) nothing is said again: a port that goes
/// up and down makes a table each time.
template <typename ListOf, typename Say>
void for_each_new(const inject::DecisionTable* before, const inject::DecisionTable& now,
                  const ListOf& list_of, const Say& say) {
  for (const auto& one : list_of(now)) {
    if (before == nullptr || !contains(list_of(*before), one)) say(one);
  }
}

/// Of the cards that are dealt to GPUs. A port without a cable of a card that has another one, and
/// a card that no GPU has, may be as somebody built them; what a pod holds alone is its own.
decltype(Metrics::compute_nic_usable)::Now dealt_nics(const inject::DecisionTable& table) {
  decltype(Metrics::compute_nic_usable)::Now now;
  const auto works = [&](std::size_t nic) {
    return table.trouble_of(nic).empty() || table.node().nics[nic].elsewhere;
  };
  for (const auto& card : table.deal().cards) {
    if (!std::ranges::any_of(table.deal().gpus, [&](const affinity::GpuDeal& gpu) {
          return contains(gpu.nics, card.front());
        })) {
      continue;
    }
    const bool usable = std::ranges::any_of(card, works);
    for (const auto nic : card) now.add(usable ? 1 : 0, label::Nic(table.node().nics[nic].name));
  }
  return now;
}

decltype(Metrics::nic_missing)::Now missing_nics(const inject::DecisionTable& table) {
  decltype(Metrics::nic_missing)::Now now;
  for (const auto& missing : table.deal().missing) {
    for (const auto gpu : missing.gpus) {
      now.add(1, metrics::Label<"gpu">(table.node().gpus[gpu].pci.str()));
    }
  }
  const auto& deal = table.deal();
  if (deal.missing.empty() && !deal.cards.empty() &&
      !affinity::shortage_text(table.node(), table.topology(), deal).empty()) {
    now.add(1, metrics::Label<"gpu">("any"));
  }
  return now;
}

}  // namespace

void publish_machine(const inject::DecisionTable& table, Metrics& metrics) {
  metrics.node_gpus.set(table.node().gpus.size());
  metrics.node_problems.set(table.node().problems.size());
  metrics.node_unread.set(node::unread_device(table.node()) != nullptr ? 1 : 0);
  const topology::Topology& topology = table.topology();
  decltype(Metrics::topology_info)::Now info;
  info.add(1, metrics::Label<"source">(to_string(topology.source)),
           label::Confidence(to_string(topology.confidence)),
           metrics::Label<"origin">(topology.origin));
  metrics.topology_info.replace(std::move(info));
  decltype(Metrics::nic_usable)::Now by_name;
  decltype(Metrics::node_nics)::Now by_role;
  for (std::size_t n = 0; n < table.node().nics.size(); ++n) {
    const bool usable = table.usable()[n].usable;
    by_role.add(1, label::Role(to_string(table.deal().roles[n].role)),
                usable ? label::Usable("true") : label::Usable("false"));
    by_name.add(usable ? 1 : 0, label::Nic(table.node().nics[n].name));
  }
  metrics.node_nics.replace(std::move(by_role));
  metrics.nic_usable.replace(std::move(by_name));
  metrics.compute_nic_usable.replace(dealt_nics(table));
  metrics.nic_missing.replace(missing_nics(table));
}

void log_machine(const inject::DecisionTable* before, const inject::DecisionTable& now,
                 std::string_view cause, Log& log) {
  log.write(config::LogLevel::info, "node read",
            {{"cause", std::string(cause)},
             {"gpus", std::to_string(now.node().gpus.size())},
             {"nics", std::to_string(now.node().nics.size())},
             {"problems", std::to_string(now.node().problems.size())},
             {"topology", std::string(to_string(now.topology().source))},
             {"origin", now.topology().origin},
             {"confidence", std::string(to_string(now.topology().confidence))}});
  log_nics(before, now, log);
  for_each_new(
      before, now, [](const auto& table) -> auto& { return table.node().problems; },
      [&](const node::Problem& problem) {
        log.write(config::LogLevel::warn, "node problem",
                  {{"path", problem.path}, {"what", problem.what}});
      });
  const auto log_new = [&](config::LogLevel level, const char* event, const auto& list_of) {
    for_each_new(before, now, list_of, [&](const std::string& what) {
      log.write(level, event, {{"what", what}});
    });
  };
  log_new(
      config::LogLevel::warn, "topology",
      [](const auto& table) -> auto& { return table.topology().warnings; });
  log_new(
      config::LogLevel::error, "pools",
      [](const auto& table) -> auto& { return table.pools().conflicts; });
  log_new(
      config::LogLevel::warn, "deal",
      [](const auto& table) -> auto& { return table.deal().warnings; });
}

}  // namespace railhead::agent
