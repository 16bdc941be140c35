// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "host/host.h"

namespace railhead::setup {

/// The unit file of a service, as systemd.unit(5) finds it. Absent: there is none.
std::optional<std::string> find_unit(host::Host& host, const std::string& service);

/// LimitMEMLOCK of a service by its unit and drop-ins; the last one counts.
struct UnitLimit {
  std::string value;  ///< as written; "": nothing says one
  std::string path;   ///< of the file that says it
};

UnitLimit memlock_of(host::Host& host, const std::string& service);

/// The process of a service, by its name. Absent: none runs, or none can be seen.
std::optional<int> process_of(host::Host& host, const std::string& name);

/// Whether a runtime takes NRI plugins now: its socket is at the default place.
bool has_nri_socket(host::Host& host);

}  // namespace railhead::setup
