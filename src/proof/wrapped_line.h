// SPDX-License-Identifier: Apache-2.0
//
// Lines that a terminal, a runtime's buffer or another writer has broken within the words that say
// which network is used. What breaks off and finds no end may be TCP.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace railhead::proof {

/// "NET/IB/0/GDRDMA" and nothing that makes a message of it: the rest of a connection.
bool nccl_is_route(std::string_view text);

/// The message of NCCL's is the beginning of a connection or of a choice.
bool nccl_breaks_off(std::string_view message);

/// Such a message leads to another node, and what is there of it does not say by what.
bool nccl_may_hide_tcp(std::string_view message);

/// A line of UCX, NIXL, Mooncake or NVSHMEM breaks off within the words that name a transport.
bool transport_breaks_off(std::string_view line);

/// Such a line may name TCP behind what is there.
bool transport_may_hide_tcp(std::string_view line);

/// A line that broke off (up to its last word) and the next, behind what a collector has put in
/// front of it, as one line. Absent where the next is no end of it. It may break off again.
std::optional<std::string> join_wrapped(std::string_view line, std::string_view next);

/// A part of a connection or of a choice over TCP stands in the line, whatever is around it:
/// another writer, or a line that was cut. A sentence that speaks of one has words before it.
bool has_piece_of_tcp(std::string_view line);

}  // namespace railhead::proof
