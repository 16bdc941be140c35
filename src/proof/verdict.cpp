// SPDX-License-Identifier: Apache-2.0
#include "proof/verdict.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace railhead::proof {
namespace {

std::string whole(double number) {
  return std::to_string(static_cast<std::uint64_t>(std::llround(number)));
}

bool any_registered(const node::Node& node) {
  return std::any_of(node.nics.begin(), node.nics.end(),
                     [](const node::Nic& nic) { return nic.registered; });
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
  pod.evidence.push_back({"proc net tcp", text});
  if (!pod.network_bytes_per_second) return;
  pod.evidence.push_back(
      {"proc net dev", whole(*pod.network_bytes_per_second) + " bytes a second by netdevs"});
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

std::string unproved_text(std::size_t count) {
  return counted(count, "queue pair") +
         " of a driver's own kind (EFA SRD, mlx5 DC) without a peer of their own, and no traffic "
         "that proves their use";
}

}  // namespace

std::string size_text(const container::JobSize& size) {
  std::vector<std::string> words;
  if (size.nodes) words.push_back(counted(*size.nodes, "node"));
  if (size.ranks) words.push_back(counted(*size.ranks, "rank"));
  return join(words, ", ");
}

std::vector<std::string> blind_spots(const usage::Usage& usage, const node::Node& node,
                                     std::size_t ownerless) {
  std::vector<std::string> spots;
  if (usage.rdma == usage::TableState::gone && any_registered(node)) {
    spots.emplace_back("the kernel's RDMA netlink cannot be asked here");
  } else if (usage.rdma != usage::TableState::read && usage.rdma != usage::TableState::gone) {
    spots.push_back("the kernel's list of RDMA devices: " + usage.rdma_why);
  }
  for (const auto& device : usage.devices) {
    const auto& pairs = device.queue_pairs;
    if (pairs.state == usage::TableState::read || pairs.state == usage::TableState::gone) continue;
    spots.push_back("queue pairs of " + device.device.name + ": " + pairs.why);
  }
  if (ownerless > 0) {
    auto text = counted(ownerless, "queue pair") + " without an owner that can be seen";
    if (usage.sees_all_processes == false) {
      text += " (this is not the node's PID namespace: hostPID: true)";
    }
    spots.push_back(text);
  }
  if (node.rdma_netns == node::RdmaNetns::exclusive) {
    spots.emplace_back(
        "RDMA namespaces are exclusive: devices that were moved into pods are seen only there");
  }
  return spots;
}

void judge(PodUse& pod, const std::vector<std::string>& blind_spots) {
  const auto total = pod.total();
  for (const auto& [device, share] : pod.devices) add_device_evidence(device, share, pod);
  add_network_evidence(pod);
  if (pod.record.job != container::JobSize()) {
    pod.evidence.push_back({"environment", size_text(pod.record.job)});
  }
  if (!pod.record.off_rdma.empty()) pod.evidence.push_back({"environment", pod.record.off_rdma});
  if (total.connected > 0) {
    pod.verdict = Verdict::rdma;
    pod.why = counted(total.connected, "connected queue pair") + " on " + connected_devices(pod);
    if (total.moving == 0U) pod.why += ", quiet now";
    return;
  }
  pod.why = without_pairs(total);
  auto doubts = blind_spots;
  if (total.unproved > 0) doubts.push_back(unproved_text(total.unproved));
  if (!doubts.empty()) {
    pod.verdict = Verdict::unknown;
    pod.why += " seen; but " + join(doubts, "; ");
  } else if (!pod.network) {
    pod.verdict = Verdict::unknown;
    pod.why += ", and its TCP connections cannot be seen";
    if (!pod.network_problem.empty()) pod.why += ": " + pod.network_problem;
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
