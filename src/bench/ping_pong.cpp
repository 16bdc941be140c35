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
        watchdog_(run),
        by_send_(run.step.operation == Operation::send) {}

  /// The message of this round; its last byte is the round's number.
  Status throw_it(std::uint64_t round) {
    if (!by_send_) {
      run_.transport.set_source(0, run_.step.size_bytes - 1, static_cast<std::uint8_t>(round));
    }
    TRY_STATUS(run_.transport.post({run_.step.operation, 0, run_.step.size_bytes, 1, 0, false}));
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

  void progressed() { watchdog_.saw_progress(); }

  /// At what has completed. False when stopped.
  Result<bool> look() {
    TRY_STATUS(collect());
    TRY_STATUS(watchdog_.look_politely());
    return !watchdog_.stopped();
  }

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
  Watchdog watchdog_;
  bool by_send_;
  unsigned in_flight_ = 0;
  unsigned received_ = 0;
};

/// The rounds of a latency at the side that acts: when the next may begin, which of them count, and
/// when they are enough.
class Rounds {
 public:
  /// Each round moves so many messages; its sample is the time of one.
  Rounds(const Run& run, unsigned messages)
      : run_(run),
        messages_(messages),
        start_(run.clock.now()),
        before_(start_),
        pace_(pace_of(run, start_)) {
    result_.start = result_.end = start_;
  }

  /// Waits until the cap lets a round pass, and takes the time. `look` is called meanwhile and says
  /// false when stopped. False where the time is over first.
  template <typename Look>
  Result<bool> begin(const Look& look) {
    if (run_.step.rate_cap_bps == 0) return true;
    while (true) {
      before_ = run_.clock.now();
      if (pace_.take(1, before_) == 1) return true;
      if (result_.latency.count() > 0 && is_over(before_)) return false;
      const bool goes_on = TRY(look());
      if (!goes_on) return stopped();
    }
  }

  /// Takes the time where nothing else has since the last round ended.
  void take_time() { before_ = run_.clock.now(); }

  /// A round ended. True when they are enough.
  bool end() {
    const Time now = result_.end = run_.clock.now();
    if (++done_ <= run_.step.warm_up) {
      result_.start = before_ = now;
      return false;
    }
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now - before_).count();
    result_.latency.add(static_cast<std::uint64_t>(ns) / messages_);
    run_.moved_bytes.fetch_add(messages_ * run_.step.size_bytes, std::memory_order_relaxed);
    before_ = now;
    return run_.step.duration_ms != 0 ? is_over(now)
                                      : result_.latency.count() >= run_.step.iterations;
  }

  [[nodiscard]] LaneResult result() const {
    auto result = result_;
    result.messages = result.latency.count() * messages_;
    result.bytes = result.messages * run_.step.size_bytes;
    return result;
  }

 private:
  [[nodiscard]] bool is_over(Time now) const {
    const auto duration = std::chrono::milliseconds(run_.step.duration_ms);
    return duration.count() != 0 && now - result_.start >= duration;
  }

  const Run& run_;
  unsigned messages_;
  Time start_;
  Time before_;
  Pace pace_;
  std::uint64_t done_ = 0;
  LaneResult result_;
};

}  // namespace

Result<LaneResult> ping(const Run& run) {
  Ball ball(run);
  Rounds rounds(run, 2);
  for (std::uint64_t round = 1;; ++round) {
    const bool begun = TRY(rounds.begin([&] { return ball.look(); }));
    if (!begun) break;
    TRY_STATUS(ball.throw_it(round));
    const bool caught = TRY(ball.catch_it(round));
    if (!caught) return stopped();
    ball.progressed();
    const bool enough = rounds.end();
    TRY_STATUS(ball.reap(Ball::kInFlight));
    if (enough) break;
  }
  TRY_STATUS(ball.reap(0));
  return rounds.result();
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
  Watchdog watchdog(run);
  Rounds rounds(run, 1);
  std::array<Completion, 4> completions;
  std::size_t completed = 0;
  const auto look = [&]() -> Result<bool> {
    completed = TRY(run.transport.poll(completions));
    if (completed > 0) return true;
    TRY_STATUS(watchdog.look_politely());
    return !watchdog.stopped();
  };
  while (true) {
    const bool begun = TRY(rounds.begin(look));
    if (!begun) break;
    rounds.take_time();
    TRY_STATUS(run.transport.post({Operation::read, 0, run.step.size_bytes, 1, 0, false}));
    for (completed = 0; completed == 0;) {
      const bool goes_on = TRY(look());
      if (!goes_on) return stopped();
    }
    watchdog.saw_progress();
    if (rounds.end()) break;
  }
  return rounds.result();
}

}  // namespace railhead::bench
