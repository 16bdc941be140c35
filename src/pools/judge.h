// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/node.h"
#include "pools/function_facts.h"
#include "pools/pool_spec.h"
#include "pools/pools.h"

namespace railhead {

/// Whether a function belongs to a pool by what both are; who takes it when several want it is
/// decided elsewhere.
struct Verdict {
  std::optional<std::size_t> selector;  ///< which of PoolSpec::include holds
  std::string reason;                   ///< why none does
};

/// Compares functions with specs. Keeps references to what it is made of.
class Judge {
 public:
  Judge(const Node& node, const std::vector<NetFunction>& functions,
        const std::vector<NicStanding>& standings);

  [[nodiscard]] Verdict judge(const PoolSpec& spec, const NetFunction& function) const;

 private:
  /// "" when it holds.
  [[nodiscard]] std::string failure_of(const Selector& selector, const NetFunction& function) const;
  [[nodiscard]] bool holds(const Condition& condition, const NetFunction& function) const;
  [[nodiscard]] std::string failure_text(const Condition& condition,
                                         const NetFunction& function) const;
  [[nodiscard]] bool is_below(const Condition& condition, const NetFunction& function) const;
  [[nodiscard]] std::string obstacle_to_exclusive(const NetFunction& function) const;

  const Node& node_;
  FunctionFacts facts_;
  std::set<std::string> carriers_;  ///< netdevs through which a default route leaves
};

}  // namespace railhead
