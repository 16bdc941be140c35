// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "node/node.h"
#include "pools/function_index.h"
#include "pools/pool_spec.h"
#include "pools/pools.h"

namespace railhead::pools {

/// What a machine says of its functions, as text in the notation of src/pools/notation.h. Keeps
/// references to what it is made of.
class FunctionFacts {
 public:
  using Test = std::function<bool(std::string_view)>;

  FunctionFacts(const node::Node& node, const std::vector<NetFunction>& functions,
                const std::vector<NicStanding>& standings);

  /// Whether a test holds for any text that is known of a fact; it may be asked twice of one. Every
  /// function is compared with every pool, so nothing is copied.
  [[nodiscard]] bool any(Fact fact, const NetFunction& function, const Test& test) const;

  /// Everything known of a fact, each once; nothing where it is not known.
  [[nodiscard]] std::vector<std::string> texts(Fact fact, const NetFunction& function) const;

 private:
  [[nodiscard]] bool any_of_pci(Fact fact, const NetFunction& function, const Test& test) const;
  [[nodiscard]] bool any_of_nics(Fact fact, const NetFunction& function, const Test& test) const;

  const node::Node& node_;
  FunctionIndex by_address_;
  const std::vector<NicStanding>& standings_;
};

}  // namespace railhead::pools
