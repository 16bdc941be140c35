// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "node/node.h"
#include "system/system.h"
#include "usage/unsafe_lists.h"

namespace railhead::features {

/// The way of a NIC into the memory of GPUs. Where there are two, libraries take DMA-BUF first.
enum class GpuDirectRoute : std::uint8_t { dma_buf, peermem, none, unknown };
std::string_view to_string(GpuDirectRoute route);  ///< "dma-buf"

/// What is set up for GPUDirect RDMA on a machine with NVIDIA's driver. That bytes really move is
/// not said.
struct GpuDirect {
  /// NVIDIA's kernel module is the open one, which exports memory through DMA-BUF.
  std::optional<bool> is_open;
  /// The kernel can register memory of other devices. Not known of an older kernel into which a
  /// distribution or OFED may have brought it.
  std::optional<bool> kernel_has_dma_buf;
  std::optional<bool> has_peermem;
  std::string peermem;  ///< "nvidia_peermem", or its older one; "": none is known

  [[nodiscard]] GpuDirectRoute route() const;
};

/// From this kernel on verbs can register the memory of another device (ibv_reg_dmabuf_mr).
inline constexpr usage::KernelVersion kDmaBufSince{5, 12};

/// What gpu_direct_of() needs.
inline constexpr auto kGpuDirectParts = system::Part::modules | system::Part::gpu_driver;
inline constexpr std::string_view kNvidiaDriverVersion = "/proc/driver/nvidia/version";
inline constexpr std::string_view kKernelRelease = "/proc/sys/kernel/osrelease";

GpuDirect gpu_direct_of(const system::System& system);

/// A GPU that NVIDIA's driver has.
bool is_driven_nvidia(const node::Gpu& gpu);

/// The same for a machine: none where it has no GPU or no RDMA device, unknown where only GPUs of
/// other vendors are there.
GpuDirectRoute gpu_direct_route(const node::Node& node, const system::System& system);

}  // namespace railhead::features
