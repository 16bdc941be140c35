// SPDX-License-Identifier: Apache-2.0
//
// What a message of NCCL's says by the source file that prints it: which of them set up connections
// and move data.
#pragma once

#include <string_view>

namespace railhead::proof {

/// A call that failed, as each function above it prints: `transport/net.cc:1302 -> 6`, since 2.30
/// `transport/net.cc:1302 (sendProxyProgress) -> 6`; the number is a ncclResult_t. Of 2 (system), 3
/// (internal) and 6 (remote) true where the file sets up connections or moves data, and the caller
/// has no other way: the frames of plugins that are tried, and of CUDA (1), say nothing here.
bool nccl_network_call_failed(std::string_view message);

/// True for a warning about connections or memory, by the file that prints it (NcclRecord::place)
/// and a word of failure in it.
bool nccl_is_network_failure(std::string_view place, std::string_view message);

/// True for what NCCL's own sockets print once a connection through them is set up: a warning of
/// that file (NcclRecord::place), the trace of an error through it, how many threads it has.
bool nccl_used_sockets(std::string_view place, std::string_view message);

/// True for what only a connection of verbs prints: its queue pairs, its memory.
bool nccl_made_queue_pair(std::string_view message);

}  // namespace railhead::proof
