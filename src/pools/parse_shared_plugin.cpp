// SPDX-License-Identifier: Apache-2.0
//
// k8s-rdma-shared-dev-plugin. Kinds of selectors are joined by AND, the values of one by OR, an
// empty list is no condition; everything is compared letter by letter.
// Source: Mellanox/k8s-rdma-shared-dev-plugin pkg/types/types.go, pkg/resources/
// resources_manager.go, device_selectors.go. Not kept: a name needs to be unique with its prefix
// only, and umad is not required.

#include <utility>

#include "pools/pool_parsers.h"
#include "pools/selectors.h"

namespace railhead::pools {
namespace {

/// `selectors`, or its predecessor `devices`.
Result<Selector> read_selector(Section& item, std::vector<std::string>& warnings) {
  Selector selector;
  const bool old_form = !TRY(item.texts("devices")).empty();
  auto section = TRY(item.section("selectors"));
  if (section) {
    for (const auto& row : selectors()) {
      if (row.shared_key.empty()) continue;
      TRY_STATUS(add_condition(*section, row.shared_key, row.fact, selector, warnings));
    }
    TRY_STATUS(section->finish(warnings));
  }
  const bool new_form = !selector.conditions.empty();
  if (old_form && new_form) return item.error("devices", "stands beside `selectors`; one of both");
  if (!old_form && !new_form) return item.error("selectors", "selects nothing, nor does `devices`");
  if (old_form) {
    TRY_STATUS(add_condition(item, "devices", Fact::netdev, selector, warnings));
    warnings.push_back(item.place("devices") + ": " + item.path_of("devices") +
                       " is read as selectors.ifNames");
  }
  return selector;
}

Result<std::optional<PoolSpec>> read_shared_resource(Section& item,
                                                     std::vector<std::string>& warnings) {
  PoolSpec spec;
  const auto count = TRY(item.number("rdmaHcaMax")).value_or(0);
  if (count < 0 || count > kMaxSlots) {
    return item.error("rdmaHcaMax", std::to_string(count) + " is not a number of slots (0 to " +
                                        std::to_string(kMaxSlots) + ")");
  }
  if (count == 0) {
    warnings.push_back(item.place("rdmaHcaMax") + ": " + item.path_of("rdmaHcaMax") +
                       " is 0 or missing: no pod can ask for it");
  }
  spec.slots = static_cast<unsigned>(count);
  spec.health = TRY(read_word(item, "health", kHealths));
  spec.narrow = TRY(read_narrow(item));
  spec.kinds = {FunctionKind::physical, FunctionKind::virtual_};
  spec.include = {TRY(read_selector(item, warnings))};
  TRY_STATUS(item.finish(warnings));
  return std::optional(std::move(spec));
}

}  // namespace

Status parse_shared_plugin_pools(const config::PoolSource& source, const PoolParseOptions& options,
                                 PoolSpecs& into) {
  return read_plugin_file(source,
                          {PoolFlavour::shared_plugin, "configList", "rdma", "_",
                           "periodicUpdateInterval", read_shared_resource},
                          options, into);
}

}  // namespace railhead::pools
