// SPDX-License-Identifier: Apache-2.0
//
// Ports: is there a link, is it as fast as it should be, is the fabric behind it at work. What the
// operator expects (`expect:`) is no fault, and the state of identical cards on the same machine
// tells a fault from a port that nobody ever cabled.
#include <algorithm>
#include <array>
#include <map>

#include "affinity/card.h"
#include "base/contains.h"
#include "base/text.h"
#include "checks/groups.h"
#include "system/counters.h"
#include "topology/known_machine.h"

namespace railhead::checks {
namespace {

using node::LinkLayer;
using node::PortState;

constexpr const char* kNotActive = "the port is not ACTIVE";

bool is_active(const node::Port& port) {
  return port.state == PortState::active;
}

bool has_active_port(const node::Nic& nic) {
  return std::ranges::any_of(nic.ports, is_active);
}

/// NICs of this one's role, itself included, and how many of them have an ACTIVE port.
struct Peers {
  std::size_t all = 0;
  std::size_t up = 0;

  [[nodiscard]] bool most_up() const { return 2 * up > all; }
};

Peers peers_of(const Machine& machine, std::size_t nic) {
  Peers peers;
  for (const auto other : machine.traffic_nics()) {
    const auto& one = machine.node.nics[other];
    if (machine.role(other).role != machine.role(nic).role || !one.registered) continue;
    ++peers.all;
    if (has_active_port(one)) ++peers.up;
  }
  return peers;
}

/// Another device of the same card, or of the same `oneUp` entry, that is up in this one's place;
/// nullptr: none.
const node::Nic* stands_in(const Machine& machine, std::size_t nic) {
  const auto& nics = machine.node.nics;
  const auto* entry = machine.expected[nic].one_up;
  for (std::size_t other = 0; other < nics.size(); ++other) {
    if (other == nic || !has_active_port(nics[other])) continue;
    const bool same_entry = entry != nullptr && machine.expected[other].one_up == entry;
    if (same_entry || affinity::are_in_one_slot(nics[nic], nics[other])) return &nics[other];
  }
  return nullptr;
}

/// As sysfs has it: "1: DOWN".
std::string raw_state(const node::Port& port) {
  return std::to_string(static_cast<unsigned>(*port.state)) + ": " +
         std::string(to_string(*port.state));
}

std::string state_text(const node::Port& port) {
  std::string text(to_string(*port.state));
  if (port.phys_state) text += ", " + *port.phys_state;
  return text;
}

/// Whether an InfiniBand port has its cable and a far end, and waits for the subnet manager: nobody
/// left it so by design.
bool waits_for_manager(const node::Port& port) {
  return port.link_layer == LinkLayer::infiniband &&
         (port.state == PortState::init || port.state == PortState::armed);
}

/// What the states say of the cause. Source: enum ib_port_phys_state, include/rdma/ib_verbs.h.
void explain(const node::Port& port, Finding& finding) {
  const auto phys = port.phys_state.value_or("");
  const bool linked = phys == "LinkUp" && port.link_layer == LinkLayer::infiniband;
  if (linked || waits_for_manager(port)) {
    finding.effect =
        (port.state == PortState::armed ? "the subnet manager has not brought the port up -> "
                                        : "no subnet manager has configured the port -> ") +
        finding.effect;
    finding.remedy =
        "The cable is good: see that a subnet manager runs on this fabric (a switch's, "
        "UFM or opensm) and that it knows the port.";
    finding.remedy_class = RemedyClass::cluster;
  } else if (phys == "Disabled") {
    finding.effect = "somebody switched the port off -> " + finding.effect;
    finding.remedy = "Enable the port (ip link set NETDEV up, or mlxlink -d DEVICE -a UP).";
    finding.remedy_class = RemedyClass::live;
  } else if (phys == "Polling") {
    finding.effect = "no signal: no cable, or the far end is off -> " + finding.effect;
  }
}

void judge_down(const Machine& machine, std::size_t n, const node::Port& port, Findings& found) {
  const auto& nic = machine.node.nics[n];
  const auto subject = port_name(nic, port);
  std::vector<Evidence> evidence = {
      {port_path(nic, port, "state"), raw_state(port)},
      {port_path(nic, port, "phys_state"), port.phys_state.value_or("")}};
  if (machine.expected[n].is_unused(port.number)) {
    found.pass(subject, state_text(port) + ", unused by design", std::move(evidence));
    return;
  }
  if (has_active_port(nic)) {
    found.pass(subject, state_text(port) + "; another port of the card is ACTIVE",
               std::move(evidence));
    return;
  }
  if (const auto* other = stands_in(machine, n)) {
    found.pass(subject, state_text(port) + "; " + other->name + " is ACTIVE in its place",
               std::move(evidence));
    return;
  }
  const auto peers = peers_of(machine, n);
  evidence.push_back({"/sys/class/infiniband",
                      std::to_string(peers.up) + " of " + counted(peers.all, "such NIC") + " up",
                      ""});
  const bool compute = machine.role(n).role == affinity::Role::compute;
  const bool sure = waits_for_manager(port) || (compute && (peers.most_up() || peers.up == 0));
  auto& finding = sure ? found.fail(subject, state_text(port), "ACTIVE", std::move(evidence))
                       : found.warn(subject, state_text(port), "ACTIVE", std::move(evidence));
  if (!compute) finding.effect = "storage goes over another NIC, or not at all";
  explain(port, finding);
}

/// Says why an attribute below /sys/class/infiniband is not known: it could not be read, is
/// malformed, or is not there.
void say_unread(const Machine& machine, const std::string& subject, const std::string& path,
                Findings& found) {
  const auto* problem = machine.problem_below(path);
  found.unknown(subject, path + (problem ? ": " + problem->what : " is missing"),
                {{path, "", problem ? problem->what : ""}});
}

void port_state(const Machine& machine, Findings& found) {
  for (std::size_t n = 0; n < machine.node.nics.size(); ++n) {
    const auto& nic = machine.node.nics[n];
    if (nic.elsewhere) continue;
    if (!nic.registered) {
      found.skip(nic.name, "it has no RDMA device");
      continue;
    }
    if (const auto* unused = machine.expected[n].unused) {
      found.pass(nic.name, affinity::unused_text(*unused), {{unused->where, "expect"}});
      continue;
    }
    if (!machine.carries_traffic(n)) continue;
    if (nic.ports.empty()) {
      say_unread(machine, nic.name, "/sys/class/infiniband/" + nic.name + "/ports", found);
    }
    for (const auto& port : nic.ports) {
      const auto path = port_path(nic, port, "state");
      if (!port.state) {
        say_unread(machine, port_name(nic, port), path, found);
      } else if (is_active(port)) {
        found.pass(port_name(nic, port), "ACTIVE", {{path, raw_state(port)}});
      } else {
        judge_down(machine, n, port, found);
      }
    }
  }
}

std::string gbps_text(double gbps) {
  auto text = std::to_string(gbps);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " Gbit/s";
}

/// The rate that most ACTIVE ports have of this model and role; absent where there is no majority.
std::optional<double> usual_rate(const Machine& machine, std::size_t nic) {
  std::map<double, std::size_t> counts;
  std::size_t all = 0;
  for (const auto other : machine.traffic_nics()) {
    if (machine.role(other).role != machine.role(nic).role) continue;
    if (!machine.same_model(nic, other)) continue;
    for (const auto& port : machine.node.nics[other].ports) {
      if (!is_active(port) || !port.rate_gbps) continue;
      ++counts[*port.rate_gbps];
      ++all;
    }
  }
  for (const auto& [rate, count] : counts) {
    if (2 * count > all) return rate;
  }
  return std::nullopt;
}

/// Whether a NIC is one of those that a type of machine has: it stands at one of its addresses, or,
/// where these are not known, there are as many compute NICs as the type has.
bool is_of_type(const Machine& machine, std::size_t nic, const topology::KnownMachine& known) {
  const auto& pci = machine.node.nics[nic].pci;
  if (!pci) return false;
  if (!known.tree_is_real) {
    return std::ranges::any_of(known.switches,
                               [&](const auto& one) { return contains(one.nics, *pci); });
  }
  return machine.role(nic).role == affinity::Role::compute && machine.compute_nics() == known.nics;
}

/// The type of machine, and the rate that its vendor states for this NIC.
std::optional<std::pair<std::string, double>> stated_rate(const Machine& machine, std::size_t nic) {
  const auto* known = topology::find_known_machine(machine.node, topology::known_machines());
  if (known == nullptr || known->gbps == 0 || !is_of_type(machine, nic, *known)) {
    return std::nullopt;
  }
  return std::pair{known->name, static_cast<double>(known->gbps)};
}

void judge_rate(const Machine& machine, std::size_t n, const node::Port& port, Findings& found) {
  const auto& nic = machine.node.nics[n];
  const Evidence evidence{port_path(nic, port, "rate"), port.rate_text.value_or("")};
  const auto subject = port_name(nic, port);
  if (!port.rate_gbps) {
    say_unread(machine, subject, evidence.path, found);
    return;
  }
  const auto observed = gbps_text(*port.rate_gbps);
  if (const auto* wanted = machine.expected[n].rate) {
    if (*port.rate_gbps < wanted->gbps) {
      found.fail(subject, observed, gbps_text(wanted->gbps) + " (" + wanted->where + ")",
                 {evidence});
    } else {
      found.pass(subject, observed, {evidence});
    }
    return;
  }
  if (const auto stated = stated_rate(machine, n); stated && *port.rate_gbps < stated->second) {
    found.fail(subject, observed, gbps_text(stated->second) + " of " + stated->first, {evidence});
    return;
  }
  const auto usual = usual_rate(machine, n);
  if (usual && *port.rate_gbps < *usual) {
    found.warn(subject, observed, gbps_text(*usual) + ", as identical cards here", {evidence});
  } else {
    found.pass(subject, observed, {evidence});
  }
}

void rate(const Machine& machine, Findings& found) {
  for (const auto n : machine.traffic_nics()) {
    for (const auto& port : machine.node.nics[n].ports) {
      if (is_active(port)) {
        judge_rate(machine, n, port, found);
      } else {
        found.skip(port_name(machine.node.nics[n], port), kNotActive);
      }
    }
  }
}

bool has_full_pkey(const node::Port& port) {
  return std::ranges::any_of(port.pkeys, [](std::uint16_t pkey) { return (pkey & 0x8000U) != 0; });
}

/// 0xffff is the permissive one, to which a port is reset (Linux include/rdma/ib_verbs.h,
/// IB_LID_PERMISSIVE).
bool is_lid(std::uint32_t lid) {
  return lid != 0 && lid != 0xffff;
}

void judge_fabric(const Machine& machine, const node::Nic& nic, const node::Port& port,
                  Findings& found) {
  const auto subject = port_name(nic, port);
  const auto* problem = machine.problem_below(port_path(nic, port, "pkeys"));
  const Evidence lid{port_path(nic, port, "lid"), "0x" + to_hex(port.lid.value_or(0), 4)};
  const Evidence sm{port_path(nic, port, "sm_lid"), "0x" + to_hex(port.sm_lid.value_or(0), 4)};
  if (!port.lid || !port.sm_lid) {
    say_unread(machine, subject, (port.lid ? sm : lid).path, found);
  } else if (!is_lid(*port.lid) || !is_lid(*port.sm_lid)) {
    found.fail(subject, "lid " + lid.value + ", sm_lid " + sm.value, "both not 0 and not 0xffff",
               {lid, sm});
  } else if (!has_full_pkey(port) && problem != nullptr) {
    found.unknown(subject, *problem);
  } else if (!port.pkeys.empty() && !has_full_pkey(port)) {
    auto& finding = found.warn(subject, "no full member of any partition", "a pkey with bit 15",
                               {{port_path(nic, port, "pkeys"), "limited only"}});
    finding.effect = "limited members of a partition cannot talk to each other";
    finding.remedy = "Have the subnet manager make this port a full member of its partition.";
  } else {
    found.pass(subject, "lid " + lid.value + ", sm_lid " + sm.value, {lid, sm});
  }
}

void subnet_manager(const Machine& machine, Findings& found) {
  for (const auto n : machine.traffic_nics()) {
    const auto& nic = machine.node.nics[n];
    for (const auto& port : nic.ports) {
      if (port.link_layer != LinkLayer::infiniband) continue;
      if (is_active(port)) {
        judge_fabric(machine, nic, port, found);
      } else {
        found.skip(port_name(nic, port), kNotActive);
      }
    }
  }
}

constexpr std::string_view kZeroGuid = "0000:0000:0000:0000";

/// Another card's device with the same GUID; nullptr where there is none. Functions of one card may
/// share one.
const node::Nic* same_guid(const Machine& machine, const node::Nic& nic) {
  for (const auto& other : machine.node.nics) {
    if (&other == &nic || other.node_guid != nic.node_guid || !nic.pci || !other.pci) continue;
    if (!affinity::are_in_one_slot(nic, other)) return &other;
  }
  return nullptr;
}

void guid(const Machine& machine, Findings& found) {
  for (std::size_t n = 0; n < machine.node.nics.size(); ++n) {
    const auto& nic = machine.node.nics[n];
    if (!nic.registered || nic.elsewhere || !machine.has_layer(n, LinkLayer::infiniband)) continue;
    const auto path = "/sys/class/infiniband/" + nic.name + "/node_guid";
    const auto* function = machine.function(n);
    if (!nic.node_guid) {
      say_unread(machine, nic.name, path, found);
    } else if (const auto* other = same_guid(machine, nic);
               other != nullptr && *nic.node_guid != kZeroGuid) {
      auto& finding = found.warn(nic.name, "the GUID of " + other->name, "one of its own",
                                 {{path, *nic.node_guid}});
      finding.effect = "the subnet manager takes one of them for the other -> no route to it";
      finding.remedy =
          "Give each its own: for a VF by its physical function, for a card by its firmware.";
    } else if (*nic.node_guid != kZeroGuid) {
      found.pass(nic.name, "not zero", {{path, *nic.node_guid}});
    } else if (function != nullptr && function->is_vf()) {
      found.warn(nic.name, "zero", "a GUID", {{path, *nic.node_guid}});
    } else {
      auto& finding = found.fail(nic.name, "zero", "a GUID", {{path, *nic.node_guid}});
      finding.remedy = "The firmware has no GUID: burn it anew, or replace the card.";
      finding.remedy_class = RemedyClass::hardware;
    }
  }
}

void judge_counters(const Machine& machine, const node::Nic& nic, const node::Port& port,
                    Findings& found) {
  std::vector<Evidence> full;
  std::optional<system::Text> read;
  std::optional<system::Text> garbage;
  for (const auto& [name, most] : system::kPmaCounters) {
    auto text = machine.system.text(port_path(nic, port, "counters/" + std::string(name)));
    if (!text.known()) continue;
    const auto value = parse_unsigned(*text.value);
    if (value && *value == most) full.push_back(evidence_of(text));
    (value ? read : garbage) = std::move(text);
  }
  const auto subject = port_name(nic, port);
  if (!full.empty()) {
    const auto observed = counted(full.size(), "counter") + " at the largest value";
    found.warn(subject, observed, "counters that still count", std::move(full));
  } else if (garbage) {
    found.unknown(subject, garbage->path + ": no number", {evidence_of(*garbage)});
  } else if (read) {
    found.pass(subject, "none is full", {evidence_of(*read)});
  } else {
    found.unknown(subject, machine.system.text(port_path(nic, port, "counters/link_downed")));
  }
}

void counters(const Machine& machine, Findings& found) {
  for (const auto n : machine.traffic_nics()) {
    const auto& nic = machine.node.nics[n];
    if (!nic.registered || nic.elsewhere || !nic.pci) continue;
    for (const auto& port : nic.ports) {
      // An EFA has counters of another kind.
      if (port.link_layer != LinkLayer::unknown) judge_counters(machine, nic, port, found);
    }
  }
}

using system::Part;

constexpr std::array kLinkChecks = {
    Check{.id = "link.port-state",
          .what = "Each port that carries traffic is ACTIVE.",
          .source = "/sys/class/infiniband/*/ports/*/{state,phys_state}; `expect:` of the "
                    "configuration",
          .rule = "PASS: ACTIVE, unused by design, or another port of its card or `oneUp` entry is "
                  "ACTIVE; FAIL: an InfiniBand port with a link in INIT or ARMED, a compute NIC "
                  "that is down while "
                  "most are up, or all are down; WARN: as many down as up, or a storage NIC",
          .effect = "its GPUs use a NIC that is further away, or none",
          .remedy = "Check cable, transceiver and switch port. If nobody ever cabled it, say so: "
                    "expect: [{name: NAME, unused: true}] or oneUp.",
          .remedy_class = RemedyClass::hardware,
          .about = "port of a compute or storage NIC",
          .covers = "link.state C01 C04 F19",
          .after = "pci.nic-driver",
          .look = port_state},
    Check{.id = "link.rate",
          .what = "Each ACTIVE port runs at the rate that is expected, or that its siblings have.",
          .source = "/sys/class/infiniband/*/ports/*/rate; `expect:`; the table of known machines",
          .rule = "FAIL: below rateGbps, or below what this type of machine has; WARN: without "
                  "one, below most identical cards of that role; "
                  "else PASS",
          .effect = "the slowest rail sets the pace of every collective",
          .remedy =
              "Reseat or replace the cable and transceiver; see the switch port's speed. A rate "
              "that is right is said by expect: [{name: NAME, rateGbps: N}].",
          .remedy_class = RemedyClass::hardware,
          .about = "ACTIVE port of a compute or storage NIC",
          .covers = "link.rate",
          .after = "link.port-state",
          .look = rate},
    Check{.id = "link.sm",
          .what = "The fabric behind an InfiniBand port has a subnet manager, and lets it talk.",
          .source = "/sys/class/infiniband/*/ports/*/{lid,sm_lid,pkeys}",
          .rule =
              "PASS: lid and sm_lid not 0, and a full-member pkey; FAIL: one of the first is 0 or "
              "0xffff; "
              "WARN: limited member only",
          .effect = "no route on the fabric -> queue pairs time out (status 12)",
          .remedy = "See that a subnet manager runs and knows this port; one partition for all "
                    "nodes of a job.",
          .remedy_class = RemedyClass::cluster,
          .about = "ACTIVE InfiniBand port",
          .covers = "link.sm D06",
          .after = "link.port-state",
          .look = subnet_manager},
    Check{.id = "link.guid",
          .what = "Each InfiniBand device has a GUID of its own.",
          .source = "/sys/class/infiniband/*/node_guid",
          .rule = "PASS: not zero, and no other card of the machine has it; WARN: another has it, "
                  "or zero on a VF; FAIL: zero on a physical function. Of GUIDs of other nodes a "
                  "node knows nothing: kube.addresses",
          .effect = "the subnet manager does not see it -> port stays DOWN, ibv_reg_mr fails",
          .remedy =
              "Set the VF's GUIDs (ip link set PF vf N node_guid G, port_guid G), then unbind "
              "and bind it; ib-sriov-cni does so for a pod.",
          .remedy_class = RemedyClass::cluster,
          .about = "InfiniBand device",
          .covers = "link.guid sriov.vfs",
          .look = guid},
    Check{.id = "link.counters",
          .what = "Error counters of ports still count.",
          .source = "/sys/class/infiniband/*/ports/*/counters",
          .rule =
              "PASS: none full; WARN: one at its largest value (15, 255 or 65535), which says "
              "nothing of when; UNKNOWN: not readable, or no number. Values alone are no failure",
          .effect = "new errors on this port are not seen by any monitor",
          .remedy = "perfquery -R (or a restart) sets them to 0.",
          .remedy_class = RemedyClass::live,
          .about = "port of a compute or storage NIC",
          .covers = "link.counters",
          .after = "pci.nic-driver",
          .parts = Part::counters,
          .look = counters},
};

}  // namespace

std::span<const Check> link_checks() {
  return kLinkChecks;
}

}  // namespace railhead::checks
