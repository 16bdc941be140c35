// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "system/system.h"
#include "usage/unsafe_lists.h"

namespace railhead::system {

/// From this kernel on verbs can register the memory of another device (ibv_reg_dmabuf_mr).
inline constexpr usage::KernelVersion kDmaBufSince{5, 12};

/// The file in which NVIDIA's driver says which one it is.
inline constexpr const char* kGpuDriverVersion = "/proc/driver/nvidia/version";

/// Whether NVIDIA's driver is its open kernel module, the only one that exports GPU memory as
/// DMA-BUF. Absent: no driver is loaded, or the file says nothing of it. "NVRM version: NVIDIA UNIX
/// Open Kernel Module for x86_64  550.54.15 …".
std::optional<bool> has_open_gpu_driver(const System& system);

}  // namespace railhead::system
