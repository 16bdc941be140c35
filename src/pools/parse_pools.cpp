// SPDX-License-Identifier: Apache-2.0
#include "pools/parse_pools.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/find.h"
#include "base/text.h"
#include "pools/pool_parsers.h"
#include "pools/resource_name.h"
#include "pools/value_form.h"

namespace railhead::pools {
namespace {

Status add_source(const config::PoolSource& source, const PoolParseOptions& options, FlatPool& flat,
                  PoolSpecs& into) {
  switch (source.shape) {
    case config::PoolSource::Shape::ours: return parse_our_pools(source, options, into);
    case config::PoolSource::Shape::shared_plugin:
      return parse_shared_plugin_pools(source, options, into);
    case config::PoolSource::Shape::sriov_plugin:
      return parse_sriov_plugin_pools(source, options, into);
    case config::PoolSource::Shape::flat_file:
    case config::PoolSource::Shape::rdma_environment:
      return add_flat_source(source, flat, into.warnings);
  }
  return {};
}

/// A name that is taken is an error in ours. A resource of another plugin's file is left out.
Status keep_unique(PoolSpecs& all) {
  std::map<std::string, std::string> places;  // by name
  std::vector<PoolSpec> kept;
  for (auto& spec : all.specs) {
    const auto [at, fresh] = places.emplace(spec.name, spec.origin.where);
    if (fresh) {
      kept.push_back(std::move(spec));
      continue;
    }
    Error taken{ErrorCode::malformed, spec.origin.where + ": resource " +
                                          in_quotes(spec.name, 128) + " is already defined at " +
                                          at->second};
    const auto flavour = spec.origin.flavour;
    if (flavour != PoolFlavour::shared_plugin && flavour != PoolFlavour::sriov_plugin) return taken;
    all.left_out.push_back(std::move(taken.message));
  }
  all.specs = std::move(kept);
  return {};
}

/// `resourcePrefix`/`resourceName`.
Result<std::string> read_plugin_name(Section& item, const PluginFile& plugin) {
  const auto name = TRY(item.text("resourceName")).value_or("");
  const auto more = plugin.name_characters;
  const auto is_allowed = [more](char c) {
    return is_letter_or_digit(c) || more.find(c) != std::string_view::npos;
  };
  if (name.empty() || !std::ranges::all_of(name, is_allowed)) {
    return item.error("resourceName",
                      in_quotes(name) + " is not made of letters, digits and " + in_quotes(more));
  }
  auto prefix = TRY(item.text("resourcePrefix")).value_or("");
  if (prefix.empty()) prefix = plugin.prefix;
  auto full = prefix + "/" + name;
  TRY_STATUS(check_name_at(item.place("resourceName"), full));
  return full;
}

const PoolSpec* find_in_force(const PoolParseOptions& options, const Result<std::string>& name,
                              PoolFlavour flavour) {
  return find_where(options.in_force, [&](const PoolSpec& spec) {
    return name && spec.name == *name && spec.origin.flavour == flavour;
  });
}

void add_resource(Section& item, const PluginFile& plugin, const PoolParseOptions& options,
                  PoolSpecs& into) {
  const auto name = read_plugin_name(item, plugin);
  std::vector<std::string> warnings;
  auto spec = name ? plugin.read(item, warnings) : Result<std::optional<PoolSpec>>(name.error());
  if (!spec) {
    const auto* before = find_in_force(options, name, plugin.flavour);
    into.left_out.push_back(spec.error().message +
                            (before != nullptr ? "; the resource stays as it was" : ""));
    if (before != nullptr) into.specs.push_back(*before);
    return;
  }
  into.warnings.insert(into.warnings.end(), warnings.begin(), warnings.end());
  if (!*spec) return;
  (*spec)->name = *name;
  (*spec)->origin = {plugin.flavour, item.place()};
  into.specs.push_back(**std::move(spec));
}

}  // namespace

Status check_name_at(const std::string& place, const std::string& name) {
  const auto checked = check_resource_name(name);
  return checked ? checked : checked.error().context(place);
}

Status check_room(const std::string& place, const PoolSpecs& read) {
  if (read.specs.size() < kMaxPools) return {};
  return Error{ErrorCode::malformed,
               place + ": a node has " + std::to_string(kMaxPools) + " pools at most"};
}

Result<bool> read_narrow(Section& item) {
  return item.find("narrow") == nullptr ? true : item.flag("narrow");
}

Status read_plugin_file(const config::PoolSource& source, const PluginFile& plugin,
                        const PoolParseOptions& options, PoolSpecs& into) {
  Section file = TRY(Section::of(source.name, "", source.value, Keys::theirs));
  if (!plugin.setting.empty()) file.find(plugin.setting);
  const data::Value* list = file.find(plugin.list);
  if (list != nullptr && list->kind != data::Value::Kind::list) {
    return file.error(plugin.list, "expected a list of resources");
  }
  if (list == nullptr || list->items.empty()) {
    into.warnings.push_back(file.place(plugin.list) + ": " + std::string(plugin.list) +
                            " is empty: it has no pool");
    return file.finish(into.warnings);
  }
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const auto path = std::string(plugin.list) + "[" + std::to_string(i) + "]";
    const auto place = data::place_in(source.name, list->items[i].mark) + ": " + path;
    if (const auto room = check_room(place, into); !room) {
      const auto more = list->items.size() - i - 1;
      into.left_out.push_back(room.error().message + "; it is left out, and so are " +
                              std::to_string(more) + " after it");
      break;
    }
    auto item = Section::of(source.name, path, list->items[i], Keys::theirs);
    if (item) {
      add_resource(*item, plugin, options, into);
    } else {
      into.left_out.push_back(item.error().message);
    }
  }
  return file.finish(into.warnings);
}

void check_form(const Section& section, std::string_view key, Fact fact, std::string_view value,
                std::vector<std::string>& warnings) {
  const auto why = why_nothing_has(fact, value);
  if (why.empty()) return;
  warnings.push_back(section.place(key) + ": " + section.path_of(key) + ": " + why +
                     "; it matches nothing");
}

Status add_condition(Section& section, std::string_view key, Fact fact, Selector& into,
                     std::vector<std::string>& warnings) {
  auto values = TRY(section.texts(key));
  for (const auto& value : values) check_form(section, key, fact, value, warnings);
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
    TRY_STATUS(check_room(flat.spec.origin.where, all));
    all.specs.push_back(std::move(flat.spec));
  }
  const bool only_variables = std::ranges::all_of(sources, [](const auto& source) {
    return source.shape == config::PoolSource::Shape::rdma_environment;
  });
  if (only_variables && !flat.wanted && flat.enabled) all.specs.push_back(default_pool());
  TRY_STATUS(keep_unique(all));
  return all;
}

}  // namespace railhead::pools
