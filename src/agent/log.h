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

/// One event as the line that is written, without a newline, made field by field.
class LogLine {
 public:
  LogLine(config::LogFormat format, std::chrono::system_clock::time_point when,
          config::LogLevel level, std::string_view event);

  /// Nothing, from the first field on for which there is no room.
  void add(std::string_view name, std::string_view value);

  /// All fields found room.
  [[nodiscard]] bool fits() const { return fits_; }

  /// All fields anew, with values that are cut.
  void cut_to(const LogFields& fields);

  [[nodiscard]] std::string finish() &&;

 private:
  const config::LogFormat format_;
  std::string text_;
  std::size_t head_bytes_ = 0;  ///< before the first field
  bool fits_ = true;
};

/// Structured events on stderr: a short stable name, and fields. From any thread; never waits for
/// who reads (LineWriter). What is written is out when the Log ends.
///   text   2026-11-21T03:31:00.000Z info container adjusted pod=default/a nics=mlx5_0
///   json   {"time":"…","level":"info","event":"container
///   adjusted","pod":"default/a","nics":"mlx5_0"}
class Log {
 public:
  Log(config::LogLevel level, config::LogFormat format, int descriptor = 2);

  void write(config::LogLevel level, std::string_view event, const LogFields& fields = {});

  /// For what is said of every container: `tell` is called with `add(name, value)`, which makes no
  /// copies. It is called again where the line is too long, so that values can be cut.
  template <typename Tell>
  void tell(config::LogLevel level, std::string_view event, const Tell& tell) {
    if (!enabled(level)) return;
    LogLine line(format_, clock_.calendar(), level, event);
    tell([&line](std::string_view name, std::string_view value) { line.add(name, value); });
    if (!line.fits()) {
      LogFields fields;
      tell([&fields](std::string_view name, std::string_view value) {
        fields.emplace_back(name, value);
      });
      line.cut_to(fields);
    }
    writer_.write(std::move(line).finish(), haste_of(level));
  }

  void set_level(config::LogLevel level) { level_ = level; }

  [[nodiscard]] bool enabled(config::LogLevel level) const { return level >= level_; }

  /// Lines that nobody will ever read: the reader was too slow, or is gone.
  [[nodiscard]] std::uint64_t dropped() const { return writer_.dropped(); }

  /// Waits until all is written; false where that takes longer. For tests and the end.
  bool flush(std::chrono::milliseconds patience = std::chrono::seconds(1)) {
    return writer_.flush(patience);
  }

 private:
  /// Warnings and errors may be the last that is heard.
  static host::Haste haste_of(config::LogLevel level) {
    return level >= config::LogLevel::warn ? host::Haste::pressing : host::Haste::usual;
  }

  std::atomic<config::LogLevel> level_;
  const config::LogFormat format_;
  host::SystemClock clock_;
  host::LineWriter writer_;
};

/// One event as the line that is written, without a newline.
std::string format_line(config::LogFormat format, std::chrono::system_clock::time_point when,
                        config::LogLevel level, std::string_view event, const LogFields& fields);

}  // namespace railhead::agent
