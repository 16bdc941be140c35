// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "pools/judge.h"
#include "pools/member_readiness.h"
#include "pools/pools.h"

namespace railhead {
namespace {

std::string label(const PoolSpec& spec) {
  return spec.name + (spec.origin.where.empty() ? "" : " (" + spec.origin.where + ")");
}

class PoolMaker {
 public:
  PoolMaker(const std::vector<PoolSpec>& specs, const Node& node,
            const std::vector<NicStanding>& standings, PoolTable& table)
      : table_(table),
        judge_(node, table.functions, standings),
        readiness_(node, table.functions, standings) {
    table_.exclusive.resize(table_.functions.size());
    for (const auto& spec : specs) table_.pools.push_back({spec, {}});
  }

  void make() {
    for (std::size_t p = 0; p < table_.pools.size(); ++p) {
      if (table_.pools[p].spec.mode == PoolMode::exclusive) fill(p);
    }
    for (std::size_t p = 0; p < table_.pools.size(); ++p) {
      if (table_.pools[p].spec.mode == PoolMode::shared) fill(p);
    }
  }

 private:
  void fill(std::size_t p) {
    Pool& pool = table_.pools[p];
    for (std::size_t f = 0; f < table_.functions.size(); ++f) {
      const auto verdict = judge_.judge(pool.spec, table_.functions[f]);
      if (!verdict.selector) continue;
      if (table_.exclusive[f]) {
        note_conflict(table_.pools[*table_.exclusive[f]].spec, pool.spec, f);
        continue;
      }
      pool.members.push_back(member(pool.spec, f, *verdict.selector));
      if (pool.spec.mode == PoolMode::exclusive) table_.exclusive[f] = p;
    }
  }

  void note_conflict(const PoolSpec& holder, const PoolSpec& wants, std::size_t f) {
    const bool theirs = holder.origin.flavour == PoolFlavour::sriov_plugin &&
                        wants.origin.flavour == PoolFlavour::sriov_plugin;
    if (wants.mode == PoolMode::shared || theirs) return;
    table_.conflicts.push_back(table_.functions[f].id + " is wanted by the exclusive pools " +
                               label(holder) + " and " + label(wants));
  }

  [[nodiscard]] Member member(const PoolSpec& spec, std::size_t f, std::size_t selector) const {
    Member member{f, selector, MemberState::ready, ""};
    member.reason = readiness_.trouble_of(spec.mode, spec.include[selector], table_.functions[f]);
    if (!member.reason.empty()) member.state = MemberState::not_ready;
    return member;
  }

  PoolTable& table_;
  Judge judge_;
  MemberReadiness readiness_;
};

}  // namespace

std::optional<std::size_t> PoolTable::find(std::string_view name) const {
  for (std::size_t p = 0; p < pools.size(); ++p) {
    if (pools[p].spec.name == name) return p;
  }
  return std::nullopt;
}

std::optional<std::size_t> PoolTable::function_of(std::size_t nic) const {
  for (std::size_t f = 0; f < functions.size(); ++f) {
    const auto& nics = functions[f].nics;
    if (std::find(nics.begin(), nics.end(), nic) != nics.end()) return f;
  }
  return std::nullopt;
}

PoolTable make_pools(const std::vector<PoolSpec>& specs, const Node& node,
                     const std::vector<NicStanding>& standings) {
  PoolTable table;
  table.functions = functions_of(node);
  PoolMaker(specs, node, standings, table).make();
  return table;
}

std::vector<std::string> why_not(const PoolTable& table, const Node& node,
                                 const std::vector<NicStanding>& standings, std::size_t pool) {
  const Judge judge(node, table.functions, standings);
  std::vector<std::string> reasons;
  for (std::size_t f = 0; f < table.functions.size(); ++f) {
    auto verdict = judge.judge(table.pools[pool].spec, table.functions[f]);
    const auto& owner = table.exclusive[f];
    if (verdict.selector && owner && *owner != pool) {
      verdict.reason = "is in the exclusive pool " + table.pools[*owner].spec.name;
    }
    reasons.push_back(std::move(verdict.reason));
  }
  return reasons;
}

}  // namespace railhead
