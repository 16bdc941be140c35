// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "inject/decide.h"
#include "topology/nccl_name.h"

namespace railhead::inject {
namespace {

template <typename Key>
std::optional<std::size_t> lookup(const std::unordered_map<Key, std::size_t>& map, const Key& key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  return found->second;
}

/// A key that two GPUs carry names neither. True while the key is still unique.
template <typename Key>
bool add_unique(std::unordered_map<Key, std::size_t>& map, std::unordered_set<Key>& ambiguous,
                const Key& key, std::size_t gpu) {
  if (ambiguous.contains(key)) return false;
  if (map.try_emplace(key, gpu).second) return true;
  map.erase(key);
  ambiguous.insert(key);
  return false;
}

std::uint64_t key_of(gpu::GpuNode node) {
  return std::uint64_t{node.major} << 32 | node.minor;
}

/// A physical function with virtual functions belongs to whoever hands those out. Its ports carry
/// traffic as before: a slot of a shared pool gives it.
void rule_out_pfs_with_vfs(const node::Node& node, std::vector<affinity::Usability>& usable) {
  for (std::size_t i = 0; i < node.nics.size() && i < usable.size(); ++i) {
    const auto& pci = node.nics[i].pci;
    const node::PciDevice* function = pci ? node.find_pci(*pci) : nullptr;
    const unsigned vfs = function == nullptr ? 0 : function->sriov_numvfs.value_or(0);
    if (vfs == 0 || !usable[i].usable) continue;
    usable[i] = {false, "has " + std::to_string(vfs) +
                            " virtual functions enabled, and injection.pfWithVfs is false"};
  }
}

std::vector<pools::NicStatus> statuses_of(const std::vector<affinity::RoleDecision>& roles,
                                          const std::vector<affinity::Usability>& usable) {
  std::vector<pools::NicStatus> statuses;
  for (std::size_t i = 0; i < usable.size(); ++i) {
    statuses.push_back({std::string(to_string(roles[i].role)), usable[i].reason, usable[i].by_ports,
                        roles[i].role == affinity::Role::unused});
  }
  return statuses;
}

/// Pools count NUMA nodes as the kubelet does, which gets them as hints.
pools::PoolTable pools_of(const std::vector<pools::PoolSpec>& specs,
                          const topology::Arrangement& arrangement,
                          const std::vector<pools::NicStatus>& statuses) {
  if (arrangement.numa_of_sysfs.empty())
    return pools::make_pools(specs, arrangement.node, statuses);
  return pools::make_pools(specs, topology::with_numa_of_sysfs(arrangement), statuses);
}

std::vector<std::string> active_ports_of(const std::vector<node::Nic>& nics) {
  std::vector<std::string> all;
  for (const auto& nic : nics) {
    auto& ports = all.emplace_back();
    if (!topology::is_nccl_name(nic.name)) continue;
    for (const auto& port : nic.ports) {
      if (port.state != node::PortState::active) continue;
      if (!ports.empty()) ports += ',';
      ports += nic.name + ":" + std::to_string(port.number);
    }
  }
  return all;
}

/// What an exclusive pool hands out may be idle on the host, and is judged as its member.
void take_word_of_exclusive_pools(const pools::PoolTable& pools,
                                  std::vector<pools::NicStatus>& statuses) {
  for (const auto& pool : pools.pools) {
    if (pool.spec.mode != pools::PoolMode::exclusive) continue;
    for (const auto& member : pool.members) {
      for (const auto nic : pools.functions[member.function].nics) {
        statuses[nic].trouble = member.reason;
      }
    }
  }
}

/// What an exclusive pool has is handed out by its allocation only.
void rule_out_exclusive(const pools::PoolTable& pools, std::vector<affinity::Usability>& usable) {
  for (std::size_t f = 0; f < pools.functions.size(); ++f) {
    const auto& owner = pools.exclusive[f];
    if (!owner) continue;
    for (const auto nic : pools.functions[f].nics) {
      usable[nic] = {false, "is in the exclusive pool " + pools.pools[*owner].spec.name};
    }
  }
}

}  // namespace

std::vector<std::string> default_gpu_resources() {
  const auto patterns = split(gpu::kGpuResources, ',');
  return {patterns.begin(), patterns.end()};
}

DecisionTable::DecisionTable(node::Node as_read, const affinity::OperatorRules& rules,
                             InjectionPolicy policy,
                             const std::optional<topology::NcclTopology>& from_operator)
    : arrangement_(topology::arrange(std::move(as_read), from_operator)),
      topology_(topology::make_topology(arrangement_)),
      deal_(affinity::deal(arrangement_.node, topology_, rules)),
      usable_(affinity::usability_of(arrangement_.node, rules.expect)),
      policy_(std::move(policy)),
      statuses_(statuses_of(deal_.roles, usable_)),
      active_ports_(inject::active_ports_of(arrangement_.node.nics)),
      pools_(pools_of(policy_.pools, arrangement_, statuses_)),
      cdi_(CdiRegistry::from_files(arrangement_.node.cdi, arrangement_.node.problems)) {
  topology_.confidence = std::max(topology_.confidence, deal_.confidence);
  const node::Node& node = arrangement_.node;
  take_word_of_exclusive_pools(pools_, statuses_);
  if (arrangement_.for_nccl && !policy_.topology_file.empty()) {
    topology_file_ =
        node::TextFile{policy_.topology_file, topology::to_xml(*arrangement_.for_nccl)};
  }
  if (!policy_.pf_with_vfs) rule_out_pfs_with_vfs(node, usable_);
  rule_out_exclusive(pools_, usable_);
  arrangement_.node.cdi = {};
  arrangement_.node.nccl_file.reset();
  std::unordered_set<std::uint64_t> twice;
  for (std::size_t i = 0; i < node.gpus.size(); ++i) {
    const node::Gpu& gpu = node.gpus[i];
    if (gpu.uuid) add_unique(by_uuid_, ambiguous_, *gpu.uuid, i);
    // Each vendor counts from 0; where several are in one machine the number is the first row's.
    if (gpu.index) {
      const auto [at, is_new] = by_index_.try_emplace(*gpu.index, i);
      if (!is_new && gpu.vendor < node.gpus[at->second].vendor) at->second = i;
    }
    const std::uint32_t major = gpu::gpu_row(gpu.vendor).major;
    for (const auto& minor : major == gpu::kDrmMajor
                                 ? std::array{gpu.drm_render, gpu.drm_card}
                                 : std::array{gpu.minor, std::optional<unsigned>()}) {
      if (minor) add_unique(by_node_, twice, key_of({major, *minor}), i);
    }
  }
  for (std::size_t i = 0; i < node.nics.size(); ++i) {
    const node::Nic& nic = node.nics[i];
    for (const auto* nodes : {&nic.uverbs, &nic.umads, &nic.issms}) {
      for (const node::CharDevice& device : *nodes) by_device_path_.try_emplace(device.path, i);
    }
  }
}

std::vector<std::string> DecisionTable::why_not_in(std::size_t pool) const {
  return pools::why_not(pools_, arrangement_.node, statuses_, pool);
}

std::string DecisionTable::why_not_in(std::size_t pool, std::size_t function) const {
  return pools::why_not(pools_, arrangement_.node, statuses_, pool, function);
}

bool DecisionTable::is_useless(std::size_t pool) const {
  return pools::is_useless(pools_, arrangement_.node, statuses_, pool);
}

std::optional<std::size_t> DecisionTable::gpu_by_uuid(std::string_view uuid) const {
  return lookup(by_uuid_, std::string(uuid));
}

std::optional<std::size_t> DecisionTable::gpu_by_index(unsigned index) const {
  return lookup(by_index_, index);
}

std::optional<std::size_t> DecisionTable::gpu_by_node(gpu::GpuNode node) const {
  return lookup(by_node_, key_of(node));
}

bool DecisionTable::is_ambiguous(std::string_view uuid) const {
  return ambiguous_.contains(std::string(uuid));
}

std::optional<std::size_t> DecisionTable::nic_by_device_path(std::string_view path) const {
  return lookup(by_device_path_, std::string(path));
}

}  // namespace railhead::inject
