// SPDX-License-Identifier: Apache-2.0
#include "proof/pods.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "base/find.h"
#include "base/text.h"
#include "proof/count.h"
#include "proof/verdict.h"

namespace railhead::proof {
namespace {

template <typename T>
void add(std::optional<T>& sum, const std::optional<T>& one) {
  if (one) sum = sum.value_or(T{}) + *one;
}

const usage::ContainerUse* find_container(const usage::Usage* usage, const std::string& id) {
  return usage == nullptr ? nullptr : find_value(usage->containers, id);
}

/// A container that nobody can name is called by its id, shortened as runtimes do.
ContainerRecord nameless(const usage::ContainerPlace& place) {
  ContainerRecord record;
  record.container_id = place.container;
  record.pod_uid = place.pod_uid.value_or("");
  record.container = place.container.substr(0, 12);
  return record;
}

/// Less is what a service exchanges whose job is not to move data.
constexpr double kJobBytesPerSecond = 1e6;

std::uint64_t bytes_of(const host::TcpSocket& socket) {
  return saturating_sum(socket.sent_bytes.value_or(0), socket.received_bytes.value_or(0));
}

/// Bytes a second of all connections. A connection that began between the readings counts from its
/// beginning. One that ended between them does not count: what it moved last was never read.
std::optional<double> tcp_rate(const usage::NetworkUse& before, const usage::NetworkUse& now,
                               std::optional<double> seconds) {
  if (!before.sockets || !now.sockets || !seconds) return std::nullopt;
  double bytes = 0;
  auto earlier = before.sockets->begin();
  for (const auto& socket : *now.sockets) {  // both by inode
    while (earlier != before.sockets->end() && earlier->inode < socket.inode) ++earlier;
    const bool is_same = earlier != before.sockets->end() && earlier->inode == socket.inode;
    const auto was = is_same ? bytes_of(*earlier) : 0;
    const auto is = bytes_of(socket);
    if (is > was) bytes += static_cast<double>(is - was);
  }
  return bytes / *seconds;
}

class Judgement {
 public:
  Judgement(const usage::Usage& now, const usage::Usage* before, const node::Node& node,
            const std::vector<ContainerRecord>& records, const ProofOptions& options)
      : now_(now),
        before_(before),
        node_(node),
        options_(options),
        counted_(count_objects(now, before)) {
    for (const auto& record : records) records_.emplace(record.container_id, &record);
  }

  PodsView run() {
    view_.host_queue_pairs = counted_.host;
    view_.kernel_queue_pairs = counted_.kernel;
    view_.ownerless_queue_pairs = counted_.ownerless;
    spots_ = blind_spots(now_, node_, counted_);
    for (const auto& [id, container] : now_.containers) add_pod(container);
    warn(spots_.texts());
    mark_fallbacks();
    std::ranges::sort(view_.pods, [](const PodUse& a, const PodUse& b) {
      const auto key = [](const ContainerRecord& h) {
        return std::tie(h.pod_namespace, h.pod, h.pod_uid, h.container, h.container_id);
      };
      return key(a.record) < key(b.record);
    });
    return std::move(view_);
  }

 private:
  [[nodiscard]] std::optional<double> seconds_since(std::uint64_t ticks) const {
    if (!now_.counted_ticks || *now_.counted_ticks < ticks) return std::nullopt;
    return static_cast<double>(*now_.counted_ticks - ticks) / 100.0;
  }

  [[nodiscard]] ContainerRecord record_of(const usage::ContainerUse& container) const {
    const auto named = records_.find(container.place.container);
    auto record = named == records_.end() ? nameless(container.place) : *named->second;
    if (record.pod_uid.empty()) record.pod_uid = container.place.pod_uid.value_or("");
    record.job = container::larger(record.job, container.job);
    return record;
  }

