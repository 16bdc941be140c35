// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "checks/machine.h"

namespace railhead::checks {

/// A GPU that NVIDIA's driver has.
bool has_nvidia(const Machine& machine);

/// The major number that GDRCopy's module has now; absent where it is not known.
std::optional<std::uint64_t> gdrdrv_major(const Machine& machine);

/// Which parameters of NVIDIA's driver are not as NVSHMEM's IBGDA asks for, "" where both are;
/// absent where they are not known. Source: NVSHMEM installation guide, "InfiniBand GPUDirect Async
/// (IBGDA) transport"; NVIDIA open-gpu-kernel-modules kernel-open/nvidia/nv-reg.h.
std::optional<std::string> lacks_for_ibgda(const Machine& machine);

}  // namespace railhead::checks
