// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "unit/inject/container_builder.h"

namespace railhead::test {

/// A shared pool of these RDMA devices, 100 slots.
inline pools::PoolSpec shared_pool(std::string name, std::vector<std::string> nics) {
  pools::PoolSpec spec;
  spec.name = std::move(name);
  spec.slots = 100;
  spec.kinds = {pools::FunctionKind::physical};
  spec.include = {
      {{{pools::Fact::rdma_name, "rdma", std::move(nics), pools::Match::glob, {}}}, true, false}};
  return spec;
}

inline pools::PoolSpec exclusive_pool(std::string name, std::vector<std::string> nics) {
  pools::PoolSpec spec = shared_pool(std::move(name), std::move(nics));
  spec.mode = pools::PoolMode::exclusive;
  return spec;
}

/// As a file of the SR-IOV plugin has it: one driver's functions, without isRdma.
inline pools::PoolSpec driver_pool(std::string name, std::string driver) {
  pools::PoolSpec spec;
  spec.name = std::move(name);
  spec.mode = pools::PoolMode::exclusive;
  spec.kinds = {pools::FunctionKind::physical, pools::FunctionKind::virtual_};
  spec.include = {{{{pools::Fact::driver, "drivers", {std::move(driver)}, pools::Match::exact, {}}},
                   false,
                   false}};
  spec.origin.flavour = pools::PoolFlavour::sriov_plugin;
  return spec;
}

/// The seed's machine with these pools.
inline inject::DecisionTable seed_with(std::vector<pools::PoolSpec> specs) {
  inject::InjectionPolicy policy;
  policy.pools = std::move(specs);
  return table_of(seed_node(), std::move(policy));
}

/// Two virtual functions (0000:11:01.0 and .1) of one card, both held by vfio-pci, in IOMMU groups
/// 26 and 27.
inline node::Node vfio_node() {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0))).ethernet(200).netdev("ens1").virtual_functions(2);
  auto node = b.build();
  std::erase_if(node.nics, [](const node::Nic& nic) { return nic.pci->device == 1; });
  unsigned group = 26;
  for (auto& device : node.pci) {
    device.driver = device.is_vf() ? "vfio-pci" : "mlx5_core";
    if (device.is_vf()) device.iommu_group = group++;
  }
  node.function_devices = {{{"/dev/vfio/vfio", 10, 196, 0666, 0, 0, true}, ""},
                           {{"/dev/vfio/26", 511, 0, 0600, 0, 0, true}, ""},
                           {{"/dev/vfio/27", 511, 1, 0600, 0, 0, true}, ""}};
  return node;
}

/// Two virtual functions (0000:11:01.0 and .1) of one card, each with a vDPA device: vdpa0, whose
/// node is /dev/vhost-vdpa-7, and vdpa1, which is a virtio device of the host.
inline node::Node vdpa_node() {
  auto node = vfio_node();
  for (auto& device : node.pci) {
    device.driver = "mlx5_core";
    device.iommu_group.reset();
    if (!device.is_vf()) continue;
    if (device.address.function == 0) device.vdpa = {{"vdpa0", "vhost_vdpa", 7U}};
    if (device.address.function == 1) device.vdpa = {{"vdpa1", "virtio_vdpa", {}}};
  }
  node.function_devices = {{{"/dev/vhost-vdpa-7", 510, 7, 0600, 0, 0, true}, ""}};
  return node;
}

/// As a file of the SR-IOV plugin has it: functions whose vDPA device is of this type.
inline pools::PoolSpec vdpa_pool(std::string name, std::string type) {
  auto spec = driver_pool(std::move(name), "");
  spec.include[0].conditions = {
      {pools::Fact::vdpa_type, "vdpaType", {std::move(type)}, pools::Match::exact, {}}};
  return spec;
}

inline inject::DecisionTable vfio_with(pools::PoolSpec spec, node::Node node = vfio_node()) {
  inject::InjectionPolicy policy;
  policy.pools = {std::move(spec)};
  return table_of(std::move(node), std::move(policy));
}

}  // namespace railhead::test