  void add_pod(const usage::ContainerUse& container) {
    const auto& id = container.place.container;
    PodUse pod;
    pod.record = record_of(container);
    if (!container.bundle_problem.empty() && !records_.contains(id)) {
      ++unreadable_bundles_;
      unreadable_bundle_ = container.bundle_problem;
    }
    const auto counted = counted_.by_container.find(id);
    if (counted != counted_.by_container.end()) pod.devices = counted->second;
    const bool shown = !pod.record.gpus.empty() || !pod.record.nics.empty() || !pod.devices.empty();
    if (!shown && (!options_.all || pod.record.sandbox)) return;
    pod.processes = container.processes;
    pod.age_seconds = seconds_since(container.started_ticks);
    pod.work_seconds = container.files.gpu_started_ticks
                           ? seconds_since(*container.files.gpu_started_ticks)
                           : pod.age_seconds;
    pod.files = container.files;
    pod.network = container.network;
    pod.network_problem = container.network_problem;
    if (const auto* earlier = find_container(before_, id);
        earlier != nullptr && earlier->network && pod.network) {
      const auto seconds = seconds_between(before_, now_);
      pod.network_bytes_per_second = rate(earlier->network->bytes, pod.network->bytes, seconds);
      pod.tcp_bytes_per_second = tcp_rate(*earlier->network, *pod.network, seconds);
    }
    auto doubts = spots_.of_all;
    for (const auto& device : may_have_open(now_, counted_, pod)) {
      const auto& reasons = spots_.of_device[device];
      doubts.insert(doubts.end(), reasons.begin(), reasons.end());
    }
    const auto log = log_of(pod.record);
    if (log.starts_with("RDMA")) doubts.push_back("its log says: " + log);
    judge(pod, node_, std::move(doubts));
    if (!log.empty()) pod.evidence.push_back({"log", log});
    if (log.starts_with("RDMA") && pod.rung == Rung::nothing) pod.rung = Rung::log;
    say_expectations(pod);
    view_.pods.push_back(std::move(pod));
  }

  [[nodiscard]] std::string log_of(const ContainerRecord& record) const {
    for (const auto& name : {record.pod_namespace + "/" + record.pod, record.pod}) {
      const auto found = options_.logs.find(name);
      if (found != options_.logs.end()) return found->second;
    }
    return "";
  }

  void warn(const std::vector<std::string>& spots) {
    view_.warnings = spots;
    view_.complete = spots.empty();
    view_.sees_containers = now_.processes_known;
    if (!now_.processes_known) {
      view_.complete = false;
      view_.warnings.push_back("processes: " + now_.processes_why);
    } else if (now_.containers.empty() && now_.sees_all_processes == false) {
      view_.complete = false;
      view_.warnings.emplace_back(
          "no container's processes can be seen: this is not the node's PID namespace "
          "(hostPID: true)");
    }
    if (unreadable_bundles_ > 0) {
      view_.complete = false;
      view_.warnings.push_back("what was given to " + counted(unreadable_bundles_, "container") +
                               " cannot be read: " + unreadable_bundle_);
    }
    if (!now_.containers.empty() && !now_.asked_ticks) {
      view_.complete = false;
      view_.warnings.emplace_back("uptime cannot be read: how old containers are is not known");
    }
    for (const auto& device : now_.devices) {
      const auto& regions = device.memory_regions;
      if (regions.state == usage::TableState::read || regions.state == usage::TableState::gone)
        continue;
      view_.warnings.push_back("memory regions of " + device.device.name + ": " + regions.why);
    }
  }

  /// It is due to use RDMA, and certainly does not. One that states a job of several nodes has hung
  /// or waits where it is idle. One that only holds a slot has to move something.
  [[nodiscard]] static bool lacks_rdma(const PodUse& pod) {
    const auto& [job, gpus] = std::tie(pod.record.job, pod.record.gpus);
    const bool uses_tcp = pod.verdict == Verdict::tcp;
    const bool states_peers =
        job.nodes.value_or(1) > 1 || job.ranks.value_or(1) > std::max<std::size_t>(1, gpus.size());
    if (states_peers) return uses_tcp || pod.verdict == Verdict::idle;
    if (!job.asks.empty()) return uses_tcp;
    const bool states_one_node = job.nodes || job.ranks;
    return uses_tcp && !states_one_node && !pod.record.asked.empty() &&
           pod.tcp_bytes_per_second.value_or(0) >= kJobBytesPerSecond;
  }

