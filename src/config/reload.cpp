// SPDX-License-Identifier: Apache-2.0
#include "config/reload.h"

#include <utility>

namespace railhead {

Reload reload_of(const Config& running, Config fresh) {
  Reload reload;
  for (const auto& spec : all_settings()) {
    const auto& entry = fresh.entry(spec.key);
    if (entry.text == running.text(spec.key)) continue;
    std::string name(spec.key);
    if (spec.change == Change::live) {
      reload.changed.push_back(std::move(name));
      continue;
    }
    reload.restart.push_back(name + (entry.where.empty() ? "" : " (" + entry.where + ")"));
    fresh.keep(spec.key, running);
  }
  if (fresh.roles() != running.roles()) reload.changed.emplace_back("roles");
  reload.config = std::move(fresh);
  return reload;
}

}  // namespace railhead
