// SPDX-License-Identifier: Apache-2.0
//
// /proc/modules has what was loaded; a module that is built in has a folder of /sys/module only
// where it exports a parameter or a version (Linux Documentation/ABI/stable/sysfs-module).
#include "system/gather.h"

namespace railhead::system {

void read_modules(const Gather& gather) {
  gather.text("/proc/modules");
  gather.folder("/sys/module");
  for (const auto* path :
       {"/sys/module/mlx5_core/version", "/sys/module/mlx_compat/version",
        "/sys/module/nvidia_peermem/version", "/sys/module/nvidia_peermem/initstate",
        "/sys/kernel/mm/memory_peers/nv_mem/version", "/sys/module/gdrdrv/version",
        "/proc/driver/nvidia-fs/version", "/etc/infiniband/openib.conf"}) {
    gather.text(path);
  }
  for (const auto* folder :
       {"/etc/modules-load.d", "/usr/lib/modules-load.d", "/etc/rdma/modules"}) {
    gather.folder_with_texts(folder, ".conf");
  }
  gather.text("/etc/modules");
  gather.folder("/run/mellanox/drivers");
  gather.folder("/run/nvidia/validations");
}

}  // namespace railhead::system
