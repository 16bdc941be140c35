// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"

namespace railhead::host {

/// systemd's folders of units, from the most to the least important; /lib is /usr/lib where both
/// are one. What generators make is not among them. Source: systemd.unit(5).
inline constexpr std::array<std::string_view, 5> kUnitFolders = {
    "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system", "/lib/systemd/system"};

/// The files that make a unit.
struct UnitFiles {
  struct File {
    std::string path;
    std::string text;
  };

  std::string path;  ///< of the unit file that counts; "": there is none
  /// What could be read, in systemd's order, so that the last assignment wins: the unit's file,
  /// then its drop-ins by name. A drop-in hides those of its name in less important folders.
  std::vector<File> files;
  std::vector<std::string> unknown;  ///< what could not be read, and why
};

/// `name` is the whole one: "kubelet.service". `keep`: see Host::read_keeping().
UnitFiles read_unit_files(Host& host, const std::string& name, Keep keep);

}  // namespace railhead::host
