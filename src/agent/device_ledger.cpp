// SPDX-License-Identifier: Apache-2.0
#include "agent/device_ledger.h"

#include <algorithm>

namespace railhead::agent {
namespace {

bool is_ready(const pools::Member& member) {
  return member.state == pools::MemberState::ready;
}

}  // namespace

void DeviceLedger::note(const pools::PoolDevice& device, bool ready, TimePoint now) {
  const auto [at, is_new] = known_.try_emplace(device.id);
  Known& known = at->second;
  known.seen = now;
  known.gone = false;
  known.numa_nodes = device.numa_nodes;
  if (is_new || !ready) {
    known.healthy = ready;
    known.ready_since.reset();
    return;
  }
  if (known.healthy) return;
  if (!known.ready_since) known.ready_since = now;
  known.healthy = now - *known.ready_since >= kUntilHealthy;
  waits_ = waits_ || !known.healthy;
}

void DeviceLedger::forget() {
  known_.clear();
  waits_ = false;
}

std::vector<kubelet::Device> DeviceLedger::update(const pools::Pool& pool,
                                                  const std::vector<pools::NetFunction>& functions,
                                                  TimePoint now) {
  waits_ = false;
  for (auto& [id, known] : known_) known.gone = true;
  const bool any_ready = std::ranges::any_of(pool.members, is_ready);
  for (const auto& device : pools::devices_of(pool, functions)) {
    note(device, device.member ? is_ready(pool.members[*device.member]) : any_ready, now);
  }
  std::erase_if(known_, [&](const auto& one) {
    return one.second.gone && now - one.second.seen >= kUntilForgotten;
  });
  std::vector<kubelet::Device> list;
  list.reserve(known_.size());
  for (auto& [id, known] : known_) {
    if (known.gone) {
      known.healthy = false;
      known.ready_since.reset();
      waits_ = true;
    }
    list.push_back({id, known.healthy, known.numa_nodes});
  }
  return list;
}

DeviceCounts DeviceLedger::counts() const {
  DeviceCounts counts;
  for (const auto& [id, known] : known_) {
    if (known.healthy) {
      ++counts.healthy;
    } else if (known.gone) {
      ++counts.gone;
    } else {
      ++(known.ready_since ? counts.recovering : counts.not_ready);
    }
  }
  return counts;
}

}  // namespace railhead::agent
