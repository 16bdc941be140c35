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

/// The setting as devlink says it; nullptr where it says nothing.
const host::DevlinkParameter* setting_of(const Machine& machine, const node::PciAddress& address,
                                         std::string_view name) {
  const auto at = machine.system.firmware.find(address);
  if (at == machine.system.firmware.end() || !at->second.value) return nullptr;
  return find_by(*at->second.value, &host::DevlinkParameter::name, name);
}

std::string functions_text(unsigned functions) {
  return functions == 0 ? "no virtual functions"
                        : "up to " + counted(functions, "virtual function");
}

/// How many virtual functions the card will have after the next start; nothing where devlink does
/// not say it.
std::optional<std::uint64_t> functions_to_come(const Machine& machine,
                                               const node::PciAddress& address) {
  const auto* enabled = setting_of(machine, address, "enable_sriov");
  if (enabled == nullptr || !enabled->next_start) return std::nullopt;
  if (*enabled->next_start == 0) return 0;
  const auto* total = setting_of(machine, address, "total_vfs");
  return total != nullptr ? total->next_start : std::nullopt;
}

/// The number that more than half of the NICs like this one have: of its model and role, and the
/// same function of their card. Nothing where there is none.
std::optional<unsigned> usual_functions(const Machine& machine, std::size_t nic) {
  std::vector<unsigned> all;
  for (std::size_t other = 0; other < machine.node.nics.size(); ++other) {
    const auto* function = machine.function(other);
    if (function == nullptr || function->is_vf() || !machine.same_model(nic, other)) continue;
    if (!machine.node.nics[other].registered) continue;
    if (function->address.function != machine.function(nic)->address.function) continue;
    if (machine.role(other).role != machine.role(nic).role) continue;
    all.push_back(function->sriov_totalvfs.value_or(0));
  }
  for (const auto one : all) {
    if (2 * static_cast<std::size_t>(std::ranges::count(all, one)) > all.size()) return one;
  }
  return std::nullopt;
}

/// Judges the firmware's settings: sriov_totalvfs is NUM_OF_VFS, and none without SRIOV_EN. Source:
/// Linux drivers/net/ethernet/mellanox/mlx5/core/sriov.c, lib/nv_param.c.
void firmware_settings(const Machine& machine, Findings& found) {
  for (std::size_t n = 0; n < machine.node.nics.size(); ++n) {
    const auto* function = machine.function(n);
    const auto& nic = machine.node.nics[n];
    if (function == nullptr || function->is_vf() || nic.elsewhere || !nic.registered) continue;
    const auto& name = nic.name;
    const auto total = function->sriov_totalvfs.value_or(0);
    std::vector<Evidence> evidence = {{pci_path(function->address, "sriov_totalvfs"),
                                       function->sriov_totalvfs ? std::to_string(total) : ""}};
    const auto at = machine.system.firmware.find(function->address);
    if (at != machine.system.firmware.end() && !at->second.value) {
      found.unknown(name, at->second);
      continue;
    }
    const auto to_come = functions_to_come(machine, function->address);
    const auto* roce = setting_of(machine, function->address, "enable_roce");
    std::string text = functions_text(total);
    if (roce != nullptr && roce->now) text += *roce->now == 0 ? ", RoCE off" : ", RoCE on";
    if (at != machine.system.firmware.end()) evidence.push_back({at->second.path, text});
    const auto usual = usual_functions(machine, n);
    if (to_come && *to_come != total) {
      auto& finding = found.warn(name, text + "; " + std::to_string(*to_come) + " after a restart",
                                 "what the firmware is set to", std::move(evidence));
      finding.effect = "the setting has no effect yet";
      finding.remedy = "Restart the machine, with its power off and on where it does not help.";
    } else if (usual && *usual != total) {
      found.warn(name, text, functions_text(*usual) + ", as most NICs of its model",
                 std::move(evidence));
    } else {
      found.pass(name, text, std::move(evidence));
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
    Check{.id = "sriov.firmware",
          .what = "The firmware of NICs of one model is set alike, and as it will be after a "
                  "restart.",
          .source = "/sys/bus/pci/devices/*/sriov_totalvfs; devlink: enable_sriov, total_vfs, "
                    "enable_roce",
          .rule = "PASS: with the number of virtual functions that it allows; WARN: most NICs of "
                  "the same model, role and function number have another one, or the firmware has "
                  "kept another for the next start; UNKNOWN: devlink's answer cannot be read",
          .effect = "a policy for virtual functions fails on this NIC, or makes fewer there",
          .remedy = "mlxconfig -d PCI set SRIOV_EN=1 NUM_OF_VFS=N (with newer kernels: devlink dev "
                    "param set pci/ADDRESS name total_vfs value N cmode permanent), then restart "
                    "the machine.",
          .remedy_class = RemedyClass::reboot,
          .about = "physical function with an RDMA device",
          .covers = "",
          .parts = Part::netdevs,
          .look = firmware_settings},
};

}  // namespace

std::span<const Check> sriov_checks() {
  return kSriovChecks;
}

}  // namespace railhead::checks
