// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/host.h"

namespace railhead::system {

struct System;

/// What files of the runtime give containers as RLIMIT_MEMLOCK, whatever its process may lock:
/// containerd's base_runtime_spec of a runtime (internal/cri/server, runtimeSpec()), CRI-O's
/// default_ulimits (server/utils.go, getUlimitsFromConfig()).
struct ContainerMemlock {
  std::string path;  ///< of the file that has the number
  std::string says;  ///< in its words: "RLIMIT_MEMLOCK 65536", "default_ulimits memlock=-1:-1"
  std::optional<std::uint64_t> soft_bytes{};  ///< absent: not known, because of `error`
  std::string error{};
  /// Names of containerd's runtimes that have another spec, or none: their containers have the
  /// limit of the process.
  std::vector<std::string> others{};

  friend bool operator==(const ContainerMemlock&, const ContainerMemlock&) = default;
};

/// Absent: no file says it, so that containers have what the process of the runtime has.
std::optional<ContainerMemlock> read_container_memlock(host::Host& host, const System& system);

}  // namespace railhead::system
