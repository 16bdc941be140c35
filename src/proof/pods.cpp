// SPDX-License-Identifier: Apache-2.0
#include "proof/pods.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

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
  if (usage == nullptr) return nullptr;
  const auto found = usage->containers.find(id);
  return found == usage->containers.end() ? nullptr : &found->second;
}

/// A container that nobody can name is called by its id, shortened as runtimes do.
ContainerRecord nameless(const usage::ContainerPlace& place) {
  ContainerRecord record;
  record.container_id = place.container;
  record.pod_uid = place.pod_uid.value_or("");
  record.container = place.container.substr(0, 12);
  return record;
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
    const auto spots = blind_spots(now_, node_, counted_.ownerless);
    for (const auto& [id, container] : now_.containers) add_pod(container, spots);
    warn(spots);
    mark_fallbacks();
    std::sort(view_.pods.begin(), view_.pods.end(), [](const PodUse& a, const PodUse& b) {
      const auto key = [](const ContainerRecord& h) {
        return std::tie(h.pod_namespace, h.pod, h.pod_uid, h.container, h.container_id);
      };
      return key(a.record) < key(b.record);
    });
    return std::move(view_);
  }

 private:
  void add_pod(const usage::ContainerUse& container, const std::vector<std::string>& spots) {
    const auto& id = container.place.container;
    PodUse pod;
    const auto named = records_.find(id);
    pod.record = named == records_.end() ? nameless(container.place) : *named->second;
    if (pod.record.pod_uid.empty()) pod.record.pod_uid = container.place.pod_uid.value_or("");
    const auto counted = counted_.by_container.find(id);
    if (counted != counted_.by_container.end()) pod.devices = counted->second;
    const bool shown = !pod.record.gpus.empty() || !pod.record.nics.empty() || !pod.devices.empty();
    if (!shown && (!options_.all || pod.record.sandbox)) return;
    pod.processes = container.processes;
    if (now_.counted_ticks && *now_.counted_ticks >= container.started_ticks) {
      pod.age_seconds = static_cast<double>(*now_.counted_ticks - container.started_ticks) / 100.0;
    }
    pod.network = container.network;
    pod.network_problem = container.network_problem;
    if (const auto* earlier = find_container(before_, id);
        earlier != nullptr && earlier->network && pod.network) {
      pod.network_bytes_per_second =
          rate(earlier->network->bytes, pod.network->bytes, seconds_between(before_, now_));
    }
    judge(pod, spots);
    view_.pods.push_back(std::move(pod));
  }

  void warn(const std::vector<std::string>& spots) {
    view_.warnings = spots;
    view_.complete = spots.empty();
    if (!now_.processes_known) {
      view_.complete = false;
      view_.warnings.push_back("processes: " + now_.processes_why);
    } else if (now_.containers.empty() && now_.sees_all_processes == false) {
      view_.complete = false;
      view_.warnings.emplace_back(
          "no container's processes can be seen: this is not the node's PID namespace "
          "(hostPID: true)");
    } else if (!now_.processes.complete) {
      view_.warnings.emplace_back("some processes could not be read: their containers may lack");
    }
    for (const auto& device : now_.devices) {
      const auto& regions = device.memory_regions;
      if (regions.state == usage::TableState::read || regions.state == usage::TableState::gone)
        continue;
      view_.warnings.push_back("memory regions of " + device.device.name + ": " + regions.why);
    }
  }

  [[nodiscard]] bool is_old_enough(const PodUse& pod) const {
    return pod.age_seconds && *pod.age_seconds >= options_.grace_seconds;
  }

  /// Several GPUs, or all that the node has.
  [[nodiscard]] bool holds_many(const PodUse& pod) const {
    const auto count = pod.record.gpus.size();
    return count >= 2 || (count > 0 && count == node_.gpus.size());
  }

  /// What the environment states decides; connections alone may be anyone's, so they do not make a
  /// job of what has every GPU only because it asks for all of them, as monitors do.
  [[nodiscard]] bool has_peers(const PodUse& pod) const {
    const auto& record = pod.record;
    if (record.job != container::JobSize()) {
      return record.job.nodes.value_or(1) > 1 ||
             record.job.ranks.value_or(1) > std::max<std::size_t>(1, record.gpus.size());
    }
    const bool may_watch = record.gpus_by_all && record.gpus.size() == node_.gpus.size();
    return pod.verdict == Verdict::tcp && !may_watch;
  }

  [[nodiscard]] bool is_ignored(const ContainerRecord& record) const {
    const auto name = record.pod_namespace + "/" + record.pod;
    return std::any_of(options_.ignore.begin(), options_.ignore.end(),
                       [&](const std::string& pattern) { return glob_match(pattern, name); });
  }

  void mark_fallbacks() {
    const bool node_has_rdma = std::any_of(node_.nics.begin(), node_.nics.end(),
                                           [](const node::Nic& nic) { return nic.registered; });
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
      const bool fell_back = node_has_rdma && holds_many(pod) && is_old_enough(pod) &&
                             has_peers(pod) && !connected.contains(key(pod));
      pod.ignored = is_ignored(pod.record);
      pod.silent_fallback = fell_back && !pod.ignored;
      if (!fell_back) continue;
      pod.why += pod.ignored ? "; pods.ignore names it, else a silent fallback: it holds "
                             : "; a silent fallback: it holds ";
      pod.why += std::to_string(pod.record.gpus.size()) + " GPUs of a node with RDMA NICs";
      if (pod.record.nics.empty()) pod.why += " and was given none of them";
      if (pod.record.job != container::JobSize()) {
        pod.why += "; its environment speaks of " + size_text(pod.record.job);
      }
    }
  }

  const usage::Usage& now_;
  const usage::Usage* before_;
  const node::Node& node_;
  const ProofOptions& options_;
  Counted counted_;
  std::map<std::string, const ContainerRecord*> records_;
  PodsView view_;
};

}  // namespace

std::string_view to_string(Verdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {"RDMA", "TCP", "idle", "unknown"};
  return kNames[static_cast<std::size_t>(verdict)];
}

DeviceShare PodUse::total() const {
  DeviceShare sum;
  bool all_compared = true;
  for (const auto& [name, share] : devices) {
    sum.queue_pairs += share.queue_pairs;
    sum.ready += share.ready;
    sum.connected += share.connected;
    sum.unproved += share.unproved;
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
