// SPDX-License-Identifier: Apache-2.0
#include "proof/ledger.h"

#include <utility>

#include "base/find.h"

namespace railhead::proof {

PodKey key_of(const ContainerRecord& record) {
  if (record.pod.empty()) return {"", record.pod_uid, record.container_id.substr(0, 12)};
  return {record.pod_namespace, record.pod, record.container};
}

PodLedger::Changes PodLedger::update(PodsView& view, std::optional<double> seconds) {
  Changes changes;
  if (!view.sees_containers) return changes;
  for (auto& [key, entry] : entries_) ++entry.missing;
  for (std::size_t i = 0; i < view.pods.size(); ++i) {
    auto& pod = view.pods[i];
    auto& entry = entries_[key_of(pod.record)];
    entry.missing = 0;
    const auto elapsed = seconds.value_or(0);
    entry.totals.seconds[static_cast<std::size_t>(pod.verdict)] += elapsed;
    for (const auto& [name, share] : pod.devices) {
      entry.totals.queue_pairs += share.appeared;
      if (share.sole_user) {
        entry.totals.traffic_bytes += share.bytes_per_second.value_or(0) * elapsed;
      }
    }
    entry.totals.tcp_bytes += pod.tcp_bytes_per_second.value_or(0) * elapsed;
    pod.silent_fallback = is_proved(entry, pod, elapsed);
    pod.suspicious_looks = entry.suspicious;
    follow(entry, pod, i, changes);
  }
  for (auto& [key, entry] : entries_) {
    if (entry.missing > 0) entry.suspicious = 0;
    if (entry.missing < kGone || !entry.fallback) continue;
    changes.gone.push_back(*std::exchange(entry.fallback, std::nullopt));
  }
  for (auto at = entries_.begin(); at != entries_.end();) {
    if (at->second.missing < kPatience) {
      ++at;
      continue;
    }
    changes.forgotten.push_back(at->first);
    at = entries_.erase(at);
  }
  return changes;
}

bool PodLedger::is_proved(Entry& entry, const PodUse& pod, double elapsed) const {
  if (entry.container_id != pod.record.container_id) {
    entry.container_id = pod.record.container_id;
    entry.suspicious = 0;
    entry.since_connected.reset();
  }
  if (entry.since_connected) {
    *entry.since_connected += elapsed;
  } else if (pod.network && pod.network->connections > 0) {
    entry.since_connected = 0;
  }
  entry.suspicious = pod.silent_fallback ? entry.suspicious + 1 : 0;
  const bool is_long_enough =
      pod.verdict != Verdict::tcp || entry.since_connected.value_or(0) >= grace_seconds_;
  return entry.fallback ? pod.silent_fallback : entry.suspicious >= kLooks && is_long_enough;
}

void PodLedger::follow(Entry& entry, const PodUse& pod, std::size_t index, Changes& changes) {
  auto& known = entry.fallback;
  if (known && known->record.container_id != pod.record.container_id) {
    changes.gone.push_back(*std::exchange(known, std::nullopt));
  }
  if (pod.silent_fallback) {
    if (!known) changes.fell_back.push_back(index);
    known = pod;
    entry.calm = 0;
  } else if (known && pod.verdict != Verdict::unknown) {
    if (pod.verdict != Verdict::rdma && ++entry.calm < kCalm) return;
    changes.recovered.push_back(index);
    known.reset();
  }
}

const PodTotals* PodLedger::find(const PodKey& key) const {
  const auto* found = find_value(entries_, key);
  return found == nullptr ? nullptr : &found->totals;
}

}  // namespace railhead::proof
