// SPDX-License-Identifier: Apache-2.0
#include "features/gpu_direct.h"

#include <algorithm>

namespace railhead::features {
namespace {

/// Which module: "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15 …".
std::optional<bool> is_open_module(const system::Text& version) {
  if (!version.known() || version.value->find("Kernel Module") == std::string::npos) {
    return std::nullopt;
  }
  return version.value->find("Open Kernel Module") != std::string::npos;
}

/// A release 8 of Red Hat is Linux 4.18 with a later RDMA stack, and OFED replaces the stack of any
/// kernel: there the version proves nothing. Source: Intel's irdma, rhel_kcompat.h: from RHEL 8.6
/// on QUERY_PORT_V2, which is Linux 5.13.
bool may_have_a_later_stack(const system::System& system, std::string_view release) {
  return release.find(".el8") != std::string_view::npos ||
         system.has_module("mlx_compat").value_or(true);
}

std::optional<bool> has_dma_buf(const system::System& system) {
  const auto release = system.text(kKernelRelease).value.value_or("");
  const auto version = usage::parse_kernel_version(release);
  if (!version) return std::nullopt;
  if (*version >= kDmaBufSince) return true;
  return may_have_a_later_stack(system, release) ? std::nullopt : std::optional(false);
}

}  // namespace

std::string_view to_string(GpuDirectRoute route) {
  switch (route) {
    case GpuDirectRoute::dma_buf: return "dma-buf";
    case GpuDirectRoute::peermem: return "peermem";
    case GpuDirectRoute::none: return "none";
    case GpuDirectRoute::unknown: return "unknown";
  }
  return "unknown";
}

GpuDirectRoute GpuDirect::route() const {
  if (is_open == std::optional(true) && kernel_has_dma_buf == std::optional(true)) {
    return GpuDirectRoute::dma_buf;
  }
  if (has_peermem == std::optional(true)) return GpuDirectRoute::peermem;
  // A proprietary module exports nothing, whatever the kernel can.
  const bool no_dma_buf = is_open == std::optional(false) || (is_open && kernel_has_dma_buf);
  return no_dma_buf && has_peermem ? GpuDirectRoute::none : GpuDirectRoute::unknown;
}

GpuDirect gpu_direct_of(const system::System& system) {
  GpuDirect found;
  found.is_open = is_open_module(system.text(kNvidiaDriverVersion));
  found.kernel_has_dma_buf = has_dma_buf(system);
  for (const char* name : {"nvidia_peermem", "nv_peer_mem"}) {
    const auto there = system.has_module(name);
    if (!there) return found;
    found.has_peermem = found.has_peermem.value_or(false) || *there;
    if (*there && found.peermem.empty()) found.peermem = name;
  }
  return found;
}

bool is_driven_nvidia(const node::Gpu& gpu) {
  return gpu.vendor == gpu::GpuVendor::nvidia && gpu.driver == "nvidia";
}

GpuDirectRoute gpu_direct_route(const node::Node& node, const system::System& system) {
  if (node.gpus.empty() || node.nics.empty()) return GpuDirectRoute::none;
  if (std::ranges::none_of(node.gpus, is_driven_nvidia)) {
    return GpuDirectRoute::unknown;
  }
  return gpu_direct_of(system).route();
}

}  // namespace railhead::features
