// SPDX-License-Identifier: Apache-2.0
#include "inject/memlock.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "inject/codes.h"

namespace railhead::inject {
namespace {

/// The last one wins where a runtime lists two.
const container::ResourceLimit* present_limit(const container::Request& request) {
  const container::ResourceLimit* out = nullptr;
  for (const container::ResourceLimit& limit : request.rlimits) {
    if (limit.type == "RLIMIT_MEMLOCK") out = &limit;
  }
  return out;
}

void give_less(MemlockPlan& plan, std::string_view code, std::string why) {
  plan.short_of = why;
  plan.remarks.add(code, std::move(why));
}

}  // namespace

std::string memlock_text(std::uint64_t bytes) {
  return bytes == container::kUnlimited ? "unlimited" : std::to_string(bytes) + " bytes";
}

MemlockPlan plan_memlock(const container::Request& request, std::optional<std::uint64_t> asked,
                         const InjectionPolicy& policy, const RuntimeAbility& runtime) {
  MemlockPlan plan;
  const std::uint64_t wanted = std::min(asked.value_or(container::kUnlimited), policy.memlock_cap);
  const std::uint64_t inherited = runtime.memlock_inherited.value_or(0);
  if (const container::ResourceLimit* present = present_limit(request)) {
    const std::uint64_t now = std::min(present->soft, present->hard);
    if (now >= asked.value_or(wanted)) return plan;
    give_less(plan, warn::kMemlockLeft,
              "memlock is set to " + memlock_text(now) + " already, below " + memlock_text(wanted) +
                  ", and is left as it is");
    return plan;
  }
  if (inherited >= asked.value_or(wanted)) return plan;
  if (asked && *asked > wanted) {
    give_less(plan, warn::kMemlockCapped,
              "memlock " + memlock_text(*asked) + " is asked for, and --memlock-cap allows " +
                  memlock_text(wanted));
  }
  if (inherited >= wanted) return plan;
  if (!runtime.rlimits) {
    give_less(plan, warn::kMemlockUnsupported,
              runtime.name + " " + runtime.version + " ignores memlock limits of NRI plugins");
    return plan;
  }
  if (runtime.memlock_in_doubt) {
    give_less(plan, warn::kMemlockClamped,
              "memlock " + memlock_text(wanted) +
                  " is wanted, and how much the runtime itself can set is not known");
    return plan;
  }
  const std::uint64_t ceiling = runtime.memlock_ceiling.value_or(container::kUnlimited);
  if (ceiling < wanted) {
    give_less(plan, warn::kMemlockClamped,
              "memlock " + memlock_text(wanted) + " is wanted, and " +
                  (runtime.name.empty() ? "the runtime" : runtime.name) +
                  " itself can set no more than " + memlock_text(ceiling));
  }
  const std::uint64_t possible = std::min(wanted, ceiling);
  if (possible > inherited) plan.set = possible;
  return plan;
}

}  // namespace railhead::inject
