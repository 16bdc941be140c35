// SPDX-License-Identifier: Apache-2.0
#include "system/gather.h"

namespace railhead::system {

/// Source: NVIDIA open-gpu-kernel-modules kernel-open/nvidia/nv-procfs.c
void read_gpu_driver(const Gather& gather) {
  gather.text("/proc/driver/nvidia/version");
  gather.text("/proc/driver/nvidia/params");
}

void read_nfs(const Gather& gather) {
  auto& nfs = gather.into.nfs;
  nfs.mounts = fact_of(nfs.mounts.path, usage::read_nfs_mounts(gather.host));
  nfs.declared = fact_of(nfs.declared.path, usage::read_nfs_declarations(gather.host));
  nfs.of_machine = usage::sees_mounts_of_machine(gather.host);
}

}  // namespace railhead::system
