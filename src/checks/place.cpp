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
};

}  // namespace

std::span<const Check> place_checks() {
  return kPlaceChecks;
}

}  // namespace railhead::checks
