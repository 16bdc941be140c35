// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "unit/pools/pools_of.h"

namespace railhead::test {

/// What the virtual functions of a bus are. Those without RDMA have no RDMA device.
struct Virtual {
  std::uint8_t bus;
  std::uint16_t device;
  const char* driver;
  bool rdma;
};

inline void set_virtual(node::Node& node, const Virtual& is) {
  const auto is_one = [&](const node::PciAddress& at) { return at.bus == is.bus && at.device > 0; };
  for (auto& function : node.pci) {
    if (!is_one(function.address)) continue;
    function.device = is.device;
    function.driver = is.driver;
  }
  if (is.rdma) return;
  std::erase_if(node.nics, [&](const node::Nic& nic) { return nic.pci && is_one(*nic.pci); });
}

/// One machine with a device for every example in the documentation of the two plugins. Bus: what.
///   11 X710 enp0s0f0, VFs 11:01.0-3 (two of them vfio-pci)   12 X710 enp2s2f1, VFs 12:01.0-1
///   13 E810 ens3f0, VFs 13:01.0-1, RDMA                      14 ConnectX-5 ens785f0, ten VFs
///   15 ConnectX-5 ens785f1, ten VFs                          16 ConnectX-6 Dx ens4f0, two VFs,
///                                                            vDPA of virtio and of vhost
///   17 BlueField-2 p0, SFs 1 to 6                            18 BCM57508 ens8
///   19 to 1d ConnectX-5 InfiniBand ib0 ib1 ib3 ib4 ib5
inline node::Node documented_machine() {
  NodeBuilder b;
  b.numa(0, 0);
  const auto root = b.host_bridge(0x10, 0);
  const auto ethernet = [&](const char* netdev, std::uint16_t vendor, std::uint16_t device) {
    return b.nic(b.bridge(root)).ethernet(100).ids(vendor, device).netdev(netdev);
  };
  ethernet("enp0s0f0", 0x8086, 0x1572).virtual_functions(4);
  ethernet("enp2s2f1", 0x8086, 0x1572).virtual_functions(2);
  ethernet("ens3f0", 0x8086, 0x1592).virtual_functions(2);
  ethernet("ens785f0", 0x15b3, 0x1017).virtual_functions(10);
  ethernet("ens785f1", 0x15b3, 0x1017).virtual_functions(10);
  ethernet("ens4f0", 0x15b3, 0x101d).virtual_functions(2);
  const auto bluefield = ethernet("p0", 0x15b3, 0xa2d6).first();
  ethernet("ens8", 0x14e4, 0x1750);
  for (const char* name : {"ib0", "ib1", "ib3", "ib4", "ib5"}) {
    b.nic(b.bridge(root)).infiniband(100).ids(0x15b3, 0x1017).netdev(name);
  }
  const node::Nic card = b.raw().nics[bluefield];
  for (unsigned number = 1; number <= 6; ++number) {
    node::Nic scalable = card;
    scalable.name = "mlx5_sf" + std::to_string(number);
    scalable.sub_function = "mlx5_core.sf." + std::to_string(number + 1);
    scalable.sf_number = number;
    scalable.netdevs = {"p0s" + std::to_string(number)};
    b.raw().nics.push_back(scalable);
  }
  auto node = b.build();
  for (auto& function : node.pci) {
    function.driver = function.vendor == 0x15b3   ? "mlx5_core"
                      : function.vendor == 0x14e4 ? "bnxt_en"
                                                  : "ice";
  }
  for (const auto& is :
       {Virtual{0x11, 0x154c, "iavf", false}, Virtual{0x12, 0x154c, "vfio-pci", false},
        Virtual{0x13, 0x1889, "iavf", true}, Virtual{0x14, 0x1018, "mlx5_core", true},
        Virtual{0x15, 0x1018, "mlx5_core", true}, Virtual{0x16, 0x101e, "mlx5_core", true}}) {
    set_virtual(node, is);
  }
  for (auto& function : node.pci) {
    const auto& at = function.address;
    if (at.bus == 0x11 && at.device > 0 && at.function >= 2) function.driver = "vfio-pci";
    if (at.bus != 0x16 || at.device == 0) continue;
    const bool vhost = at.function == 1;
    function.vdpa.push_back({"vdpa" + std::to_string(at.function),
                             vhost ? "vhost_vdpa" : "virtio_vdpa",
                             vhost ? std::optional<unsigned>(0U) : std::nullopt});
  }
  return node;
}

}  // namespace railhead::test
