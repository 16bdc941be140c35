// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/node.h"
#include "node/reader.h"

namespace railhead::node {

std::string read_hostname(Reader& reader);

/// /sys/devices/system/node, by number.
std::vector<NumaNode> read_numa(Reader& reader);

/// Module parameter ib_core.netns_mode. Unknown where ib_core is not loaded or older than
/// Linux 5.3.
RdmaNetns read_rdma_netns(Reader& reader);

Dmi read_dmi(Reader& reader);

/// What /proc/cpuinfo says of the first processor. The file is above the limit of a file on
/// machines with many hundred CPUs: that, and everything else that keeps us from reading it, is "".
std::string read_first_processor(Reader& reader);

/// Source: Linux arch/{x86,arm64,powerpc}/kernel, each with lines of its own.
Cpu cpu_of(std::string_view first_processor);

/// The CPU flag "hypervisor", else /sys/hypervisor/type.
bool read_hypervisor(Reader& reader, std::string_view first_processor);

/// Specs of Container Device Interface folders, at most kMaxCdiFiles.
inline constexpr std::size_t kMaxCdiFiles = 64;
std::vector<TextFile> read_cdi(Reader& reader);

}  // namespace railhead::node
