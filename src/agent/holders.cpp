// SPDX-License-Identifier: Apache-2.0
#include "agent/holders.h"

#include "inject/gpus_of.h"
#include "inject/surroundings.h"

namespace railhead {
namespace {

/// The bundle as the runtime would have shown it when the container was made. Views the bundle.
ContainerRequest request_of(const Bundle& bundle) {
  ContainerRequest request;
  request.pod_name = bundle.pod;
  request.pod_namespace = bundle.pod_namespace;
  request.name = bundle.container;
  request.env.assign(bundle.env.begin(), bundle.env.end());
  for (const auto& device : bundle.devices) {
    request.devices.push_back({device.path, device.type, device.major, device.minor});
  }
  for (const auto& mount : bundle.mounts) {
    request.mounts.push_back({mount.destination, mount.type, mount.source, mount.read_write});
  }
  return request;
}

/// UUID, else PCI address.
std::string gpu_name(const Gpu& gpu) {
  return gpu.uuid.value_or(gpu.pci.str());
}

}  // namespace

std::vector<Holder> holders_of(const Usage& usage, const DecisionTable& table) {
  std::vector<Holder> holders;
  for (const auto& [id, container] : usage.containers) {
    if (!container.bundle) continue;
    const auto& bundle = *container.bundle;
    const auto request = request_of(bundle);
    const bool privileged = is_privileged(request);
    Holder holder;
    holder.container_id = id;
    holder.pod_namespace = bundle.pod_namespace;
    holder.pod = bundle.pod;
    holder.pod_uid = bundle.pod_uid;
    holder.container = bundle.container.empty() ? id.substr(0, 12) : bundle.container;
    holder.sandbox = bundle.sandbox;
    holder.world_size = world_size(bundle);
    for (const auto gpu : gpus_of(request, table, privileged, GpuClaim::no_kubelet).gpus) {
      holder.gpus.push_back(gpu_name(table.node().gpus[gpu]));
    }
    if (!privileged) holder.nics = nics_of_bundle(bundle, table.node());
    holders.push_back(std::move(holder));
  }
  return holders;
}

}  // namespace railhead
