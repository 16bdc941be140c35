// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "container/remarks.h"
#include "container/request.h"
#include "inject/decide.h"

namespace railhead::inject {

/// What to do about RLIMIT_MEMLOCK, and what cannot be done. Invariants: a limit is never lowered,
/// a limit that another plugin has set is never touched (NRI knows no taking over, a second claim
/// fails the container), and the runtime is never asked for more than it can set (that fails the
/// container, too).
struct MemlockPlan {
  std::optional<std::uint64_t> set;     ///< hard and soft; absent: nothing to add
  std::optional<std::string> short_of;  ///< why the container ends up with less than it needs
  container::Remarks remarks;
};

/// `asked`: what an annotation demands; absent: as much as policy allows.
MemlockPlan plan_memlock(const container::Request& request, std::optional<std::uint64_t> asked,
                         const InjectionPolicy& policy, const RuntimeAbility& runtime);

std::string memlock_text(std::uint64_t bytes);  ///< "unlimited", "65536 bytes"

}  // namespace railhead::inject
