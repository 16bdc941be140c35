// SPDX-License-Identifier: Apache-2.0
#include "inject/rdma_devices.h"

#include <algorithm>

#include "base/contains.h"
#include "base/sort_unique.h"

namespace railhead::inject {
namespace {

const node::CharDevice* find_path(const std::vector<node::CharDevice>& devices,
                                  std::string_view path) {
  const auto at = std::find_if(devices.begin(), devices.end(),
                               [&](const node::CharDevice& device) { return device.path == path; });
  return at == devices.end() ? nullptr : &*at;
}

bool has_name_of_rdma_device(std::string_view path) {
  return path.starts_with("/dev/infiniband/uverbs") || path.starts_with("/dev/infiniband/umad") ||
         path.starts_with("/dev/infiniband/issm");
}

bool is_same(const container::PresentDevice& present, const node::CharDevice& device) {
  return present.type == 'c' && present.major == device.major && present.minor == device.minor;
}

/// The NIC whose uverbs this is: the numbers decide, a container may have it under another name.
std::optional<std::size_t> nic_of(const container::PresentDevice& present, const node::Node& node) {
  for (std::size_t i = 0; i < node.nics.size(); ++i) {
    for (const node::CharDevice& uverbs : node.nics[i].uverbs) {
      if (is_same(present, uverbs)) return i;
    }
  }
  return std::nullopt;
}

void add_device(const container::Request& request, const node::CharDevice& device,
                std::vector<container::NewDevice>& out) {
  const auto has_path = [&](const auto& other) { return other.path == device.path; };
  if (std::any_of(request.devices.begin(), request.devices.end(), has_path)) return;
  if (std::any_of(out.begin(), out.end(), has_path)) return;
  out.push_back(
      {device.path, device.major, device.minor, device.mode & 07777U, device.uid, device.gid});
}

}  // namespace

std::optional<RdmaDevice> find_rdma_device(const DecisionTable& table, std::string_view path) {
  const node::Node& node = table.node();
  if (node.rdma_cm && node.rdma_cm->path == path) {
    return RdmaDevice{RdmaDeviceKind::rdma_cm, &*node.rdma_cm, std::nullopt};
  }
  const auto nic = table.nic_by_device_path(path);
  if (!nic) return std::nullopt;
  const node::Nic& owner = node.nics[*nic];
  if (const auto* device = find_path(owner.uverbs, path)) {
    return RdmaDevice{RdmaDeviceKind::uverbs, device, nic};
  }
  if (const auto* device = find_path(owner.umads, path)) {
    return RdmaDevice{RdmaDeviceKind::umad, device, nic};
  }
  return RdmaDevice{RdmaDeviceKind::issm, find_path(owner.issms, path), nic};
}

bool is_given(RdmaDeviceKind kind, DeviceClasses classes) {
  switch (kind) {
    case RdmaDeviceKind::umad: return classes.umad;
    case RdmaDeviceKind::issm: return classes.issm;
    case RdmaDeviceKind::uverbs:
    case RdmaDeviceKind::rdma_cm: return true;
  }
  return false;
}

DeviceClasses device_classes(const InjectionPolicy& policy, const std::vector<std::string>& more) {
  const auto listed = [&](std::string_view name) {
    return contains(policy.devices, name) || contains(more, name);
  };
  return {listed("umad"), listed("issm")};
}

container::PresentRdma present_rdma(const container::Request& request, const DecisionTable& table) {
  container::PresentRdma out;
  for (const container::PresentDevice& device : request.devices) {
    const auto nic = nic_of(device, table.node());
    if (nic) out.nics.push_back(*nic);
    out.any = out.any || nic || has_name_of_rdma_device(device.path);
  }
  sort_unique(out.nics);
  return out;
}

std::vector<container::NewDevice> devices_to_add(const container::Request& request,
                                                 const DecisionTable& table,
                                                 const std::vector<std::size_t>& nics,
                                                 DeviceClasses classes) {
  std::vector<container::NewDevice> out;
  const node::Node& node = table.node();
  for (const std::size_t nic : nics) {
    for (const auto& device : node.nics[nic].uverbs) add_device(request, device, out);
    if (is_given(RdmaDeviceKind::umad, classes)) {
      for (const auto& device : node.nics[nic].umads) add_device(request, device, out);
    }
    if (is_given(RdmaDeviceKind::issm, classes)) {
      for (const auto& device : node.nics[nic].issms) add_device(request, device, out);
    }
  }
  if (node.rdma_cm && !nics.empty()) add_device(request, *node.rdma_cm, out);
  return out;
}

}  // namespace railhead::inject
