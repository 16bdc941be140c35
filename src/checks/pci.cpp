// SPDX-License-Identifier: Apache-2.0
//
// PCI functions of NICs and GPUs: are they all there, do they have a driver, and does every link on
// the way give what its two ends can do.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/find.h"
#include "base/text.h"
#include "checks/groups.h"
#include "checks/pci_config.h"
#include "topology/known_machine.h"

namespace railhead::checks {
namespace {

/// "8 compute NICs of 400 Gbit/s"
std::string nics_text(const topology::KnownMachine& known) {
  const auto rate = known.gbps == 0 ? "" : " of " + std::to_string(known.gbps) + " Gbit/s";
  return counted(known.nics, "compute NIC") + rate;
}

/// Of a machine that may come without NICs, or with fewer, that is looked at first.
void advise_order(std::string_view from, Finding& finding) {
  if (from.empty()) return;
  finding.remedy = "See what was ordered: all NICs come with " + std::string(from) +
                   ". If that is so, redeploy or report the machine: its host has lost a NIC.";
  finding.remedy_class = RemedyClass::cluster;
}

/// "; 0000:b9:00.0 has 3 of 4 below its switch" for each GPU that shares switches with fewer
/// compute NICs than the other GPUs do, which is where one is missing; "" where that is not to be
/// seen.
std::string where_nics_are_missing(const Machine& machine, const topology::KnownMachine& known) {
  const std::size_t share = known.nics / known.gpus;
  std::string text;
  bool any_whole = false;
  for (std::size_t g = 0; g < machine.node.gpus.size(); ++g) {
    std::size_t near = 0;
    for (std::size_t n = 0; n < machine.node.nics.size(); ++n) {
      const bool below = machine.topology.gpu_nic[g][n].relation <= topology::Relation::pxb;
      if (below && machine.role(n).role == affinity::Role::compute) ++near;
    }
    any_whole = any_whole || near == share;
    if (near >= share) continue;
    text += "; " + machine.node.gpus[g].pci.str() + " has " + std::to_string(near) + " of " +
            std::to_string(share) + " below its switch";
  }
  return any_whole ? text : "";
}

/// Whether a machine of a known type has all its NICs. Else one finding for each that is missing
/// where its address is known, and one that says whose is missing where it is not.
bool judge_known(const Machine& machine, const topology::KnownMachine& known,
                 const Evidence& evidence, Findings& found) {
  const auto count = machine.compute_nics();
  const auto missing =
      topology::missing_functions(known, machine.node, &topology::KnownSwitch::nics);
  const auto expected = nics_text(known) + " of " + known.name;
  const bool has_none = known.switches.empty() ? count == 0 : missing.size() == known.nics;
  const auto& source = known.with_nics.empty() ? known.order : known.with_nics;
  if (known.nics > 0 && has_none && !source.empty()) {
    auto& finding = found.warn(kNode, "none of its compute NICs", expected, {evidence});
    finding.effect = "pods on this node use TCP";
    advise_order(source, finding);
    return false;
  }
  for (const auto& address : missing) {
    auto& finding = found.fail(address.str(), "no such PCI function", "one of the " + expected,
                               {{pci_path(address, ""), ""}});
    advise_order(known.order, finding);
  }
  if (!known.switches.empty() || count >= known.nics) return missing.empty();
  auto& finding =
      found.fail(kNode, counted(count, "compute NIC") + where_nics_are_missing(machine, known),
                 expected, {evidence});
  advise_order(known.order, finding);
  return false;
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
  const auto count = machine.compute_nics();
  const Evidence evidence{folder, counted(count, "compute NIC")};
  if (known != nullptr && !judge_known(machine, *known, evidence, found)) return;
  if (machine.node.nics.empty()) {
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

/// The module that makes a function's RDMA device, and loads the driver below it.
std::string_view rdma_module(const node::PciDevice* function) {
  constexpr std::array kModules = {std::pair{node::kVendorMellanox, std::string_view("mlx5_ib")},
                                   std::pair{node::kVendorAmazon, std::string_view("efa")}};
  const auto* row = find_where(kModules, [&](const auto& one) {
    return function != nullptr && one.first == function->vendor;
  });
  return row == nullptr ? std::string_view() : row->second;
}

/// What loads it; "" where this program does not know the vendor.
std::string load_text(const node::PciDevice* function) {
  const auto module = rdma_module(function);
  return module.empty() ? "" : "modprobe " + std::string(module) + "; ";
}

void nic_driver(const Machine& machine, Findings& found) {
  for (std::size_t n = 0; n < machine.node.nics.size(); ++n) {
    const auto& nic = machine.node.nics[n];
    if (!nic.pci) continue;
    const auto* function = machine.function(n);
    const auto path = pci_path(*nic.pci, "driver");
    const Evidence evidence{path, nic.driver.value_or("")};
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
    } else if (const auto* problem = machine.unreadable("/sys/class/infiniband")) {
      found.unknown(nic.name, problem->path + ": " + problem->what,
                    {evidence, {problem->path, "", problem->what}});
    } else if (machine.node.rdma_netns != node::RdmaNetns::shared) {
      found.unknown(nic.name, "no RDMA device here; it may be in another network namespace",
                    {evidence, {pci_path(*nic.pci, "infiniband"), ""}});
    } else if (nic.driver) {
      auto& finding = found.fail(nic.name, *nic.driver + " and no RDMA device", "an RDMA device",
                                 {evidence, {pci_path(*nic.pci, "infiniband"), ""}});
      finding.remedy = load_text(function) +
                       "where it is loaded, the kernel's log says why the device did not come up";
      finding.remedy += nic.driver == "mlx5_core" ? " (devlink dev param enable_roce)." : ".";
    } else {
      auto& finding = found.fail(nic.name, "no driver", "an RDMA driver", {evidence});
      finding.remedy = load_text(function) + "if it does not bind, the kernel's log says why.";
    }
  }
}

std::string link_text(const node::PciLink& link) {
  auto speed = std::to_string(link.gts);
  speed.erase(speed.find_last_not_of('0') + 1);
  if (speed.ends_with('.')) speed.pop_back();
  return speed + " GT/s x" + std::to_string(link.lanes);
}

/// 0 and 63 are what the kernel shows for a link that it knows nothing of.
bool is_width(const std::optional<unsigned>& width) {
  return width && *width > 0 && *width < 63;
}

/// Now, by sysfs, else by the function's own register.
std::optional<node::PciLink> current_link(const Machine& machine, const node::PciDevice& device) {
  if (device.link_gts && is_width(device.link_width)) {
    return node::PciLink{*device.link_gts, *device.link_width};
  }
  const auto* config = known_config(machine, device.address);
  return config == nullptr ? std::nullopt : config->link_status;
}

std::optional<node::PciLink> largest_link(const Machine& machine, const node::PciDevice& device) {
  if (device.max_link_gts && is_width(device.max_link_width)) {
    return node::PciLink{*device.max_link_gts, *device.max_link_width};
  }
  const auto* config = known_config(machine, device.address);
  return config == nullptr ? std::nullopt : config->link_capability;
}

/// What both ends of a link can do together; absent where either does not tell.
std::optional<node::PciLink> possible_link(const Machine& machine, const node::PciDevice& device,
                                           const node::PciDevice& above) {
  const auto one = largest_link(machine, device);
  const auto other = largest_link(machine, above);
  if (!one || !other) return std::nullopt;
  return node::PciLink{std::min(one->gts, other->gts), std::min(one->lanes, other->lanes)};
}

bool is_less(const node::PciLink& link, const node::PciLink& than) {
  return link.lanes < than.lanes || link.gts < than.gts;
}

std::vector<Evidence> link_evidence(const node::PciDevice& device, const node::PciDevice* above,
                                    const std::optional<node::PciLink>& current,
                                    const std::optional<node::PciLink>& possible) {
  const auto& end = above != nullptr ? *above : device;
  return {{pci_path(device.address, "current_link_speed"), current ? link_text(*current) : ""},
          {pci_path(end.address, "max_link_speed"), possible ? link_text(*possible) : ""}};
}

void judge_slot(const Machine& machine, const std::string& subject, const node::PciDevice& device,
                Findings& found) {
  const auto* above = machine.node.find_pci(device.bridges.back());
  const auto current = current_link(machine, device);
  const auto possible = above != nullptr ? possible_link(machine, device, *above) : std::nullopt;
  auto evidence = link_evidence(device, above, current, possible);
  if (!current || !possible) {
    found.unknown(subject, "function or slot does not tell its link", std::move(evidence));
  } else if (is_less(*current, *possible)) {
    found.fail(subject, link_text(*current), link_text(*possible), std::move(evidence));
  } else {
    found.pass(subject, link_text(*current), std::move(evidence));
  }
}

/// A switch's link to what is above it. A downstream port shows the link below it, which is that of
/// the next function, and within a switch there is none. What a port is, its registers say alone.
void judge_uplink(const Machine& machine, const node::PciDevice& port, Findings& found) {
  const auto* config = known_config(machine, port.address);
  if (config == nullptr || config->port != node::PciPort::upstream || port.bridges.empty()) return;
  const auto* above = machine.node.find_pci(port.bridges.back());
  const auto current = current_link(machine, port);
  const auto possible = above != nullptr ? possible_link(machine, port, *above) : std::nullopt;
  if (!current || !possible) return;
  auto evidence = link_evidence(port, above, current, possible);
  const auto subject = "switch " + port.address.str();
  if (is_less(*current, *possible)) {
    auto& finding =
        found.fail(subject, link_text(*current), link_text(*possible), std::move(evidence));
    finding.effect = "all that is below the switch shares this link with the processor";
  } else {
    found.pass(subject, link_text(*current), std::move(evidence));
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
      judge_slot(machine, machine.node.nics[n].name, *device, found);
    }
    for (const auto& address : device->bridges) {
      const auto* bridge = machine.node.find_pci(address);
      if (bridge != nullptr && done.insert(address).second) judge_uplink(machine, *bridge, found);
    }
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
    const std::vector<Evidence> evidence = {{fatal.path, std::to_string(*fatals)},
                                            {nonfatal.path, std::to_string(*others)}};
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
          .rule = "FAIL: a known machine lacks one of its functions; WARN: no RDMA NIC at all, or "
                  "none of those that a known machine may come without; UNKNOWN: the folder "
                  "cannot be read",
          .effect = "the NIC fell off the bus, or was never passed through -> its GPU uses another",
          .remedy =
              "The kernel's log and the BIOS say whether the card is seen; reseat it, then it "
              "goes back.",
          .remedy_class = RemedyClass::hardware,
          .about = "PCI function",
          .covers = "pci.nic.present D02 D03 L01 F02",
          .look = nic_present},
    Check{.id = "pci.nic-driver",
          .what = "Each NIC that is to carry traffic has a driver and an RDMA device.",
          .source = "/sys/bus/pci/devices/*/{driver,infiniband}",
          .rule = "PASS: registered, in a pod, or held by vfio; FAIL: neither; UNKNOWN: RDMA "
                  "namespaces may hide it, or /sys/class/infiniband cannot be read; SKIP: not for "
                  "GPUs or storage",
          .effect = "no RDMA device -> this NIC's GPUs use another",
          .remedy =
              "modprobe its RDMA module (mlx5_ib, efa); if it does not bind, the kernel's log "
              "says why.",
          .remedy_class = RemedyClass::live,
          .about = "RDMA NIC with a PCI function",
          .covers = "pci.nic.present F07 F14",
          .look = nic_driver},
    Check{.id = "pci.link",
          .what = "Each PCIe link on the way of a NIC has the speed and width that its ends can do "
                  "together.",
          .source = "/sys/bus/pci/devices/*/{current,max}_link_{speed,width} and config (Link "
                    "Status, Link Capabilities), of the slot and of switches above too",
          .rule = "PASS: as both ends can; FAIL: less; UNKNOWN: one does not tell; SKIP in a "
                  "virtual machine. Links of switches are judged where their registers are shown",
          .effect = "PCIe is slower than the port -> bandwidth of this rail at most the link's",
          .remedy = "Reseat the card, check riser and bifurcation; then the card goes back.",
          .remedy_class = RemedyClass::hardware,
          .about = "compute or storage NIC behind a bridge",
          .covers = "pci.link",
          .parts = Part::pci_config,
          .look = link},
    Check{.id = "pci.aer",
          .what = "A NIC's PCIe link has had no uncorrected error since the machine started.",
          .source = "/sys/bus/pci/devices/*/aer_dev_{fatal,nonfatal}",
          .rule = "PASS: none; WARN: some; SKIP: the kernel has no such counters",
          .effect = "the link resets or the driver recovers -> jobs die",
          .remedy = "Watch whether it grows; reseat or replace the card.",
          .remedy_class = RemedyClass::hardware,
          .about = "error counter of a compute or storage NIC",
          .covers = "pci.aer",
          .parts = Part::pci_config,
          .look = aer},
};

}  // namespace

std::span<const Check> pci_checks() {
  return kPciChecks;
}

}  // namespace railhead::checks
