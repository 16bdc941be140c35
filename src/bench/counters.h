// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "bench/lane.h"
#include "data/json.h"
#include "host/host.h"

namespace railhead::bench {

/// Counters of a port by "counters/…" and "hw_counters/…", those that can be read now.
using Counters = std::map<std::string, std::uint64_t>;
Counters read_counters(host::Host& host, const Place& place);

/// Those that changed: name -> {before, after}.
data::Json changes(const Counters& before, const Counters& after);

/// Bytes that the port says it sent and received (port_xmit_data and port_rcv_data count words of
/// four bytes: Linux Documentation/ABI/stable/sysfs-class-infiniband). Absent without these
/// counters.
struct PortBytes {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

std::optional<PortBytes> port_bytes(const Counters& before, const Counters& after);

}  // namespace railhead::bench
