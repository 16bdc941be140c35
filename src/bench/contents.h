// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "bench/endpoint.h"
#include "bench/memory.h"
#include "bench/plan.h"

namespace railhead::bench {

/// Gives each source slot of a lane's buffer its own pattern, and clears the targets.
Status fill_contents(Buffer& buffer, const Layout& layout, const Step& step, std::size_t lane,
                     Part part);

/// Whether a step's bytes are in the targets of this side: of a ring every message, otherwise the
/// last of each queue pair. `first`: by queue pair, the slot of a ring's first message, or of that
/// last one. malformed, with the message and byte that differ.
Status check_contents(Buffer& buffer, const Layout& layout, const Step& step, std::size_t lane,
                      Part part, const std::vector<unsigned>& first);

/// Whether bytes of the other side are in this side's targets after a step.
bool receives(const Step& step, Part part);

/// Of each message, those that can be compared: the last byte of a latency by write counts rounds.
std::uint64_t bytes_compared(const Step& step);

/// A latency uses one queue pair.
unsigned pairs_used(const Step& step, unsigned all);

}  // namespace railhead::bench
