// SPDX-License-Identifier: Apache-2.0
#include "proof/container_records.h"

#include <string>
#include <utility>

#include "inject/examine.h"

namespace railhead::proof {
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
  for (const auto& [key, value] : bundle.annotations) {
    auto& into = usage::is_allocation(key) ? request.annotations : request.pod_annotations;
    into.emplace_back(key, value);
  }
  for (const auto& device : bundle.devices) {
    request.devices.push_back({device.path, device.type, device.major, device.minor});
  }
  for (const auto& mount : bundle.mounts) {
    request.mounts.push_back({mount.destination, mount.type, mount.source, mount.read_write});
  }
  return request;
}

}  // namespace

ContainerRecord record_of(const container::Facts& facts, const inject::DecisionTable& table) {
  const auto& node = table.node();
  const auto& identity = facts.identity;
  ContainerRecord record;
  record.container_id = identity.id;
  record.pod_namespace = identity.pod_namespace;
  record.pod = identity.pod;
  record.pod_uid = identity.pod_uid;
  record.container = identity.name.empty() ? identity.id.substr(0, 12) : identity.name;
  for (const auto gpu : facts.gpus.indices) {
    const auto& uuid = node.gpus[gpu].uuid;
    record.gpus.push_back(uuid ? *uuid : node.gpus[gpu].pci.str());
  }
  const auto& wish = facts.wishes.rdma;
  if (facts.allocated.any()) {
    record.asked = "a slot of a pool";
  } else if (wish && wish->value == container::RdmaWish::required) {
    record.asked = wish->key + ": required";
  }
  record.job = facts.job;
  record.off_rdma = facts.off_rdma;
  for (const auto nic : facts.present.nics) record.nics.push_back(node.nics[nic].name);
  return record;
}

std::vector<ContainerRecord> records_of(const usage::Usage& usage,
                                        const inject::DecisionTable& table) {
  std::vector<ContainerRecord> records;
  for (const auto& [id, container] : usage.containers) {
    if (!container.bundle) continue;
    auto record = record_of(inject::examine(request_of(id, *container.bundle), table), table);
    record.sandbox = container.bundle->sandbox;
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace railhead::proof
