// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "bench/run.h"
#include "unit/manual_clock.h"

namespace railhead::bench {

/// A NIC that completes whatever was posted at the next look, in a microsecond a message, and plays
/// the other side of a game of ping-pong.
class FakeTransport : public Transport {
 public:
  explicit FakeTransport(test::ManualClock& clock, unsigned pairs = 1)
      : clock_(clock),
        in_flight_(pairs) {
    posted_to.resize(pairs);
  }

  std::optional<Error> fails;    ///< at the next look
  bool dead = false;             ///< nothing completes, and an hour passes at each look
  unsigned late = 0;             ///< looks until the first completion
  std::uint64_t to_receive = 0;  ///< messages that arrive
  std::uint32_t receive_size = 65536;
  bool memory_is_visible = true;
  std::chrono::nanoseconds idle_time = std::chrono::milliseconds(1);  ///< of a look at nothing
  std::uint64_t posted = 0;
  std::vector<unsigned> posted_to;  ///< by queue pair
  std::vector<unsigned> slots;      ///< of each message, in order
  unsigned most_in_flight = 0;
  std::array<std::uint8_t, 4096> bytes{};

  [[nodiscard]] unsigned queue_pairs() const override {
    return static_cast<unsigned>(in_flight_.size());
  }

  Status post(const Request& request) override {
    posted += request.messages;
    for (unsigned i = 0; i < request.messages; ++i) {
      slots.push_back(request.slot + (request.ring ? i : 0));
    }
    posted_to.at(request.queue_pair) += request.messages;
    auto& flying = in_flight_.at(request.queue_pair);
    flying += request.messages;
    most_in_flight = std::max(most_in_flight, flying);
    ended_.push_back({request.queue_pair, false, request.messages, 0});
    if (request.operation == Operation::send && answers) ++to_receive;
    return {};
  }

  Status fill_receives(unsigned) override { return {}; }

  Result<std::size_t> poll(std::span<Completion> completions) override {
    if (fails) return *fails;
    if (dead) {
      clock_.advance(std::chrono::hours(1));
      return std::size_t{0};
    }
    std::size_t n = 0;
    const bool acknowledged = late == 0 || --late == 0;
    while (acknowledged && n < completions.size() && !ended_.empty()) {
      completions[n] = ended_.front();
      in_flight_.at(ended_.front().queue_pair) -= ended_.front().messages;
      clock_.advance(std::chrono::microseconds(ended_.front().messages));
      ended_.pop_front();
      ++n;
    }
    while (n < completions.size() && to_receive > 0) {
      completions[n++] = {0, true, 1, receive_size};
      --to_receive;
    }
    if (n == 0) clock_.advance(idle_time);
    return n;
  }

  [[nodiscard]] bool idle() const { return ended_.empty(); }

  [[nodiscard]] bool has_bytes() const override { return memory_is_visible; }

  void set_source(unsigned, std::uint64_t offset, std::uint8_t value) override {
    bytes.at(offset) = value;
    clock_.advance(std::chrono::microseconds(2));
  }

  /// The other side answers at once with what it got.
  [[nodiscard]] std::uint8_t target(unsigned, std::uint64_t offset) const override {
    return bytes.at(offset);
  }

  bool answers = false;  ///< every send with one

 private:
  test::ManualClock& clock_;
  std::vector<unsigned> in_flight_;
  std::deque<Completion> ended_;
};

}  // namespace railhead::bench
