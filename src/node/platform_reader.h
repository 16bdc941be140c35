// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "node/node.h"
#include "node/reader.h"

namespace railhead {

std::string read_hostname(Reader& reader);

/// /sys/devices/system/node, by number.
std::vector<NumaNode> read_numa(Reader& reader);

/// Module parameter ib_core.netns_mode. Unknown where ib_core is not loaded or older than
/// Linux 5.3.
RdmaNetns read_rdma_netns(Reader& reader);

Dmi read_dmi(Reader& reader);

/// The CPU flag "hypervisor", else /sys/hypervisor/type.
bool read_hypervisor(Reader& reader);

/// Specs of Container Device Interface folders, at most kMaxCdiFiles.
inline constexpr std::size_t kMaxCdiFiles = 64;
std::vector<TextFile> read_cdi(Reader& reader);

}  // namespace railhead
