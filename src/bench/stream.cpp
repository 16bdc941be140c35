// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <thread>

#include "bench/loops.h"
#include "bench/pace.h"

namespace railhead::bench {
namespace {

using Time = std::chrono::steady_clock::time_point;
constexpr std::chrono::milliseconds kSlice{100};

/// Requests that are posted together and have one completion: a quarter of what may be in flight,
/// so that there is always something to send, and at most 1 MiB, so that something completes often.
unsigned chunk_of(const Step& step, unsigned depth) {
  constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 20;
  const auto fitting = std::max<std::uint64_t>(kChunkBytes / step.size_bytes, 1);
  return static_cast<unsigned>(std::min<std::uint64_t>(std::max(1U, depth / 4), fitting));
}

/// Requests in flight of each queue pair, and what is still to be posted.
class Stream {
 public:
  Stream(const Run& run, std::uint64_t iterations, std::uint64_t duration_ms)
      : run_(run),
        watchdog_(run),
        depth_(effective_depth(run.step)),
        chunk_(chunk_of(run.step, depth_)),
        pairs_(run.transport.queue_pairs(), Pair{iterations, 0, 0}),
        by_time_(iterations == 0) {
    result_.start = result_.end = slice_start_ = run.clock.now();
    deadline_ = result_.start + std::chrono::milliseconds(duration_ms);
  }

  Result<LaneResult> go() {
    Pace pace = pace_of(run_, result_.start);
    Time now = result_.start;
    while (true) {
      if (run_.step.rate_cap_bps != 0 || by_time_) now = run_.clock.now();
      if (by_time_ && now >= deadline_) {
        by_time_ = false;
        for (auto& pair : pairs_) pair.left = 0;
      }
      TRY_STATUS(post_all(pace, now));
      const bool moved = TRY(collect());
      if (moved) now = result_.end;
      if (ended()) return std::move(result_);
      if (moved) continue;
      if (watchdog_.stopped()) return stopped();
      TRY_STATUS(run_.step.rate_cap_bps != 0 ? watchdog_.look_politely() : watchdog_.look());
    }
  }

 private:
  struct Pair {
    std::uint64_t left = 0;  ///< to be posted; unused by time
    unsigned in_flight = 0;
    unsigned slot = 0;  ///< the next of a ring, which is as long as there are messages
  };

  /// What fits into each queue pair. Where the cap allows no more, the next time begins with the
  /// pair that went without.
  Status post_all(Pace& pace, Time now) {
    const auto all = static_cast<unsigned>(pairs_.size());
    for (unsigned i = 0; i < all; ++i) {
      const unsigned q = (first_ + i) % all;
      const auto posted = TRY(post(q, pace, now));
      if (!posted.capped) continue;
      first_ = (q + (posted.messages > 0 ? 1 : 0)) % all;
      break;
    }
    return {};
  }

  struct Posted {
    unsigned messages = 0;
    bool capped = false;  ///< there was room for more
  };

  Result<Posted> post(unsigned q, Pace& pace, Time now) {
    auto& pair = pairs_[q];
    Posted posted;
    while (true) {
      const auto left = by_time_ ? std::uint64_t{chunk_} : pair.left;
      const auto wanted = static_cast<unsigned>(std::min<std::uint64_t>(chunk_, left));
      if (wanted == 0 || pair.in_flight + wanted > depth_) return posted;
      const unsigned allowed = pace.take(wanted, now);
      posted.capped = allowed == 0;
      if (posted.capped) return posted;
      TRY_STATUS(run_.transport.post(
          {run_.step.operation, q, run_.step.size_bytes, allowed, pair.slot, run_.step.ring}));
      if (run_.step.ring) pair.slot += allowed;
      pair.in_flight += allowed;
      pair.left -= std::min<std::uint64_t>(pair.left, allowed);
      posted.messages += allowed;
    }
  }

