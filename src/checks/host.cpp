// SPDX-License-Identifier: Apache-2.0
//
// The machine under everything else: what could be read at all, kernel, IOMMU, NUMA, processors.
#include <array>
#include <map>

#include "base/text.h"
#include "checks/groups.h"
#include "features/gpu_direct.h"
#include "usage/unsafe_lists.h"

namespace railhead::checks {
namespace {

constexpr unsigned kAmazon = 0x1d0f;

void readable(const Machine& machine, Findings& found) {
  for (const auto& problem : machine.node.problems) {
    const bool malformed = problem.kind == node::Problem::Kind::malformed;
    found.unknown(problem.path, (malformed ? "malformed: " : "unreadable: ") + problem.what,
                  {{problem.path, malformed ? problem.what : "", malformed ? "" : problem.what}});
  }
  if (machine.node.problems.empty()) {
    found.pass(kNode, "all that was there could be read", {{"/sys", "read"}});
  }
}

void kernel(const Machine& machine, Findings& found) {
  const auto release = machine.system.text("/proc/sys/kernel/osrelease");
  if (!found.knows(kNode, release)) return;
  const auto version = usage::parse_kernel_version(*release.value);
  if (!version) {
    found.unknown(kNode, "no release: " + in_quotes(*release.value), {evidence_of(release)});
  } else if (*version < features::kDmaBufSince) {
    found.warn(kNode, *release.value, "5.12 or later", {evidence_of(release)});
  } else {
    found.pass(kNode, *release.value, {evidence_of(release)});
  }
}

void virtual_machine(const Machine& machine, Findings& found) {
  const auto& node = machine.node;
  std::string what = node.hypervisor ? "a virtual machine" : "no hypervisor";
  if (!machine.arrangement.machine.empty()) what += ", " + machine.arrangement.machine;
  const auto vendor = node.dmi.sys_vendor.value_or("");
  const Evidence seen =
      node.cpu.arch == "arm64"
          ? Evidence{"/sys/class/dmi/id/sys_vendor", vendor}
          : Evidence{"/proc/cpuinfo", node.hypervisor ? "flag hypervisor" : "no flag hypervisor",
                     ""};
  found.pass(kNode, what,
             {seen, {"/sys/class/dmi/id/product_name", node.dmi.product_name.value_or("")}});
}

/// What the kernel calls a group whose addresses are not translated.
constexpr std::string_view kIdentity = "identity";

void iommu(const Machine& machine, Findings& found) {
  if (machine.node.hypervisor) {
    found.skip(kNode, "in a virtual machine the host's IOMMU decides");
    return;
  }
  for (const auto n : machine.traffic_nics()) {
    const auto& nic = machine.node.nics[n];
    if (!nic.pci) continue;
    const auto group = machine.system.text(pci_path(*nic.pci, "iommu_group"));
    if (group.absent() && machine.system.text("/proc/cmdline").known()) {
      found.pass(nic.name, "no IOMMU group", {{group.path, ""}});
      continue;
    }
    if (!found.knows(nic.name, group)) continue;
    const auto type = machine.system.text("/sys/kernel/iommu_groups/" + *group.value + "/type");
    if (!type.known()) {
      found.unknown(nic.name, type);
    } else if (*type.value == kIdentity || machine.node.gpus.empty()) {
      found.pass(nic.name, *type.value, {evidence_of(type)});
    } else {
      found.warn(nic.name, *type.value, std::string(kIdentity),
                 {evidence_of(type), evidence_of(machine.system.text("/proc/cmdline"))});
    }
  }
}

void numa(const Machine& machine, Findings& found) {
  constexpr const char* kNodes = "/sys/devices/system/node";
  if (const auto* problem = machine.unreadable(kNodes)) {
    found.unknown(kNode, *problem);
    return;
  }
  if (machine.node.numa.size() < 2) {
    found.skip(kNode, "one NUMA node at most");
    return;
  }
  for (const auto n : machine.traffic_nics()) {
    const auto& nic = machine.node.nics[n];
    if (!nic.pci) continue;
    const auto path = pci_path(*nic.pci, "numa_node");
    const auto& numa_node = machine.arrangement.node.nics[n].numa_node;
    if (numa_node) {
      found.pass(nic.name, "NUMA node " + std::to_string(*numa_node),
                 {{path, std::to_string(*numa_node)}});
    } else if (const auto* problem = machine.problem_with("/" + nic.pci->str() + "/numa_node")) {
      found.unknown(nic.name, path + ": " + problem->what, {{path, "", problem->what}});
    } else if (machine.function(n) == nullptr) {
      found.unknown(nic.name, pci_path(*nic.pci, "") + " is not seen", {{path, ""}});
    } else {
      found.warn(nic.name, "no NUMA node", "a NUMA node", {{path, "-1"}});
    }
  }
}

void hugepages(const Machine& machine, Findings& found) {
  bool efa = false;
  for (std::size_t n = 0; n < machine.node.nics.size(); ++n) {
    const auto* function = machine.function(n);
    efa = efa || (function != nullptr && function->vendor == kAmazon);
  }
  if (!efa) return;
  const auto pages = machine.system.text("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
  if (!pages.known()) {
    found.unknown(kNode, pages);
  } else if (*pages.value == "0") {
    found.warn(kNode, "none of 2 MiB", "some of 2 MiB", {evidence_of(pages)});
  } else {
    found.pass(kNode, *pages.value + " of 2 MiB", {evidence_of(pages)});
  }
}

/// "performance", "schedutil"; what else stands there is none. Source: Linux
/// include/linux/cpufreq.h (CPUFREQ_NAME_LEN).
bool is_governor(std::string_view text) {
  return !text.empty() && text.size() < 16 &&
         std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

void governor(const Machine& machine, Findings& found) {
  std::map<std::string, std::vector<std::string>> by_value;
  for (const auto& [path, text] : machine.system.texts) {
    if (!path.ends_with("/cpufreq/scaling_governor") || text.absent()) continue;
    if (found.knows(path, text)) by_value[*text.value].push_back(path);
  }
  for (const auto& [value, paths] : by_value) {
    const auto observed = value + " on " + counted(paths.size(), "processor");
    if (value == "performance") {
      found.pass(kNode, observed, {{paths.front(), value}});
    } else if (!is_governor(value)) {
      found.unknown(paths.front(), "no name of a governor", {{paths.front(), value}});
    } else {
      found.warn("governor " + value, observed, "performance", {{paths.front(), value}});
    }
  }
}

using system::Part;

constexpr std::array kHostChecks = {
    Check{
        .id = "host.readable",
        .what = "Everything that the doctor reads of the node can be read.",
        .source = "sysfs and procfs",
        .rule = "UNKNOWN for each file that is there and cannot be used; PASS where there is none",
        .effect = "",
        .remedy = "",
        .remedy_class = RemedyClass::none,
        .about = "file",
        .covers = "",
        .look = readable},
    Check{.id = "host.kernel",
          .what = "The kernel is new enough to register GPU memory through DMA-BUF.",
          .source = "/proc/sys/kernel/osrelease",
          .rule = "PASS from 5.12; WARN before",
          .effect = "ibv_reg_dmabuf_mr fails -> GPUDirect needs nvidia_peermem",
          .remedy = "Update the kernel to 5.12 or later, or use nvidia_peermem, which needs OFED.",
          .remedy_class = RemedyClass::reboot,
          .about = "kernel",
          .covers = "host.kernel F06",
          .parts = Part::kernel,
          .look = kernel},
    Check{.id = "host.virtual",
          .what = "What kind of machine it is: bare metal, or which virtual machine.",
          .source = "/proc/cpuinfo, /sys/class/dmi/id, the table of known machines",
          .rule = "always PASS: other checks go by it",
          .effect = "",
          .remedy = "",
          .remedy_class = RemedyClass::none,
          .about = "machine",
          .covers = "host.virt D02 L01",
          .look = virtual_machine},
    Check{
        .id = "host.iommu",
        .what = "The IOMMU does not translate what GPUs and NICs send each other.",
        .source = "/sys/kernel/iommu_groups/*/type",
        .rule = "PASS: identity, no group, or no GPU; WARN: translated; SKIP in a virtual machine",
        .effect = "peer-to-peer goes through the root complex -> GPUDirect at half the rate",
        .remedy = "Boot with iommu=pt (with intel_iommu=on or amd_iommu=on where an IOMMU is "
                  "needed for VFs).",
        .remedy_class = RemedyClass::reboot,
        .about = "compute or storage NIC",
        .covers = "host.iommu",
        .parts = Part::kernel,
        .look = iommu},
    Check{.id = "host.numa",
          .what = "Each NIC knows its NUMA node.",
          .source = "/sys/bus/pci/devices/*/numa_node, or the source that the topology is from",
          .rule = "PASS: known; WARN: -1 on a machine with several NUMA nodes",
          .effect = "nobody can say which NIC is near which GPU -> pods get NICs by their address",
          .remedy = "Name a topology file (topology.file), or have the BIOS or the hypervisor tell "
                    "NUMA nodes of PCI devices.",
          .remedy_class = RemedyClass::reboot,
          .about = "compute or storage NIC",
          .covers = "N13 N12",
          .look = numa},
    Check{.id = "host.hugepages",
          .what = "There are huge pages where the NIC's library asks for them (EFA).",
          .source = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
          .rule = "PASS: some; WARN: none; SKIP without an EFA",
          .effect = "libfabric takes small pages -> more time for each registration",
          .remedy = "sysctl vm.nr_hugepages=5128, and keep it in /etc/sysctl.d.",
          .remedy_class = RemedyClass::live,
          .about = "Elastic Fabric Adapter",
          .covers = "",
          .parts = Part::kernel,
          .look = hugepages},
    Check{.id = "host.governor",
          .what = "Processors run at their full clock.",
          .source = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
          .rule = "PASS: performance on all; WARN: another; UNKNOWN: no name of one; SKIP where "
                  "nothing scales",
          .effect = "fewer small messages a second, and ib_write_bw warns of CPU frequencies; "
                    "bandwidth stays",
          .remedy = "cpupower frequency-set -g performance",
          .remedy_class = RemedyClass::live,
          .about = "frequency scaling",
          .covers = "C19",
          .parts = Part::kernel,
          .look = governor},
};

}  // namespace

std::span<const Check> host_checks() {
  return kHostChecks;
}

}  // namespace railhead::checks
