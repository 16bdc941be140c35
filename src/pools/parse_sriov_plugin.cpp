// SPDX-License-Identifier: Apache-2.0
//
// sriov-network-device-plugin. Several selectors are a union, the first that holds counts; within
// one, keys are joined by AND and values by OR. Resources are served in order, and what one has
// taken no later one gets. A network device with the default route and a physical function with
// virtual ones are never handed out (make_pools.cpp).
// Source: k8snetworkplumbingwg/sriov-network-device-plugin pkg/types/types.go, cmd/sriovdp/
// manager.go, README.md.
#include <utility>

#include "base/text.h"
#include "pools/pool_parsers.h"

namespace railhead::pools {
namespace {

/// `selectors`: one object, or a list of them.
Result<std::vector<Selector>> read_selectors(Section& item, const std::string& device_type,
                                             std::vector<std::string>& warnings) {
  const data::Value* value = item.find("selectors");
  if (value == nullptr) return item.error("selectors", "missing");
  const auto path = item.path_of("selectors");
  std::vector<Selector> selectors;
  if (value->kind != data::Value::Kind::list) {
    auto one = TRY(Section::of(item.file(), path, *value, Keys::theirs));
    selectors.push_back(TRY(parse_sriov_selector(std::move(one), device_type, warnings)));
  } else {
    for (std::size_t i = 0; i < value->items.size(); ++i) {
      auto one = TRY(Section::of(item.file(), path + "[" + std::to_string(i) + "]", value->items[i],
                                 Keys::theirs));
      selectors.push_back(TRY(parse_sriov_selector(std::move(one), device_type, warnings)));
    }
  }
  return selectors;
}

Status read_additional_info(Section& item, PoolSpec& spec) {
  const data::Value* info = item.find("additionalInfo");
  if (info == nullptr) return {};
  if (info->kind != data::Value::Kind::map)
    return item.error("additionalInfo", "expected keys and values");
  for (const auto& [device, mark, values] : info->entries) {
    if (values.kind != data::Value::Kind::map) {
      return item.error("additionalInfo", "expected keys and values below " + in_quotes(device));
    }
    for (const auto& entry : values.entries) {
      auto text = entry.value.as_string();
      if (!text) return text.error().context(item.file() + ": " + item.path_of("additionalInfo"));
      spec.additional_info[device][entry.key] = *std::move(text);
    }
  }
  return {};
}

Result<std::optional<PoolSpec>> read_sriov_resource(Section& item,
                                                    std::vector<std::string>& warnings) {
  auto device_type = TRY(item.text("deviceType")).value_or("");
  if (device_type.empty()) device_type = "netDevice";
  if (device_type == "accelerator") {
    warnings.push_back(item.place("deviceType") + ": " + item.path_of("") +
                       " skipped: accelerators are not network devices");
    return std::optional<PoolSpec>();
  }
  if (device_type != "netDevice" && device_type != "auxNetDevice") {
    return item.error("deviceType", in_quotes(device_type) + " is not a device type");
  }
  PoolSpec spec;
  spec.mode = PoolMode::exclusive;
  spec.kinds = {FunctionKind::physical, FunctionKind::virtual_};
  if (device_type == "auxNetDevice") spec.kinds = {FunctionKind::scalable};
  spec.exclude_topology = TRY(item.flag("excludeTopology"));
  spec.health = TRY(read_word(item, "health", kHealths));
  TRY_STATUS(read_additional_info(item, spec));
  spec.include = TRY(read_selectors(item, device_type, warnings));
  TRY_STATUS(item.finish(warnings));
  return std::optional(std::move(spec));
}

}  // namespace

Status parse_sriov_plugin_pools(const config::PoolSource& source, const PoolParseOptions& options,
                                PoolSpecs& into) {
  return read_plugin_file(source,
                          {PoolFlavour::sriov_plugin, "resourceList", options.sriov_prefix, "_-",
                           "", read_sriov_resource},
                          options, into);
}

}  // namespace railhead::pools
