// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <span>

#include "bench/loops.h"

namespace railhead::bench {
namespace {

using Time = std::chrono::steady_clock::time_point;

/// One queue pair, one message at a time in each direction.
class Ball {
 public:
  explicit Ball(const Run& run)
      : run_(run),
        watchman_(run),
        by_send_(run.step.operation == Operation::send) {}

  /// The message of this round; its last byte is the round's number.
  Status throw_it(std::uint64_t round) {
    if (!by_send_) {
      run_.transport.set_source(0, run_.step.size_bytes - 1, static_cast<std::uint8_t>(round));
    }
    TRY_STATUS(run_.transport.post({run_.step.operation, 0, run_.step.size_bytes, 1}));
    ++in_flight_;
    return {};
  }

  /// Waits for the other side's message of this round. False when stopped.
  Result<bool> catch_it(std::uint64_t round) {
    return by_send_ ? catch_sent() : catch_written(static_cast<std::uint8_t>(round));
  }

  /// Reaps completions until so few requests are in flight; also when stopped, since the next step
  /// counts its own.
  Status reap(unsigned at_most) {
    while (in_flight_ > at_most) TRY(look());
    return {};
  }

  void progressed() { watchman_.saw_progress(); }

  /// Requests whose completion may wait to be looked at; a queue pair has room for more.
  static constexpr unsigned kInFlight = 16;

 private:
  Result<bool> catch_written(std::uint8_t value) {
    constexpr unsigned kSpins = 64;
    while (true) {
      for (unsigned i = 0; i < kSpins; ++i) {
        if (run_.transport.target(0, run_.step.size_bytes - 1) == value) return true;
      }
      if (!TRY(look())) return false;
    }
  }

  Result<bool> catch_sent() {
    while (received_ == 0) {
      const bool goes_on = TRY(look());
      if (received_ == 0 && !goes_on) return false;
    }
    --received_;
    TRY_STATUS(run_.transport.fill_receives(kInFlight));
    return true;
  }

  /// At what has completed. False when stopped.
  Result<bool> look() {
    TRY_STATUS(collect());
    TRY_STATUS(watchman_.look_politely());
    return !watchman_.stopped();
  }

  Status collect() {
    std::array<Completion, 16> completions;
    const auto n = TRY(run_.transport.poll(completions));
    for (const auto& completion : std::span(completions).first(n)) {
      if (completion.received) {
        ++received_;
      } else {
        in_flight_ -= completion.messages;
      }
    }
    return {};
  }

  const Run& run_;
  Watchman watchman_;
  bool by_send_;
  unsigned in_flight_ = 0;
  unsigned received_ = 0;
};

}  // namespace

Result<LaneResult> ping(const Run& run) {
  const auto& step = run.step;
  const bool by_time = step.duration_ms != 0;
  Ball ball(run);
  LaneResult result;
  Time before = result.start = run.clock.now();
  for (std::uint64_t round = 1;; ++round) {
    TRY_STATUS(ball.throw_it(round));
    const bool caught = TRY(ball.catch_it(round));
    if (!caught) return stopped();
    const Time now = run.clock.now();
    ball.progressed();
    if (round > step.warm_up) {
      const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now - before).count();
      result.latency.add(static_cast<std::uint64_t>(ns) / 2);
      run.moved_bytes.fetch_add(2 * step.size_bytes, std::memory_order_relaxed);
    } else {
      result.start = now;
    }
    TRY_STATUS(ball.reap(Ball::kInFlight));
    before = result.end = now;
    const auto counted = result.latency.count();
    if (by_time ? now - result.start >= std::chrono::milliseconds(step.duration_ms)
                : counted >= step.iterations) {
      result.messages = counted * 2;
      result.bytes = result.messages * step.size_bytes;
      TRY_STATUS(ball.reap(0));
      return result;
    }
  }
}

Result<LaneResult> pong(const Run& run) {
  const auto& step = run.step;
  const auto rounds = step.warm_up + step.iterations;
  Ball ball(run);
  LaneResult result;
  result.start = run.clock.now();
  for (std::uint64_t round = 1; step.duration_ms != 0 || round <= rounds; ++round) {
    const bool caught = TRY(ball.catch_it(round));
    if (!caught) break;
    TRY_STATUS(ball.throw_it(round));
    ball.progressed();
    ++result.messages;
    TRY_STATUS(ball.reap(Ball::kInFlight));
  }
  result.bytes = result.messages * step.size_bytes;
  result.end = run.clock.now();
  TRY_STATUS(ball.reap(0));
  return result;
}

Result<LaneResult> time_reads(const Run& run) {
  const auto& step = run.step;
  Watchman watchman(run);
  LaneResult result;
  result.start = run.clock.now();
  std::array<Completion, 4> completions;
  for (std::uint64_t round = 1;; ++round) {
    const Time before = run.clock.now();
    TRY_STATUS(run.transport.post({Operation::read, 0, step.size_bytes, 1}));
    while (TRY(run.transport.poll(completions)) == 0) {
      if (watchman.stopped()) return stopped();
      TRY_STATUS(watchman.look_politely());
    }
    const Time now = result.end = run.clock.now();
    watchman.saw_progress(now);
    if (round <= step.warm_up) {
      result.start = now;
      continue;
    }
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now - before).count();
    result.latency.add(static_cast<std::uint64_t>(ns));
    run.moved_bytes.fetch_add(step.size_bytes, std::memory_order_relaxed);
    if (step.duration_ms != 0 ? now - result.start >= std::chrono::milliseconds(step.duration_ms)
                              : result.latency.count() >= step.iterations) {
      result.messages = result.latency.count();
      result.bytes = result.messages * step.size_bytes;
      return result;
    }
  }
}

}  // namespace railhead::bench
