// SPDX-License-Identifier: Apache-2.0
#include "setup/lease_turn.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/sort_unique.h"
#include "base/text.h"
#include "kube/retries.h"

namespace railhead::setup {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kFirstTurnPause{2};
constexpr seconds kLongestTurnPause{20};
/// A server that asks for more has it, up to this.
constexpr seconds kLongestAsked{60};

/// How long a node may take until it answers, and how long it has to go on with that: a kubelet
/// that dies of what it reads anew answers for a moment.
constexpr seconds kUntilBack{300};
constexpr seconds kSteady{5};
constexpr milliseconds kBetweenTries{1000};

/// As a name of a node may be.
constexpr std::size_t kMaxHolderBytes = 253;

/// Names that are listed, of pods.
constexpr std::size_t kMaxNames = 8;

constexpr unsigned kNotFound = 404;
constexpr unsigned kConflict = 409;

kube::Retries usual_pauses() {
  return {kFirstTurnPause, kLongestTurnPause, kLongestAsked};
}

/// A server that may answer otherwise in a while.
bool is_passing(unsigned status) {
  return status == 408 || status == 429 || status >= 500;
}

/// Claims of GPUs are made by drivers of such names: gpu.nvidia.com
/// (NVIDIA/k8s-dra-driver-gpu), gpu.intel.com, gpu.amd.com.
constexpr std::string_view kGpuDrivers = "gpu.*";

bool is_gpu(const container::Holding& holding, const std::vector<std::string>& patterns) {
  return glob_match(kGpuDrivers, holding.resource) ||
         std::ranges::any_of(patterns, [&](const std::string& pattern) {
           return glob_match(pattern, holding.resource);
         });
}

std::string command_to_free(const kube::LeaseName& name) {
  return "kubectl -n " + name.lease_namespace + " patch lease " + name.name +
         R"( --type=merge -p '{"spec":{"holderIdentity":null}}')";
}

/// Who has it and since when, and how a person takes it away.
std::string words_of(const kube::LeaseName& name, const kube::Lease& lease) {
  return in_quotes(lease.holder, kMaxHolderBytes) + " has " + to_string(name) +
         (lease.since.empty() ? "" : " since " + in_quotes(lease.since)) +
         "; if it will not come back: " + command_to_free(name);
}

}  // namespace

std::vector<std::string> pods_with_gpus(const std::vector<container::PodHoldings>& pods,
                                        const std::vector<std::string>& patterns) {
  std::vector<std::string> found;
  for (const auto& pod : pods) {
    for (const auto& holder : pod.containers) {
      const bool has_gpu = std::ranges::any_of(
          holder.devices,
          [&](const container::Holding& holding) { return is_gpu(holding, patterns); });
      if (has_gpu) found.push_back(pod.pod_namespace + "/" + pod.pod);
    }
  }
  sort_unique(found);
  return found;
}

LeaseTurn::LeaseTurn(Rules rules, Outside outside, host::Clock& clock)
    : rules_(std::move(rules)),
      outside_(std::move(outside)),
      clock_(clock) {}

Status LeaseTurn::take() {
  auto pauses = usual_pauses();
  while (true) {
    // Also after a turn was waited for, and taken: a pod may have come meanwhile.
    TRY_STATUS(check_gpu_pods());
    if (held_) return {};
    const auto now = TRY(look());
    if (now.ours) {
      held_ = now.ours;
    } else if (now.free) {
      const auto request = kube::take_lease(*now.free, now.lease, rules_.node, clock_.calendar());
      if (TRY(change(request))) held_ = now.free;
    } else if (now.holders.empty()) {
      return Error{ErrorCode::usage, "none of the Leases is there: " +
                                         join(rules_.leases, ", ", [](const kube::LeaseName& name) {
                                           return to_string(name);
                                         })};
    } else {
      say("for a turn: " + join(now.holders, "; ", std::identity()));
      clock_.wait(pauses.next());
    }
  }
}

Status LeaseTurn::come_back() {
  const auto begin = clock_.now();
  auto steady_since = begin;
  bool was_steady = false;
  while (true) {
    const auto status = outside_.node_answers();
    const auto now = clock_.now();
    if (!status) {
      if (now - begin >= kUntilBack) {
        return status.error().context("not within " + std::to_string(kUntilBack.count()) + " s");
      }
      say("for this node: " + status.error().message);
    } else if (!was_steady) {
      steady_since = now;
    } else if (now - steady_since >= kSteady) {
      return {};
    }
    was_steady = status.has_value();
    clock_.wait(kBetweenTries);
  }
}

Status LeaseTurn::give_back(const std::string& kept_for) {
  while (true) {
    const auto now = TRY(look());
    held_ = now.ours;
    if (!held_) return {};
    const auto stays = [&](const std::string& why) {
      return Error{ErrorCode::unavailable,
                   "this node keeps " + to_string(*held_) + ", and no other follows: " + why};
    };
    if (!kept_for.empty()) return stays(kept_for);
    const auto status = come_back();
    if (!status) return stays(status.error().message);
    TRY(change(kube::free_lease(*held_, now.lease)));
  }
}

Status LeaseTurn::check_gpu_pods() {
  if (rules_.beside_gpu_pods) return {};
  const auto refused = [](const std::string& why) {
    return Error{ErrorCode::unavailable, why + ": needs --beside-gpu-pods"};
  };
  auto pods = outside_.gpu_pods();
  if (!pods)
    return refused("which pods hold GPUs here is not known (" + pods.error().message + ")");
  if (pods->empty()) return {};
  const auto count = pods->size();
  pods->resize(std::min(count, kMaxNames));
  return refused("pods with GPUs run here: " + join(*pods, ", ", std::identity()) +
                 (count > kMaxNames ? " and " + std::to_string(count - kMaxNames) + " more" : ""));
}

/// Asks until there is an answer that stays.
kube::Answer LeaseTurn::answer(const kube::Request& request) {
  auto pauses = usual_pauses();
  while (true) {
    auto result = outside_.ask(request);
    if (result && !is_passing(result->status)) return *std::move(result);
    say("for the API server: " +
        (result ? kube::refusal(request, *result) : result.error()).message);
    clock_.wait(pauses.next(result ? result->retry_after : std::nullopt));
  }
}

/// Absent: it is not there.
Result<std::optional<kube::Lease>> LeaseTurn::read(const kube::LeaseName& name) {
  const auto request = kube::get_lease(name);
  const auto got = answer(request);
  if (got.status == kNotFound) return std::optional<kube::Lease>();
  const auto lease = kube::lease_in(TRY(kube::object_in(request, got)));
  if (!lease) return lease.error().context(to_string(name));
  return std::optional(*lease);
}

Result<LeaseTurn::Look> LeaseTurn::look() {
  Look seen;
  for (const auto& name : rules_.leases) {
    const auto lease = TRY(read(name));
    if (!lease) continue;
    if (lease->holder == rules_.node) {
      seen.ours = name;
      seen.lease = *lease;
      return seen;
    }
    if (!lease->holder.empty()) {
      seen.holders.push_back(words_of(name, *lease));
    } else if (!seen.free) {
      seen.free = name;
      seen.lease = *lease;
    }
  }
  return seen;
}

Result<bool> LeaseTurn::change(const kube::Request& request) {
  const auto done = answer(request);
  if (done.is_ok()) return true;
  if (done.status == kConflict || done.status == kNotFound) return false;
  return kube::refusal(request, done);
}

void LeaseTurn::say(const std::string& text) {
  if (text == said_) return;
  said_ = text;
  outside_.say(text);
}

}  // namespace railhead::setup
