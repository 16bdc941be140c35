// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/pace.h"
#include "bench/run.h"

namespace railhead::bench {

/// Bandwidth of any operation: keeps every queue pair full.
Result<LaneResult> stream(const Run& run);
/// The receiving side of a stream of sends.
Result<LaneResult> receive_stream(const Run& run);
/// One read after the other, each a sample.
Result<LaneResult> time_reads(const Run& run);
/// A message to and fro, by write or send; half of each round is a sample.
Result<LaneResult> ping(const Run& run);
Result<LaneResult> pong(const Run& run);

/// The pace of one lane, from `start` on.
Pace pace_of(const Run& run, std::chrono::steady_clock::time_point start);

/// Why the side that acts ended early: somebody stopped it.
Error stopped();

/// Watches over a loop: whether it was stopped, and whether nothing has happened for longer than
/// kStallLimit and the pause that a rate cap makes between two messages.
class Watchdog {
 public:
  explicit Watchdog(const Run& run);

  void saw_progress(std::chrono::steady_clock::time_point now) { last_ = now; }

  /// The same without a look at the clock, which can cost more than a message.
  void saw_progress() { moved_ = true; }

  /// timeout when stalled. Cheap: it looks at the clock now and then.
  Status look();
  /// The same in a latency's loop, for looks at an empty queue: after longer than a NIC needs, the
  /// processor goes to whoever waits for it. A soft device's kernel thread does, and would wait for
  /// the next tick: milliseconds.
  Status look_politely();

  [[nodiscard]] bool stopped() const { return run_.stop.load(std::memory_order_relaxed); }

 private:
  Status look_at(std::chrono::steady_clock::time_point now);

  const Run& run_;
  std::chrono::duration<double> limit_;
  std::chrono::steady_clock::time_point last_;
  unsigned looks_ = 0;
  bool moved_ = false;  ///< since last_
};

}  // namespace railhead::bench
