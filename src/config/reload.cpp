// SPDX-License-Identifier: Apache-2.0
#include "config/reload.h"

#include <utility>

namespace railhead::config {

Reload reload_of(const Config& running, Config fresh) {
  Reload reload;
  for (const auto& spec : kSettings) {
    const auto& entry = fresh.entry(spec);
    if (entry.text == running.entry(spec).text) continue;
    std::string name(spec.key);
    if (spec.change == Change::restart) {
      reload.restart.push_back(name + (entry.where.empty() ? "" : " (" + entry.where + ")"));
      fresh.keep(spec, running);
      continue;
    }
    reload.changed.push_back(std::move(name));
    if (spec.change == Change::machine) reload.concerns_machine = true;
  }
  if (fresh.roles() != running.roles()) {
    reload.changed.emplace_back("roles");
    reload.concerns_machine = true;
  }
  reload.config = std::move(fresh);
  return reload;
}

}  // namespace railhead::config
