// SPDX-License-Identifier: Apache-2.0
#include "agent/holders.h"

#include <string>
#include <utility>

#include "inject/examine.h"

namespace railhead::agent {
namespace {

/// The bundle as the runtime would have shown it when the container was made. Views the bundle.
container::Request request_of(const std::string& id, const usage::Bundle& bundle) {
  container::Request request;
  request.id = id;
  request.pod_name = bundle.pod;
  request.pod_namespace = bundle.pod_namespace;
  request.pod_uid = bundle.pod_uid;
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

}  // namespace

proof::Holder holder_of(const container::Facts& facts, const inject::DecisionTable& table) {
  const auto& node = table.node();
  const auto& identity = facts.identity;
  proof::Holder holder;
  holder.container_id = identity.id;
  holder.pod_namespace = identity.pod_namespace;
  holder.pod = identity.pod;
  holder.pod_uid = identity.pod_uid;
  holder.container = identity.name.empty() ? identity.id.substr(0, 12) : identity.name;
  for (const auto gpu : facts.gpus.indices) {
    holder.gpus.push_back(node.gpus[gpu].uuid.value_or(node.gpus[gpu].pci.str()));
  }
  holder.gpus_by_all =
      facts.gpus.source == container::GpuSource::device_nodes && facts.gpus.asks_for_all;
  holder.job = facts.job;
  for (const auto nic : facts.present.nics) holder.nics.push_back(node.nics[nic].name);
  return holder;
}

std::vector<proof::Holder> holders_of(const usage::Usage& usage,
                                      const inject::DecisionTable& table) {
  std::vector<proof::Holder> holders;
  for (const auto& [id, container] : usage.containers) {
    if (!container.bundle) continue;
    auto holder = holder_of(inject::examine(request_of(id, *container.bundle), table), table);
    holder.sandbox = container.bundle->sandbox;
    holders.push_back(std::move(holder));
  }
  return holders;
}

}  // namespace railhead::agent
