// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/node.h"
#include "pools/function_index.h"
#include "pools/pool_spec.h"
#include "pools/pools.h"
#include "pools/selectors.h"

namespace railhead::pools {

/// Whether a function belongs to a pool by what both are; who takes it when several want it is
/// decided elsewhere. Keeps references to what it is made of.
class Judge {
 public:
  Judge(const node::Node& node, const std::vector<NetFunction>& functions,
        const std::vector<NicStatus>& statuses);

  /// Which of PoolSpec::include holds; absent where the function is not one of the pool's.
  [[nodiscard]] std::optional<std::size_t> selector_for(const PoolSpec& spec,
                                                        const NetFunction& function) const;

  /// Whether the pool's conditions hold for it, and only a driver is missing.
  [[nodiscard]] bool lacks_driver(const PoolSpec& spec, const NetFunction& function) const;

  /// Why none does; "" where one does. For people: a table asks about no function.
  [[nodiscard]] std::string why_not(const PoolSpec& spec, const NetFunction& function) const;

 private:
  /// The first of PoolSpec::exclude that holds; null where none does.
  [[nodiscard]] const Selector* excluding(const PoolSpec& spec, const NetFunction& function) const;
  /// The first condition that does not hold; null where all do.
  [[nodiscard]] const Condition* unmet(const Selector& selector, const NetFunction& function) const;
  [[nodiscard]] bool holds(const Condition& condition, const NetFunction& function) const;
  [[nodiscard]] bool is_in_subnet(const Condition& condition, const NetFunction& function) const;
  [[nodiscard]] bool is_unused(const NetFunction& function) const;
  [[nodiscard]] bool is_undriven(const NetFunction& function) const;
  [[nodiscard]] bool has_rdma_device(const NetFunction& function) const;
  /// Whether a test holds for any text that is known of a fact. Every function is compared with
  /// every pool, so nothing is copied.
  [[nodiscard]] bool any(Fact fact, const NetFunction& function, const Test& test) const;
  /// Everything known of a fact, each once; nothing where it is not known.
  [[nodiscard]] std::vector<std::string> texts(Fact fact, const NetFunction& function) const;
  [[nodiscard]] std::string failure_text(const Selector& selector,
                                         const NetFunction& function) const;
  [[nodiscard]] std::string failure_text(const Condition& condition,
                                         const NetFunction& function) const;
  [[nodiscard]] std::string obstacle_to_exclusive(const NetFunction& function) const;

  const node::Node& node_;
  FunctionIndex by_address_;
  const std::vector<NicStatus>& statuses_;
  std::set<std::string> carriers_;            ///< netdevs through which a default route leaves
  std::map<std::string, std::string> bonds_;  ///< of netdevs that are ports
};

}  // namespace railhead::pools
