// SPDX-License-Identifier: Apache-2.0
//
// RDMA over Ethernet: addresses (GIDs), path MTU, congestion control, and ARP with several rails.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/find.h"
#include "base/text.h"
#include "checks/groups.h"
#include "checks/roce_ports.h"

namespace railhead::checks {
namespace {

bool is_v2(const node::Gid& gid) {
  return gid.type == "RoCE v2";
}

bool is_link_local(const node::Gid& gid) {
  return gid.value.starts_with("fe80:0000:0000:0000:");
}

/// Of an IPv4 address: "0000:0000:0000:0000:0000:ffff:0a00:0001".
bool is_of_ipv4(const node::Gid& gid) {
  return gid.value.starts_with("0000:0000:0000:0000:0000:ffff:");
}

/// The entry that NCCL takes: the first of version 2 with an IPv4 address, else the first of any
/// version with one, else index 0, whatever that is; nullptr: index 0 is empty. With
/// NCCL_IB_ADDR_FAMILY=AF_INET6 the same of IPv6. Source: NCCL 2.21 to 2.30,
/// src/transport/net_ib/connect.cc, ncclIbGetGidIndex() and ncclUpdateGidIndex() with
/// NCCL_IB_ROCE_VERSION_NUM 2 and no NCCL_IB_ADDR_RANGE.
const node::Gid* gid_of_nccl(const node::Port& port) {
  const auto* v2 =
      find_where(port.gids, [](const node::Gid& one) { return is_of_ipv4(one) && is_v2(one); });
  if (v2 != nullptr) return v2;
  const auto* any = find_where(port.gids, is_of_ipv4);
  return any != nullptr ? any : find_by(port.gids, &node::Gid::index, 0U);
}

std::string gid_text(const node::Gid& gid) {
  return "index " + std::to_string(gid.index) + ", " + gid.type.value_or("no type") + ", " +
         gid.netdev.value_or("no netdev");
}

Evidence gid_evidence(const node::Nic& nic, const node::Port& port, const node::Gid& gid) {
  return {port_path(nic, port, "gids/" + std::to_string(gid.index)), gid.value};
}

/// Of a port that has a routable GID of version 2, `good`: whether NCCL takes it, where it is NCCL
/// that uses the port.
void judge_taken(const Machine& machine, std::size_t n, const node::Port& port,
                 const node::Gid& good, Findings& found) {
  const auto& nic = machine.node.nics[n];
  const auto subject = port_name(nic, port);
  const bool for_nccl = machine.role(n).role == affinity::Role::compute;
  const auto* taken = for_nccl ? gid_of_nccl(port) : &good;
  if (taken != nullptr && is_v2(*taken) && !is_link_local(*taken)) {
    found.pass(subject, gid_text(*taken), {gid_evidence(nic, port, *taken)});
    return;
  }
  const auto what = taken == nullptr ? "index 0, which is empty" : gid_text(*taken);
  std::vector<Evidence> evidence = {gid_evidence(nic, port, good)};
  if (taken != nullptr) evidence.push_back(gid_evidence(nic, port, *taken));
  auto& finding = found.warn(subject, "NCCL takes " + what + "; of version 2 is " + gid_text(good),
                             "a GID of version 2 of an IPv4 address", std::move(evidence));
  finding.effect =
      "NCCL looks for IPv4 alone -> it connects with that GID, or not at all; UCX finds the other";
  finding.remedy =
      "Give the netdev an IPv4 address, or set NCCL_IB_ADDR_FAMILY=AF_INET6 where all nodes of the "
      "job have IPv6 (NCCL 2.21 and later).";
  finding.remedy_class = RemedyClass::cluster;
}

void gid(const Machine& machine, Findings& found) {
  for_each_roce_port(machine, [&](std::size_t n, const node::Port& port) {
    const auto& nic = machine.node.nics[n];
    const auto subject = port_name(nic, port);
    const Evidence folder{port_path(nic, port, "gids"), counted(port.gids.size(), "entry")};
    if (port.gids.empty() && nic.netdevs.empty()) {
      found.unknown(subject, "its netdev is not here; GIDs are those of a pod, perhaps", {folder});
      return;
    }
    const bool untyped =
        std::ranges::any_of(port.gids, [](const node::Gid& one) { return !one.type; });
    const auto* good = find_where(
        port.gids, [](const node::Gid& one) { return is_v2(one) && !is_link_local(one); });
    const auto* local = find_where(port.gids, is_v2);
    if (good != nullptr) {
      judge_taken(machine, n, port, *good, found);
    } else if (const auto* problem = machine.problem_below(folder.path)) {
      found.unknown(subject, *problem);
    } else if (local != nullptr) {
      found.warn(subject, "link-local RoCE v2 only", "the GID of an IP address",
                 {gid_evidence(nic, port, *local)});
    } else if (untyped) {
      found.unknown(subject, port_path(nic, port, "gid_attrs/types") + " is missing", {folder});
    } else {
      auto& finding = found.fail(subject, "no RoCE v2 GID", "the GID of an IP address", {folder});
      if (!port.gids.empty()) {
        finding.remedy =
            "The table has RoCE v1 only: set the mode to 2 (cma_roce_mode, or "
            "rdma link set NAME/1 roce_mode), or use a NIC that can do v2.";
      }
    }
  });
}

/// RoCE needs 96 bytes for its headers: the largest of 256..4096 that leaves them is the path MTU.
/// Source: Linux include/rdma/ib_addr.h, iboe_get_mtu.
constexpr std::uint64_t kMtuFor4096 = 4192;

/// What the kernel makes of a netdev's MTU; 0 where it leaves none.
unsigned path_mtu(std::uint64_t netdev_bytes) {
  constexpr std::uint64_t kHeaders = 96;
  unsigned largest = 0;
  for (const unsigned bytes : {256U, 512U, 1024U, 2048U, 4096U}) {
    if (netdev_bytes >= bytes + kHeaders) largest = bytes;
  }
  return largest;
}

void mtu(const Machine& machine, Findings& found) {
  std::set<std::string> done;
  for_each_roce_port(machine, [&](std::size_t n, const node::Port& port) {
    const auto& nic = machine.node.nics[n];
    std::set<std::string> netdevs;
    for (const auto& one : port.gids) {
      if (one.netdev) netdevs.insert(*one.netdev);
    }
    if (netdevs.empty()) netdevs.insert(nic.netdevs.begin(), nic.netdevs.end());
    for (const auto& name : netdevs) {
      if (!done.insert(name).second) continue;
      const auto text = machine.system.text(netdev_path(name, "mtu"));
      const auto bytes = text.known() ? parse_unsigned(*text.value) : Result<std::uint64_t>(0);
      const auto subject = port_name(nic, port) + "/" + name;
      if (!text.known()) {
        found.unknown(subject, text);
      } else if (!bytes) {
        found.unknown(subject, text.path + " is " + in_quotes(*text.value), {evidence_of(text)});
      } else {
        const auto observed =
            "MTU " + *text.value + ": path MTU " + std::to_string(path_mtu(*bytes));
        if (*bytes < kMtuFor4096) {
          found.warn(subject, observed, "4192 or more, for a path MTU of 4096",
                     {evidence_of(text)});
        } else {
          found.pass(subject, observed, {evidence_of(text)});
        }
      }
    }
  });
}

void judge_ecn(const Machine& machine, const std::string& subject, const std::string& netdev,
               Findings& found) {
  std::vector<std::string> on;
  Evidence last{};
  for (int priority = 0; priority < 8; ++priority) {
    const auto digit = std::to_string(priority);
    const auto np = machine.system.text(netdev_path(netdev, "ecn/roce_np/enable/" + digit));
    const auto rp = machine.system.text(netdev_path(netdev, "ecn/roce_rp/enable/" + digit));
    if (!np.known() || !rp.known()) {
      found.unknown(subject, np.known() ? rp : np);
      return;
    }
    last = {np.path, *np.value};
    if (*np.value == "1" && *rp.value == "1") on.push_back(digit);
  }
  if (on.empty()) {
    found.warn(subject, "off for all priorities", "on for the priority of RoCE traffic", {last});
  } else {
    found.pass(subject, "on for priority " + join(on, ","), {last});
  }
}

void ecn(const Machine& machine, Findings& found) {
  for_each_roce_port(machine, [&](std::size_t n, const node::Port& port) {
    const auto& nic = machine.node.nics[n];
    for (const auto& netdev : nic.netdevs) {
      const auto folder = machine.system.folder(netdev_path(netdev, "ecn"));
      if (folder.known()) judge_ecn(machine, port_name(nic, port), netdev, found);
    }
  });
}

/// Subnets (destination and mask, as the kernel prints them) with the netdevs that reach them
/// directly, of a text that is known. Source: proc(5), /proc/net/route.
std::map<std::string, std::set<std::string>> subnets(const system::Text& routes) {
  std::map<std::string, std::set<std::string>> found;
  for (const auto line : split(*routes.value, '\n')) {
    const auto words = split_words(line);
    constexpr std::string_view kNone = "00000000";
    if (words.size() < 8 || words[2] != kNone || words[7] == kNone || words[7] == "FFFFFFFF") {
      continue;
    }
    found[std::string(words[1]) + "/" + std::string(words[7])].emplace(words[0]);
  }
  return found;
}

/// arp_ignore and arp_announce count as the larger of the netdev's value and that of "all".
/// Source: Linux Documentation/networking/ip-sysctl.rst
std::optional<std::uint64_t> setting(const Machine& machine, const std::string& netdev,
                                     const char* name) {
  std::optional<std::uint64_t> most;
  for (const auto& whose : {std::string("all"), netdev}) {
    const auto text = machine.system.text("/proc/sys/net/ipv4/conf/" + whose + "/" + name);
    const auto number = text.known() ? parse_unsigned(*text.value) : Result<std::uint64_t>(Error{});
    if (!number) return std::nullopt;
    most = std::max(most.value_or(0), *number);
  }
  return most;
}

void judge_arp(const Machine& machine, const std::string& subnet, const std::string& netdev,
               Findings& found) {
  const auto path = "/proc/sys/net/ipv4/conf/" + netdev + "/";
  const auto ignore = setting(machine, netdev, "arp_ignore");
  const auto announce = setting(machine, netdev, "arp_announce");
  if (!ignore || !announce) {
    found.unknown(netdev, path + "arp_ignore or arp_announce is not known", {{path, ""}});
    return;
  }
  const auto observed =
      "arp_ignore " + std::to_string(*ignore) + ", arp_announce " + std::to_string(*announce);
  const std::vector<Evidence> evidence = {
      {path + "arp_ignore", std::to_string(*ignore)},
      {path + "arp_announce", std::to_string(*announce)},
      {"/proc/1/net/route", "subnet " + subnet + " by several netdevs"}};
  if (*ignore == 0 || *announce < 2) {
    found.warn(netdev, observed, "arp_ignore 1 or 2, arp_announce 2", evidence);
  } else {
    found.pass(netdev, observed, evidence);
  }
}

void arp(const Machine& machine, Findings& found) {
  std::set<std::string> rails;
  for_each_roce_port(machine, [&](std::size_t n, const node::Port&) {
    const auto& nic = machine.node.nics[n];
    rails.insert(nic.netdevs.begin(), nic.netdevs.end());
  });
  if (rails.size() < 2) return;
  auto routes = machine.system.text("/proc/1/net/route");
  if (!routes.known()) routes = machine.system.text("/proc/net/route");
  if (!found.knows(kNode, routes)) return;
  for (const auto& [subnet, netdevs] : subnets(routes)) {
    std::vector<std::string> shared;
    std::set_intersection(rails.begin(), rails.end(), netdevs.begin(), netdevs.end(),
                          std::back_inserter(shared));
    if (shared.size() < 2) continue;
    for (const auto& netdev : shared) judge_arp(machine, subnet, netdev, found);
  }
}

using system::Part;

constexpr std::array kRoceChecks = {
    Check{.id = "roce.gid",
          .what = "Each RoCE port has the GID of an IP address, of version 2.",
          .source = "/sys/class/infiniband/*/ports/*/{gids,gid_attrs}",
          .rule =
              "PASS: RoCE v2, not link-local, and of a compute NIC the one that NCCL takes; WARN: "
              "link-local only, or NCCL takes another (it looks for IPv4, else takes index 0); "
              "FAIL: none; UNKNOWN: none, and its netdev is not here",
          .effect = "ibv_modify_qp fails, or packets are not routed -> NCCL status 12 or TCP",
          .remedy = "Give the netdev an IP address and set it up. A pod with a network of its own "
                    "has the GIDs of its own netdevs only.",
          .remedy_class = RemedyClass::cluster,
          .about = "ACTIVE RoCE port",
          .covers = "roce.gid F21",
          .after = "link.port-state",
          .look = gid},
    Check{.id = "roce.mtu",
          .what = "The netdev's MTU allows a path MTU of 4096.",
          .source = "/sys/class/net/*/mtu",
          .rule = "PASS: 4192 or more; WARN: less. The kernel makes active_mtu of RoCE of it "
                  "(iboe_get_mtu); that of InfiniBand is the subnet manager's, and no file has it",
          .effect = "path MTU 2048 or less -> more packets; queue pairs to a node with another MTU "
                    "do not connect",
          .remedy = "Set the MTU to 9000 on the netdev and the switch, on all nodes alike. The "
                    "switch is not seen from here.",
          .remedy_class = RemedyClass::restart,
          .about = "ACTIVE RoCE port",
          .covers = "roce.mtu F16 F36 C20",
          .after = "link.port-state",
          .parts = Part::netdevs,
          .look = mtu},
    Check{.id = "roce.ecn",
          .what = "Congestion control of RoCE is on for the priority that is used.",
          .source = "/sys/class/net/*/ecn/roce_{np,rp}/enable/* (OFED's driver)",
          .rule = "PASS: on for one priority at least; WARN: off for all; SKIP: the kernel's own "
                  "driver shows nothing",
          .effect = "congestion ends in drops or pauses -> retransmissions",
          .remedy =
              "echo 1 into enable/3 of roce_np and roce_rp, or let nic-configuration-operator "
              "do so; the same on all nodes and switches.",
          .remedy_class = RemedyClass::live,
          .about = "ecn folder of a RoCE netdev (OFED's driver has it)",
          .covers = "roce.qos",
          .after = "link.port-state",
          .parts = Part::netdevs,
          .look = ecn},
    Check{.id = "roce.arp",
          .what = "Rails in one subnet answer ARP for their own address only.",
          .source = "/proc/1/net/route, /proc/sys/net/ipv4/conf/*/{arp_ignore,arp_announce}",
          .rule = "PASS: arp_ignore 1 or 2 and arp_announce 2; WARN: else; SKIP: no two RoCE "
                  "netdevs in one subnet",
          .effect = "a rail's peer gets the MAC address of another rail -> traffic arrives at the "
                    "wrong NIC and queue pairs time out",
          .remedy = "sysctl net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2, and "
                    "keep it in /etc/sysctl.d.",
          .remedy_class = RemedyClass::live,
          .about = "subnet with several RoCE netdevs",
          .covers = "",
          .parts = Part::netdevs | Part::kernel,
          .look = arp},
};

}  // namespace

std::span<const Check> roce_checks() {
  return kRoceChecks;
}

}  // namespace railhead::checks
