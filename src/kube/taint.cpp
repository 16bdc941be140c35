// SPDX-License-Identifier: Apache-2.0
#include "kube/taint.h"

#include <string>

namespace railhead::kube {

std::optional<data::Json> taint_removal(const data::Value& node, std::string_view key) {
  const auto* spec = node.find("spec");
  const auto* taints = spec == nullptr ? nullptr : spec->find("taints");
  if (taints == nullptr) return std::nullopt;
  auto operations = data::Json::array();
  // From the end, so that what is removed moves none that is yet to be tested.
  for (std::size_t i = taints->items.size(); i-- > 0;) {
    const auto* its_key = taints->items[i].find("key");
    if (its_key == nullptr || its_key->scalar != key) continue;
    const std::string path = "/spec/taints/" + std::to_string(i);
    operations.push_back({{"op", "test"}, {"path", path + "/key"}, {"value", key}});
    operations.push_back({{"op", "remove"}, {"path", path}});
  }
  if (operations.empty()) return std::nullopt;
  return operations;
}

}  // namespace railhead::kube
