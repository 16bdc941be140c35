// SPDX-License-Identifier: Apache-2.0
#include "proof/verdict.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/text.h"
#include "proof/drivers.h"

namespace railhead::proof {
namespace {

std::string whole(double number) {
  return std::to_string(static_cast<std::uint64_t>(std::llround(number)));
}

bool any_registered(const node::Node& node) {
  return std::ranges::any_of(node.nics, [](const node::Nic& nic) { return nic.registered; });
}

void add_device_evidence(const std::string& device, const DeviceShare& share, PodUse& pod) {
  const auto add = [&](std::string_view source, const std::string& value) {
    pod.evidence.push_back({std::string(source), value});
  };
  if (share.queue_pairs > 0) {
    auto text = device + ": " + counted(share.queue_pairs, "queue pair") + ", " +
                std::to_string(share.ready) + " in RTS, " + std::to_string(share.connected) +
                " connected to another";
    if (share.moving) text += ", " + std::to_string(*share.moving) + " moved packets";
    add("netlink res qp", text);
    for (const auto& example : share.examples) add("netlink res qp", example);
  }
  if (share.regions > 0) {
    auto text = device + ": " + counted(share.regions, "memory region") + ", " +
                std::to_string(share.registered_bytes) + " bytes";
    if (share.implicit_regions > 0) {
      text += " and " + std::to_string(share.implicit_regions) +
              " of the whole address space (implicit on-demand paging)";
    }
    add("netlink res mr", text);
  }
  if (share.contexts > 0) {
    add("netlink res ctx", device + ": opened " + counted(share.contexts, "time"));
  }
  if (share.connection_ids > 0) {
    add("netlink res cm_id", device + ": " + counted(share.connection_ids, "connection id"));
  }
  const std::string_view whose = share.sole_user ? "" : ", shared with others";
  if (share.bytes_per_second) {
    add("port counters",
        device + ": " + whole(*share.bytes_per_second) + " bytes a second" + std::string(whose));
  } else if (share.packets_per_second) {
    add("port counters", device + ": " + whole(*share.packets_per_second) + " packets a second" +
                             std::string(whose));
  }
}

void add_network_evidence(PodUse& pod) {
  if (!pod.network) return;
  auto text = counted(pod.network->connections, "TCP connection") + " to elsewhere, in " +
              (pod.network->own ? "its own" : "the node's") + " network namespace";
  pod.evidence.push_back({pod.network->by_statistics ? "sock_diag" : "proc net tcp", text});
  if (pod.tcp_bytes_per_second) {
    pod.evidence.push_back(
        {"sock_diag", whole(*pod.tcp_bytes_per_second) + " bytes a second by TCP"});
  }
  if (!pod.network_bytes_per_second) return;
  pod.evidence.push_back(
      {"proc net dev", whole(*pod.network_bytes_per_second) + " bytes a second by netdevs"});
}

void add_file_evidence(PodUse& pod) {
  const auto add = [&](const std::string& value) { pod.evidence.push_back({"proc fd", value}); };
  const auto& files = pod.files;
  if (files.devx > 0) add(counted(files.devx, "file") + " of mlx5 DEVX");
  if (files.imex_channels > 0) add(counted(files.imex_channels, "channel") + " of IMEX");
  if (!files.other_fabrics.empty()) add(join(files.other_fabrics, ", "));
}

/// "on mlx5_0, mlx5_1"
std::string connected_devices(const PodUse& pod) {
  std::vector<std::string> names;
  for (const auto& [name, share] : pod.devices) {
    if (share.connected > 0) names.push_back(name);
  }
  return join(names, ", ");
}

std::string without_pairs(const DeviceShare& total) {
  if (total.queue_pairs == 0) return "no queue pair";
  return "no connected queue pair (" + counted(total.queue_pairs, "queue pair") + ", " +
         std::to_string(total.ready) + " in RTS)";
}

/// What it has on one device that may carry data to another node, and is not proved to.
void add_doubts(const std::string& device, const DeviceShare& share, const node::Node& node,
                std::vector<std::string>& doubts) {
  const auto add = [&](std::size_t count, const std::string& what) {
    if (count > 0) doubts.push_back(counted(count, "queue pair") + what + " (" + device + ")");
  };
  add(share.unproved,
      " of a driver's own kind (EFA SRD, mlx5 DC) without a peer of their own, and no traffic that "
      "proves their use");
  add(share.looped,
      " whose own number is their peer's, with the same sequence numbers: looped, or connected to "
      "an equal number elsewhere");
  add(share.datagrams, " of type UD in RTS, which name no peer");
  add(share.passive, " in RTR, which may be the side that only receives");
  if (share.moves_alone) {
    doubts.push_back("it is the only user of " + device + ", whose ports move " +
                     whole(share.bytes_per_second.value_or(0)) +
                     " bytes a second, in two looks alone: a program that began and ended between "
                     "them may have moved that");
  }
  const auto hidden = hidden_by_driver(node, device);
  if (hidden.empty() || (share.contexts == 0 && share.regions == 0)) return;
  doubts.push_back(device + " is open" +
                   (share.regions > 0 ? " with " + counted(share.regions, "memory region") : "") +
                   ", and " + std::string(hidden));
}

/// Memory that is registered with a driver that hides queue pairs.
bool has_hidden_use(const PodUse& pod, const node::Node& node) {
  return std::ranges::any_of(pod.devices, [&](const auto& named) {
    return named.second.regions > 0 && hidden_by_driver(node, named.first) == kDevxHides;
  });
}

/// "the only user of mlx5_0, whose ports move 5000000 bytes a second"; "" for none.
std::string traffic_proof(const PodUse& pod) {
  std::vector<std::string> texts;
  for (const auto& [name, share] : pod.devices) {
    if (!share.proved_by_traffic) continue;
    texts.push_back(name + ", whose ports move " + whole(share.bytes_per_second.value_or(0)) +
                    " bytes a second");
  }
  return texts.empty() ? "" : "the only user of " + join(texts, ", ") + ", in three looks in a row";
}

/// There are objects of processes that nobody can name, and no context to make them from.
bool lists_contradict(const usage::RdmaDeviceUse& device, const usage::Usage& usage) {
  const auto is_nobodys = [&](const auto& object) {
    const auto& thread = object.owner.thread;
    return !object.owner.kernel && (!thread || !usage.processes.by_id.contains(*thread));
  };
  const auto any_nobodys = [&](const auto& table) {
    return std::ranges::any_of(table.objects, is_nobodys);
  };
  return device.contexts.state == usage::TableState::read && device.contexts.objects.empty() &&
         (any_nobodys(device.queue_pairs) || any_nobodys(device.memory_regions) ||
          any_nobodys(device.domains));
}

bool was_read(usage::TableState state) {
  return state == usage::TableState::read || state == usage::TableState::gone;
}

/// "; contexts of mlx5_0: timed out"; "" for a list that was read.
template <typename Table>
std::string unread(std::string_view what, const usage::RdmaDeviceUse& device, const Table& table) {
  if (was_read(table.state)) return "";
  return "; " + std::string(what) + " of " + device.device.name + ": " + table.why;
}

/// Whether nobody says who has a device open whose driver hides what is done with it. Where the
/// kernel knows no list of contexts, memory says so: nothing moves without.
bool hides_unseen(const usage::RdmaDeviceUse& device, std::string_view hidden) {
  if (hidden.empty() || was_read(device.contexts.state)) return false;
  return device.contexts.state != usage::TableState::unsupported ||
         device.memory_regions.state != usage::TableState::read;
}

/// Whether SMC-R has it: what programs send over TCP sockets then goes by queue pairs of the
/// kernel, which name no program. Source: Linux net/smc/smc_ib.c.
bool carries_sockets(const usage::RdmaDeviceUse& device) {
  const auto is_smc = [](const auto& object) {
    return object.owner.kernel && object.owner.kernel_name == "smc";
  };
  const auto& [pairs, domains] = std::tie(device.queue_pairs.objects, device.domains.objects);
  return std::ranges::any_of(pairs, is_smc) || std::ranges::any_of(domains, is_smc);
}

/// "3 contexts": whoever made them has ended or is not for us to see, and the driver hides what is
/// done with the device; else "". Where the kernel has no list of contexts, memory tells who has
/// the device open.
std::string open_by_nobody(const usage::RdmaDeviceUse& device, const Unowned& unowned,
                           std::string_view hidden) {
  if (hidden.empty()) return "";
  if (unowned.contexts > 0) return counted(unowned.contexts, "context");
  const bool by_memory = device.contexts.state == usage::TableState::unsupported;
  return by_memory && unowned.regions > 0 ? counted(unowned.regions, "memory region") : "";
}

/// Why a queue pair of this device may have been missed, and why it cannot be seen either who has
/// the device open.
std::vector<std::string> spots_of(const usage::RdmaDeviceUse& device, const usage::Usage& usage,
                                  const node::Node& node, const Unowned& unowned) {
  const auto& name = device.device.name;
  const auto contexts = unread("contexts", device, device.contexts);
  std::vector<std::string> reasons;
  if (lists_contradict(device, usage)) {
    reasons.push_back("the lists of " + name +
                      " contradict each other: objects of processes, and no context");
  }
  if (!was_read(device.queue_pairs.state)) {
    reasons.push_back("queue pairs of " + name + ": " + device.queue_pairs.why + contexts);
  }
  const auto hidden = hidden_by_driver(node, name);
  if (hides_unseen(device, hidden)) {
    reasons.push_back(name + " may be open" + contexts + "; and " + std::string(hidden));
  }
  const auto ownerless = [&](const std::string& objects) {
    auto text = objects + " of " + name + " without an owner that can be seen";
    if (usage.sees_all_processes == false) {
      text += " (this is not the node's PID namespace: hostPID: true)";
    }
    return text + unread("protection domains", device, device.domains) + contexts;
  };
  if (unowned.queue_pairs > 0) {
    reasons.push_back(ownerless(counted(unowned.queue_pairs, "queue pair")));
  }
  if (const auto objects = open_by_nobody(device, unowned, hidden); !objects.empty()) {
    reasons.push_back(ownerless(objects) + "; and " + std::string(hidden));
  }
  return reasons;
}

}  // namespace

std::string size_text(const container::JobSize& size) {
  std::vector<std::string> words;
  if (size.nodes) words.push_back(counted(*size.nodes, "node"));
  if (size.ranks) words.push_back(counted(*size.ranks, "rank"));
  return join(words, ", ");
}

std::vector<std::string> BlindSpots::texts() const {
  auto texts = of_all;
  for (const auto& [device, reasons] : of_device) {
    texts.insert(texts.end(), reasons.begin(), reasons.end());
  }
  return texts;
}

BlindSpots blind_spots(const usage::Usage& usage, const node::Node& node, const Counted& counts) {
  BlindSpots spots;
  if (usage.rdma == usage::TableState::gone && any_registered(node)) {
    spots.of_all.emplace_back("the kernel's RDMA netlink cannot be asked here");
  } else if (!was_read(usage.rdma)) {
    spots.of_all.push_back("the kernel's list of RDMA devices: " + usage.rdma_why);
  }
  for (const auto& device : usage.devices) {
    const auto unowned = counts.unowned.find(device.device.name);
    auto reasons = spots_of(device, usage, node,
                            unowned == counts.unowned.end() ? Unowned() : unowned->second);
    if (!reasons.empty()) spots.of_device[device.device.name] = std::move(reasons);
    if (carries_sockets(device)) {
      spots.of_all.push_back("the kernel's SMC-R moves data of TCP sockets by " +
                             device.device.name + ", and no list says whose");
    }
  }
  if (!usage.processes.doubt.empty()) {
    spots.of_all.push_back("not all processes were seen, and one may be its own: " +
                           usage.processes.doubt);
  }
  if (node.rdma_netns == node::RdmaNetns::exclusive) {
    spots.of_all.emplace_back(
        "RDMA namespaces are exclusive: devices that were moved into pods are seen only there");
  }
  return spots;
}

std::set<std::string> may_have_open(const usage::Usage& usage, const Counted& counts,
                                    const PodUse& pod) {
  std::set<std::string> devices;
  for (const auto& device : usage.devices) {
    const auto& name = device.device.name;
    const auto unowned = counts.unowned.find(name);
    const bool any_unowned = unowned != counts.unowned.end() &&
                             (unowned->second.contexts > 0 || device.contexts.objects.empty());
    const bool all_seen = device.contexts.state == usage::TableState::read && !any_unowned &&
                          !lists_contradict(device, usage);
    if (!all_seen || pod.devices.contains(name)) devices.insert(name);
  }
  return devices;
}

void say_expectations(PodUse& pod) {
  const auto& job = pod.record.job;
  const auto gpus = std::max<std::size_t>(1, pod.record.gpus.size());
  if (job.nodes.value_or(1) > 1) pod.expects.push_back(counted(*job.nodes, "node"));
  if (job.ranks.value_or(1) > gpus) {
    pod.expects.push_back(counted(*job.ranks, "rank") + " on " + counted(gpus, "GPU"));
  }
  if (!job.asks.empty()) pod.expects.emplace_back(job.asks);
  if (!pod.record.asked.empty()) pod.expects.push_back(pod.record.asked);
}

void judge(PodUse& pod, const node::Node& node, std::vector<std::string> doubts) {
  const auto total = pod.total();
  for (const auto& [device, share] : pod.devices) add_device_evidence(device, share, pod);
  add_network_evidence(pod);
  add_file_evidence(pod);
  if (pod.record.job.nodes || pod.record.job.ranks) {
    pod.evidence.push_back({"job", size_text(pod.record.job)});
  }
  if (!pod.record.job.asks.empty()) {
    pod.evidence.push_back({"job", std::string(pod.record.job.asks)});
  }
  if (!pod.record.off_rdma.empty()) pod.evidence.push_back({"environment", pod.record.off_rdma});
  if (total.connected > 0) {
    pod.verdict = Verdict::rdma;
    pod.rung = Rung::queue_pair;
    pod.why = counted(total.connected, "connected queue pair") + " on " + connected_devices(pod);
    if (total.moving == 0U) pod.why += ", quiet now";
    return;
  }
  if (const auto proof = traffic_proof(pod); !proof.empty()) {
    pod.verdict = Verdict::rdma;
    pod.rung = Rung::sole_user;
    pod.why = proof;
    return;
  }
  if (total.moves_alone) {
    pod.rung = Rung::sole_user;
  } else if (has_hidden_use(pod, node)) {
    pod.rung = Rung::devx_objects;
  }
  pod.why = without_pairs(total);
  for (const auto& [device, share] : pod.devices) add_doubts(device, share, node, doubts);
  if (pod.files.imex_channels > 0) {
    doubts.emplace_back("it has a channel of IMEX: NVLink between nodes needs no queue pair");
  }
  if (!pod.files.other_fabrics.empty()) {
    doubts.push_back("it has " + join(pod.files.other_fabrics, ", ") +
                     " open, which is a fabric without verbs");
  }
  if (!pod.files.doubt.empty()) {
    doubts.push_back("not all of its open files were seen, and one may be of a fabric: " +
                     pod.files.doubt);
  }
  if (!doubts.empty()) {
    pod.verdict = Verdict::unknown;
    pod.why += " seen; but " + join(doubts, "; ");
  } else if (!pod.network) {
    pod.verdict = Verdict::unknown;
    pod.why += pod.network_problem.empty()
                   ? ", and nobody looked at its TCP connections: it was given no GPU and no NIC"
                   : ", and its TCP connections cannot be seen: " + pod.network_problem;
  } else if (pod.network->connections > 0) {
    pod.verdict = Verdict::tcp;
    pod.why += ", " + counted(pod.network->connections, "TCP connection") + " to elsewhere";
    if (!pod.record.off_rdma.empty()) pod.why += "; " + pod.record.off_rdma;
  } else {
    pod.verdict = Verdict::idle;
    pod.why += " and no TCP connection to elsewhere";
  }
}

}  // namespace railhead::proof
