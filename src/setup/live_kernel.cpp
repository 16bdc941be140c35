// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "host/host_error.h"
#include "setup/kernel.h"
#include "setup/module_index.h"

namespace railhead::setup {
namespace {

/// MODULE_INIT_COMPRESSED_FILE: the kernel unpacks the file itself (include/uapi/linux/module.h,
/// since Linux 5.17).
constexpr int kCompressed = 4;

int flags_of(const std::string& path) {
  return path.ends_with(".ko") ? 0 : kCompressed;
}

}  // namespace

Status LiveKernel::insert(const std::string& name, const std::string& path) {
  const auto options = module_options(*machine_.host, name);
  if (!options.install.empty()) {
    return Error{ErrorCode::unsupported, options.install + " has a command for " + name +
                                             " in place of the kernel: run modprobe " + name};
  }
  const auto file = TRY(machine_.tree->open_file(path));
  if (!file) return host::host_error(path, ENOENT);
  if (::syscall(SYS_finit_module, file->get(), options.parameters.c_str(), flags_of(path)) == 0 ||
      errno == EEXIST) {
    return {};
  }
  if (errno == EOPNOTSUPP && flags_of(path) != 0) {
    return Error{ErrorCode::unsupported,
                 path + ": this kernel does not unpack modules itself: run modprobe " + name};
  }
  return host::host_error("module " + name, errno);
}

Status LiveKernel::load_module(const std::string& name) {
  const auto index = TRY(ModuleIndex::read(machine_));
  const auto* module = index.find(name);
  if (module == nullptr) return Error{ErrorCode::unavailable, "the kernel has no module " + name};
  for (const auto& need : module->needs) {
    const auto* needed = index.find(need);
    if (needed != nullptr) TRY_STATUS(insert(need, needed->path));
  }
  return insert(name, module->path);
}

Status LiveKernel::unload_module(const std::string& name) {
  if (::syscall(SYS_delete_module, name.c_str(), O_NONBLOCK) == 0 || errno == ENOENT) return {};
  return host::host_error("module " + name, errno);
}

Status LiveKernel::set_attribute(const std::string& path, const std::string& text) {
  return machine_.tree->set_attribute(path, text);
}

Status LiveKernel::restart_service(const std::string& service) {
  TRY_STATUS(machine_.tree->run({"systemctl", "daemon-reload"}));
  return machine_.tree->run({"systemctl", "restart", service + ".service"});
}

}  // namespace railhead::setup
