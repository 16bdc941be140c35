// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "host/host.h"

namespace railhead::bench {

/// How many queue pairs processes other than this one have on a NIC, from the kernel's RDMA
/// netlink. Absent where it does not say.
Result<std::optional<unsigned>> queue_pairs_of_others(Host& host, const std::string& nic);

}  // namespace railhead::bench
