// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "container/facts.h"
#include "inject/decide.h"
#include "proof/pods.h"

namespace railhead::proof {

/// What a container was given, as its examination found it with this table: its GPUs, and the NICs
/// whose device nodes it has. A privileged one is given none: it may open all.
ContainerRecord record_of(const container::Facts& facts, const inject::DecisionTable& table);

/// The same for each container with a bundle, which is examined as the runtime would have shown it.
/// The kubelet is not asked here; ContainerCache has what it said earlier.
std::vector<ContainerRecord> records_of(const usage::Usage& usage,
                                        const inject::DecisionTable& table);

}  // namespace railhead::proof
