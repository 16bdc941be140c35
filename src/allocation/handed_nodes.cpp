// SPDX-License-Identifier: Apache-2.0
#include "allocation/handed_nodes.h"

#include <utility>

#include "base/sort_unique.h"
#include "inject/function_nodes.h"
#include "inject/rdma_devices.h"

namespace railhead::allocation {

std::vector<HandedNode> rdma_nodes(const inject::DecisionTable& table, const pools::Pool& pool,
                                   const std::vector<std::size_t>& members) {
  std::vector<std::size_t> nics;
  for (const auto m : members) {
    const auto& member = pool.members[m];
    if (!pool.spec.include[member.selector].rdma) continue;
    const auto& own = table.pools().functions[member.function].nics;
    nics.insert(nics.end(), own.begin(), own.end());
  }
  sort_unique(nics);
  const auto classes = inject::device_classes(table.policy(), pool.spec.devices);
  std::vector<HandedNode> nodes;
  for (auto& device : inject::devices_to_add({}, table, nics, classes)) {
    const auto path = device.path;
    nodes.push_back({path, path, std::move(device)});
  }
  return nodes;
}

Result<std::vector<HandedNode>> other_nodes(const inject::DecisionTable& table,
                                            const pools::Pool& pool,
                                            const std::vector<std::size_t>& members) {
  auto all = TRY(inject::numbered_nodes(table, pool, members));
  for (auto& node : inject::constant_nodes(pool, members)) all.push_back(std::move(node));
  std::vector<HandedNode> nodes;
  for (auto& node : all) {
    nodes.push_back({std::move(node.host_path), std::move(node.container_path), {}});
  }
  return nodes;
}

}  // namespace railhead::allocation
