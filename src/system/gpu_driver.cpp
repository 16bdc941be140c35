// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "node/kept_files.h"
#include "system/gather.h"
#include "system/kept_files.h"

namespace railhead::system {

namespace {

/// A library's link, whose target has the version: "libnvidia-ml.so.550.54.15". The GPU Operator
/// mounts the root of its driver's container at /run/nvidia/driver.
void read_libraries(const Gather& gather) {
  for (const std::string root : {"", "/run/nvidia/driver"}) {
    for (const auto* folder :
         {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"}) {
      const auto path = root + folder + "/libnvidia-ml.so.1";
      gather.into.texts.insert_or_assign(path, fact_of(path, gather.host.readlink(path)));
    }
  }
}

}  // namespace

/// Source: NVIDIA open-gpu-kernel-modules kernel-open/nvidia/nv-procfs.c; gdrcopy src/gdrdrv;
/// gds-nvidia-fs src/nvfs-proc.c.
void read_gpu_driver(const Gather& gather) {
  for (const auto* path : {"/sys/module/nvidia/version", "/sys/module/gdrdrv/version",
                           "/proc/sys/kernel/osrelease", "/proc/driver/nvidia-fs/version"}) {
    gather.text(path);
  }
  gather.text("/proc/driver/nvidia/version", kept_nvidia_version);
  gather.text("/proc/driver/nvidia/params", kept_nvidia_parameters);
  gather.text("/proc/driver/nvidia-fs/modules", kept_driver_names);
  gather.text("/etc/cufile.json", kept_cufile);
  gather.text("/proc/devices", node::kept_device_numbers);
  auto& node = gather.into.gdrdrv;
  node = fact_of(node.path, gather.host.device(node.path));
  read_libraries(gather);
}

void read_nfs(const Gather& gather) {
  gather.text("/sys/module/lnet/parameters/networks", kept_lnet_networks);
  gather.text("/sys/kernel/debug/lnet/nis", kept_lnet_interfaces);
  gather.text("/proc/sys/lnet/nis", kept_lnet_interfaces);
  auto& nfs = gather.into.nfs;
  nfs.mounts = fact_of(nfs.mounts.path, usage::read_nfs_mounts(gather.host));
  std::vector<std::string> unknown;  // a mount that is not declared is judged by itself
  nfs.declared = usage::read_nfs_declarations(gather.host, unknown);
}

}  // namespace railhead::system
