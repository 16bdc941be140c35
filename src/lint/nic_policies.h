// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lint/given.h"

namespace railhead::lint {

/// NicClusterPolicy and NicNodePolicy, which have the same sections for drivers and plugins.
std::vector<const Object*> nic_policies(const Given& given);

/// Whether all nodes that one of the selectors takes are taken by the other as well. An absent
/// selector takes all nodes.
bool takes_all_of(const data::Value* selector, const data::Value* other);

/// Whether a node may have only one of two NicNodePolicies; false for other objects.
bool are_for_other_nodes(const Object& a, const Object& b);

}  // namespace railhead::lint
