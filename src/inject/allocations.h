// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "container/facts.h"
#include "container/request.h"
#include "inject/decide.h"

namespace railhead::inject {

/// One of a resource that no pool of this node offers is ignored and reported. One that also stands
/// on the pod gives nothing, and is `copied`: the container is refused.
container::Allocations allocations_of(const container::Request& request,
                                      const DecisionTable& table);

/// The key that Allocate sets; with two slashes, which the API server refuses on a pod (Kubernetes
/// apimachinery pkg/util/validation, IsQualifiedName()).
std::string allocation_key(std::string_view resource);

}  // namespace railhead::inject
