// SPDX-License-Identifier: Apache-2.0
#include "bench/progress.h"

#include <array>
#include <cstdio>
#include <ostream>
#include <string>

namespace railhead::bench {

Progress::Progress(std::ostream& to, host::Clock& clock, bool shown)
    : to_(to),
      clock_(clock),
      shown_(shown),
      last_(clock.now()) {}

void Progress::show(const Step& step, std::uint64_t moved_bytes) {
  if (!shown_) return;
  const auto now = clock_.now();
  const double seconds = std::chrono::duration<double>(now - last_).count();
  // A new step counts from nothing again.
  const auto bytes = moved_bytes >= last_bytes_ ? moved_bytes - last_bytes_ : moved_bytes;
  std::array<char, 128> numbers{};
  std::snprintf(numbers.data(), numbers.size(), "%.3f Gb/s, %.1f MB so far",
                seconds > 0 ? static_cast<double>(bytes) * 8e-9 / seconds : 0,
                static_cast<double>(moved_bytes) * 1e-6);
  std::string line = std::string(to_string(step.operation)) + " " +
                     std::string(to_string(step.measure)) + " " + std::to_string(step.size_bytes) +
                     " bytes: " + numbers.data();
  const auto width = line.size();
  if (width < width_) line += std::string(width_ - width, ' ');
  to_ << '\r' << line << std::flush;
  width_ = width;
  last_ = now;
  last_bytes_ = moved_bytes;
}

void Progress::clear() {
  if (width_ == 0) return;
  to_ << '\r' << std::string(width_, ' ') << '\r' << std::flush;
  width_ = 0;
}

}  // namespace railhead::bench
