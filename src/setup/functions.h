// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "setup/machine.h"
#include "setup/wanted.h"

namespace railhead::setup {

/// A PCI network function as sysfs has it now, of what setup changes.
struct NetworkFunction {
  std::string address;  ///< "0000:3b:00.0"
  std::string vendor;   ///< "15b3"
  std::string device;   ///< "101d"
  std::string driver;   ///< "": none is bound
  std::string netdev;   ///< "": none here, such as while it is in a pod's namespace
  std::string rdma;     ///< its RDMA device; "": none here
  std::string node_guid;
  std::string mac;
  std::string link_layer;                      ///< of port 1: "Ethernet", "InfiniBand"
  std::optional<unsigned> mtu;                 ///< of the netdev
  std::optional<unsigned> total_vfs;           ///< absent: no SR-IOV
  std::vector<std::string> virtual_functions;  ///< addresses, by their number
  bool has_iommu = false;                      ///< it is in a group of the IOMMU
  bool is_up = false;                          ///< its netdev is up
  /// A driver has it enabled: vfio-pci does so while a program has it open (Linux
  /// drivers/vfio/pci/vfio_pci_core.c, vfio_pci_core_enable()).
  bool is_enabled = false;
};

/// Absent: no such function.
std::optional<NetworkFunction> read_function(host::Host& host, const std::string& address);

/// Physical functions that the policy names, by address. None where it selects none.
std::vector<NetworkFunction> select_functions(host::Host& host, const VfPolicy& policy);

/// "/sys/bus/pci/devices/0000:3b:00.0/sriov_numvfs"
std::string function_path(const std::string& address, const std::string& attribute);

constexpr const char* kVfio = "vfio-pci";

/// Why a virtual function must not go. "": nothing is seen to use it.
std::string user_of(const NetworkFunction& function);

/// The same of all that a physical one has, and of programs that use their RDMA devices.
/// Those of `ours` were bound to vfio-pci by us: only who has one open uses it.
std::string users_of(host::Host& host, const NetworkFunction& physical,
                     const std::vector<std::string>& ours = {});

/// Who uses a physical function, or one of its virtual ones. What PCI Express sets of it is also
/// theirs: in their Device Control these fields are reserved (PCI Express Base Specification,
/// "SR-IOV PCI Express Capability"). "": nobody is seen.
std::string users_of_all(host::Host& host, const std::string& address);

/// Why no virtual machine could open a function though it is bound to vfio-pci: another one of its
/// IOMMU group, except `siblings`, has a driver of the host (Linux drivers/iommu/iommu.c,
/// iommu_group_claim_dma_owner(): EPERM). "": it could.
std::string sharer_of(host::Host& host, const NetworkFunction& function,
                      const std::vector<std::string>& siblings);

/// A node GUID for a virtual function from that of its physical one ("0c42:a103:0012:3456"): the
/// two bytes in the middle, which tell no two cards apart, say that it is ours and which it is.
/// Absent: that is no GUID.
std::optional<std::uint64_t> vf_guid(const std::string& physical, unsigned number);

}  // namespace railhead::setup
