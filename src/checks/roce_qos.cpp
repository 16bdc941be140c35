// SPDX-License-Identifier: Apache-2.0
//
// How RoCE's packets get their priority, and which priorities pause (PFC). What is right is a
// site's own policy: judged is what contradicts itself, or differs between like ports.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "checks/groups.h"
#include "checks/roce_ports.h"
#include "system/lldp.h"

namespace railhead::checks {
namespace {

using Dcb = host::DcbSettings;

/// Whether any of these priorities pauses.
bool pauses(const Dcb& dcb, std::uint8_t priorities) {
  return (dcb.pfc.value_or(0) & priorities) != 0;
}

/// "24-31>3": DSCPs in a row with the same priority stand together.
std::string dscp_text(const Dcb& dcb) {
  std::vector<std::string> parts;
  for (auto at = dcb.dscp->begin(); at != dcb.dscp->end();) {
    auto last = at;
    for (auto next = std::next(at); next != dcb.dscp->end(); ++next) {
      if (next->first != last->first + 1 || next->second != at->second) break;
      last = next;
    }
    auto part = std::to_string(at->first);
    if (last != at) part += "-" + std::to_string(last->first);
    parts.push_back(part + ">" + host::priorities_text(at->second));
    at = std::next(last);
  }
  return join(parts, " ");
}

/// All that is to be alike on all nodes of a job, in one line.
std::string settings_text(const Dcb& dcb) {
  const auto pauses_text =
      dcb.pfc ? "PFC " + host::priorities_text(*dcb.pfc) : std::string("PFC not known");
  return pauses_text + (host::maps_dscp(dcb) ? ", DSCP " + dscp_text(dcb) : ", no DSCP mapped");
}

struct QosPort {
  std::string subject;
  std::size_t nic = 0;
  unsigned port = 0;
  std::string netdev;
  const system::Fact<Dcb>* fact = nullptr;
};

/// ACTIVE RoCE ports whose driver says something, or was not let.
std::vector<QosPort> qos_ports(const Machine& machine) {
  std::vector<QosPort> ports;
  for_each_roce_port(machine, [&](std::size_t n, const node::Port& port) {
    const auto& nic = machine.node.nics[n];
    for (const auto& netdev : nic.netdevs) {
      const auto at = machine.system.dcb.find(netdev);
      if (at == machine.system.dcb.end() || at->second.absent()) continue;
      ports.push_back({port_name(nic, port) + "/" + netdev, n, port.number, netdev, &at->second});
    }
  });
  return ports;
}

/// The settings of most ports of this role and model; "" where there is no majority.
std::string usual_settings(const Machine& machine, const std::vector<QosPort>& ports,
                           const QosPort& one) {
  std::map<std::string, std::size_t> counts;
  std::size_t all = 0;
  for (const auto& other : ports) {
    const bool alike = machine.role(other.nic).role == machine.role(one.nic).role &&
                       machine.same_model(other.nic, one.nic);
    if (!alike || !other.fact->value) continue;
    ++counts[settings_text(*other.fact->value)];
    ++all;
  }
  for (const auto& [text, count] : counts) {
    if (2 * count > all) return text;
  }
  return "";
}

/// Whether a GID of the NIC is that of a VLAN, whose tag has a priority of its own.
bool has_vlan(const Machine& machine, const QosPort& one) {
  const auto& nic = machine.node.nics[one.nic];
  return std::ranges::any_of(nic.ports, [&](const node::Port& port) {
    return std::ranges::any_of(
        port.gids, [&](const node::Gid& gid) { return gid.netdev && gid.netdev != one.netdev; });
  });
}

/// Whether a packet can get a priority that pauses: by its DSCP, else by its VLAN.
bool reaches_paused(const Machine& machine, const QosPort& one, const Dcb& dcb) {
  if (!host::maps_dscp(dcb)) return has_vlan(machine, one);
  return std::ranges::any_of(*dcb.dscp,
                             [&](const auto& entry) { return pauses(dcb, entry.second); });
}

void judge_flow_control(const Machine& machine, const std::vector<QosPort>& ports,
                        const QosPort& one, Findings& found) {
  if (!one.fact->value) {
    found.unknown(one.subject, *one.fact);
    return;
  }
  const auto& dcb = *one.fact->value;
  const auto text = settings_text(dcb);
  const Evidence evidence{one.fact->path, text};
  const auto usual = usual_settings(machine, ports, one);
  if (!usual.empty() && usual != text) {
    auto& finding = found.warn(one.subject, text, usual + ", as like ports here", {evidence});
    finding.effect = "this rail drops or pauses where the others do not -> it sets the pace";
  } else if (dcb.pfc.value_or(0) != 0 && !reaches_paused(machine, one, dcb)) {
    found.warn(one.subject, text, "a DSCP that is mapped to a priority that pauses", {evidence});
  } else {
    found.pass(one.subject, text, {evidence});
  }
}

void flow_control(const Machine& machine, Findings& found) {
  const auto ports = qos_ports(machine);
  for (const auto& one : ports) judge_flow_control(machine, ports, one, found);
}

/// "106" of configfs, "Global tclass=106" of OFED; absent where neither says one.
std::optional<std::uint64_t> class_in(std::string_view text) {
  constexpr std::string_view kWord = "tclass=";
  const auto at = text.find(kWord);
  if (at != std::string_view::npos) text.remove_prefix(at + kWord.size());
  const auto end = text.find_first_not_of(kDecimalDigits);
  const auto number = parse_unsigned(text.substr(0, end));
  if (!number || *number == 0 || *number > 255) return std::nullopt;
  return *number;
}

void judge_class(const QosPort& one, const system::Text& text, std::uint64_t value,
                 Findings& found) {
  const auto& dcb = *one.fact->value;
  const auto dscp = static_cast<std::uint8_t>(value >> 2U);
  const auto priorities = host::priorities_of(dcb, dscp);
  const auto observed = "traffic class " + std::to_string(value) + ": DSCP " +
                        std::to_string(dscp) + ", priority " + host::priorities_text(priorities);
  const std::vector<Evidence> evidence = {evidence_of(text), {one.fact->path, settings_text(dcb)}};
  if (pauses(dcb, priorities)) {
    found.pass(one.subject, observed + ", which pauses", evidence);
  } else {
    found.warn(one.subject, observed + ", which does not pause",
               "priority " + host::priorities_text(*dcb.pfc), evidence);
  }
}

void traffic_class(const Machine& machine, Findings& found) {
  for (const auto& one : qos_ports(machine)) {
    if (!one.fact->value || one.fact->value->pfc.value_or(0) == 0) continue;
    const auto& nic = machine.node.nics[one.nic].name;
    for (const auto& path : system::traffic_class_paths(nic, one.port)) {
      const auto text = machine.system.text(path);
      const auto value = text.known() ? class_in(*text.value) : std::nullopt;
      if (value) judge_class(one, text, *value, found);
    }
  }
}

/// The switch's words about the port of this netdev; nothing where networkd does not hear it.
std::optional<system::Text> lldp_of(const Machine& machine, const std::string& netdev) {
  const auto index = machine.system.text(netdev_path(netdev, "ifindex"));
  if (!index.known()) return std::nullopt;
  const auto file = machine.system.text("/run/systemd/netif/lldp/" + *index.value);
  if (!file.known() && file.absent()) return std::nullopt;
  return file;
}

void judge_switch(const Machine& machine, const std::string& netdev, const system::Text& lldp,
                  const std::vector<system::SwitchPort>& ports, Findings& found) {
  const auto mtu = machine.system.text(netdev_path(netdev, "mtu"));
  const auto bytes = mtu.known() ? parse_unsigned(*mtu.value) : Result<std::uint64_t>(0U);
  std::vector<std::string> said;
  std::optional<unsigned> least;
  for (const auto& port : ports) {
    std::string text = port.port.empty() ? "a switch" : port.port;
    if (port.vlan) text += ", VLAN " + std::to_string(*port.vlan);
    if (port.max_frame) text += ", frames of " + std::to_string(*port.max_frame);
    said.push_back(std::move(text));
    if (port.max_frame && *port.max_frame != 0) {
      least = std::min(least.value_or(*port.max_frame), *port.max_frame);
    }
  }
  const std::vector<Evidence> evidence = {{lldp.path, join(said, "; ")}, evidence_of(mtu)};
  if (least && bytes && *least < *bytes) {
    found.warn(netdev, join(said, "; ") + ", and an MTU of " + *mtu.value,
               "frames of the MTU and 18 bytes more", evidence);
  } else {
    found.pass(netdev, join(said, "; "), evidence);
  }
}

/// Judges every netdev once: a bond's members, and the two ports of a card, hear their own switch.
void switch_port(const Machine& machine, Findings& found) {
  std::set<std::string> seen;
  for_each_roce_port(machine, [&](std::size_t n, const node::Port&) {
    for (const auto& netdev : machine.node.nics[n].netdevs) {
      if (!seen.insert(netdev).second) continue;
      const auto lldp = lldp_of(machine, netdev);
      if (!lldp) continue;
      if (!lldp->known()) {
        found.unknown(netdev, *lldp);
        continue;
      }
      const auto ports = system::switch_ports(*lldp->value);
      if (!ports.empty()) judge_switch(machine, netdev, *lldp, ports, found);
    }
  });
}

using system::Part;

constexpr std::array kQosChecks = {
    Check{.id = "roce.flow-control",
          .what = "RoCE's packets get a priority that pauses, where there is one, and like ports "
                  "are set alike.",
          .source = "the kernel's routing netlink: RTM_GETDCB (IEEE PFC and application table)",
          .rule = "PASS: alike; WARN: other settings than most like ports, or PFC for priorities "
                  "to which no DSCP is mapped (and no VLAN gives one); SKIP: the driver says "
                  "nothing. No PFC at all is a policy, too",
          .effect = "packets without a VLAN have priority 0 -> they are dropped where they should "
                    "wait -> retransmissions",
          .remedy = "Trust DSCP and map yours: mlnx_qos -i NETDEV --trust dscp --pfc "
                    "0,0,0,1,0,0,0,0, or dcb app add dev NETDEV dscp-prio 26:3; "
                    "nic-configuration-operator does it for all nodes. Compare the line that is "
                    "found with other nodes and the switches: it has to be the same.",
          .remedy_class = RemedyClass::live,
          .about = "ACTIVE RoCE port whose driver has DCB",
          .covers = "roce.qos",
          .after = "link.port-state",
          .parts = Part::netdevs,
          .look = flow_control},
    Check{.id = "roce.traffic-class",
          .what = "The default traffic class of a RoCE port is one that pauses.",
          .source = "/sys/kernel/config/rdma_cm/*/ports/*/default_roce_tos, "
                    "/sys/class/infiniband/*/tc/*/traffic_class (OFED's driver); RTM_GETDCB",
          .rule = "PASS: its DSCP has a priority that pauses; WARN: another priority; SKIP: none "
                  "is set (programs choose: NCCL_IB_TC), or no priority pauses",
          .effect = "the traffic that PFC was set up for goes by another priority -> drops",
          .remedy = "Write the class of your DSCP (DSCP times 4), the same on all nodes; and give "
                    "programs the same: NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS.",
          .remedy_class = RemedyClass::live,
          .about = "RoCE port with a default traffic class and PFC",
          .covers = "roce.qos",
          .after = "link.port-state",
          .parts = Part::netdevs,
          .look = traffic_class},
    Check{.id = "roce.switch-port",
          .what = "The switch's port takes frames as large as the NIC's MTU.",
          .source = "/run/systemd/netif/lldp/*: what the switch says of its port by LLDP, where "
                    "systemd-networkd listens (LLDP=yes); /sys/class/net/*/{ifindex,mtu}",
          .rule =
              "PASS: with the port's name, its VLAN and the largest frame, as far as the switch "
              "says them; WARN: the largest frame is smaller than the MTU; SKIP: nobody "
              "listens, or nothing is said",
          .effect = "the switch drops every full packet -> small messages arrive, large ones time "
                    "out",
          .remedy = "Set the MTU of the switch's port (9216 is usual), or a smaller one here.",
          .remedy_class = RemedyClass::hardware,
          .about = "RoCE port whose switch is heard by LLDP",
          .covers = "F17",
          .after = "link.port-state",
          .parts = Part::netdevs,
          .look = switch_port},
};

}  // namespace

std::span<const Check> roce_qos_checks() {
  return kQosChecks;
}

}  // namespace railhead::checks
