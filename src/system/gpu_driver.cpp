// SPDX-License-Identifier: Apache-2.0
#include "system/gpu_driver.h"

#include "system/gather.h"

namespace railhead::system {

/// Source: NVIDIA open-gpu-kernel-modules kernel-open/nvidia/nv-procfs.c
void read_gpu_driver(const Gather& gather) {
  gather.text(kGpuDriverVersion);
  gather.text("/proc/driver/nvidia/params");
}

std::optional<bool> has_open_gpu_driver(const System& system) {
  const auto version = system.text(kGpuDriverVersion);
  if (!version.known() || version.value->find("Kernel Module") == std::string::npos)
    return std::nullopt;
  return version.value->find("Open Kernel Module") != std::string::npos;
}

void read_nfs(const Gather& gather) {
  for (const auto* path : {"/sys/module/lnet/parameters/networks", "/sys/kernel/debug/lnet/nis",
                           "/proc/sys/lnet/nis"}) {
    gather.text(path);
  }
  auto& nfs = gather.into.nfs;
  nfs.mounts = fact_of(nfs.mounts.path, usage::read_nfs_mounts(gather.host));
  std::vector<std::string> unknown;  // a mount that is not declared is judged by itself
  nfs.declared = usage::read_nfs_declarations(gather.host, unknown);
}

}  // namespace railhead::system
