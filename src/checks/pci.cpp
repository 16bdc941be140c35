// SPDX-License-Identifier: Apache-2.0
//
// PCI functions of NICs and GPUs: are they all there, do they have a driver, and does every link on
// the way give what its two ends can do.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "affinity/shortage.h"
#include "base/find.h"
#include "base/text.h"
#include "checks/groups.h"
#include "checks/pci_config.h"
#include "node/rdma_models.h"
#include "node/unread.h"
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
  const auto count = affinity::nics_of_type(machine.deal);
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

/// Source: systemd src/basic/virt.c, canonical/cloud-init DataSourceAzure.py: the tag of Azure's
/// hosts, which Hyper-V elsewhere has not.
bool is_azure(const Machine& machine) {
  return machine.node.dmi.chassis_asset_tag == "7783-7084-3265-9085-8269-3286-77";
}

/// Of a machine without an RDMA NIC: its NICs that could be one, or where to get one.
void say_that_none_is_there(const Machine& machine, const Evidence& seen, Findings& found) {
  const auto candidates = node::rdma_candidates(machine.node);
  std::vector<Evidence> evidence = {seen};
  std::string observed = "no RDMA NIC";
  if (!candidates.empty()) {
    observed = "no RDMA device; " + join(candidates, ", ", [](const node::PciDevice* one) {
                 return node::promise_text(*one);
               });
    for (const auto* one : candidates) {
      evidence.push_back(driver_evidence(one->address, one->driver));
    }
  }
  auto& finding =
      found.warn(kNode, observed, "at least one, if this node is to run RDMA", std::move(evidence));
  finding.effect = "pods on this node use TCP";
  finding.remedy_class = candidates.empty() ? RemedyClass::cluster : RemedyClass::live;
  if (!candidates.empty()) {
    finding.remedy = "Load the module that is named (pci.nic-driver). ";
  } else if (is_azure(machine)) {
    finding.remedy = "Take a machine with RDMA: of Azure's sizes one with an r (ND…r), not NC. ";
  } else {
    finding.remedy = "Take a machine with an RDMA NIC. ";
  }
  finding.remedy += "If this node is to do without, all is well.";
}

void nic_present(const Machine& machine, Findings& found) {
  const auto* folder = "/sys/bus/pci/devices";
  if (const auto* problem = node::unread_nic(machine.node)) {
    found.unknown(kNode, *problem);
    return;
  }
  const auto* known = topology::find_known_machine(machine.node, topology::known_machines());
  const auto count = machine.compute_nics();
  const Evidence evidence{folder, counted(count, "compute NIC")};
  if (known != nullptr && !judge_known(machine, *known, evidence, found)) return;
  if (machine.node.nics.empty()) {
    say_that_none_is_there(machine, evidence, found);
  } else {
    found.pass(
        kNode,
        counted(count, "compute NIC") + " of " + counted(machine.node.nics.size(), "RDMA device"),
        {evidence});
  }
}

/// "bnxt_en and no RDMA device", "no driver"
std::string without_device(const std::string& driver) {
  return driver.empty() ? "no driver" : driver + " and no RDMA device";
}

/// What to do for a function's RDMA device: its module is loaded, or the log says why that did not
/// help. `bound`: its driver is; the sentence then goes on.
std::string device_advice(const Machine& machine, const node::PciDevice* function, bool bound) {
  const auto* model = function == nullptr ? nullptr : node::rdma_model_of(*function);
  const auto modprobe = model == nullptr ? "" : "modprobe " + std::string(model->module) + "; ";
  if (!bound) return modprobe + "if it does not bind, the kernel's log says why.";
  const bool is_loaded = model != nullptr && machine.has_module(model->module).value_or(false);
  const auto where =
      is_loaded ? std::string(model->module) + " is loaded; " : modprobe + "where it is loaded, ";
  return where + "the kernel's log says why the device did not come up";
}

/// An Ethernet NIC's RDMA may be off in its firmware, or by devlink.
bool may_be_off(const node::PciDevice* function) {
  const auto* model = function == nullptr ? nullptr : node::rdma_model_of(*function);
  return model != nullptr && model->promise != node::RdmaPromise::made_for_it;
}

