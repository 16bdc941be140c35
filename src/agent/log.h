// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/words.h"
#include "host/clock.h"
#include "host/line_writer.h"

namespace railhead::agent {

using LogFields = std::vector<std::pair<std::string, std::string>>;

/// A line is never longer, its newline included. Values that are too long for it are cut, with
/// "… (N bytes)" behind them; fields that find no room even then are counted in `fieldsLeftOut`.
inline constexpr std::size_t kMaxLogLineBytes = 8192;

/// Structured events on stderr: a short stable name, and fields. From any thread; never waits for
/// who reads (LineWriter). What is written is out when the Log ends.
///   text   2026-11-21T03:31:00.000Z info container adjusted pod=default/a nics=mlx5_0
///   json   {"time":"…","level":"info","event":"container
///   adjusted","pod":"default/a","nics":"mlx5_0"}
class Log {
 public:
  Log(config::LogLevel level, config::LogFormat format, int descriptor = 2);

  void write(config::LogLevel level, std::string_view event, const LogFields& fields = {});

  void set_level(config::LogLevel level) { level_ = level; }

  [[nodiscard]] bool enabled(config::LogLevel level) const { return level >= level_; }

  /// Lines that nobody will ever read: the reader was too slow, or is gone.
  [[nodiscard]] std::uint64_t dropped() const { return writer_.dropped(); }

  /// Waits until all is written; false where that takes longer. For tests and the end.
  bool flush(std::chrono::milliseconds patience = std::chrono::seconds(1)) {
    return writer_.flush(patience);
  }

 private:
  std::atomic<config::LogLevel> level_;
  const config::LogFormat format_;
  host::SystemClock clock_;
  host::LineWriter writer_;
};

/// One event as the line that is written, without a newline.
std::string format_line(config::LogFormat format, std::chrono::system_clock::time_point when,
                        config::LogLevel level, std::string_view event, const LogFields& fields);

}  // namespace railhead::agent
