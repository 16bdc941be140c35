// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "host/netlink.h"
#include "host/unique_fd.h"

namespace railhead::host {

/// For all that is asked of one device. The kernel answers while the question is sent, so that
/// nothing is waited for in practice.
inline constexpr std::chrono::seconds kNetlinkTimeLimit{5};

/// Waits until `deadline` for the next datagram of a netlink socket. 0, or an errno: ETIMEDOUT, and
/// EPROTO for one that is larger than the kernel makes them.
int receive_netlink(int descriptor, std::chrono::steady_clock::time_point deadline,
                    std::string& datagram);

/// Waits for the answer to a request with NLM_F_ACK. 0, or an errno.
int await_acknowledgement(int descriptor, std::uint32_t sequence);

/// NLMSG_ERROR's errno. Absent: the message is none.
std::optional<int> netlink_error(const NetlinkMessage& message);

/// Sends a message of routing netlink, and waits until `take` finds its answer in a datagram. 0, or
/// an errno.
int exchange_netlink(const std::string& request,
                     const std::function<bool(std::string_view datagram)>& take);

/// The same for a question that one message answers: the datagram that has it, or the errno
/// with which the kernel refuses.
int ask_netlink(const std::string& request, std::uint32_t sequence, std::string& answer);

/// A socket on which what the kernel sends to this group arrives; none, and errno, where it
/// refuses.
UniqueFd open_netlink_group(int protocol, std::uint32_t group);

}  // namespace railhead::host
