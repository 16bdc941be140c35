// SPDX-License-Identifier: Apache-2.0
#include "cli/membership.h"

#include "base/text.h"

namespace railhead::cli {

std::vector<Membership> memberships_of_functions(const inject::DecisionTable& table) {
  std::vector<Membership> all(table.pools().functions.size());
  for (std::size_t p = 0; p < table.pools().pools.size(); ++p) {
    const auto& name = table.pools().pools[p].spec.name;
    auto reasons = table.why_not_in(p);
    for (std::size_t f = 0; f < all.size(); ++f) {
      if (reasons[f].empty()) {
        all[f].pools.push_back(name);
      } else {
        all[f].reasons.emplace_back(name, std::move(reasons[f]));
      }
    }
  }
  return all;
}

data::Json reasons_json(const Membership& membership) {
  data::Json json = data::Json::object();
  for (const auto& [pool, reason] : membership.reasons) json[pool] = reason;
  return json;
}

std::string no_pool_text(const Membership& membership) {
  if (!membership.pools.empty()) return "";
  if (membership.reasons.empty()) return "there is no pool";
  return join(membership.reasons, "; ",
              [](const auto& one) { return one.first + ": " + one.second; });
}

}  // namespace railhead::cli
