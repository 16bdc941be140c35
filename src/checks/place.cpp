// SPDX-License-Identifier: Apache-2.0
//
// Whether NICs serve whom their place in the machine says: a card that is near a GPU, and was left
// on another link layer or given to the node's own network, is missed there.
#include <algorithm>
#include <array>

#include "affinity/capability.h"
#include "base/text.h"
#include "checks/groups.h"
#include "node/unread.h"

namespace railhead::checks {
namespace {

/// The compute NIC whose model this NIC has, with another link layer; nullptr: none.
const node::Nic* compute_twin(const Machine& machine, std::size_t nic) {
  const auto own = affinity::link_layer_of(machine.node.nics[nic], machine.function(nic));
  for (std::size_t other = 0; other < machine.node.nics.size(); ++other) {
    const auto& one = machine.node.nics[other];
    if (machine.role(other).role != affinity::Role::compute || !one.registered) continue;
    if (!machine.same_model(nic, other)) continue;
    if (affinity::link_layer_of(one, machine.function(other)) != own) return &one;
  }
  return nullptr;
}

/// A GPU that has this NIC below its switches, and is dealt none as near; nullptr: none.
const node::Gpu* missed_by(const Machine& machine, std::size_t nic) {
  using topology::Relation;
  for (std::size_t g = 0; g < machine.node.gpus.size(); ++g) {
    const auto own = machine.topology.gpu_nic[g][nic].relation;
    if (own <= Relation::pxb && own < machine.deal.gpus[g].nearness.relation) {
      return &machine.node.gpus[g];
    }
  }
  return nullptr;
}

/// A card that was left on the wrong link layer is no compute NIC by its role. It is known by its
/// place: a GPU has no other as near.
void layer(const Machine& machine, Findings& found) {
  for (std::size_t n = 0; n < machine.node.nics.size(); ++n) {
    const auto& nic = machine.node.nics[n];
    if (!nic.registered || nic.elsewhere || nic.ports.empty()) continue;
    const auto layer = affinity::link_layer_of(nic, machine.function(n));
    const Evidence evidence{port_path(nic, nic.ports.front(), "link_layer"),
                            std::string(to_string(layer))};
    if (machine.role(n).role == affinity::Role::compute) {
      found.pass(nic.name, std::string(to_string(layer)), {evidence});
      continue;
    }
    const auto* twin = compute_twin(machine, n);
    const auto* gpu = twin != nullptr ? missed_by(machine, n) : nullptr;
    if (gpu == nullptr) continue;
    found.warn(nic.name, std::string(to_string(layer)), "the link layer of " + twin->name,
               {evidence, {pci_path(gpu->pci, ""), "this GPU has no other NIC as near"}});
  }
}

/// Of a NIC that carries the node's own network, whether GPUs have it too or miss it: it is dealt
/// to them nevertheless, it is the only one, or a GPU has no other as near.
bool is_shared(const Machine& machine, std::size_t nic) {
  if (machine.node.gpus.empty()) return false;
  if (machine.role(nic).role == affinity::Role::compute) return true;
  const auto& roles = machine.deal.roles;
  const bool alone = std::ranges::none_of(
      roles, [](const auto& role) { return role.role == affinity::Role::compute; });
  return alone || missed_by(machine, nic) != nullptr;
}

void management_nic(const Machine& machine, Findings& found) {
  for (std::size_t n = 0; n < machine.node.nics.size(); ++n) {
    const auto& nic = machine.node.nics[n];
    for (const auto& netdev : nic.netdevs) {
      if (!machine.node.carries_main_route(netdev)) continue;
      const Evidence evidence{"/proc/1/net/route", "the default route leaves by " + netdev};
      if (is_shared(machine, n)) {
        found.warn(nic.name, "carries the node's default route", "a NIC for RDMA alone",
                   {evidence});
      } else {
        found.pass(nic.name, "is for the node alone", {evidence});
      }
    }
  }
  if (!found.empty()) return;
  for (const auto* path : {"/sys/class/net", "/proc/1/net/route", "/proc/1/net/ipv6_route"}) {
    const auto* problem = machine.unreadable(path);
    if (problem == nullptr) continue;
    found.unknown(kNode, *problem);
    return;
  }
}

/// A GPU whose NIC is gone shares one that is further away. Its place tells, where nothing says how
/// many NICs a machine of this type has.
void missing_nic(const Machine& machine, Findings& found) {
  const auto* folder = "/sys/bus/pci/devices";
  const auto& deal = machine.deal;
  if (const auto* problem = node::unread_nic(machine.node)) {
    found.unknown(kNode, *problem);
    return;
  }
  if (machine.node.gpus.empty() || deal.cards.empty()) return;
  const Evidence evidence{folder, counted(deal.cards.size(), "compute NIC") + ", " +
                                      counted(machine.node.gpus.size(), "GPU")};
  if (deal.confidence == topology::Confidence::low) {
    found.unknown(kNode, "which NICs are nearest to a GPU is not known", {evidence});
    return;
  }
  for (const auto& missing : deal.missing) {
    const auto name = [&](std::size_t nic) { return machine.node.nics[nic].name; };
    const auto nics = join(missing.nics, ", ", name);
    const auto own = std::string(to_string(missing.own));
    for (const auto gpu : missing.gpus) {
      const auto pci = machine.node.gpus[gpu].pci.str();
      found.warn(pci, "shares " + nics + " (" + std::string(to_string(missing.relation)) + ")",
                 "a NIC of its own (" + own + "), as other GPUs have",
                 {evidence, {pci_path(machine.node.gpus[gpu].pci, ""), "no compute NIC as near"}});
    }
  }
  if (deal.missing.empty()) found.pass(kNode, "no GPU has less than the others", {evidence});
}

/// "eth" of "eth0": the word before the number.
std::string_view prefix_of(std::string_view name) {
  return name.substr(0, name.find_last_not_of(kDecimalDigits) + 1);
}

bool is_selected(const NetdevSelector& selector, std::string_view name) {
  return std::ranges::any_of(selector.patterns,
                             [&](const std::string& one) { return glob_match(one, name); });
}

/// A netdev that the kernel numbered like this one, and that the selector does not take: the two
/// may change their names. nullptr: none, so that every order is the same to the selector.
const node::Netdev* rival_of(const Machine& machine, const NetdevSelector& selector,
                             const node::Netdev& netdev) {
  for (const auto& other : machine.node.netdevs) {
    if (!other.pci || other.elsewhere || prefix_of(other.name) != prefix_of(netdev.name)) continue;
    if (!is_selected(selector, other.name)) return &other;
  }
  return nullptr;
}

/// Sources: Linux include/uapi/linux/netdevice.h, NET_NAME_*: 1 is a number in the order in which
/// devices come, 4 a name that somebody gave later, which udev does at each start; systemd.link,
/// NamePolicy. A virtual function is found by the name of its physical one.
void stable_names(const Machine& machine, Findings& found) {
  constexpr std::string_view kNumbered = "1";
  for (const auto& netdev : machine.node.netdevs) {
    const auto* function = netdev.pci ? machine.node.find_pci(*netdev.pci) : nullptr;
    if (function == nullptr || function->is_vf() || netdev.elsewhere) continue;
    for (const auto& selector : machine.wishes.netdevs) {
      if (!is_selected(selector, netdev.name)) continue;
      const auto kind = machine.system.text(netdev_path(netdev.name, "name_assign_type"));
      const Evidence named{selector.resource, selector.key + ": " + join(selector.patterns, ", ")};
      const auto* rival = rival_of(machine, selector, netdev);
      if (kind.known() && *kind.value != kNumbered) {
        found.pass(netdev.name, "a name of its place", {evidence_of(kind), named});
      } else if (rival == nullptr) {
        found.pass(netdev.name, "all " + std::string(prefix_of(netdev.name)) + "* are selected",
                   {evidence_of(kind), named});
      } else if (!found.knows(netdev.name, kind)) {
        break;
      } else {
        found.warn(netdev.name,
                   selector.resource +
                       " is selected by this name, which the kernel counts; it may "
                       "be that of " +
                       rival->name + " after a restart",
                   "a name of its place, as ens8f0np0", {evidence_of(kind), named});
      }
      break;
    }
  }
}

constexpr std::array kPlaceChecks = {
    Check{.id = "topo.missing-nic",
          .what = "No GPU lacks the NIC that other GPUs have near them.",
          .source = "/sys/bus/pci/devices",
          .rule = "WARN: a GPU shares a NIC further away than those that most GPUs have for "
                  "themselves, and no NIC of their model takes its place; UNKNOWN: NICs "
                  "cannot be read, or nothing says where GPUs and NICs are; SKIP: no GPU, or no "
                  "compute NIC",
          .effect = "the NIC fell off the bus -> two GPUs share another one, at half the bandwidth "
                    "for each",
          .remedy =
              "Look for the card: lspci shows whether the slot is empty, and the kernel's log "
              "says when it went. Seat it again or replace it. If the machine was built so, "
              "all is well.",
          .remedy_class = RemedyClass::hardware,
          .about = "GPU beside compute NICs",
          .covers = "",
          .after = "pci.nic-present",
          .look = missing_nic},
    Check{.id = "link.layer",
          .what = "No card that is to serve a GPU was left on another link layer.",
          .source = "/sys/class/infiniband/*/ports/*/link_layer, the PCI tree",
          .rule = "PASS: a compute NIC; WARN: the model of the compute NICs, another link layer, "
                  "and a GPU has no other NIC as near",
          .effect = "NCCL does not mix InfiniBand and RoCE -> this GPU uses a NIC further away",
          .remedy =
              "mlxconfig -d PCI set LINK_TYPE_P1=1 (InfiniBand) or 2 (Ethernet), then restart "
              "the machine. If it is right so, say roles: [{name: NAME, role: storage}].",
          .remedy_class = RemedyClass::reboot,
          .about = "compute NIC with a port",
          .covers = "link.layer C02 C03 F15",
          .after = "pci.nic-driver",
          .look = layer},
    Check{.id = "net.management-nic",
          .what = "No NIC that could serve GPUs carries the node's own network.",
          .source = "/proc/1/net/route, /sys/class/net",
          .rule =
              "PASS: a NIC for the node alone; WARN: the default route leaves by a compute NIC, "
              "the only RDMA NIC, or one that a GPU has no other as near; SKIP: by none of them",
          .effect = "a reload of OFED takes the node off the network; traffic of the cluster and "
                    "of jobs disturb each other",
          .remedy = "Give the node's default route another NIC, or say that it is right so: roles: "
                    "[{name: NAME, role: management}].",
          .remedy_class = RemedyClass::cluster,
          .about = "RDMA NIC with the default route",
          .covers = "net.mgmt_nic F39",
          .look = management_nic},
    Check{.id = "net.stable-names",
          .what = "A netdev by whose name a resource is selected keeps it.",
          .source = "/sys/class/net/*/name_assign_type; pfNames, ifNames and netdevs of resources",
          .rule = "PASS: udev or the driver named it by its place, or the selector takes all that "
                  "are counted like it; WARN: the kernel counts it and another that is not "
                  "selected; SKIP: no resource goes by such names",
          .effect = "after a restart, or with another card, the name is another port's -> the "
                    "resource offers the wrong NIC, or none",
          .remedy = "Let udev name it: no net.ifnames=0 among the kernel's arguments, and a .link "
                    "file with Path= and Name= in /etc/systemd/network for what it leaves; "
                    "CREATE_IFNAMES_UDEV=true in ofedDriver.env where OFED is in a container. Or "
                    "select by rootDevices, vendors and deviceIDs.",
          .remedy_class = RemedyClass::reboot,
          .about = "netdev by whose name a resource is selected",
          .covers = "",
          .parts = system::Part::netdevs,
          .look = stable_names},
};

}  // namespace

std::span<const Check> place_checks() {
  return kPlaceChecks;
}

}  // namespace railhead::checks
