// SPDX-License-Identifier: Apache-2.0
#include "topology/numa_source.h"

#include <map>
#include <optional>

namespace railhead::topology {
namespace {

struct Members {
  unsigned gpus = 0;
  unsigned nics = 0;
};

constexpr const char* kRemedy =
    "; name a topology file in topology.file, or as NCCL_TOPO_FILE in /etc/nccl.conf of the node";

}  // namespace

NumaSource numa_source_of(const node::Node& node) {
  std::map<std::optional<int>, Members> by_node;
  Members all;
  for (const auto& gpu : node.gpus) {
    ++by_node[gpu.numa_node].gpus;
    ++all.gpus;
  }
  for (const auto& nic : node.nics) {
    if (!nic.pci) continue;
    ++by_node[nic.numa_node].nics;
    ++all.nics;
  }
  const auto left_to_chance = [](const Members& members) {
    return members.gpus > 1 && members.nics > 1;
  };
  if (by_node.contains(std::nullopt)) {
    if (!left_to_chance(all)) return {};
    return {
        Confidence::low,
        std::string("this virtual machine shows neither PCIe switches nor the NUMA nodes of all "
                    "GPUs and NICs, so NICs are dealt evenly by PCI address, near or not") +
            kRemedy};
  }
  for (const auto& [id, members] : by_node) {
    if (!left_to_chance(members)) continue;
    return {Confidence::low,
            std::string("this virtual machine shows no PCIe switches, so NICs are dealt by NUMA "
                        "node, and inside one by PCI address, near or not") +
                kRemedy};
  }
  return {};
}

}  // namespace railhead::topology
