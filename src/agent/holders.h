// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "container/facts.h"
#include "inject/decide.h"
#include "proof/pods.h"

namespace railhead::agent {

/// What a container was given, as its examination found it with this table: its GPUs, and the NICs
/// whose device nodes it has. A privileged one is given none: it may open all.
proof::Holder holder_of(const container::Facts& facts, const inject::DecisionTable& table);

/// The same of each container with a bundle, which is examined as the runtime would have shown it.
/// Nobody asks the kubelet: what the agent's book knows better stands there
/// (ContainerBook).
std::vector<proof::Holder> holders_of(const usage::Usage& usage,
                                      const inject::DecisionTable& table);

}  // namespace railhead::agent
