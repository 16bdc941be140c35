// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace railhead::bench {

/// Allows so many bits a second: a bucket that holds what flows in 10 ms, and one message at least.
/// It is empty in the beginning, so that no time from there on has more.
class Pace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// No limit where bits_per_second is 0.
  Pace(double bits_per_second, std::uint64_t message_bytes, Time start)
      : bytes_per_second_(bits_per_second / 8),
        room_(std::max(bytes_per_second_ / 100, static_cast<double>(message_bytes))),
        message_bytes_(static_cast<double>(message_bytes)),
        last_(start) {}

  /// How many messages of at most `wanted` may leave now; they count as left.
  unsigned take(unsigned wanted, Time now) {
    if (bytes_per_second_ == 0) return wanted;
    const double passed = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    level_ = std::min(room_, level_ + passed * bytes_per_second_);
    const auto allowed = std::min(static_cast<double>(wanted), level_ / message_bytes_);
    const auto messages = static_cast<unsigned>(allowed);
    level_ -= messages * message_bytes_;
    return messages;
  }

 private:
  double bytes_per_second_;
  double room_;
  double message_bytes_;
  double level_ = 0;
  Time last_;
};

}  // namespace railhead::bench
