// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/json.h"
#include "proof/pods.h"

namespace railhead::proof {

/// The members of a Pods document: "pods", "warnings" and what else the view says. The caller adds
/// apiVersion and kind.
void add_pods(data::Json& document, const PodsView& view, const node::Node& node);

/// The members of one of "pods".
data::Json pod_json(const PodUse& pod);

}  // namespace railhead::proof
