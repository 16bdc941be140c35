// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "data/value.h"

namespace railhead::lint {

/// The pod that somebody makes of this map, as `metadata` and `spec`; places stay as they are.
/// Absent where it is none:
/// * a specification of pods that is not called `spec`, as in values of charts and in KServe's
///   LLMInferenceService;
/// * a service of Dynamo, which has `extraPodSpec` and resources of its own. Source:
///   ai-dynamo/dynamo deploy/operator/api/v1alpha1 (DynamoComponentDeploymentSharedSpec,
///   ExtraPodSpec, Resources).
std::optional<data::Value> made_pod(const data::Value& map);

/// A list of containers, as a specification of pods has it.
bool is_container_list(const data::Value* list);

}  // namespace railhead::lint
