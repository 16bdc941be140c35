// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "inject/decide.h"
#include "proof/pods.h"

namespace railhead {

/// What each container with a bundle was given: its GPUs by the rules of the injection, and the
/// NICs whose device nodes it has. A privileged container is given none: it may open all.
std::vector<Holder> holders_of(const Usage& usage, const DecisionTable& table);

}  // namespace railhead
