// SPDX-License-Identifier: Apache-2.0
//
// The live end of Host::rdma. Invariants (Linux
// drivers/infiniband/core/{nldev,netlink,restrack}.c):
//   * a dump needs no capability; CAP_NET_ADMIN adds memory keys, which are zeroed here at once;
//   * a message with RDMA_NLDEV_ATTR_DRIVER_DETAILS set lists the queue pairs of drivers (DC) too;
//     kernels that do not know the attribute ignore it;
//   * NLMSG_ERROR answers a command that the kernel does not know (EINVAL), NLMSG_DONE ends a dump
//     and carries an errno: EINVAL where the device is gone or in another RDMA namespace, and also
//     where a driver cannot say the state of one queue pair (fill_res_qp_entry_query gives the
//     error of query_qp to the whole dump). The first ends a dump before any message, the second
//     anywhere;
//   * every wait has a limit, and so has an answer: of what exceeds one the part that came is kept,
//     and closed as the kernel closes a list that it gives up. A container may make as many objects
//     as its device has room for, and hides nobody's that are listed before them;
//   * a dump that was interrupted is asked for again, a few times.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "host/host.h"

namespace railhead::host {

/// Of a larger answer so much is kept: 40,000 queue pairs, or 100,000 memory regions. An agent has
/// 64 MiB for all that it does (deploy/charts/values.yaml).
inline constexpr std::size_t kMaxRdmaAnswer = std::size_t{4} << 20;

/// Asks the kernel that we run on; see Host::rdma.
Result<std::optional<std::string>> ask_rdma_netlink(const RdmaDump& dump);

/// What a datagram of an answer says.
enum class RdmaDatagram : std::uint8_t { more, done, interrupted, gone, failed, cut };

/// Appends the messages of one datagram to `answer`; of a dump that ends with an error after
/// something was listed (`cut`) also the closing one. `failed` and `cut` leave the errno in
/// `error_number`.
RdmaDatagram take_rdma_datagram(std::string_view datagram, std::uint32_t sequence,
                                std::string& answer, int& error_number);

/// Closes an answer of which no more is taken. `cut`, or `failed` where there is nothing of it.
RdmaDatagram leave_rdma_answer(std::string& answer, std::uint32_t sequence, int error_number);

/// Zeroes all attributes of these messages that nobody here reads: memory keys, addresses, GUIDs.
void blank_unread_attributes(std::string& messages);

}  // namespace railhead::host
