// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "bench/histogram.h"
#include "bench/plan.h"
#include "bench/transport.h"
#include "host/clock.h"

namespace railhead::bench {

/// What one lane did in one step, warm-up left out.
struct LaneResult {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::chrono::steady_clock::time_point start;
  std::chrono::steady_clock::time_point end;  ///< of the last completion
  Histogram latency;                          ///< of a latency step
  std::vector<double> slice_gbps;             ///< of a bandwidth step, each tenth of a second

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(end - start).count();
  }

  [[nodiscard]] double gbps() const {
    return seconds() > 0 ? static_cast<double>(bytes) * 8e-9 / seconds() : 0;
  }
};

/// What a measuring loop needs. `stop` ends it soon; `moved_bytes` is for progress; `lanes` share a
/// rate cap.
struct Run {
  Transport& transport;
  const Step& step;
  host::Clock& clock;
  const std::atomic<bool>& stop;
  std::atomic<std::uint64_t>& moved_bytes;
  std::size_t lanes = 1;
};

/// No loop waits longer for a sign of the other side, the pauses of a rate cap left out. A retried
/// request takes a reliable connection up to 8 x 4 x 4.096 us x 2^14, about 2 s, before it is an
/// error of its own (IBTA 1.4, 9.7.6.1.3).
inline constexpr std::chrono::seconds kStallLimit{10};

/// A queue pair has at most this many bytes in flight, whatever the depth: forty times what a link
/// of 400 Gb/s holds in 10 us, and an end that comes soon on a slow one.
inline constexpr std::uint64_t kInFlightBytes = std::uint64_t{16} << 20;
unsigned effective_depth(const Step& step);

/// The side that acts. Errors: timeout when nothing completes for kStallLimit, unavailable when it
/// was stopped, else what the transport said.
Result<LaneResult> initiate(const Run& run);

/// Whether the other side of this step has anything to do but hold its memory.
bool has_responder(const Step& step);

/// The other side; ends by itself after the step's iterations, or when stopped, which is no error.
/// `messages` are those that it received.
Result<LaneResult> respond(const Run& run);

/// Whether the step is possible with these bytes: a latency by write looks at memory.
Status check_memory(const Step& step, const Transport& transport);

}  // namespace railhead::bench
