// SPDX-License-Identifier: Apache-2.0
//
// Healthy machines with what a DGX does not have: RoCE, virtual functions, Lustre, an EFA.
#pragma once

#include <cstdint>
#include <string>

#include "unit/checks/patient.h"

namespace railhead::test {

inline Patient roce() {
  auto patient = healthy("hgx-h100-roce");
  for (const auto& path : patient.paths("/mtu")) patient.text(path, "9000");
  return patient;
}

inline constexpr const char* kRoceNetdev = "enp26s0np0";  // of mlx5_0

/// Two rails in one subnet, which answer for each other.
inline Patient rails_in_one_subnet() {
  auto patient = roce();
  patient.bytes("/proc/1/net/route",
                "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
                "enp26s0np0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
                "enp60s0np0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
                "enp77s0np0\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n");
  for (const auto* whose : {"all", "enp26s0np0", "enp60s0np0"}) {
    const auto folder = "/proc/sys/net/ipv4/conf/" + std::string(whose) + "/";
    patient.text(folder + "arp_ignore", "0");
    patient.text(folder + "arp_announce", "0");
  }
  return patient;
}

/// A PF of a Mellanox card with two VFs, of which the second is as a test makes it.
inline Patient with_vfs() {
  auto patient = healthy();
  const std::string parent = "/sys/devices/pci0000:3d/0000:3d:01.0/0000:3e:00.0/0000:3f:00.0/";
  patient.text(parent + "0000:40:00.0/sriov_totalvfs", "8");
  patient.text(parent + "0000:40:00.0/sriov_numvfs", "2");
  for (int vf = 0; vf < 2; ++vf) {
    const auto address = "0000:40:00." + std::to_string(vf + 1);
    const auto folder = parent + address + "/";
    patient.text(folder + "class", "0x020700").text(folder + "vendor", "0x15b3");
    patient.text(folder + "device", "0x101e");
    patient.bytes(folder + "uevent", "DRIVER=mlx5_core\nPCI_CLASS=20700\nPCI_ID=15B3:101E\n");
    patient.link(folder + "driver", "../../../../../../bus/pci/drivers/mlx5_core");
    patient.link(folder + "physfn", "../0000:40:00.0");
    patient.link(parent + "0000:40:00.0/virtfn" + std::to_string(vf), "../" + address);
    patient.link("/sys/bus/pci/devices/" + address,
                 "../../../devices/pci0000:3d/0000:3d:01.0/0000:3e:00.0/0000:3f:00.0/" + address);
    const auto name = "mlx5_" + std::to_string(20 + vf);
    const auto device = folder + "infiniband/" + name + "/";
    patient.text(device + "node_type", "1: CA");
    patient.text(device + "node_guid", "a088:c203:007e:da5" + std::to_string(vf));
    patient.link(device + "device", "../..");
    patient.link("/sys/class/infiniband/" + name, "../../" + device.substr(5, device.size() - 6));
    const auto uverbs = "uverbs" + std::to_string(20 + vf);
    patient.text(folder + "infiniband_verbs/" + uverbs + "/ibdev", name);
    patient.text(folder + "infiniband_verbs/" + uverbs + "/dev", "231:" + std::to_string(212 + vf));
    patient.link("/sys/class/infiniband_verbs/" + uverbs,
                 "../../" + folder.substr(5) + "infiniband_verbs/" + uverbs);
    patient.device("/dev/infiniband/" + uverbs,
                   {'c', 231, static_cast<std::uint32_t>(212 + vf), 0666, 0, 0});
  }
  return patient;
}

inline constexpr const char* kVf2 =
    "/sys/devices/pci0000:3d/0000:3d:01.0/0000:3e:00.0/0000:3f:00.0/0000:40:00.2";

/// A healthy machine with Lustre's module.
inline Patient with_lnet() {
  auto patient = healthy();
  patient.text("/sys/module/lnet/parameters/networks", "o2ib0(ib0),tcp0(eth0)");
  patient.text("/sys/module/lnet/refcnt", "1");
  return patient;
}

/// The same rails, each of which answers for itself.
inline Patient rails_that_answer_for_themselves() {
  return rails_in_one_subnet()
      .text("/proc/sys/net/ipv4/conf/all/arp_ignore", "1")
      .text("/proc/sys/net/ipv4/conf/all/arp_announce", "2");
}

/// Lustre over RDMA, and up.
inline Patient lustre() {
  return with_lnet()
      .text("/sys/module/ko2iblnd/refcnt", "1")
      .text("/sys/kernel/debug/lnet/nis",
            "nid                      status alive refs peer  rtr   max    tx   min\n"
            "0@lo                         up     0    2    0    0     0     0     0\n"
            "10.0.0.5@o2ib                up    -1    1    8    0   256   256   248");
}

/// A virtual machine that hides its switches, and tells NCCL of them.
inline Patient told_vm() {
  return healthy("h200-flat-kvm")
      .text("/etc/nccl.conf", "NCCL_TOPO_FILE=/opt/ndv5-topo.xml")
      .text("/opt/ndv5-topo.xml", "<system version=\"1\"/>");
}

inline Patient efa() {
  return healthy("aws-p5").text("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "5128");
}

/// A machine whose one NIC, of Broadcom's, could do RDMA.
inline Patient broadcom() {
  auto patient = healthy("gpus-only");
  for (const auto& path : patient.paths("/0000:41:00.0/uevent")) {
    patient.replace(path, "DRIVER=ixgbe", "DRIVER=bnxt_en");
    patient.replace(path, "PCI_ID=8086:1563", "PCI_ID=14E4:1750");
  }
  return patient;
}

/// The folder of congestion control of a netdev, as OFED shows it.
inline std::string ecn_folder(const Patient& patient, const std::string& netdev) {
  const auto mtu = patient.paths("/net/" + netdev + "/mtu").at(0);
  return mtu.substr(0, mtu.size() - 3) + "ecn/";
}

inline Patient roce_with_ecn() {
  auto patient = roce();
  const auto folder = ecn_folder(patient, kRoceNetdev);
  for (const auto* side : {"roce_np", "roce_rp"}) {
    for (int priority = 0; priority < 8; ++priority) {
      patient.text(folder + side + "/enable/" + std::to_string(priority),
                   priority == 3 ? "1" : "0");
    }
  }
  return patient;
}

}  // namespace railhead::test
