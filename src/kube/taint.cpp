// SPDX-License-Identifier: Apache-2.0
#include "kube/taint.h"

#include <string>

#include "data/below.h"

namespace railhead::kube {

std::optional<data::Json> taint_removal(const data::Value& node, std::string_view key) {
  const auto& taints = data::items_below(node, {"spec", "taints"});
  auto operations = data::Json::array();
  // From the end, so that what is removed moves none that is yet to be tested.
  for (std::size_t i = taints.size(); i-- > 0;) {
    if (data::text_below(taints[i], {"key"}) != key) continue;
    const std::string path = "/spec/taints/" + std::to_string(i);
    operations.push_back({{"op", "test"}, {"path", path + "/key"}, {"value", key}});
    operations.push_back({{"op", "remove"}, {"path", path}});
  }
  if (operations.empty()) return std::nullopt;
  return operations;
}

}  // namespace railhead::kube