void say_unregistered(const Machine& machine, const node::Nic& nic, Evidence driver,
                      Findings& found) {
  const auto* function = machine.node.find_pci(*nic.pci);
  const auto bound = driver.value;
  const auto observed = without_device(bound);
  std::vector<Evidence> evidence = {std::move(driver), {"/sys/class/infiniband", ""}};
  auto& finding =
      may_be_off(function)
          ? found.warn(nic.name, observed, "an RDMA device, as its likes have", std::move(evidence))
          : found.fail(nic.name, observed, "an RDMA device", std::move(evidence));
  finding.remedy = device_advice(machine, function, !bound.empty());
  if (bound == "mlx5_core") finding.remedy += " (devlink dev param enable_roce)";
  if (!bound.empty()) finding.remedy += ".";
}

bool carries_main_route(const Machine& machine, const node::PciAddress& address) {
  return std::ranges::any_of(machine.node.netdevs, [&](const node::Netdev& netdev) {
    return netdev.pci == address && machine.node.carries_main_route(netdev.name);
  });
}

/// Ethernet NICs of a machine that has no other for RDMA.
void judge_candidates(const Machine& machine, Findings& found) {
  for (const auto* function : node::rdma_candidates(machine.node)) {
    const auto subject = function->address.str();
    const std::vector<Evidence> evidence = {driver_evidence(function->address, function->driver),
                                            {"/sys/class/infiniband", ""}};
    const auto& model = *node::rdma_model_of(*function);
    if (model.promise == node::RdmaPromise::without_verbs) {
      found.skip(subject, node::promise_text(*function) + ": libfabric's cxi", evidence);
    } else if (carries_main_route(machine, function->address)) {
      found.skip(subject, node::promise_text(*function) + " and carries the node's own traffic",
                 evidence);
    } else {
      auto& finding = found.warn(subject, without_device(function->driver.value_or("")),
                                 "an RDMA device, if this node is to run RDMA", evidence);
      finding.remedy = device_advice(machine, function, function->driver.has_value());
      if (function->driver) {
        finding.remedy += ", or RDMA is off in the NIC's firmware or by devlink.";
      }
    }
  }
}

void nic_driver(const Machine& machine, Findings& found) {
  for (std::size_t n = 0; n < machine.node.nics.size(); ++n) {
    const auto& nic = machine.node.nics[n];
    if (!nic.pci) continue;
    const auto* function = machine.function(n);
    const auto evidence = driver_evidence(*nic.pci, nic.driver);
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
      found.unknown(nic.name, *problem, {evidence});
    } else if (machine.node.rdma_netns != node::RdmaNetns::shared) {
      found.unknown(nic.name, "no RDMA device here; it may be in another network namespace",
                    {evidence, {"/sys/class/infiniband", ""}});
    } else {
      say_unregistered(machine, nic, evidence, found);
    }
  }
  if (machine.node.nics.empty()) judge_candidates(machine, found);
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

/// The file that a link was read from; of a bridge, the registers are asked where sysfs is not.
std::string link_path(const node::PciDevice& device, bool by_sysfs, std::string_view file) {
  return pci_path(device.address, by_sysfs || !device.is_bridge() ? file : "config");
}

std::vector<Evidence> link_evidence(const node::PciDevice& device, const node::PciDevice* above,
                                    const std::optional<node::PciLink>& current,
                                    const std::optional<node::PciLink>& possible) {
  const auto& end = above != nullptr ? *above : device;
  const bool by_sysfs = device.link_gts && is_width(device.link_width);
  const bool end_by_sysfs = end.max_link_gts && is_width(end.max_link_width);
  return {{link_path(device, by_sysfs, "current_link_speed"), current ? link_text(*current) : ""},
          {link_path(end, end_by_sysfs, "max_link_speed"), possible ? link_text(*possible) : ""}};
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
          .rule =
              "PASS: registered, in a pod, or held by vfio; FAIL: neither; WARN: an Ethernet NIC "
              "that can do RDMA, where its likes have a device or the machine has no RDMA NIC; "
              "UNKNOWN: RDMA namespaces may hide it, or /sys/class/infiniband cannot be read; "
              "SKIP: not for GPUs or storage",
          .effect = "no RDMA device -> this NIC's GPUs use another",
          .remedy = "modprobe its RDMA module (mlx5_ib, bnxt_re, irdma…); if it does not bind, the "
                    "kernel's log says why.",
          .remedy_class = RemedyClass::live,
          .about = "RDMA NIC with a PCI function",
          .covers = "pci.nic.present F07 F14",
          .parts = Part::modules,
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
