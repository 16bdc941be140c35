// SPDX-License-Identifier: Apache-2.0
//
// PCI functions of NICs and GPUs: are they all there, do they have a driver, does the slot give
// what the card can take, and how they transfer.
#include <algorithm>
#include <array>
#include <set>

#include "base/sort_unique.h"
#include "base/text.h"
#include "checks/groups.h"
#include "node/pci_reader.h"
#include "topology/known_machine.h"
#include "topology/peer_path.h"

namespace railhead::checks {
namespace {

std::vector<node::PciAddress> nics_of(const topology::KnownMachine& machine) {
  std::vector<node::PciAddress> nics;
  for (const auto& one : machine.switches) {
    nics.insert(nics.end(), one.nics.begin(), one.nics.end());
  }
  return nics;
}

/// "8 compute NICs of 400 Gbit/s"
std::string nics_text(const topology::KnownMachine& known) {
  const auto rate = known.gbps == 0 ? "" : " of " + std::to_string(known.gbps) + " Gbit/s";
  return counted(known.nics, "compute NIC") + rate;
}

/// One finding for each function that this type of machine has and this one lacks.
bool judge_known(const Machine& machine, const topology::KnownMachine& known, Findings& found) {
  bool complete = true;
  for (const auto& address : nics_of(known)) {
    if (machine.node.find_pci(address) != nullptr) continue;
    complete = false;
    found.fail(address.str(), "no such PCI function",
               "one of the " + nics_text(known) + " of " + known.name,
               {{pci_path(address, ""), "", ""}});
  }
  return complete;
}

std::size_t compute_nics(const Machine& machine) {
  const auto& roles = machine.deal.roles;
  return static_cast<std::size_t>(std::count_if(roles.begin(), roles.end(), [](const auto& role) {
    return role.role == affinity::Role::compute;
  }));
}

void nic_present(const Machine& machine, Findings& found) {
  const auto* folder = "/sys/bus/pci/devices";
  for (const auto* path : {folder, "/sys/class/infiniband"}) {
    if (const auto* problem = machine.unreadable(path)) {
      found.unknown(kNode, problem->path + ": " + problem->what,
                    {{problem->path, "", problem->what}});
      return;
    }
  }
  const auto* known = topology::find_known_machine(machine.node, topology::known_machines());
  if (known != nullptr && !judge_known(machine, *known, found)) return;
  const auto count = compute_nics(machine);
  const Evidence evidence{folder, counted(count, "compute NIC"), ""};
  if (known != nullptr && known->switches.empty() && count < known->nics) {
    found.fail(kNode, counted(count, "compute NIC"),
               std::to_string(known->nics) + " of " + known->name, {evidence});
  } else if (machine.node.nics.empty()) {
    auto& finding =
        found.warn(kNode, "no RDMA NIC", "at least one, if this node is to run RDMA", {evidence});
    finding.effect = "pods on this node use TCP";
    finding.remedy =
        "Take a machine with RDMA: of Azure's sizes one with an r (ND…r), not NC. If "
        "this node is to do without, all is well.";
    finding.remedy_class = RemedyClass::cluster;
  } else {
    found.pass(
        kNode,
        counted(count, "compute NIC") + " of " + counted(machine.node.nics.size(), "RDMA device"),
        {evidence});
  }
}

void nic_driver(const Machine& machine, Findings& found) {
  for (std::size_t n = 0; n < machine.node.nics.size(); ++n) {
    const auto& nic = machine.node.nics[n];
    if (!nic.pci) continue;
    const auto* function = machine.function(n);
    const auto path = pci_path(*nic.pci, "driver");
    const Evidence evidence{path, nic.driver.value_or(""), ""};
    if (nic.elsewhere) {
      found.pass(nic.name, "its RDMA device is in a pod's namespace", {evidence});
    } else if (nic.registered) {
      found.pass(nic.name, nic.driver.value_or("registered"), {evidence});
    } else if (function != nullptr && function->held_by_vfio()) {
      found.pass(nic.name, "held by " + *nic.driver + " for a virtual machine or DPDK", {evidence});
    } else if (function != nullptr && function->is_vf()) {
      continue;  // sriov.vf-rdma
    } else if (!machine.carries_traffic(n)) {
      found.skip(nic.name, "of role " + std::string(to_string(machine.role(n).role)));
    } else if (machine.node.rdma_netns != node::RdmaNetns::shared) {
      found.unknown(nic.name, "no RDMA device here; it may be in another network namespace",
                    {evidence, {pci_path(*nic.pci, "infiniband"), "", ""}});
    } else if (nic.driver) {
      auto& finding = found.fail(nic.name, *nic.driver + " and no RDMA device", "an RDMA device",
                                 {evidence, {pci_path(*nic.pci, "infiniband"), "", ""}});
      finding.remedy =
          "modprobe mlx5_ib; if it is there, the kernel's log says why the device did "
          "not come up (devlink dev param enable_roce).";
    } else {
      found.fail(nic.name, "no driver", "mlx5_core or another RDMA driver", {evidence});
    }
  }
}

/// A PCIe link as something that can be compared.
struct Link {
  double gts = 0;
  unsigned lanes = 0;
};

std::string link_text(const Link& link) {
  auto speed = std::to_string(link.gts);
  speed.erase(speed.find_last_not_of('0') + 1);
  if (speed.ends_with('.')) speed.pop_back();
  return speed + " GT/s x" + std::to_string(link.lanes);
}

/// 0 and 63 are what the kernel shows for a link that it knows nothing of.
bool is_width(const std::optional<unsigned>& width) {
  return width && *width > 0 && *width < 63;
}

std::optional<Link> current_link(const node::PciDevice& device) {
  if (!device.link_gts || !is_width(device.link_width)) return std::nullopt;
  return Link{*device.link_gts, *device.link_width};
}

/// What a function and the port above it can do together; absent where either does not tell.
std::optional<Link> possible_link(const node::PciDevice& device, const node::PciDevice& above) {
  if (!device.max_link_gts || !above.max_link_gts || !is_width(device.max_link_width) ||
      !is_width(above.max_link_width)) {
    return std::nullopt;
  }
  return Link{std::min(*device.max_link_gts, *above.max_link_gts),
              std::min(*device.max_link_width, *above.max_link_width)};
}

void judge_link(const Machine& machine, const std::string& subject, const node::PciDevice& device,
                Findings& found) {
  const auto* above =
      device.bridges.empty() ? nullptr : machine.node.find_pci(device.bridges.back());
  const auto current = current_link(device);
  const auto possible = above != nullptr ? possible_link(device, *above) : std::nullopt;
  const std::vector<Evidence> evidence = {
      {pci_path(device.address, "current_link_speed"),
       device.link_gts ? link_text({*device.link_gts, device.link_width.value_or(0)}) : "", ""},
      {above != nullptr ? pci_path(above->address, "max_link_speed")
                        : pci_path(device.address, "max_link_speed"),
       possible ? link_text(*possible) : "", ""}};
  if (!current || !possible) {
    found.unknown(subject, "function or slot does not tell its link", evidence);
  } else if (current->lanes < possible->lanes || current->gts < possible->gts) {
    found.fail(subject, link_text(*current), link_text(*possible), evidence);
  } else {
    found.pass(subject, link_text(*current), evidence);
  }
}

void link(const Machine& machine, Findings& found) {
  if (machine.node.hypervisor) {
    found.skip(kNode, "a virtual machine's slots are made up");
    return;
  }
  std::set<node::PciAddress> done;
  for (const auto n : machine.traffic_nics()) {
    const auto* device = machine.function(n);
    // A function within a SoC has no link of its own.
    if (device == nullptr || device->is_vf() || device->bridges.empty()) continue;
    if (done.insert(device->address).second) {
      judge_link(machine, machine.node.nics[n].name, *device, found);
    }
  }
}

/// Calls `judge` with the configuration space of every physical function of compute NICs of
/// Mellanox. Others are not known to gain by these settings.
template <typename Judge>
void for_each_config(const Machine& machine, Findings& found, Judge judge) {
  for (const auto n : machine.traffic_nics()) {
    const auto* device = machine.function(n);
    if (device == nullptr || device->is_vf() || device->vendor != node::kVendorMellanox) continue;
    if (machine.role(n).role != affinity::Role::compute) continue;
    const auto& name = machine.node.nics[n].name;
    const auto at = machine.system.pci_config.find(device->address);
    if (at == machine.system.pci_config.end()) {
      found.unknown(name, "not read", {{pci_path(device->address, "config"), "", "not read"}});
    } else if (!at->second.value) {
      found.unknown(name, at->second);
    } else if (!at->second.value->device_control) {
      found.unknown(name,
                    at->second.path + (at->second.value->whole
                                           ? " has no PCI Express capability"
                                           : ": 64 bytes are shown without CAP_SYS_ADMIN"),
                    {{at->second.path, "", at->second.value->whole ? "" : "EPERM"}});
    } else {
      judge(*device, name, at->second);
    }
  }
}

using ConfigFact = system::Fact<node::PciConfig>;

Evidence device_control(const ConfigFact& config) {
  return {config.path, "DevCtl 0x" + to_hex(*config.value->device_control, 4), ""};
}

void max_read_request(const Machine& machine, Findings& found) {
  for_each_config(
      machine, found,
      [&](const node::PciDevice& device, const std::string& name, const ConfigFact& config) {
        const auto bytes = config.value->max_read_request_bytes();
        const auto observed = bytes ? std::to_string(*bytes) + " bytes" : "a reserved value";
        if (bytes == std::optional(4096U)) {
          found.pass(name, observed, {device_control(config)});
          return;
        }
        auto& finding = found.warn(name, observed, "4096 bytes", {device_control(config)});
        finding.remedy =
            "setpci -s " + device.address.str() +
            " CAP_EXP+8.w=5000:7000 (the mask leaves all other bits as they are; not kept "
            "over a restart).";
      });
}

void relaxed_ordering(const Machine& machine, Findings& found) {
  for_each_config(
      machine, found,
      [&](const node::PciDevice& device, const std::string& name, const ConfigFact& config) {
        if (config.value->relaxed_ordering() == std::optional(true)) {
          found.pass(name, "enabled", {device_control(config)});
          return;
        }
        auto& finding = found.warn(name, "disabled", "enabled", {device_control(config)});
        finding.remedy =
            "setpci -s " + device.address.str() +
            " CAP_EXP+8.w=0010:0010 sets this one bit of Device Control. (CAP_EXP+10 is "
            "Link Control, where 0x20 retrains the link: never write there.)";
      });
}

/// Bridges between a NIC and the lowest bridge that it shares with some GPU, that one left out.
std::vector<node::PciAddress> bridges_to_gpus(const Machine& machine, const node::PciDevice& nic) {
  std::vector<node::PciAddress> all;
  for (const auto& gpu : machine.node.gpus) {
    const auto* device = machine.node.find_pci(gpu.pci);
    if (device == nullptr) continue;
    for (auto& bridge : topology::bridges_between(*device, nic)) all.push_back(bridge);
  }
  sort_unique(all);
  return all;
}

void judge_acs(const Machine& machine, const std::string& name,
               const std::vector<node::PciAddress>& bridges, Findings& found) {
  std::vector<Evidence> redirecting;
  std::optional<Evidence> looked_at;
  for (const auto& bridge : bridges) {
    const auto at = machine.system.pci_config.find(bridge);
    if (at == machine.system.pci_config.end() || !at->second.value || !at->second.value->whole) {
      const auto path = pci_path(bridge, "config");
      found.unknown(name, path + ": the extended capabilities are not shown",
                    {{path, "", at == machine.system.pci_config.end() ? "not read" : "EPERM"}});
      return;
    }
    const auto control = at->second.value->acs_control.value_or(0);
    looked_at = {at->second.path, "ACSCtl 0x" + to_hex(control, 4), ""};
    if (at->second.value->redirects_peers()) redirecting.push_back(*looked_at);
  }
  if (!redirecting.empty()) {
    const std::string several = counted(redirecting.size(), "bridge");
    found.warn(name, "redirects peer-to-peer at " + several, "no request or completion redirect",
               std::move(redirecting));
  } else if (looked_at) {
    found.pass(name, "no redirect on the way to its GPUs", {*looked_at});
  }
}

void acs(const Machine& machine, Findings& found) {
  if (const auto why = topology::why_acs_stays(machine.node); !why.empty()) {
    found.skip(kNode, std::string(why));
    return;
  }
  for (const auto n : machine.traffic_nics()) {
    const auto* device = machine.function(n);
    if (device == nullptr || device->is_vf()) continue;
    if (machine.role(n).role != affinity::Role::compute) continue;
    const auto bridges = bridges_to_gpus(machine, *device);
    if (!bridges.empty()) judge_acs(machine, machine.node.nics[n].name, bridges, found);
  }
}

/// The sum in "TOTAL_ERR_FATAL 3", the last line of such a table. Source: Linux
/// Documentation/ABI/testing/sysfs-bus-pci-devices-aer.
std::optional<std::uint64_t> total_of(const system::Text& table) {
  if (!table.known()) return std::nullopt;
  for (const auto& line : split(*table.value, '\n')) {
    const auto words = split_words(line);
    if (words.size() != 2 || !words[0].starts_with("TOTAL_ERR_")) continue;
    const auto total = parse_unsigned(words[1]);
    if (total) return *total;
  }
  return std::nullopt;
}

void aer(const Machine& machine, Findings& found) {
  for (const auto n : machine.traffic_nics()) {
    const auto* device = machine.function(n);
    if (device == nullptr || device->is_vf()) continue;
    const auto& name = machine.node.nics[n].name;
    const auto fatal = machine.system.text(pci_path(device->address, "aer_dev_fatal"));
    const auto nonfatal = machine.system.text(pci_path(device->address, "aer_dev_nonfatal"));
    if (fatal.absent()) continue;  // no AER capability, or the firmware keeps it
    const auto fatals = total_of(fatal);
    const auto others = total_of(nonfatal);
    if (!fatals || !others) {
      found.unknown(name, fatal.path + " has no total",
                    {evidence_of(fatal), evidence_of(nonfatal)});
      continue;
    }
    const auto observed = std::to_string(*fatals) + " fatal, " + std::to_string(*others) +
                          " other uncorrected since the start";
    const std::vector<Evidence> evidence = {{fatal.path, std::to_string(*fatals), ""},
                                            {nonfatal.path, std::to_string(*others), ""}};
    if (*fatals + *others > 0) {
      found.warn(name, observed, "none", evidence);
    } else {
      found.pass(name, observed, evidence);
    }
  }
}

using system::Part;

constexpr std::array kPciChecks = {
    Check{.id = "pci.nic-present",
          .what = "The machine has the NICs that its type has.",
          .source = "/sys/bus/pci/devices, the table of known machines",
          .rule = "FAIL: a known machine lacks one of its functions; WARN: no RDMA NIC at all; "
                  "UNKNOWN: the folder cannot be read",
          .effect = "the NIC fell off the bus, or was never passed through -> its GPU uses another",
          .remedy = "Take the machine out, and redeploy or report it: the provider's host has lost "
                    "a NIC.",
          .remedy_class = RemedyClass::hardware,
          .about = "PCI function",
          .covers = "pci.nic.present D02 D03 L01 F02",
          .after = "",
          .look = nic_present},
    Check{.id = "pci.nic-driver",
          .what = "Each NIC that is to carry traffic has a driver and an RDMA device.",
          .source = "/sys/bus/pci/devices/*/{driver,infiniband}",
          .rule = "PASS: registered, in a pod, or held by vfio; FAIL: neither; UNKNOWN: RDMA "
                  "namespaces may hide it; SKIP: not for GPUs or storage",
          .effect = "no RDMA device -> this NIC's GPUs use another",
          .remedy = "modprobe mlx5_core mlx5_ib; if it does not bind, the kernel's log says why.",
          .remedy_class = RemedyClass::live,
          .about = "RDMA NIC with a PCI function",
          .covers = "pci.nic.present F07 F14",
          .after = "",
          .look = nic_driver},
    Check{.id = "pci.link",
          .what = "A NIC's PCIe link has the speed and width that card and slot can do together.",
          .source = "/sys/bus/pci/devices/*/{current,max}_link_{speed,width}, of the slot too",
          .rule = "PASS: as both can; FAIL: less; UNKNOWN: one does not tell; SKIP in a virtual "
                  "machine",
          .effect = "PCIe is slower than the port -> bandwidth of this rail at most the link's",
          .remedy = "Reseat the card, check riser and bifurcation; then the card goes back.",
          .remedy_class = RemedyClass::hardware,
          .about = "compute or storage NIC behind a bridge",
          .covers = "pci.link",
          .after = "",
          .look = link},
    Check{.id = "pci.max-read-request",
          .what = "A compute NIC reads 4096 bytes at once.",
          .source = "/sys/bus/pci/devices/*/config: Device Control, bits 14:12",
          .rule = "PASS: 4096; WARN: less; UNKNOWN: not shown without CAP_SYS_ADMIN",
          .effect = "more requests for the same bytes -> reads below the rate of the link",
          .remedy = "setpci -s PCI CAP_EXP+8.w=5000:7000",
          .remedy_class = RemedyClass::live,
          .about = "compute NIC of Mellanox (physical function)",
          .covers = "pci.devctl",
          .after = "pci.nic-driver",
          .parts = Part::pci_config,
          .look = max_read_request},
    Check{.id = "pci.relaxed-ordering",
          .what = "A compute NIC may have its writes reordered.",
          .source = "/sys/bus/pci/devices/*/config: Device Control, bit 4",
          .rule = "PASS: set; WARN: clear; UNKNOWN: not shown without CAP_SYS_ADMIN",
          .effect =
              "each write waits for the one before -> less than the link's rate, above all on "
              "AMD and in virtual machines",
          .remedy = "setpci -s PCI CAP_EXP+8.w=0010:0010",
          .remedy_class = RemedyClass::live,
          .about = "compute NIC of Mellanox (physical function)",
          .covers = "pci.devctl F35 C20 E01",
          .after = "pci.nic-driver",
          .parts = Part::pci_config,
          .look = relaxed_ordering},
    Check{
        .id = "pci.acs",
        .what = "Switches between a NIC and its GPUs let them talk directly.",
        .source = "/sys/bus/pci/devices/*/config of the bridges below the common one: ACS Control",
        .rule = "PASS: no redirect, or Direct Translated P2P (ATS decides then); WARN: request or "
                "completion redirect; SKIP in a virtual machine, on Grace and with data-direct",
        .effect = "GPUDirect goes through the root complex -> about half the rate, or status 4",
        .remedy = "On bare metal without passthrough, boot with pci=config_acs=... for these "
                  "bridges (rdma-core's rdma_topo writes it). Not in machines that pass devices "
                  "through, and not by zeroing every bridge.",
        .remedy_class = RemedyClass::reboot,
        .about = "compute NIC below a switch with GPUs",
        .covers = "pci.acs_ats",
        .after = "",
        .parts = Part::pci_config,
        .look = acs},
    Check{.id = "pci.aer",
          .what = "A NIC's PCIe link has had no uncorrected error since the machine started.",
          .source = "/sys/bus/pci/devices/*/aer_dev_{fatal,nonfatal}",
          .rule = "PASS: none; WARN: some; SKIP: the kernel has no such counters",
          .effect = "the link resets or the driver recovers -> jobs die",
          .remedy = "Watch whether it grows; reseat or replace the card.",
          .remedy_class = RemedyClass::hardware,
          .about = "error counter of a compute or storage NIC",
          .covers = "pci.aer",
          .after = "",
          .parts = Part::pci_config,
          .look = aer},
};

}  // namespace

std::span<const Check> pci_checks() {
  return kPciChecks;
}

}  // namespace railhead::checks
