// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inject/decide.h"
#include "inject/surroundings.h"

namespace railhead {

/// How we know which GPUs a container holds, in the order in which it is asked.
enum class GpuSource : std::uint8_t { none, device_nodes, cdi_names, mounts, environment };
std::string_view to_string(GpuSource source);  ///< "device nodes"

/// The GPUs of a container. The first source that names a GPU of this node is believed; the first
/// three are what the kubelet or the runtime was told to hand out ("allocated"), and cannot be
/// forged by a pod author. The environment can: alone it counts only with the kubelet's word
/// (GpuClaim); beside an allocation, ids in it that differ are what NVIDIA's runtime will mount, so
/// they win, with a remark that names both. "all", "void", "none" and an empty value are no ids.
/// Pools will add what the kubelet's PodResources says of GPUs that none of the four shows.
struct HeldGpus {
  std::vector<std::size_t> gpus;  ///< indices into the node, sorted
  GpuSource source = GpuSource::none;
  std::vector<Remark> remarks;
};

HeldGpus gpus_of(const ContainerRequest& request, const DecisionTable& table, bool privileged,
                 GpuClaim claim);

/// True where only the environment names GPUs, so that `gpus_of` would use the claim.
bool environment_alone_names_gpus(const ContainerRequest& request, const DecisionTable& table,
                                  bool privileged);

/// "GPU 3", or its PCI address where it has no index.
std::string gpu_label(const Node& node, std::size_t gpu);
std::string gpu_labels(const Node& node, const std::vector<std::size_t>& gpus);  ///< "GPUs 0, 1"

}  // namespace railhead
