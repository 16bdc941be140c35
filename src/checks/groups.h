// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "checks/check.h"

namespace railhead::checks {

// One file each, in the order in which they are made: a later one may stand behind an earlier.
std::span<const Check> host_checks();          ///< the kernel and the machine itself
std::span<const Check> driver_checks();        ///< modules and driver stacks
std::span<const Check> pci_checks();           ///< functions, drivers, links, errors
std::span<const Check> pci_settings_checks();  ///< size, order and number of a NIC's requests
std::span<const Check> pci_acs_checks();       ///< ways between NICs and GPUs
std::span<const Check> device_checks();        ///< character devices and RDMA namespaces
std::span<const Check> link_checks();          ///< ports: state, rate, fabric, counters
std::span<const Check> place_checks();         ///< whom NICs serve
std::span<const Check> roce_checks();          ///< GIDs, MTU, congestion control, ARP
std::span<const Check> roce_qos_checks();      ///< priorities, and which of them pause
std::span<const Check> sriov_checks();         ///< virtual functions
std::span<const Check> gpu_checks();           ///< GPUs, their driver, GPUDirect
std::span<const Check> gpu_extra_checks();     ///< who brought the driver; GDRCopy, IBGDA
std::span<const Check> runtime_checks();       ///< container runtime and kubelet
std::span<const Check> nfs_checks();           ///< NFS over RDMA
std::span<const Check> lnet_checks();          ///< Lustre's network
std::span<const Check> bench_checks();         ///< what --active measured
std::span<const Check> log_checks();           ///< the kernel's log
std::span<const Check> over_time_checks();     ///< links over time
std::span<const Check> pod_checks();           ///< containers of a pod
std::span<const Check> pod_library_checks();   ///< their libraries

}  // namespace railhead::checks
