// SPDX-License-Identifier: Apache-2.0
//
// The live end of Host::tcp_sockets. Invariants (Linux net/ipv4/{inet_diag,tcp_diag}.c,
// include/uapi/linux/{inet_diag,tcp}.h):
//   * a socket of NETLINK_SOCK_DIAG answers for the network namespace in which it was made, and
//     needs no capability; to make it elsewhere takes setns(2), so CAP_SYS_ADMIN;
//   * INET_DIAG_INFO is a struct tcp_info, as long as the kernel knows it;
//   * every wait has a limit, and so has the number of sockets.
#pragma once

#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace railhead::host {

/// More sockets than that are too_large.
inline constexpr std::size_t kMaxTcpSockets = 262'144;

/// Established connections to somewhere else, of the network namespace that this descriptor of
/// /proc/PID/ns/net is. Runs a thread that ends with it.
Result<std::vector<TcpSocket>> ask_tcp_diag(int network_namespace);

enum class TcpDatagram : std::uint8_t { more, done, failed };

/// Appends the sockets of one datagram of an answer. `failed` leaves the errno in `error_number`.
TcpDatagram take_tcp_datagram(std::string_view datagram, std::uint32_t sequence,
                              std::vector<TcpSocket>& sockets, int& error_number);

}  // namespace railhead::host
