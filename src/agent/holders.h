// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "container/facts.h"
#include "inject/decide.h"
#include "proof/pods.h"

namespace railhead {

/// What a container was given, as its examination found it with this table: its GPUs, and the NICs
/// whose device nodes it has. A privileged one is given none: it may open all.
Holder holder_of(const ContainerFacts& facts, const DecisionTable& table);

/// The same of each container with a bundle, which is examined as the runtime would have shown it.
/// Nobody asks the kubelet: what the agent's book knows better stands there
/// (ContainerBook).
std::vector<Holder> holders_of(const Usage& usage, const DecisionTable& table);

}  // namespace railhead