  /// Whether anything completed.
  Result<bool> collect() {
    std::array<Completion, 64> completions;
    const auto n = TRY(run_.transport.poll(completions));
    if (n == 0) return false;
    for (std::size_t i = 0; i < n; ++i) {
      pairs_.at(completions[i].queue_pair).in_flight -= completions[i].messages;
      result_.messages += completions[i].messages;
    }
    const auto bytes = result_.messages * run_.step.size_bytes;
    run_.moved_bytes.fetch_add(bytes - result_.bytes, std::memory_order_relaxed);
    result_.bytes = bytes;
    result_.end = run_.clock.now();
    watchdog_.saw_progress(result_.end);
    if (result_.end - slice_start_ >= kSlice) end_slice();
    return true;
  }

  void end_slice() {
    const auto seconds = std::chrono::duration<double>(result_.end - slice_start_).count();
    result_.slice_gbps.push_back(static_cast<double>(result_.bytes - slice_bytes_) * 8e-9 /
                                 seconds);
    slice_start_ = result_.end;
    slice_bytes_ = result_.bytes;
  }

  [[nodiscard]] bool ended() const {
    return !by_time_ && std::ranges::all_of(pairs_, [](const Pair& pair) {
      return pair.left == 0 && pair.in_flight == 0;
    });
  }

  const Run& run_;
  Watchdog watchdog_;
  unsigned depth_;
  unsigned chunk_;
  std::vector<Pair> pairs_;
  unsigned first_ = 0;  ///< to be posted to
  bool by_time_;
  Time deadline_;
  Time slice_start_;
  std::uint64_t slice_bytes_ = 0;
  LaneResult result_;
};

}  // namespace

Error stopped() {
  return {ErrorCode::unavailable, "stopped"};
}

Pace pace_of(const Run& run, Time start) {
  return {lane_cap_bps(run.step, run.lanes), paced_bytes(run.step), start};
}

Watchdog::Watchdog(const Run& run)
    : run_(run),
      limit_(std::chrono::duration<double>(kStallLimit).count() +
             pause_seconds(run.step, run.lanes)),
      last_(run.clock.now()) {}

Status Watchdog::look() {
  constexpr unsigned kEvery = 256;
  return ++looks_ % kEvery == 0 ? look_at(run_.clock.now()) : Status();
}

Status Watchdog::look_politely() {
  constexpr unsigned kEvery = 64;
  if (looks_ % kEvery == kEvery - 1) std::this_thread::yield();
  return look();
}

Status Watchdog::look_at(Time now) {
  if (moved_) last_ = now;
  moved_ = false;
  if (now - last_ <= limit_) return {};
  return Error{ErrorCode::timeout,
               "nothing moved for " + std::to_string(std::llround(limit_.count())) + " s"};
}

Result<LaneResult> stream(const Run& run) {
  if (run.step.warm_up > 0) TRY(Stream(run, run.step.warm_up, 0).go());
  const bool by_time = run.step.duration_ms != 0;
  return Stream(run, by_time ? 0 : run.step.iterations, run.step.duration_ms).go();
}

Result<LaneResult> receive_stream(const Run& run) {
  constexpr unsigned kRefill = 16;
  constexpr std::chrono::milliseconds kGrace{100};
  std::optional<Time> stopped_at;
  const bool by_time = run.step.duration_ms != 0;
  const auto expected = (run.step.warm_up + run.step.iterations) * run.transport.queue_pairs();
  Watchdog watchdog(run);
  LaneResult result;
  result.start = result.end = run.clock.now();
  std::array<Completion, 64> completions;
  while (by_time || result.messages < expected) {
    const auto n = TRY(run.transport.poll(completions));
    for (std::size_t i = 0; i < n; ++i) {
      if (completions[i].size_bytes != run.step.size_bytes) {
        return Error{ErrorCode::malformed, "received " + std::to_string(completions[i].size_bytes) +
                                               " bytes where " +
                                               std::to_string(run.step.size_bytes) + " were sent"};
      }
      ++result.messages;
    }
    if (n > 0) {
      TRY_STATUS(run.transport.fill_receives(kRefill));
      continue;
    }
    if (!watchdog.stopped()) continue;
    // What was acknowledged may become visible here a little later.
    const auto now = run.clock.now();
    if (!stopped_at) stopped_at = now;
    if (now - *stopped_at >= kGrace) break;
  }
  result.bytes = result.messages * run.step.size_bytes;
  result.end = run.clock.now();
  return result;
}

}  // namespace railhead::bench
