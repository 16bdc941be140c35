// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lint/given.h"
#include "pools/parse_pools.h"

namespace railhead::lint {

/// Adds what the objects say that nodes have: files of device plugins in ConfigMaps and policies of
/// the network operator, and SriovNetworkNodePolicies. What such a file says wrong becomes a
/// Complaint.
void find_offers(Given& given);

/// What Railhead's own configuration offers.
std::vector<Offer> offers_of(const std::vector<pools::PoolSpec>& specs);

}  // namespace railhead::lint
