// SPDX-License-Identifier: Apache-2.0
//
// By what a configuration file is recognised: ours, or that of one of three device plugins.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "data/value.h"

namespace railhead::config {

/// The four variables that the documentation of k8s-rdma-device-plugin names.
inline constexpr std::array<std::string_view, 4> kRdmaVariables{
    "RDMA_ENABLE_DEVICE_PLUGIN", "RDMA_RESOURCE_NAME", "RDMA_RESOURCE_COUNT",
    "RDMA_GPU_AUTO_INJECT"};

/// JSON where the text begins with a brace, else YAML. `repeated` as for data::parse_json().
Result<data::Value> parse_file_text(std::string_view text, std::vector<Error>* repeated = nullptr);

/// Which plugin's file this is; absent: none's.
std::optional<PoolSource::Shape> plugin_shape(const data::Value& root);

/// Whether a file of k8s-rdma-device-plugin may have this key.
bool is_flat_key(std::string_view key);

/// Go's encoding/json takes keys in any case and the last of them, and so do the plugins whose
/// files these are. Null where there is none.
const data::Value* find_in_any_case(const data::Value& root, std::string_view key);

}  // namespace railhead::config
