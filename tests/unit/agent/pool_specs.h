// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "unit/inject/container_builder.h"

namespace railhead::test {

/// A shared pool of these RDMA devices, 100 slots.
inline PoolSpec shared_pool(std::string name, std::vector<std::string> nics) {
  PoolSpec spec;
  spec.name = std::move(name);
  spec.slots = 100;
  spec.kinds = {FunctionKind::physical};
  spec.include = {{{{Fact::rdma_name, "rdma", std::move(nics), Match::glob, {}}}, true, false}};
  return spec;
}

inline PoolSpec exclusive_pool(std::string name, std::vector<std::string> nics) {
  PoolSpec spec = shared_pool(std::move(name), std::move(nics));
  spec.mode = PoolMode::exclusive;
  return spec;
}

/// As a file of the SR-IOV plugin has it: one driver's functions, without isRdma.
inline PoolSpec driver_pool(std::string name, std::string driver) {
  PoolSpec spec;
  spec.name = std::move(name);
  spec.mode = PoolMode::exclusive;
  spec.kinds = {FunctionKind::physical, FunctionKind::virtual_};
  spec.include = {
      {{{Fact::driver, "drivers", {std::move(driver)}, Match::exact, {}}}, false, false}};
  spec.origin.flavour = PoolFlavour::sriov_plugin;
  return spec;
}

/// The seed's machine with these pools.
inline DecisionTable seed_with(std::vector<PoolSpec> specs) {
  InjectionPolicy policy;
  policy.pools = std::move(specs);
  return table_of(seed_node(), std::move(policy));
}

/// Two virtual functions (0000:11:01.0 and .1) of one card, both held by vfio-pci, in IOMMU groups
/// 26 and 27.
inline Node vfio_node() {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0))).ethernet(200).netdev("ens1").virtual_functions(2);
  auto node = b.build();
  std::erase_if(node.nics, [](const Nic& nic) { return nic.pci->device == 1; });
  unsigned group = 26;
  for (auto& device : node.pci) {
    device.driver = device.is_vf() ? "vfio-pci" : "mlx5_core";
    if (device.is_vf()) device.iommu_group = group++;
  }
  return node;
}

/// Two virtual functions (0000:11:01.0 and .1) of one card, each with a vDPA device: vdpa0, whose
/// node is /dev/vhost-vdpa-7, and vdpa1, which is a virtio device of the host.
inline Node vdpa_node() {
  auto node = vfio_node();
  for (auto& device : node.pci) {
    device.driver = "mlx5_core";
    device.iommu_group.reset();
    if (!device.is_vf()) continue;
    if (device.address.function == 0) device.vdpa = {{"vdpa0", "vhost_vdpa", 7U}};
    if (device.address.function == 1) device.vdpa = {{"vdpa1", "virtio_vdpa", {}}};
  }
  return node;
}

/// As a file of the SR-IOV plugin has it: functions whose vDPA device is of this type.
inline PoolSpec vdpa_pool(std::string name, std::string type) {
  auto spec = driver_pool(std::move(name), "");
  spec.include[0].conditions = {{Fact::vdpa_type, "vdpaType", {std::move(type)}, Match::exact, {}}};
  return spec;
}

inline DecisionTable vfio_with(PoolSpec spec, Node node = vfio_node()) {
  InjectionPolicy policy;
  policy.pools = {std::move(spec)};
  return table_of(std::move(node), std::move(policy));
}

}  // namespace railhead::test