  [[nodiscard]] bool is_ignored(const ContainerRecord& record) const {
    const auto name = record.pod_namespace + "/" + record.pod;
    return std::ranges::any_of(
        options_.ignore, [&](const std::string& pattern) { return glob_match(pattern, name); });
  }

  void mark_fallbacks() {
    const bool node_has_rdma =
        std::ranges::any_of(node_.nics, [](const node::Nic& nic) { return nic.registered; });
    using Pod = std::array<std::string_view, 3>;
    const auto key = [](const PodUse& pod) {
      return Pod{pod.record.pod_namespace, pod.record.pod, pod.record.pod_uid};
    };
    std::set<Pod> connected;
    for (const auto& pod : view_.pods) {
      if (pod.verdict == Verdict::rdma || pod.verdict == Verdict::unknown) {
        connected.insert(key(pod));
      }
    }
    for (auto& pod : view_.pods) {
      const bool is_old = pod.work_seconds && *pod.work_seconds >= options_.grace_seconds;
      const bool fell_back = node_has_rdma && !pod.record.gpus.empty() && is_old &&
                             lacks_rdma(pod) && !connected.contains(key(pod));
      pod.ignored = is_ignored(pod.record);
      pod.silent_fallback = fell_back && !pod.ignored;
      if (pod.verdict == Verdict::tcp && pod.expects.empty() && !pod.record.gpus.empty()) {
        pod.why += "; nothing says that it is part of a job on several nodes";
      }
      if (!fell_back) continue;
      pod.why += pod.ignored ? "; pods.ignore names it, else a silent fallback: it holds "
                             : "; a silent fallback: it holds ";
      pod.why += counted(pod.record.gpus.size(), "GPU") + " of a node with RDMA NICs";
      if (pod.record.nics.empty()) pod.why += " and was given none of them";
      pod.why += "; RDMA is due by " + join(pod.expects, ", ");
    }
  }

  const usage::Usage& now_;
  const usage::Usage* before_;
  const node::Node& node_;
  const ProofOptions& options_;
  Counted counted_;
  BlindSpots spots_;
  std::map<std::string, const ContainerRecord*> records_;
  PodsView view_;
  std::size_t unreadable_bundles_ = 0;  ///< of containers that nobody else knows either
  std::string unreadable_bundle_;       ///< why one of them
};

}  // namespace

std::string_view to_string(Verdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {"RDMA", "TCP", "idle", "unknown"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::string_view to_string(Rung rung) {
  constexpr std::array<std::string_view, 5> kNames = {"queue pair", "sole user", "DEVX objects",
                                                      "log", "nothing"};
  return kNames[static_cast<std::size_t>(rung)];
}

DeviceShare PodUse::total() const {
  DeviceShare sum;
  bool all_compared = true;
  for (const auto& [name, share] : devices) {
    sum.queue_pairs += share.queue_pairs;
    sum.ready += share.ready;
    sum.connected += share.connected;
    sum.unproved += share.unproved;
    sum.looped += share.looped;
    sum.datagrams += share.datagrams;
    sum.passive += share.passive;
    sum.moves_alone = sum.moves_alone || share.moves_alone;
    sum.proved_by_traffic = sum.proved_by_traffic || share.proved_by_traffic;
    sum.appeared += share.appeared;
    sum.regions += share.regions;
    sum.implicit_regions += share.implicit_regions;
    sum.registered_bytes = saturating_sum(sum.registered_bytes, share.registered_bytes);
    sum.contexts += share.contexts;
    sum.connection_ids += share.connection_ids;
    add(sum.moving, share.moving);
    add(sum.bytes_per_second, share.bytes_per_second);
    add(sum.packets_per_second, share.packets_per_second);
    sum.sole_user = sum.sole_user && share.sole_user;
    all_compared = all_compared && (share.moving || share.queue_pairs == 0);
  }
  if (sum.moving == 0U && !all_compared) sum.moving.reset();
  return sum;
}

PodsView judge_pods(const usage::Usage& now, const usage::Usage* before, const node::Node& node,
                    const std::vector<ContainerRecord>& records, const ProofOptions& options) {
  return Judgement(now, before, node, records, options).run();
}

}  // namespace railhead::proof
