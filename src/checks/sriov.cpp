// SPDX-License-Identifier: Apache-2.0
//
// Virtual functions: as many as were asked for, with a driver that makes an RDMA device of them.
#include <algorithm>
#include <array>

#include "base/find.h"
#include "base/shell_word.h"
#include "base/text.h"
#include "checks/groups.h"

namespace railhead::checks {
namespace {

/// Calls `use` with every virtual function of a network card, and its NIC if it has one.
template <typename Use>
void for_each_vf(const Machine& machine, Use use) {
  for (const auto& device : machine.node.pci) {
    if (!device.is_vf() || device.class_code >> 16U != 2) continue;
    use(device, find_by(machine.node.nics, &node::Nic::pci, device.address));
  }
}

void vf_count(const Machine& machine, Findings& found) {
  for (const auto& device : machine.node.pci) {
    if (device.class_code >> 16U != 2 || device.sriov_numvfs.value_or(0) == 0) continue;
    const auto there = static_cast<unsigned>(std::ranges::count_if(
        machine.node.pci, [&](const node::PciDevice& vf) { return vf.physfn == device.address; }));
    const Evidence wanted{pci_path(device.address, "sriov_numvfs"),
                          std::to_string(*device.sriov_numvfs)};
    if (there < *device.sriov_numvfs) {
      found.fail(device.address.str(), counted(there, "VF"), wanted.value,
                 {wanted, {pci_path(device.address, "virtfn*"), std::to_string(there)}});
    } else {
      found.pass(device.address.str(), counted(there, "VF"), {wanted});
    }
  }
}

void vf_driver(const Machine& machine, Findings& found) {
  for_each_vf(machine, [&](const node::PciDevice& device, const node::Nic*) {
    const auto evidence = driver_evidence(device.address, device.driver);
    if (!device.driver) {
      found.warn(device.address.str(), "no driver", "mlx5_core, or vfio-pci for virtual machines",
                 {evidence});
    } else {
      found.pass(device.address.str(), *device.driver, {evidence});
    }
  });
}

void vf_rdma(const Machine& machine, Findings& found) {
  for_each_vf(machine, [&](const node::PciDevice& device, const node::Nic* nic) {
    if (device.driver != "mlx5_core" && device.driver != "mlx4_core") return;
    const Evidence evidence{pci_path(device.address, "infiniband"), nic ? nic->name : ""};
    const auto subject = device.address.str();
    if (nic != nullptr && (nic->registered || nic->elsewhere)) {
      found.pass(subject, nic->elsewhere ? "in a pod's namespace" : nic->name, {evidence});
    } else if (const auto* problem = machine.unreadable("/sys/class/infiniband")) {
      found.unknown(subject, *problem, {evidence});
    } else if (machine.node.rdma_netns != node::RdmaNetns::shared) {
      found.unknown(subject, "no RDMA device here; it may be in another network namespace",
                    {evidence});
    } else {
      found.fail(subject, "no RDMA device", "one", {evidence});
    }
  });
}

std::string vf_text(const host::VfSettings& vf) {
  std::vector<std::string> words;
  if (vf.link) {
    constexpr std::array kLinks = {"link follows the port", "link always up", "link always down"};
    words.emplace_back(kLinks[static_cast<std::size_t>(*vf.link)]);
  }
  if (vf.has_node_guid) words.emplace_back(*vf.has_node_guid ? "node GUID set" : "node GUID zero");
  if (vf.has_port_guid) words.emplace_back(*vf.has_port_guid ? "port GUID set" : "port GUID zero");
  if (vf.trusted) words.emplace_back(*vf.trusted ? "trusted" : "not trusted");
  if (vf.spoof_checked) words.emplace_back(*vf.spoof_checked ? "spoof check" : "no spoof check");
  return words.empty() ? "the kernel says nothing of it" : join(words, ", ");
}

/// The NIC of a virtual function, by its number; nullptr where it has none here.
const node::Nic* nic_of_vf(const Machine& machine, const node::PciAddress& parent,
                           unsigned number) {
  for (const auto& device : machine.node.pci) {
    if (device.physfn != parent || device.vf_number != number) continue;
    for (const auto& nic : machine.node.nics) {
      if (nic.pci == device.address) return &nic;
    }
  }
  return nullptr;
}

/// A GUID that is missing. A function that no pod has yet may get one with the pod.
void judge_settings(const Machine& machine, const node::PciAddress& parent,
                    const std::string& netdev, const host::VfSettings& vf, const std::string& path,
                    Findings& found) {
  const auto subject = netdev + "/vf" + std::to_string(vf.number);
  const auto text = vf_text(vf);
  const Evidence evidence{path + " vf " + std::to_string(vf.number), text};
  const bool lacks_guid =
      vf.has_node_guid == std::optional(false) || vf.has_port_guid == std::optional(false);
  const auto* nic = nic_of_vf(machine, parent, vf.number);
  if (lacks_guid && nic != nullptr && nic->elsewhere) {
    found.fail(subject, text + ", and a pod has it", "GUIDs that are not zero", {evidence});
  } else if (lacks_guid) {
    found.warn(subject, text, "GUIDs that are not zero", {evidence});
  } else if (vf.link == host::VfLink::always_down) {
    auto& finding = found.warn(subject, text,
                               "a link that follows the port (auto), or is always up", {evidence});
    finding.effect = "its port stays DOWN whatever the cable does";
    finding.remedy = "ip link set " + shell_word(netdev) + " vf " + std::to_string(vf.number) +
                     " state auto; linkState in the SriovNetwork.";
  } else {
    found.pass(subject, text, {evidence});
  }
}

void vf_settings(const Machine& machine, Findings& found) {
  for (const auto& [netdev, fact] : machine.system.vfs) {
    const auto* parent = machine.node.find_netdev(netdev);
    if (fact.absent() || parent == nullptr || !parent->pci) continue;
    if (!fact.value) {
      found.unknown(netdev, fact);
      continue;
    }
    for (const auto& vf : *fact.value) {
      judge_settings(machine, *parent->pci, netdev, vf, fact.path, found);
    }
  }
}

using system::Part;

constexpr std::array kSriovChecks = {
    Check{.id = "sriov.vf-count",
          .what = "A card shows as many virtual functions as it is set to.",
          .source = "/sys/bus/pci/devices/*/{sriov_numvfs,virtfn*}",
          .rule = "PASS: as many; FAIL: fewer",
          .effect = "the pool has fewer devices than its pods ask for -> pods stay Pending",
          .remedy = "While no pod has one of its VFs, set sriov_numvfs to 0 and to the number "
                    "again. If that fails: SRIOV_EN and NUM_OF_VFS by mlxconfig, then restart the "
                    "machine; room for their memory is the BIOS's to give.",
          .remedy_class = RemedyClass::cluster,
          .about = "network function with virtual functions",
          .covers = "sriov.vfs F03 F12 F32",
          .look = vf_count},
    Check{.id = "sriov.vf-driver",
          .what = "Each virtual function has a driver.",
          .source = "/sys/bus/pci/devices/*/driver",
          .rule = "PASS: one, vfio-pci too (whether that is right only the pool knows); WARN: none",
          .effect = "the SR-IOV plugin leaves it out, or a pod gets a function without a device",
          .remedy = "echo its address > /sys/bus/pci/drivers_probe, and 1 > "
                    "sriov_drivers_autoprobe of the PF for VFs that are made later; deviceType "
                    "netdevice in the policy for containers, vfio-pci for virtual machines only.",
          .remedy_class = RemedyClass::cluster,
          .about = "virtual function",
          .covers = "sriov.vfs F13",
          .look = vf_driver},
    Check{.id = "sriov.vf-rdma",
          .what = "Each virtual function that mlx5_core drives has an RDMA device.",
          .source = "/sys/bus/pci/devices/*/infiniband",
          .rule =
              "PASS: one, here or in a pod; FAIL: none; UNKNOWN: RDMA namespaces may hide it. A "
              "VF is known by its PF: device id 101e is every VF of mlx5 (a ConnectX-7 is 1021)",
          .effect = "a pod with this function has a netdev and no RDMA",
          .remedy =
              "modprobe mlx5_ib; devlink dev param set pci/ADDRESS name enable_roce value true "
              "cmode driverinit, then devlink dev reload; isRdma: true in the policy. More VFs are "
              "no more bandwidth: all share the link of their PF.",
          .remedy_class = RemedyClass::cluster,
          .about = "virtual function with mlx5_core",
          .covers = "sriov.vfs F14 F32",
          .after = "drv.modules:mlx5_ib",
          .look = vf_rdma},
    Check{.id = "sriov.vf-settings",
          .what = "A physical function lets its virtual functions have a link, and on InfiniBand "
                  "GUIDs.",
          .source = "the kernel's routing netlink: RTM_GETLINK, IFLA_VFINFO_LIST of the physical "
                    "function's netdev",
          .rule = "PASS: with link, trust and spoof check as they are (trust is for MAC addresses, "
                  "not for verbs); FAIL: a GUID is zero and a pod has the function; WARN: a GUID "
                  "is zero, or the link is always down",
          .effect = "the subnet manager does not see the port -> it stays DOWN, ibv_reg_mr fails",
          .remedy = "Set its GUIDs (ip link set PF vf N node_guid G, port_guid G), then unbind "
                    "and bind it; ib-sriov-cni does so for a pod.",
          .remedy_class = RemedyClass::cluster,
          .about = "virtual function of which the driver says something",
          .covers = "sriov.vfs link.guid",
          .parts = Part::netdevs,
          .look = vf_settings},
};

}  // namespace

std::span<const Check> sriov_checks() {
  return kSriovChecks;
}

}  // namespace railhead::checks
