// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "proof/nccl_log.h"

namespace railhead::proof {

/// Devices of a process whose names are kept.
inline constexpr std::size_t kMaxNamedDevices = 64;

/// Keeps the first line of a sign.
void note(NcclEvidence& evidence, NcclSign sign, NcclPlace place, std::string_view text);

/// What a message of NCCL's, RCCL's or a plugin's says of the whole process: devices, plugins, what
/// it can do, why there is no RDMA. Other messages change nothing.
void read_about_process(NcclProcess& process, std::string_view message, NcclPlace place);

}  // namespace railhead::proof
