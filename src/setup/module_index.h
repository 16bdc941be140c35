// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "setup/machine.h"

namespace railhead::setup {

/// What modprobe(8) loads with a module, though it does not need it: modules.softdep, and softdep
/// of modprobe.d(5). One that cannot be loaded is passed over.
struct SoftDependencies {
  std::vector<std::string> before;  ///< "pre:"
  std::vector<std::string> after;   ///< "post:"
};

/// The kernel modules that the running kernel can load, from modules.dep, modules.builtin,
/// modules.alias and modules.softdep of depmod(8). Names have "_" for "-", as the kernel shows
/// them.
class ModuleIndex {
 public:
  struct Module {
    std::string path;                ///< "/lib/modules/6.1.0-42-amd64/kernel/…/ib_umad.ko"
    std::vector<std::string> needs;  ///< names, in the order in which they are loaded before it
  };

  /// Empty where the machine has no such folder. An error names the file, and its line.
  static Result<ModuleIndex> read(const Machine& machine);

  [[nodiscard]] const std::string& release() const { return release_; }

  [[nodiscard]] const Module* find(std::string_view name) const;

  /// Part of the kernel itself.
  [[nodiscard]] bool is_built_in(std::string_view name) const;

  /// The module that has this name or alias: "rpcrdma" of "xprtrdma". Else the name itself.
  [[nodiscard]] std::string resolve(const std::string& name) const;

  /// What the module's own file says of it.
  [[nodiscard]] SoftDependencies soft_dependencies(std::string_view name) const;

 private:
  Status add_line(std::string_view line, const std::string& folder);
  void add_alias(std::string_view line);

  std::string release_;
  std::map<std::string, Module, std::less<>> modules_;
  std::map<std::string, bool, std::less<>> built_in_;
  std::map<std::string, std::string, std::less<>> aliases_;  ///< without patterns
  std::map<std::string, SoftDependencies, std::less<>> soft_;
};

/// What modprobe.d(5) and the kernel's command line say of one module.
struct ModuleOptions {
  std::string parameters;  ///< "netns_mode=0", with a space between two
  std::string install;     ///< the file of an `install` line: a command takes the kernel's place
  std::string blacklist;   ///< the file of a `blacklist` line: it is passed over at boot
  SoftDependencies soft;
};

ModuleOptions module_options(host::Host& host, std::string_view name);

/// Why the kernel cannot unpack a module's file itself: before Linux 5.17, or without
/// CONFIG_MODULE_DECOMPRESS, there is no /sys/module/compression (kernel/module/decompress.c).
/// "": it can, or the file is not compressed.
std::string against_unpacking(host::Host& host, const std::string& path);

/// "drivers/x/ib-umad.ko.xz" is "ib_umad".
std::string module_name(std::string_view path);

}  // namespace railhead::setup
