// SPDX-License-Identifier: Apache-2.0
//
// k8s-rdma-device-plugin: one fungible pool. Its documentation puts variables above the file.
// Source: jiusanzhou/k8s-rdma-device-plugin pkg/config/config.go.
#include <utility>

#include "base/text.h"
#include "config/words.h"
#include "pools/pool_parsers.h"

namespace railhead::pools {
namespace {

Status set_count(const std::string& place, std::int64_t count, FlatPool& into,
                 std::vector<std::string>& warnings) {
  if (count < 0 || count > kMaxSlots) {
    return Error{ErrorCode::malformed, place + ": " + std::to_string(count) +
                                           " is not a number of slots (0 to " +
                                           std::to_string(kMaxSlots) + ")"};
  }
  if (count == 0) warnings.push_back(place + ": a pool of no slots: no pod can ask for it");
  into.spec.slots = static_cast<unsigned>(count);
  return {};
}

Status add_file(const config::PoolSource& source, FlatPool& into,
                std::vector<std::string>& warnings) {
  Section file = TRY(Section::of(source.name, "", source.value, Keys::ours));
  into = FlatPool();  // a later file replaces an earlier one, and its defaults hold
  into.wanted = true;
  into.spec.origin = {PoolFlavour::k8s_rdma_device_plugin, source.name};
  if (file.find("enableDevicePlugin") != nullptr) {
    into.enabled = TRY(file.flag("enableDevicePlugin"));
  }
  if (auto name = TRY(file.text("resourceName"))) {
    into.spec.name = *std::move(name);
    into.spec.origin.where = file.place("resourceName");
  }
  if (const auto count = TRY(file.number("resourceCount"))) {
    TRY_STATUS(set_count(file.place("resourceCount") + ": resourceCount", *count, into, warnings));
  }
  return {};
}

Status add_variables(const config::PoolSource& source, FlatPool& into,
                     std::vector<std::string>& warnings) {
  Section variables = TRY(Section::of(source.name, "", source.value, Keys::ours));
  const auto said = [&](std::string_view name) -> std::string {
    return variables.text(name).value_or(std::nullopt).value_or("");
  };
  if (const auto text = said("RDMA_ENABLE_DEVICE_PLUGIN"); !text.empty()) {
    const auto enabled = config::parse_switch(text);
    if (!enabled) return enabled.error().context("RDMA_ENABLE_DEVICE_PLUGIN");
    into.enabled = *enabled;
  }
  if (auto name = said("RDMA_RESOURCE_NAME"); !name.empty()) {
    into.wanted = true;
    into.spec.name = std::move(name);
    into.spec.origin = {PoolFlavour::k8s_rdma_device_plugin, "RDMA_RESOURCE_NAME"};
  }
  if (const auto text = said("RDMA_RESOURCE_COUNT"); !text.empty()) {
    const auto count = parse_signed(text);
    if (!count) return count.error().context("RDMA_RESOURCE_COUNT");
    if (!into.wanted)
      into.spec.origin = {PoolFlavour::k8s_rdma_device_plugin, "RDMA_RESOURCE_COUNT"};
    into.wanted = true;
    TRY_STATUS(set_count("RDMA_RESOURCE_COUNT", *count, into, warnings));
  }
  return {};
}

}  // namespace

Status add_flat_source(const config::PoolSource& source, FlatPool& into,
                       std::vector<std::string>& warnings) {
  return source.shape == config::PoolSource::Shape::flat_file
             ? add_file(source, into, warnings)
             : add_variables(source, into, warnings);
}

}  // namespace railhead::pools
