// SPDX-License-Identifier: Apache-2.0
//
// Access Control Services: whether bridges let a NIC and a GPU talk directly. What is right depends
// on the shape of the machine. Sources: rdma-core kernel-boot/rdma_topo (patterns and shapes);
// Linux Documentation/admin-guide/kernel-parameters.txt, pci=config_acs; PCI Express Base
// Specification 6.12 and 7.7.11.
#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/sort_unique.h"
#include "base/text.h"
#include "checks/groups.h"
#include "checks/pci_config.h"
#include "node/pci_reader.h"

namespace railhead::checks {
namespace {

/// ACS Control as config_acs= spells it: direct translated, egress control, upstream forwarding,
/// completion redirect, request redirect, translation blocking, source validation; x: any.
bool has_pattern(std::uint16_t control, std::string_view pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool set = (control >> (pattern.size() - 1 - i) & 1U) != 0;
    if (pattern[i] != 'x' && set != (pattern[i] == '1')) return false;
  }
  return true;
}

constexpr std::string_view kIsolated = "xx111x1";  ///< what the kernel sets where an IOMMU is used
constexpr std::string_view kNoCompletions = "xx101x1";
constexpr std::string_view kTranslated = "1x111x1";
constexpr std::string_view kToDataDirect = "xx110x1";
constexpr std::string_view kOneGroup = "xx111x0";

/// What a bridge is to have; any of the patterns is right, and the first is advised.
struct WantedAcs {
  node::PciAddress bridge;
  std::vector<std::string_view> patterns;
};

/// What was found at the bridges of one subject.
struct AcsLook {
  std::vector<Evidence> wrong;
  std::vector<std::string> advice;  ///< "xx110x1@0000:01:00.0"
  std::optional<Evidence> right;    ///< one of those that are as they should be
  std::optional<Evidence> unread;
};

Evidence acs_evidence(const Machine& machine, const node::PciAddress& bridge) {
  const auto& control = known_config(machine, bridge)->acs_control;
  return {pci_path(bridge, "config"),
          control ? "ACSCtl 0x" + to_hex(*control, 4) : "no ACS capability"};
}

AcsLook look_at_bridges(const Machine& machine, const std::vector<WantedAcs>& wanted) {
  AcsLook look;
  for (const auto& [bridge, patterns] : wanted) {
    if (auto unread = unknown_config(machine, bridge)) {
      look.unread = std::move(unread);
      continue;
    }
    const auto control = known_config(machine, bridge)->acs_control.value_or(0);
    const bool fits = std::ranges::any_of(
        patterns, [&](std::string_view pattern) { return has_pattern(control, pattern); });
    if (fits) {
      look.right = acs_evidence(machine, bridge);
    } else {
      look.wrong.push_back(acs_evidence(machine, bridge));
      look.advice.push_back(std::string(patterns.front()) + "@" + bridge.str());
    }
  }
  return look;
}

std::string boot_with(const std::vector<std::string>& advice) {
  return "Boot with pci=config_acs=\"" + join(advice, ";") + "\"";
}

Finding& unknown_acs(const std::string& subject, const Evidence& unread, Findings& found) {
  return found.unknown(subject, unread.path + ": the extended capabilities are not shown",
                       {unread});
}

/// The bridge below `common` on the way to a function; nullptr where the function is right below.
const node::PciAddress* next_below(const node::PciDevice& device, const node::PciAddress& common) {
  const auto at = std::ranges::find(device.bridges, common);
  return at == device.bridges.end() || at + 1 == device.bridges.end() ? nullptr : &*(at + 1);
}

/// Every GPU, with or without a driver.
std::vector<const node::PciDevice*> gpu_functions(const Machine& machine) {
  std::vector<const node::PciDevice*> gpus;
  for (const auto& device : machine.node.pci) {
    if (node::gpu_row_of(device) != nullptr) gpus.push_back(&device);
  }
  return gpus;
}

// Bare metal, GPU and NIC below one switch: no redirect on the way.

void judge_direct(const Machine& machine, const std::string& name,
                  const std::vector<node::PciAddress>& bridges, Findings& found) {
  std::vector<Evidence> redirecting;
  std::optional<Evidence> looked_at;
  for (const auto& bridge : bridges) {
    if (const auto unread = unknown_config(machine, bridge)) {
      unknown_acs(name, *unread, found);
      return;
    }
    looked_at = acs_evidence(machine, bridge);
    if (known_config(machine, bridge)->redirects_peers()) redirecting.push_back(*looked_at);
  }
  if (!redirecting.empty()) {
    const std::string several = counted(redirecting.size(), "bridge");
    found.warn(name, "redirects peer-to-peer at " + several, "no request or completion redirect",
               std::move(redirecting));
  } else if (looked_at) {
    found.pass(name, "no redirect on the way to its GPUs", {*looked_at});
  }
}

void judge_bare_metal(const Machine& machine, Findings& found) {
  for (const auto n : machine.traffic_nics()) {
    const auto* device = machine.function(n);
    if (device == nullptr || device->is_vf()) continue;
    if (machine.role(n).role != affinity::Role::compute) continue;
    std::vector<node::PciAddress> bridges;
    for (const auto& gpu : machine.node.gpus) {
      const auto* at = machine.node.find_pci(gpu.pci);
      if (at == nullptr) continue;
      const auto some = topology::bridges_between(*device, *at);
      bridges.insert(bridges.end(), some.begin(), some.end());
    }
    sort_unique(bridges);
    if (!bridges.empty()) judge_direct(machine, machine.node.nics[n].name, bridges, found);
  }
}

// A host that hands GPUs on to virtual machines: translated requests go directly, all others up.

void judge_pair_of_guests(const Machine& machine, const node::PciDevice& nic,
                          const node::PciDevice& gpu, Findings& found) {
  const auto common = topology::common_bridge(nic, gpu);
  const auto* to_nic = common ? next_below(nic, *common) : nullptr;
  const auto* to_gpu = common ? next_below(gpu, *common) : nullptr;
  if (to_nic == nullptr || to_gpu == nullptr) return;
  const auto subject = nic.address.str();
  auto look = look_at_bridges(machine, {{*to_nic, {kTranslated}},
                                        {*to_gpu, {kIsolated, kNoCompletions}},
                                        {nic.bridges.front(), {kIsolated, kNoCompletions}}});
  const auto* config = known_config(machine, nic.address);
  if (look.unread || config == nullptr || !config->whole) {
    unknown_acs(subject, look.unread.value_or(Evidence{pci_path(nic.address, "config"), ""}),
                found);
    return;
  }
  if (!config->ats_control) {
    auto& finding = found.warn(subject, "no address translation service", "ATS",
                               {{pci_path(nic.address, "config"), "no ATS capability"}});
    finding.effect = "a guest's requests go up to the IOMMU -> GPUDirect at half the rate, or none";
    finding.remedy = "mlxconfig -d " + subject + " set ATS_ENABLED=1, then restart the machine.";
  } else if (!look.wrong.empty()) {
    const auto advice = boot_with(look.advice);
    auto& finding =
        found.warn(subject, "not as guests need it at " + counted(look.wrong.size(), "bridge"),
                   "direct translated, and else all redirected", std::move(look.wrong));
    finding.remedy = advice + ". (This machine hands a GPU below the same switch on by vfio.)";
  } else {
    found.pass(subject, "translated requests go directly to the GPU", {*look.right});
  }
}

bool judge_guests(const Machine& machine, Findings& found) {
  bool any = false;
  for (const auto* gpu : gpu_functions(machine)) {
    if (!gpu->held_by_vfio()) continue;
    any = true;
    for (const auto& nic : machine.node.pci) {
      const bool is_nic = nic.class_code >> 16U == 2 && nic.vendor == node::kVendorMellanox;
      if (is_nic && !nic.is_vf()) judge_pair_of_guests(machine, nic, *gpu, found);
    }
  }
  return any;
}

// ConnectX-8 with data-direct on Grace: its second function and the GPU share a switch.

/// "Whether two functions are in one IOMMU group"; absent where that is not known.
std::optional<bool> in_one_group(const Machine& machine, const node::PciAddress& one,
                                 const node::PciAddress& other) {
  const auto a = machine.system.text(pci_path(one, "iommu_group"));
  const auto b = machine.system.text(pci_path(other, "iommu_group"));
  if (!a.known() || !b.known()) return std::nullopt;
  return *a.value == *b.value;
}

/// NVreg_GrdmaPciTopoCheckOverride=1 lets the driver do without. Source: NVIDIA
/// open-gpu-kernel-modules kernel-open/nvidia/nv-reg.h.
bool overrides_topology_check(const Machine& machine) {
  const auto params = machine.system.text("/proc/driver/nvidia/params");
  return params.known() && params.value->find("GrdmaPciTopoCheckOverride: 1") != std::string::npos;
}

const node::PciDevice* gpu_below_switch_of(const Machine& machine, const node::PciDevice& dma) {
  const node::PciDevice* nearest = nullptr;
  std::size_t depth = 0;
  for (const auto* gpu : gpu_functions(machine)) {
    const auto common = topology::common_bridge(dma, *gpu);
    if (!common || next_below(dma, *common) == nullptr) continue;
    const auto at = std::ranges::find(gpu->bridges, *common);
    const auto deep = static_cast<std::size_t>(at - gpu->bridges.begin()) + 1;
    if (deep <= depth) continue;
    depth = deep;
    nearest = gpu;
  }
  return nearest;
}

void judge_data_direct(const Machine& machine, const node::PciDevice& dma, Findings& found) {
  const auto subject = dma.address.str();
  const auto* gpu = gpu_below_switch_of(machine, dma);
  const auto common = gpu != nullptr ? topology::common_bridge(dma, *gpu) : std::nullopt;
  const auto* to_gpu = common ? next_below(*gpu, *common) : nullptr;
  if (to_gpu == nullptr) {
    found.skip(subject, "no GPU below its switch");
    return;
  }
  const auto* to_dma = next_below(dma, *common);
  auto look = look_at_bridges(machine, {{*to_dma, {kToDataDirect}},
                                        {*to_gpu, {kNoCompletions}},
                                        {dma.bridges.front(), {kOneGroup}}});
  if (look.unread) {
    unknown_acs(subject, *look.unread, found);
    return;
  }
  const bool split = in_one_group(machine, dma.address, gpu->address) == std::optional(false);
  const auto advice = boot_with(look.advice) + "; rdma-core's rdma_topo write-grub-acs writes it.";
  if (split && !overrides_topology_check(machine)) {
    auto& finding = found.fail(
        subject, "not in the IOMMU group of its GPU " + gpu->address.str(), "one group",
        {checks::evidence_of(machine.system.text(pci_path(dma.address, "iommu_group"))),
         checks::evidence_of(machine.system.text(pci_path(gpu->address, "iommu_group")))});
    finding.effect = "the GPU's driver refuses it memory (ibv_reg_dmabuf_mr: 524)";
    if (!look.advice.empty()) finding.remedy = advice;
  } else if (!look.wrong.empty()) {
    const auto several = counted(look.wrong.size(), "bridge");
    auto& finding = found.warn(subject, "not as data-direct needs it at " + several,
                               "requests to the GPU go directly", std::move(look.wrong));
    finding.remedy = advice;
  } else {
    found.pass(subject, "requests go directly to " + gpu->address.str(), {*look.right});
  }
}

// Grace, GPU and NIC below root ports of their own: as the kernel sets it.

/// Source: rdma-core kernel-boot/rdma_topo, "grace_rp".
bool is_grace_port(const node::PciDevice& device) {
  constexpr std::array<unsigned, 3> kIds = {0x22b1, 0x22b2, 0x22b8};
  constexpr unsigned kNvidia = 0x10de;
  return device.vendor == kNvidia && contains(kIds, device.device);
}

void judge_grace(const Machine& machine, Findings& found) {
  std::vector<node::PciAddress> roots;
  for (const auto n : machine.traffic_nics()) {
    const auto* device = machine.function(n);
    if (device != nullptr && !device->bridges.empty()) roots.push_back(device->bridges.front());
  }
  for (const auto* gpu : gpu_functions(machine)) {
    if (!gpu->bridges.empty()) roots.push_back(gpu->bridges.front());
  }
  sort_unique(roots);
  for (const auto& root : roots) {
    const auto* port = machine.node.find_pci(root);
    if (port == nullptr || !is_grace_port(*port)) continue;
    auto look = look_at_bridges(machine, {{root, {kIsolated}}});
    if (look.unread) {
      unknown_acs(root.str(), *look.unread, found);
    } else if (!look.wrong.empty()) {
      auto& finding = found.warn(root.str(), "not as the kernel sets it", "all redirected",
                                 std::move(look.wrong));
      finding.effect =
          "functions below it fall into one IOMMU group -> none can be handed out alone, and the "
          "GPU's driver judges the topology wrongly";
      finding.remedy =
          "Take away what switches ACS off (setpci in a start script, pci=config_acs): on Grace "
          "GPUDirect does not need that.";
    } else {
      found.pass(root.str(), "as the kernel sets it", {*look.right});
    }
  }
}

void acs(const Machine& machine, Findings& found) {
  if (machine.node.hypervisor) {
    found.skip(
        kNode,
        "in a virtual machine the host sets it: railhead bench proves a pair, with its data");
    return;
  }
  if (judge_guests(machine, found)) return;
  const bool is_arm = machine.node.cpu.arch == "arm64";
  bool has_data_direct = false;
  for (const auto& device : machine.node.pci) {
    if (!device.is_data_direct()) continue;
    has_data_direct = true;
    if (is_arm) judge_data_direct(machine, device, found);
  }
  if (has_data_direct && !is_arm) {
    found.skip(kNode, "what data-direct functions need is published for Grace alone");
  } else if (!has_data_direct && is_arm) {
    judge_grace(machine, found);
  } else if (!has_data_direct) {
    judge_bare_metal(machine, found);
  }
}

using system::Part;

constexpr std::array kAcsChecks = {
    Check{.id = "pci.acs",
          .what = "Bridges between a NIC and its GPUs let them talk directly.",
          .source = "/sys/bus/pci/devices/*/config of the bridges on the way (ACS Control) and of "
                    "the NIC (ATS); */iommu_group; /proc/driver/nvidia/params",
          .rule = "bare metal, one switch: WARN for request or completion redirect without Direct "
                  "Translated P2P. GPUs that vfio hands on: WARN without ATS, or where the NIC's "
                  "port is not 1x111x1 and the GPU's and the root port not xx1?1x1. Data-direct on "
                  "Grace: WARN unless xx110x1, xx101x1 and xx111x0 (to the function, to the GPU, "
                  "root), FAIL where function and GPU are in two IOMMU groups. Grace else: WARN "
                  "unless root ports have xx111x1. SKIP in a virtual machine, and data-direct "
                  "elsewhere",
          .effect = "GPUDirect goes through the root complex -> about half the rate, or status 4",
          .remedy = "On bare metal without passthrough, boot with pci=config_acs=... for these "
                    "bridges (rdma-core's rdma_topo writes it). Not in machines that pass devices "
                    "through, and not by zeroing every bridge.",
          .remedy_class = RemedyClass::reboot,
          .about = "compute NIC below a switch with GPUs",
          .covers = "pci.acs_ats",
          .parts = Part::pci_config | Part::kernel | Part::gpu_driver,
          .look = acs},
};

}  // namespace

std::span<const Check> pci_acs_checks() {
  return kAcsChecks;
}

}  // namespace railhead::checks
