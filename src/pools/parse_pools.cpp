// SPDX-License-Identifier: Apache-2.0
#include "pools/parse_pools.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "pools/pool_parsers.h"
#include "pools/resource_name.h"

namespace railhead::pools {
namespace {

Status add_source(const config::PoolSource& source, const PoolParseOptions& options, FlatPool& flat,
                  PoolSpecs& into) {
  switch (source.shape) {
    case config::PoolSource::Shape::ours: return parse_our_pools(source, options, into);
    case config::PoolSource::Shape::shared_plugin: return parse_shared_plugin_pools(source, into);
    case config::PoolSource::Shape::sriov_plugin:
      return parse_sriov_plugin_pools(source, options, into);
    case config::PoolSource::Shape::flat_file:
    case config::PoolSource::Shape::rdma_environment:
      return add_flat_source(source, flat, into.warnings);
  }
  return {};
}

Status check_unique(const std::vector<PoolSpec>& specs) {
  std::map<std::string, const PoolSpec*> seen;
  for (const auto& spec : specs) {
    const auto [at, fresh] = seen.emplace(spec.name, &spec);
    if (fresh) continue;
    return Error{ErrorCode::malformed, spec.origin.where + ": resource " +
                                           in_quotes(spec.name, 128) + " is already defined at " +
                                           at->second->origin.where};
  }
  return {};
}

}  // namespace

Status check_name_at(const std::string& place, const std::string& name) {
  const auto checked = check_resource_name(name);
  return checked ? checked : checked.error().context(place);
}

Result<std::span<const data::Value>> resources_of(Section& file, std::string_view key,
                                                  std::vector<std::string>& warnings) {
  const data::Value* list = file.find(key);
  if (list != nullptr && list->kind != data::Value::Kind::list) {
    return file.error(key, "expected a list of resources");
  }
  if (list == nullptr || list->items.empty()) {
    warnings.push_back(file.place(key) + ": " + std::string(key) + " is empty: it has no pool");
    return std::span<const data::Value>();
  }
  return std::span<const data::Value>(list->items);
}

Result<std::string> read_plugin_name(Section& item, const std::string& default_prefix,
                                     std::string_view more) {
  const auto name = TRY(item.text("resourceName")).value_or("");
  const auto is_allowed = [more](char c) {
    return is_letter_or_digit(c) || more.find(c) != std::string_view::npos;
  };
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_allowed)) {
    return item.error("resourceName",
                      in_quotes(name) + " is not made of letters, digits and " + in_quotes(more));
  }
  auto prefix = TRY(item.text("resourcePrefix")).value_or("");
  if (prefix.empty()) prefix = default_prefix;
  auto full = prefix + "/" + name;
  TRY_STATUS(check_name_at(item.place("resourceName"), full));
  return full;
}

Status add_condition(Section& section, std::string_view key, Fact fact, Selector& into) {
  auto values = TRY(section.texts(key));
  if (!values.empty()) {
    into.conditions.push_back({fact, std::string(key), std::move(values), Match::exact, {}});
  }
  return {};
}

Result<PoolSpecs> parse_pools(const std::vector<config::PoolSource>& sources,
                              const PoolParseOptions& options) {
  PoolSpecs all;
  FlatPool flat;
  for (const auto& source : sources) TRY_STATUS(add_source(source, options, flat, all));
  if (flat.wanted && flat.enabled) {
    TRY_STATUS(check_name_at(flat.spec.origin.where, flat.spec.name));
    all.specs.push_back(std::move(flat.spec));
  }
  const bool only_variables = std::all_of(sources.begin(), sources.end(), [](const auto& source) {
    return source.shape == config::PoolSource::Shape::rdma_environment;
  });
  if (only_variables && !flat.wanted && flat.enabled) all.specs.push_back(default_pool());
  TRY_STATUS(check_unique(all.specs));
  return all;
}

}  // namespace railhead::pools
