// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "base/contains.h"
#include "base/text.h"
#include "config/words.h"
#include "pools/pool_parsers.h"

namespace railhead::pools {
namespace {

constexpr std::array kKinds{FunctionKind::physical, FunctionKind::virtual_, FunctionKind::scalable,
                            FunctionKind::soft};

constexpr std::array kReplaced{PoolFlavour::shared_plugin, PoolFlavour::sriov_plugin,
                               PoolFlavour::k8s_rdma_device_plugin};

constexpr std::array kModes{PoolMode::shared, PoolMode::exclusive};
constexpr std::array kPreferences{PoolPreference::spread, PoolPreference::pack};

Result<std::optional<unsigned>> read_count(Section& item, std::string_view key, std::int64_t most) {
  const auto count = TRY(item.number(key));
  if (!count) return std::optional<unsigned>();
  if (*count < 1 || *count > most) {
    return item.error(key, std::to_string(*count) + " is not 1 to " + std::to_string(most));
  }
  return std::optional<unsigned>(static_cast<unsigned>(*count));
}

Status read_slots(Section& item, PoolSpec& spec) {
  const auto slots = TRY(read_count(item, "slots", kMaxSlots));
  spec.slots_per_nic = TRY(read_count(item, "slotsPerNic", kMaxSlotsPerNic));
  if (spec.mode == PoolMode::exclusive) {
    if (!slots && !spec.slots_per_nic) return {};
    return item.error(slots ? "slots" : "slotsPerNic",
                      "an exclusive pool has its functions to hand out");
  }
  if (slots && spec.slots_per_nic) {
    return item.error("slotsPerNic", "stands beside `slots`; one of both");
  }
  if (!spec.slots_per_nic) spec.slots = slots.value_or(default_pool().slots);
  return {};
}

Status read_kinds(Section& item, PoolSpec& spec) {
  for (const auto& word : TRY(item.texts("functions"))) {
    const auto kind = TRY(word_in(item, "functions", word, kKinds));
    if (kind == FunctionKind::soft && spec.mode == PoolMode::exclusive) {
      return item.error("functions", "a soft device cannot be handed out exclusively");
    }
    spec.kinds.push_back(kind);
  }
  if (!spec.kinds.empty()) return {};
  spec.kinds.assign(kKinds.begin(), kKinds.end());
  if (spec.mode == PoolMode::exclusive) spec.kinds.pop_back();
  return {};
}

Status read_devices(Section& item, PoolSpec& spec) {
  spec.devices = TRY(item.texts("devices"));
  for (const auto& word : spec.devices) {
    if (contains(config::kDeviceClasses, word)) continue;
    return item.error("devices", in_quotes(word) + " is none of uverbs, rdma_cm, umad, issm");
  }
  return {};
}

Status read_additional_info(Section& item, PoolSpec& spec, std::vector<std::string>& warnings) {
  auto info = TRY(item.section("additionalInfo"));
  if (!info) return {};
  for (const auto& entry : item.find("additionalInfo")->entries) {
    auto device = TRY(info->section(entry.key));
    if (!device) continue;
    for (const auto& value : entry.value.entries) {
      spec.additional_info[entry.key][value.key] = TRY(device->text(value.key)).value_or("");
    }
  }
  return info->finish(warnings);
}

/// What comes along with a function: `isRdma` and `needVhostNet`, of a pool or of one selector.
struct HandedNodes {
  bool rdma = true;
  bool vhost_net = false;
};

Result<HandedNodes> read_handed_nodes(Section& section, HandedNodes unless_said) {
  if (section.find("isRdma") != nullptr) unless_said.rdma = TRY(section.flag("isRdma"));
  if (section.find("needVhostNet") != nullptr) {
    unless_said.vhost_net = TRY(section.flag("needVhostNet"));
  }
  return unless_said;
}

/// `include` or `exclude`: one selector or a list of them.
Result<std::vector<Selector>> read_selectors(Section& item, std::string_view key,
                                             const HandedNodes& of_pool,
                                             const PoolParseOptions& options,
                                             std::vector<std::string>& warnings) {
  std::vector<Selector> selectors;
  const data::Value* value = item.find(key);
  if (value == nullptr) return selectors;
  const bool list = value->kind == data::Value::Kind::list;
  if (list && value->items.empty() && key == "include") {
    return item.error(key, "an empty list selects nothing; leave it out, or name what it selects");
  }
  const std::size_t count = list ? value->items.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const auto path = item.path_of(key) + (list ? "[" + std::to_string(i) + "]" : "");
    auto one = TRY(Section::of(item.file(), path, list ? value->items[i] : *value, Keys::ours));
    auto nodes = of_pool;
    if (key == "include") nodes = TRY(read_handed_nodes(one, of_pool));
    auto selector = TRY(parse_our_selector(std::move(one), options, warnings));
    selector.rdma = nodes.rdma;
    selector.vhost_net = nodes.vhost_net;
    selectors.push_back(std::move(selector));
  }
  return selectors;
}

Status read_members(Section& item, const PoolParseOptions& options, PoolSpec& spec,
                    std::vector<std::string>& warnings) {
  const auto nodes = TRY(read_handed_nodes(item, {}));
  const bool said = item.find("include") != nullptr;
  spec.include = TRY(read_selectors(item, "include", nodes, options, warnings));
  spec.exclude = TRY(read_selectors(item, "exclude", {}, options, warnings));
  if (!said && spec.mode == PoolMode::exclusive) {
    return item.error("include", "missing: an exclusive pool says what it takes");
  }
  if (!said) {
    spec.include = default_pool().include;
    spec.include.front().rdma = nodes.rdma;
    spec.include.front().vhost_net = nodes.vhost_net;
  }
  const bool all_rdma = std::ranges::all_of(spec.include, &Selector::rdma);
  if (!all_rdma && spec.mode == PoolMode::shared) {
    return item.error("isRdma", "a shared pool has nothing but RDMA devices to hand out");
  }
  return {};
}

Result<PoolSpec> read_item(Section& item, const PoolParseOptions& options,
                           std::vector<std::string>& warnings) {
  PoolSpec spec;
  spec.origin = {PoolFlavour::railhead, item.place()};
  const auto name = TRY(item.text("name"));
  if (!name) return item.error("name", "missing: what pods ask for, such as rdma.io/hca");
  spec.name = *name;
  TRY_STATUS(check_name_at(item.place("name") + ": " + item.path_of("name"), spec.name));
  if (item.find("replaces") != nullptr)
    spec.origin.flavour = TRY(read_word(item, "replaces", kReplaced));
  spec.mode = TRY(read_word(item, "mode", kModes));
  TRY_STATUS(read_slots(item, spec));
  TRY_STATUS(read_kinds(item, spec));
  TRY_STATUS(read_members(item, options, spec, warnings));
  TRY_STATUS(read_devices(item, spec));
  TRY_STATUS(read_additional_info(item, spec, warnings));
  spec.exclude_topology = TRY(item.flag("excludeTopology"));
  spec.health = TRY(read_word(item, "health", kHealths));
  spec.prefer = TRY(read_word(item, "prefer", kPreferences));
  spec.narrow = TRY(read_narrow(item));
  if (!spec.narrow && spec.mode == PoolMode::exclusive) {
    return item.error("narrow", "an exclusive pool gives exactly what was allocated");
  }
  TRY_STATUS(item.finish(warnings));
  return spec;
}

}  // namespace

Status parse_our_pools(const config::PoolSource& source, const PoolParseOptions& options,
                       PoolSpecs& into) {
  if (source.value.kind != data::Value::Kind::list) {
    return Error{ErrorCode::malformed,
                 data::place_in(source.name, source.value.mark) + ": pools: expected a list"};
  }
  for (std::size_t i = 0; i < source.value.items.size(); ++i) {
    const auto path = "pools[" + std::to_string(i) + "]";
    Section item = TRY(Section::of(source.name, path, source.value.items[i], Keys::ours));
    TRY_STATUS(check_room(item.place() + ": " + path, into));
    into.specs.push_back(TRY(read_item(item, options, into.warnings)));
  }
  return {};
}

}  // namespace railhead::pools
