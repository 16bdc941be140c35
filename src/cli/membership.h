// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "data/json.h"
#include "inject/decide.h"

namespace railhead::cli {

/// What a function is to the pools of the machine.
struct Membership {
  std::vector<std::string> pools;                            ///< that it is in
  std::vector<std::pair<std::string, std::string>> reasons;  ///< of the others: pool, why not
};

/// One for each of table.pools().functions.
std::vector<Membership> memberships_of_functions(const inject::DecisionTable& table);

/// {"rdma/hca": "vendors: 8086 is not 15b3"}
data::Json reasons_json(const Membership& membership);

/// Why it is in no pool at all, in one line; "" where it is in one.
std::string no_pool_text(const Membership& membership);

}  // namespace railhead::cli
