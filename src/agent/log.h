// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spdlog {
class logger;
}

namespace railhead {

/// Who should read it: error: somebody must act; warn: somebody should look; info: what happened,
/// one line an event; debug: for us.
enum class LogLevel : std::uint8_t { debug, info, warn, error };
enum class LogFormat : std::uint8_t { text, json };

LogLevel parse_log_level(std::string_view text);    ///< info when unknown
LogFormat parse_log_format(std::string_view text);  ///< text when unknown

using LogFields = std::vector<std::pair<std::string, std::string>>;

/// Structured events on stderr: a short stable name, and fields.
///   text   2026-11-21T03:31:00.000Z info container adjusted pod=default/a nics=mlx5_0
///   json   {"time":"…","level":"info","event":"container
///   adjusted","pod":"default/a","nics":"mlx5_0"}
class Log {
 public:
  Log(LogLevel level, LogFormat format);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void write(LogLevel level, std::string_view event, const LogFields& fields = {});

  void set_level(LogLevel level);

  /// What was written is out, as far as its reader takes it.
  void flush();

  [[nodiscard]] bool enabled(LogLevel level) const { return level >= level_; }

 private:
  LogLevel level_;
  LogFormat format_;
  std::unique_ptr<spdlog::logger> logger_;
};

/// One event as the line that is written, without time and level.
std::string format_event(LogFormat format, std::string_view event, const LogFields& fields);

}  // namespace railhead
