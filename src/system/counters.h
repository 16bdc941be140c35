// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace railhead::system {

/// A PMA counter, in the folder counters/ of a port.
struct PmaCounter {
  std::string_view name;
  std::uint64_t full;  ///< it stays at this value
};

/// Widths: InfiniBand specification 1.x 16.1.3.5, PortCounters; Linux
/// drivers/infiniband/core/sysfs.c, the bits of each attribute.
inline constexpr std::array kPmaCounters = {
    PmaCounter{"symbol_error", 65535},
    PmaCounter{"link_error_recovery", 255},
    PmaCounter{"link_downed", 255},
    PmaCounter{"port_rcv_errors", 65535},
    PmaCounter{"port_rcv_remote_physical_errors", 65535},
    PmaCounter{"port_rcv_switch_relay_errors", 65535},
    PmaCounter{"port_xmit_discards", 65535},
    PmaCounter{"port_xmit_constraint_errors", 255},
    PmaCounter{"port_rcv_constraint_errors", 255},
    PmaCounter{"local_link_integrity_errors", 15},
    PmaCounter{"excessive_buffer_overrun_errors", 15},
    PmaCounter{"VL15_dropped", 65535},
};

}  // namespace railhead::system
