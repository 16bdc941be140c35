// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node/node.h"
#include "pools/pool_spec.h"
#include "pools/pools.h"

namespace railhead {

/// What a machine says of its functions, as text in the notation of src/pools/notation.h. Keeps
/// references to what it is made of.
class FunctionFacts {
 public:
  FunctionFacts(const Node& node, const std::vector<NetFunction>& functions,
                const std::vector<NicStanding>& standings);

  /// Everything known of a fact; nothing where it is not known.
  [[nodiscard]] std::vector<std::string> told(Fact fact, const NetFunction& function) const;

 private:
  [[nodiscard]] std::vector<std::string> told_by_pci(Fact fact, const NetFunction& function) const;
  [[nodiscard]] std::vector<std::string> told_by_nic(Fact fact, const NetFunction& function) const;
  [[nodiscard]] const NetFunction* parent_of(const NetFunction& function) const;

  const Node& node_;
  const std::vector<NetFunction>& functions_;
  const std::vector<NicStanding>& standings_;
  std::map<PciAddress, std::size_t> by_address_;
};

}  // namespace railhead
