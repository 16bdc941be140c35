// SPDX-License-Identifier: Apache-2.0
#include "lint/made_pods.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "data/below.h"

namespace railhead::lint {
namespace {

using data::below;
using data::text_below;
using data::Value;

Value map_at(data::Mark mark) {
  Value map;
  map.kind = Value::Kind::map;
  map.mark = mark;
  return map;
}

/// In place of what the map has there.
void put(Value& map, const std::string& key, Value value) {
  std::erase_if(map.entries, [&](const Value::Entry& entry) { return entry.key == key; });
  map.entries.push_back({key, value.mark, std::move(value)});
}

/// Resources by the names that containers have: GPUs stand apart, and others below `custom`.
Value limits_of(const Value& limits) {
  auto all = map_at(limits.mark);
  const auto type = text_below(limits, {"gpuType"});
  for (const auto& entry : limits.entries) {
    if (entry.key == "gpu") {
      auto gpus = entry;
      gpus.key = type.empty() ? "nvidia.com/gpu" : type;
      all.entries.push_back(std::move(gpus));
    } else if (entry.key == "custom") {
      std::ranges::copy(entry.value.entries, std::back_inserter(all.entries));
    }
  }
  return all;
}

/// What both lists hold.
Value joined(const Value* first, const Value* second) {
  Value list;
  list.kind = Value::Kind::list;
  for (const auto* one : {first, second}) {
    if (one == nullptr) continue;
    list.mark = one->mark;
    std::ranges::copy(one->items, std::back_inserter(list.items));
  }
  return list;
}

Value main_container(const Value& service) {
  const auto* own = below(service, {"extraPodSpec", "mainContainer"});
  auto container = own != nullptr ? *own : map_at(service.mark);
  Value name;
  name.kind = Value::Kind::scalar;
  name.scalar = "main";
  name.mark = container.mark;
  put(container, "name", std::move(name));
  put(container, "env", joined(below(service, {"envs"}), below(container, {"env"})));
  if (const auto* limits = below(service, {"resources", "limits"})) {
    auto resources = map_at(limits->mark);
    put(resources, "limits", limits_of(*limits));
    put(container, "resources", std::move(resources));
  }
  return container;
}

Value pod_of_service(const Value& service) {
  auto pod = map_at(service.mark);
  auto spec = *below(service, {"extraPodSpec"});
  Value main;
  main.kind = Value::Kind::list;
  main.items.push_back(main_container(service));
  put(spec, "containers", joined(&main, below(spec, {"containers"})));
  put(pod, "spec", std::move(spec));
  if (const auto* metadata = below(service, {"extraPodMetadata"})) put(pod, "metadata", *metadata);
  return pod;
}

}  // namespace

bool is_container_list(const Value* list) {
  return list != nullptr && !list->items.empty() &&
         std::ranges::all_of(list->items, [](const Value& item) {
           return item.kind == Value::Kind::map && item.find("name") != nullptr;
         });
}

std::optional<Value> made_pod(const Value& map) {
  const auto* more = below(map, {"extraPodSpec"});
  if (more != nullptr && more->kind == Value::Kind::map) return pod_of_service(map);
  if (!is_container_list(below(map, {"containers"}))) return std::nullopt;
  auto pod = map_at(map.mark);
  put(pod, "spec", map);
  return pod;
}

}  // namespace railhead::lint
