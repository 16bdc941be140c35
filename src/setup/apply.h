// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "setup/journal.h"
#include "setup/kernel.h"
#include "setup/machine.h"
#include "setup/plan.h"
#include "setup/turn.h"

namespace railhead::setup {

/// What became of each step. A step that failed is parked with the reason, and nothing is done
/// after it.
struct Outcome {
  Plan steps;
  bool has_failed = false;
};

/// Called with each step once it is known what became of it.
using StepObserver = std::function<void(const Step& step)>;

/// Does what the plan says is to do, one step after the other, and looks after each whether it is
/// so now. Each change is in the journal first. A step that changes something of class R2 waits for
/// `turn`, and is refused where that is; without one it is done at once.
Result<Outcome> apply(const Machine& machine, Kernel& kernel, const Wanted& wanted, Risk allowed,
                      const StepObserver& observe, Turn* turn = nullptr);

/// Takes back what the journal says, the last change first. What somebody else changed since is
/// refused, and stays. What was taken back is forgotten, so that a second try goes on. What is
/// refused or fails does not stop the others.
Result<Outcome> revert(const Machine& machine, Kernel& kernel, const StepObserver& observe);

/// The steps that revert() would do. What is refused there is no longer as we left it.
Result<Plan> plan_revert(const Machine& machine);

}  // namespace railhead::setup
