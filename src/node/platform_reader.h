// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/node.h"
#include "node/reader.h"

namespace railhead::node {

/// Facts of the machine as a whole. No event reports a change of them.
struct Platform {
  std::string name;
  Dmi dmi;
  Cpu cpu;
  bool hypervisor = false;
  std::vector<NumaNode> numa;
};

Platform read_platform(Reader& reader);

/// From what /proc/cpuinfo says of the first processor. Source: Linux
/// arch/{x86,arm64,powerpc}/kernel, each with lines of its own.
Cpu cpu_of(std::string_view first_processor);

/// /sys/devices/system/node, by number.
std::vector<NumaNode> read_numa(Reader& reader);

/// Module parameter ib_core.netns_mode. Unknown where ib_core is not loaded or older than
/// Linux 5.3.
RdmaNetns read_rdma_netns(Reader& reader);

/// Specs of Container Device Interface folders, at most kMaxCdiFiles.
inline constexpr std::size_t kMaxCdiFiles = 64;
std::vector<TextFile> read_cdi(Reader& reader);

}  // namespace railhead::node
