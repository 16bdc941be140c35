// SPDX-License-Identifier: Apache-2.0
#include "agent/holders.h"

#include <set>
#include <utility>

#include "inject/gpus_of.h"
#include "inject/surroundings.h"
#include "usage/job_size.h"

namespace railhead {
namespace {

/// The bundle as the runtime would have shown it when the container was made. Views the bundle.
ContainerRequest request_of(const std::string& id, const Bundle& bundle) {
  ContainerRequest request;
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

bool has_device(const ContainerRequest& request, const CharDevice& wanted) {
  for (const auto& device : request.devices) {
    if (device.type == 'c' && device.major == wanted.major && device.minor == wanted.minor) {
      return true;
    }
  }
  return false;
}

std::vector<std::string> nics_of(const ContainerRequest& request, const Node& node) {
  std::vector<std::string> names;
  for (const auto& nic : node.nics) {
    for (const auto& device : nic.uverbs) {
      if (!has_device(request, device)) continue;
      names.push_back(nic.name);
      break;
    }
  }
  return names;
}

}  // namespace

Holder holder_of(const ContainerRequest& request, const DecisionTable& table) {
  const auto& node = table.node();
  const bool privileged = is_privileged(request);
  Holder holder;
  holder.container_id = request.id;
  holder.pod_namespace = request.pod_namespace;
  holder.pod = request.pod_name;
  holder.pod_uid = request.pod_uid;
  holder.container = request.name.empty() ? request.id.substr(0, 12) : request.name;
  const auto held = gpus_of(request, table, privileged, GpuClaim::no_kubelet);
  for (const auto gpu : held.gpus) {
    holder.gpus.push_back(node.gpus[gpu].uuid.value_or(node.gpus[gpu].pci.str()));
  }
  holder.gpus_by_all = held.source == GpuSource::device_nodes && asks_for_all_gpus(request.env);
  holder.job = job_size(request.env);
  if (!privileged) holder.nics = nics_of(request, node);
  return holder;
}

std::vector<Holder> holders_of(const Usage& usage, const DecisionTable& table) {
  std::vector<Holder> holders;
  for (const auto& [id, container] : usage.containers) {
    if (!container.bundle) continue;
    auto holder = holder_of(request_of(id, *container.bundle), table);
    holder.sandbox = container.bundle->sandbox;
    holders.push_back(std::move(holder));
  }
  return holders;
}

void ContainerBook::note(Holder holder) {
  if (by_id_.size() >= kMaxContainers) return;
  auto id = holder.container_id;
  by_id_.insert_or_assign(std::move(id), Entry{std::move(holder), true});
}

void ContainerBook::complete(std::vector<Holder>& holders, const Usage& usage) {
  std::set<std::string> named;
  for (const auto& holder : holders) named.insert(holder.container_id);
  for (auto at = by_id_.begin(); at != by_id_.end();) {
    const bool runs = usage.containers.contains(at->first);
    if (runs && !named.contains(at->first)) holders.push_back(at->second.holder);
    const bool keep = runs || std::exchange(at->second.fresh, false);
    at = keep ? std::next(at) : by_id_.erase(at);
  }
}

}  // namespace railhead
