// SPDX-License-Identifier: Apache-2.0
#include "features/gpu_direct.h"

#include <algorithm>

#include "base/text.h"

namespace railhead::features {
namespace {

/// Which module: "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15 …".
std::optional<bool> is_open_module(const system::Text& version) {
  if (!version.known() || version.value->find("Kernel Module") == std::string::npos) {
    return std::nullopt;
  }
  return version.value->find("Open Kernel Module") != std::string::npos;
}

std::optional<bool> has_dma_buf(const system::Text& release) {
  if (!release.known()) return std::nullopt;
  const auto parts = split(*release.value, '.');
  if (parts.size() < 2) return std::nullopt;
  const auto major = parse_unsigned(parts[0]);
  const std::string_view rest = parts[1];
  const auto minor = parse_unsigned(rest.substr(0, rest.find_first_not_of(kDecimalDigits)));
  if (!major || !minor) return std::nullopt;
  return *major > 5 || (*major == 5 && *minor >= 12);
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
  const bool is_known = is_open && kernel_has_dma_buf && has_peermem;
  return is_known ? GpuDirectRoute::none : GpuDirectRoute::unknown;
}

GpuDirect gpu_direct_of(const system::System& system) {
  GpuDirect found;
  found.is_open = is_open_module(system.text(kNvidiaDriverVersion));
  found.kernel_has_dma_buf = has_dma_buf(system.text(kKernelRelease));
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
  if (std::none_of(node.gpus.begin(), node.gpus.end(), is_driven_nvidia)) {
    return GpuDirectRoute::unknown;
  }
  return gpu_direct_of(system).route();
}

}  // namespace railhead::features
