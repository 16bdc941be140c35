// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lint/given.h"
#include "pools/parse_pools.h"

namespace railhead::lint {

/// Adds what the objects say that nodes have: files of device plugins in ConfigMaps and policies of
/// the network operator, and SriovNetworkNodePolicies. What such a file says wrong becomes a
/// Complaint.
void find_offers(Given& given);

/// The domain that an object of the SR-IOV operator puts before this resource: what the operator's
/// Deployment or its chart's values say. Where neither is given, OpenShift has openshift.io, and
/// NVIDIA's chart has nvidia.com in place of that; which of the two is meant is seen by what pods
/// ask for and nodes have. Source: Mellanox/network-operator
/// deployment/network-operator/values.yaml.
std::string_view sriov_domain(const Given& given, const Object& object, std::string_view resource);

/// What Railhead's own configuration offers.
std::vector<Offer> offers_of(const std::vector<pools::PoolSpec>& specs);

}  // namespace railhead::lint
