// SPDX-License-Identifier: Apache-2.0
//
// /proc/modules has what was loaded; a module that is built in has a folder of /sys/module only
// where it exports a parameter or a version (Linux Documentation/ABI/stable/sysfs-module).
#include <algorithm>

#include "base/text.h"
#include "system/gather.h"

namespace railhead::system {
namespace {

/// The folders of modules-load.d(5), and that of rdma-core's rdma-load-modules@.service.
constexpr const char* kLoadFolders[] = {"/etc/modules-load.d",           "/run/modules-load.d",
                                        "/usr/local/lib/modules-load.d", "/usr/lib/modules-load.d",
                                        "/lib/modules-load.d",           "/etc/rdma/modules"};

void take_boot_modules(const Text& file, System& into) {
  const std::string text = file.value.value_or("");
  for (const auto line : split(text, '\n')) {
    const auto words = split_words(line);
    if (words.empty() || words[0].front() == '#' || words[0].front() == ';') continue;
    std::string name(words[0]);
    std::ranges::replace(name, '-', '_');
    into.boot_modules.push_back({std::move(name), file.path});
  }
}

/// What is loaded at each start; /etc/modules is Debian's.
void read_boot_modules(const Gather& gather) {
  take_boot_modules(gather.text("/etc/modules"), gather.into);
  for (const std::string folder : kLoadFolders) {
    gather.folder_with_texts(folder, ".conf");
    for (const auto& name : gather.folder(folder).value.value_or(std::vector<std::string>())) {
      const auto file = gather.into.text((folder + "/").append(name));
      if (name.ends_with(".conf")) take_boot_modules(file, gather.into);
    }
  }
}

}  // namespace

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
  read_boot_modules(gather);
  gather.folder("/run/mellanox/drivers");
  gather.folder("/run/nvidia/validations");
}

}  // namespace railhead::system
