// SPDX-License-Identifier: Apache-2.0
//
// k8s-rdma-shared-dev-plugin. Kinds of selectors are joined by AND, the values of one by OR, an
// empty list is no condition; everything is compared letter by letter.
// Source: Mellanox/k8s-rdma-shared-dev-plugin pkg/types/types.go, pkg/resources/
// resources_manager.go, device_selectors.go. Not kept: a name needs to be unique with its prefix
// only, and umad is not required.

#include "base/text.h"
#include "pools/pool_parsers.h"
#include "pools/selectors.h"

namespace railhead::pools {
namespace {

constexpr const char* kDefaultPrefix = "rdma";

/// `selectors`, or its predecessor `devices`.
Result<Selector> read_selector(Section& item, std::vector<std::string>& warnings) {
  Selector selector;
  const bool old_form = !TRY(item.texts("devices")).empty();
  auto section = TRY(item.section("selectors"));
  if (section) {
    for (const auto& row : selectors()) {
      if (row.shared_key.empty()) continue;
      TRY_STATUS(add_condition(*section, row.shared_key, row.fact, selector));
    }
    TRY_STATUS(section->finish(warnings));
  }
  const bool new_form = !selector.conditions.empty();
  if (old_form && new_form) return item.error("devices", "stands beside `selectors`; one of both");
  if (!old_form && !new_form) return item.error("selectors", "selects nothing, nor does `devices`");
  if (old_form) {
    TRY_STATUS(add_condition(item, "devices", Fact::netdev, selector));
    warnings.push_back(item.place("devices") + ": " + item.path_of("devices") +
                       " is read as selectors.ifNames");
  }
  return selector;
}

Result<PoolSpec> read_item(Section& item, std::vector<std::string>& warnings) {
  PoolSpec spec;
  spec.origin = {PoolFlavour::shared_plugin, item.place()};
  spec.name = TRY(read_plugin_name(item, kDefaultPrefix, "_"));
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
  spec.kinds = {FunctionKind::physical, FunctionKind::virtual_};
  spec.include = {TRY(read_selector(item, warnings))};
  TRY_STATUS(item.finish(warnings));
  return spec;
}

}  // namespace

Status parse_shared_plugin_pools(const config::PoolSource& source, PoolSpecs& into) {
  Section file = TRY(Section::of(source.name, "", source.value, Keys::theirs));
  file.find("periodicUpdateInterval");  // a setting: src/config has read it
  const auto list = TRY(resources_of(file, "configList", into.warnings));
  for (std::size_t i = 0; i < list.size(); ++i) {
    Section item = TRY(Section::of(source.name, "configList[" + std::to_string(i) + "]", list[i],
                                   Keys::theirs));
    into.specs.push_back(TRY(read_item(item, into.warnings)));
  }
  return file.finish(into.warnings);
}

}  // namespace railhead::pools
