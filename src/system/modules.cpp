// SPDX-License-Identifier: Apache-2.0
//
// /proc/modules has what was loaded; a module that is built in has a folder of /sys/module only
// where it exports a parameter or a version (Linux Documentation/ABI/stable/sysfs-module).
#include <algorithm>

#include "base/text.h"
#include "system/gather.h"
#include "system/kept_files.h"

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
  take_boot_modules(gather.text("/etc/modules", kept_boot_modules), gather.into);
  for (const std::string folder : kLoadFolders) {
    gather.folder_with_texts(folder, kept_boot_modules);
    for (const auto& name : gather.into.folder(folder).value.value_or(std::vector<std::string>())) {
      const auto file = gather.into.text((folder + "/").append(name));
      if (name.ends_with(".conf")) take_boot_modules(file, gather.into);
    }
  }
}

}  // namespace

void read_modules(const Gather& gather) {
  gather.text("/proc/modules", kept_modules);
  gather.folder("/sys/module", [](std::string_view) { return true; });
  for (const auto* path :
       {"/sys/module/mlx5_core/version", "/sys/module/mlx_compat/version",
        "/sys/module/nvidia_peermem/version", "/sys/module/nvidia_peermem/initstate",
        "/sys/kernel/mm/memory_peers/nv_mem/version", "/sys/module/gdrdrv/version"}) {
    gather.text(path);
  }
  gather.text("/etc/infiniband/openib.conf", host::keep_presence);
  read_boot_modules(gather);
  gather.folder("/run/mellanox/drivers",
                [](std::string_view name) { return name == ".driver-ready"; });
  gather.folder("/run/nvidia/validations",
                [](std::string_view name) { return name == ".driver-ctr-ready"; });
}

}  // namespace railhead::system
