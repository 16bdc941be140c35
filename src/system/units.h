// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "host/host.h"

namespace railhead::system {

/// A systemd service by its files: its unit, and the drop-ins of all folders in their order
/// (systemd.unit(5)).
struct Unit {
  std::string name;  ///< without ".service"
  std::string path;  ///< of the unit file that counts; "": there is none
  /// LimitMEMLOCK as written, the last one; "": nothing says one.
  std::string memlock{};
  std::string memlock_path{};  ///< of the file that says it

  friend bool operator==(const Unit&, const Unit&) = default;
};

Unit read_unit(host::Host& host, const std::string& name);

}  // namespace railhead::system
