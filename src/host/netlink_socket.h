// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "host/unique_fd.h"

namespace railhead::host {

/// For all that is asked of one device. The kernel answers while the question is sent, so that
/// nothing is waited for in practice.
inline constexpr std::chrono::seconds kNetlinkTimeLimit{5};

/// Waits until `deadline` for the next datagram of a netlink socket. 0, or an errno: ETIMEDOUT, and
/// EPROTO for one that is larger than the kernel makes them.
int receive_netlink(int descriptor, std::chrono::steady_clock::time_point deadline,
                    std::string& datagram);

/// A socket on which what the kernel sends to this group arrives; none, and errno, where it
/// refuses.
UniqueFd open_netlink_group(int protocol, std::uint32_t group);

}  // namespace railhead::host
