// SPDX-License-Identifier: Apache-2.0
//
// What a container makes of its NICs: GIDs, variables, which GPU uses which NIC.
#include <algorithm>
#include <array>
#include <iterator>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "checks/pod.h"
#include "inject/transports_of.h"
#include "transports/nic_list.h"
#include "transports/transports.h"

namespace railhead::checks {
namespace {

using system::Container;

std::string_view address_of(const Container& container, const std::vector<node::Gid>& gids,
                            bool link_local) {
  for (const auto& gid : gids) {
    const bool is_local = std::string_view(gid.value).starts_with("fe80:");
    if (is_local == link_local && contains(*container.addresses.value, gid.value)) return gid.value;
  }
  return {};
}

void judge_gids(const Container& container, const std::string& port,
                const std::vector<node::Gid>& gids, const std::string& path, Findings& found) {
  const auto subject = container.name + "/" + port;
  const Evidence table{path, counted(gids.size(), "GID")};
  const Evidence own{container.addresses.path,
                     counted(container.addresses.value->size(), "local address")};
  const auto routed = address_of(container, gids, false);
  const auto local = address_of(container, gids, true);
  if (!routed.empty()) {
    found.pass(subject, std::string(routed), {table, own});
  } else if (!local.empty()) {
    found.warn(subject, "a link-local GID alone", "the GID of an IP address", {table, own});
  } else {
    found.fail(subject, "no GID of an address of its network namespace",
               "the GID of one of its addresses", {table, own});
  }
}

void judge_gids_of(const Machine& machine, const Container& container, const node::Nic& nic,
                   Findings& found) {
  for (const auto& port : nic.ports) {
    if (port.link_layer != node::LinkLayer::ethernet) continue;
    const auto name = port_name(nic, port);
    const auto at = container.gids.find(name);
    if (!container.addresses.value) {
      found.unknown(container.name + "/" + name, container.addresses);
    } else if (at == container.gids.end()) {
      // Its /sys is not mounted: in shared mode the node's has the same table.
      if (machine.node.rdma_netns != node::RdmaNetns::shared) {
        found.unknown(container.name + "/" + name, "its sysfs does not show the device",
                      {{container.root + "/sys/class/infiniband/" + nic.name, ""}});
      } else {
        judge_gids(container, name, port.gids, port_path(nic, port, "gids"), found);
      }
    } else if (!at->second.value) {
      found.unknown(container.name + "/" + name, at->second);
    } else {
      judge_gids(container, name, *at->second.value, at->second.path, found);
    }
  }
}

/// The node's network namespace or its own; absent where that is not known.
std::optional<bool> has_own_network(const Container& container) {
  if (!container.network.value || !container.node_network.value) return std::nullopt;
  return *container.network.value != *container.node_network.value;
}

bool has_ethernet(const Machine& machine, const std::vector<std::size_t>& nics) {
  return std::ranges::any_of(
      nics, [&](std::size_t nic) { return machine.has_layer(nic, node::LinkLayer::ethernet); });
}

/// The machine's NICs as the libraries in the container see them.
std::vector<transports::KnownNic> known_nics(const Machine& machine, const Container& container) {
  const auto given = given_nics(machine, container);
  std::vector<transports::KnownNic> known;
  for (std::size_t n = 0; n < machine.node.nics.size(); ++n) {
    const auto& nic = machine.node.nics[n];
    transports::KnownNic one{nic.name, contains(given, n)};
    for (const auto& port : nic.ports) {
      const bool usable = !port.state || port.state == node::PortState::active;
      transports::KnownPort seen{port.number, usable, inject::link_kind_of(nic, port)};
      const auto gids = container.gids.find(port_name(nic, port));
      if (gids != container.gids.end() && gids->second.value) {
        seen.gids.emplace();
        for (const auto& gid : *gids->second.value) seen.gids->push_back(gid.index);
      }
      one.ports.push_back(std::move(seen));
    }
    if (one.ports.empty()) one.ports.push_back({});
    known.push_back(std::move(one));
  }
  return known;
}

std::optional<std::string_view> value_of(const Container& container, std::string_view name) {
  std::optional<std::string_view> value;
  for (const std::string_view entry : *container.environment.value) {
    const auto equals = entry.find('=');
    if (entry.substr(0, equals) == name) value = entry.substr(equals + 1);
  }
  return value;
}

std::string subject_of(const Container& container, std::string_view variable) {
  return container.name + "/" + std::string(variable);
}

/// A beginning that is the whole name of one NIC and the beginning of another.
bool judge_prefix(const Machine& machine, const Container& container, Findings& found) {
  constexpr std::string_view kVariable = "NCCL_IB_HCA";
  const auto value = value_of(container, kVariable);
  if (!value) return false;
  const auto given = given_nics(machine, container);
  const auto list = transports::nccl_list(*value);
  for (const auto& entry : list.entries) {
    if (entry.means != transports::NicListEntry::Means::beginning) continue;
    std::vector<std::string> meant;
    bool whole = false;
    for (const auto nic : given) {
      const auto& name = machine.node.nics[nic].name;
      if (entry.names(name)) meant.push_back(name);
      whole = whole || name == entry.name;
    }
    if (!whole || meant.size() < 2) continue;
    auto& finding =
        found.warn(subject_of(container, kVariable),
                   std::string(entry.text.empty() ? entry.name : entry.text) +
                       " is the beginning of " + join(meant, ", "),
                   "=" + std::string(entry.name),
                   {{container.environment.path, "NCCL_IB_HCA=" + std::string(*value)}});
    finding.effect = "NCCL takes names by their beginning -> it uses a NIC that nobody named";
    finding.remedy = "Put = in front: NCCL_IB_HCA==" + std::string(entry.name) + ".";
    return true;
  }
  return false;
}

/// NCCL reads numbers in the place of words as of old: 5 is SYS, so GPUDirect goes across sockets.
/// Source: NCCL src/graph/paths.cc (ncclGetLevel), docs "NCCL_NET_GDR_LEVEL".
bool judge_gdr_level(const Container& container, Findings& found) {
  constexpr std::string_view kVariable = "NCCL_NET_GDR_LEVEL";
  const auto value = value_of(container, kVariable);
  if (!value || !parse_unsigned(*value)) return false;
  auto& finding = found.warn(
      subject_of(container, kVariable), std::string(*value) + ", a legacy number",
      "a word (PIX, PXB, PHB, SYS), or nothing",
      {{container.environment.path, std::string(kVariable) + "=" + std::string(*value)}});
  finding.effect = "4 and 5 force GPUDirect across processors, which is slower than a copy";
  finding.remedy = "Leave it out, unless a measurement on this machine says otherwise.";
  return true;
}

/// NCCL matches interfaces as it does NICs; an empty list of matches ends the job at its start.
/// Source: NCCL src/misc/socket.cc (ncclFindInterfaces).
bool judge_interface(const Container& container, Findings& found) {
  constexpr std::string_view kVariable = "NCCL_SOCKET_IFNAME";
  const auto value = value_of(container, kVariable);
  if (!value || !container.netdevs.value) return false;
  const auto list = transports::nccl_list(*value);
  const auto& netdevs = *container.netdevs.value;
  if (std::ranges::any_of(netdevs,
                          [&](const std::string& netdev) { return list.takes(netdev, 1); })) {
    return false;
  }
  auto& finding =
      found.fail(subject_of(container, kVariable), "names none of its interfaces",
                 "one of " + join(netdevs, ", "),
                 {{container.environment.path, std::string(kVariable) + "=" + std::string(*value)},
                  {container.netdevs.path, join(netdevs, ", ")}});
  finding.effect = "NCCL finds no interface to meet its peers by -> the job ends at its start";
  finding.remedy = "Leave it out, or name an interface of the pod.";
  return true;
}

/// The class of RoCE's packets: DSCP in its upper six bits. One that has no priority which pauses,
/// where some do, is not what the fabric was set up for.
bool judge_traffic_class(const Machine& machine, const Container& container,
                         std::string_view variable, Findings& found) {
  const auto value = value_of(container, variable);
  const auto number = value ? parse_unsigned(*value) : Result<std::uint64_t>(Error{});
  if (!number || *number > 255) return false;
  for (const auto nic : given_nics(machine, container)) {
    if (!machine.has_layer(nic, node::LinkLayer::ethernet)) continue;
    for (const auto& netdev : machine.node.nics[nic].netdevs) {
      const auto at = machine.system.dcb.find(netdev);
      if (at == machine.system.dcb.end() || !at->second.value) continue;
      const auto& dcb = *at->second.value;
      const auto dscp = static_cast<unsigned>(*number >> 2U);
      const auto pauses = dcb.pfc.value_or(0);
      const bool is_right = (pauses & host::priorities_of(dcb, dscp)) != 0;
      if (pauses == 0 || !host::maps_dscp(dcb) || is_right) continue;
      auto& finding = found.warn(
          subject_of(container, variable),
          std::string(*value) + " is DSCP " + std::to_string(dscp) +
              ", whose priority does not pause at " + netdev,
          "a class of a priority that pauses",
          {{container.environment.path, std::string(variable) + "=" + std::string(*value)},
           {at->second.path, "PFC mask " + to_hex(*dcb.pfc, 2)}});
      finding.effect = "its packets are dropped where the fabric's own would wait";
      finding.remedy = "Set it to four times a DSCP of roce.flow-control that pauses.";
      return true;
    }
  }
  return false;
}

bool judge_contradictions(const Machine& machine, const Container& container, Findings& found) {
  const std::vector<std::string_view> environment(container.environment.value->begin(),
                                                  container.environment.value->end());
  const auto known = known_nics(machine, container);
  const auto reading = transports::read_environment(environment, &known);
  for (const auto& one : reading.contradictions) {
    const auto subject = subject_of(container, one.variable);
    const std::vector<Evidence> evidence = {{container.environment.path, one.text}};
    if (one.nothing_left && &one == reading.obstacle()) {
      found.fail(subject, one.text, "a NIC that it has", evidence);
    } else {
      found.warn(subject, one.text, "what the container has", evidence);
    }
  }
  if (!reading.by_release.empty()) {
    found.unknown(subject_of(container, "UCX_NET_DEVICES"),
                  reading.by_release + "; which release runs is not known",
                  {{container.environment.path, reading.by_release}});
  }
  return !reading.contradictions.empty() || !reading.by_release.empty();
}

/// The machine's own network leaves by it.
bool is_front_end(const Machine& machine, std::size_t nic) {
  const auto role = machine.role(nic).role;
  return role == affinity::Role::front_end || role == affinity::Role::management;
}

/// Of the ports that a library uses, those of front-end NICs or those of all others.
std::vector<std::string> ports_of(const Machine& machine, const transports::LibraryUse& use,
                                  const std::vector<std::size_t>& nics, bool front_end) {
  std::vector<std::string> ports;
  for (const auto nic : nics) {
    if (is_front_end(machine, nic) != front_end) continue;
    const auto begin = machine.node.nics[nic].name + ":";
    std::ranges::copy_if(use.ports, std::back_inserter(ports),
                         [&](const std::string& port) { return port.starts_with(begin); });
  }
  return ports;
}

/// A variable, and the library that is told its NICs by it.
struct ListOfNics {
  std::string_view variable;
  transports::Library library;
  std::string_view begin;  ///< of the value: NCCL takes whole names behind "=" alone
};

constexpr std::array kListsOfNics = {
    ListOfNics{"NCCL_IB_HCA", transports::Library::nccl, "="},
    ListOfNics{"UCX_NET_DEVICES", transports::Library::ucx, ""},
};

/// A library that was told nothing takes every NIC that it can open, and of these the one that is
/// nearest to its GPU. In a virtual machine that is the front-end NIC for some of the GPUs.
void judge_front_end(const Machine& machine, const Container& container, Findings& found) {
  const std::vector<std::string_view> environment(container.environment.value->begin(),
                                                  container.environment.value->end());
  const auto nics = given_nics(machine, container);
  const auto known = known_nics(machine, container);
  const auto reading = transports::read_environment(environment, &known);
  bool any = false;
  for (const auto& list : kListsOfNics) {
    const auto& use = reading.libraries[static_cast<std::size_t>(list.library)];
    if (list.library == transports::Library::ucx && container.ucx.empty()) continue;
    const auto others = ports_of(machine, use, nics, false);
    const auto front_end = ports_of(machine, use, nics, true);
    if (!use.known || others.empty() || front_end.empty()) continue;
    any = true;
    const std::string variable(list.variable);
    auto& finding =
        found.warn(subject_of(container, list.variable), "uses " + join(front_end, ", ") + ", too",
                   join(others, ", ") + " alone",
                   {{container.environment.path,
                     variable + "=" + std::string(value_of(container, list.variable).value_or(""))},
                    {container.rdma_nodes.path, join(front_end, ", ")}});
    finding.remedy = variable + "=" + std::string(list.begin) + join(others, ",") +
                     "; better, give the container the NICs of its GPUs alone: the agent does, "
                     "and sets NCCL_IB_HCA (UCX_NET_DEVICES with injection.ucxEnvironment).";
  }
  if (any) return;
  found.pass(container.name, "no library takes a front-end NIC",
             {{container.rdma_nodes.path, counted(nics.size(), "NIC")}});
}

void judge_affinity(const Machine& machine, const Container& container, std::size_t gpu,
                    const std::vector<std::size_t>& nics,
                    const std::vector<affinity::Usability>& usable, Findings& found) {
  const auto& row = machine.topology.gpu_nic[gpu];
  const auto nearest = *std::ranges::min_element(
      nics, [&](std::size_t a, std::size_t b) { return row[a] < row[b]; });
  std::optional<std::size_t> better;
  for (const auto nic : machine.traffic_nics()) {
    const bool counts = machine.role(nic).role == affinity::Role::compute && usable[nic].usable &&
                        row[nic].relation < row[better.value_or(nearest)].relation;
    if (counts) better = nic;
  }
  const auto text = [&](std::size_t nic) {
    return machine.node.nics[nic].name + " at " + std::string(to_string(row[nic].relation));
  };
  const auto subject = container.name + "/" + machine.node.gpus[gpu].pci.str();
  const Evidence evidence{container.root + "/dev/infiniband", text(nearest)};
  if (!better) {
    found.pass(subject, text(nearest), {evidence});
  } else if (machine.topology.confidence == topology::Confidence::low) {
    found.unknown(subject, "what is near is not known for sure on this machine", {evidence});
  } else {
    found.warn(subject, text(nearest), text(*better), {evidence});
  }
}

}  // namespace

void pod_gids(const Machine& machine, Findings& found) {
  for (const auto& container : machine.containers) {
    const auto nics = given_nics(machine, container);
    if (!has_ethernet(machine, nics)) continue;
    const auto own = has_own_network(container);
    if (!own) {
      const auto& unread = container.network.value ? container.node_network : container.network;
      found.unknown(container.name, unread);
    } else if (!*own) {
      found.skip(container.name, "it is in the node's network namespace: roce.gid",
                 {{container.network.path, *container.network.value}});
    } else {
      for (const auto nic : nics) judge_gids_of(machine, container, machine.node.nics[nic], found);
    }
  }
}

void pod_environment(const Machine& machine, Findings& found) {
  for (const auto& container : machine.containers) {
    if (given_nics(machine, container).empty()) continue;
    if (!found.knows(container.name, container.environment)) continue;
    bool any = judge_contradictions(machine, container, found);
    any = judge_prefix(machine, container, found) || any;
    any = judge_gdr_level(container, found) || any;
    any = judge_interface(container, found) || any;
    for (const auto* variable : {"NCCL_IB_TC", "UCX_IB_TRAFFIC_CLASS"}) {
      any = judge_traffic_class(machine, container, variable, found) || any;
    }
    if (any) continue;
    const auto& variables = *container.environment.value;
    found.pass(
        container.name, "nothing in it contradicts what it has",
        {{container.environment.path,
          variables.empty() ? "no variable of NCCL, UCX or NVSHMEM" : join(variables, " ")}});
  }
}

void pod_front_end(const Machine& machine, Findings& found) {
  for (const auto& container : machine.containers) {
    const auto nics = given_nics(machine, container);
    if (nics.empty() || given_gpus(machine, container).empty()) continue;
    if (found.knows(container.name, container.environment)) {
      judge_front_end(machine, container, found);
    }
  }
}

void pod_affinity(const Machine& machine, Findings& found) {
  const auto usable = affinity::usability_of(machine.node, machine.wishes.rules.expect);
  for (const auto& container : machine.containers) {
    const auto nics = given_nics(machine, container);
    if (nics.empty()) continue;
    for (const auto gpu : given_gpus(machine, container)) {
      judge_affinity(machine, container, gpu, nics, usable, found);
    }
  }
}

void pod_transport(const Machine& machine, Findings& found) {
  using proof::Verdict;
  for (const auto& container : machine.containers) {
    const auto* use = find_where(
        machine.uses, [&](const auto& one) { return one.record.container_id == container.id; });
    if (use == nullptr) continue;
    std::vector<Evidence> evidence;
    for (const auto& one : use->evidence) evidence.push_back({one.source, one.value});
    if (evidence.empty()) evidence.push_back({"RDMA netlink", use->why});
    switch (use->verdict) {
      case Verdict::rdma: found.pass(container.name, use->why, std::move(evidence)); break;
      case Verdict::idle: found.skip(container.name, use->why, std::move(evidence)); break;
      case Verdict::unknown: found.unknown(container.name, use->why, std::move(evidence)); break;
      case Verdict::tcp:
        if (use->silent_fallback) {
          found.fail(container.name, use->why, "connected queue pairs", std::move(evidence));
        } else {
          found.warn(container.name, use->why, "connected queue pairs", std::move(evidence));
        }
    }
  }
}

}  // namespace railhead::checks
