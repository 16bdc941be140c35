// SPDX-License-Identifier: Apache-2.0
#include "agent/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/text.h"
#include "data/json.h"

namespace railhead {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warn: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::string json_string(std::string_view text) {
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool needs_quotes(std::string_view text) {
  return text.empty() || text.find_first_of(" \t\n\"=\\") != std::string_view::npos;
}

}  // namespace

LogLevel parse_log_level(std::string_view text) {
  if (text == "debug") return LogLevel::debug;
  if (text == "warn") return LogLevel::warn;
  if (text == "error") return LogLevel::error;
  return LogLevel::info;
}

LogFormat parse_log_format(std::string_view text) {
  return text == "json" ? LogFormat::json : LogFormat::text;
}

std::string format_event(LogFormat format, std::string_view event, const LogFields& fields) {
  if (format == LogFormat::json) {
    std::string line = "\"event\":" + json_string(event);
    for (const auto& [name, value] : fields)
      line += "," + json_string(name) + ":" + json_string(value);
    return line + "}";
  }
  std::string line(event);
  for (const auto& [name, value] : fields) {
    line += " " + std::string(name) + "=" +
            (needs_quotes(value) ? quoted(value, std::string::npos) : value);
  }
  return line;
}

Log::Log(LogLevel level, LogFormat format)
    : level_(level),
      format_(format) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_st>();
  logger_ = std::make_unique<spdlog::logger>("railhead", std::move(sink));
  const std::string time = "%Y-%m-%dT%H:%M:%S.%eZ";
  logger_->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      format == LogFormat::json ? "{\"time\":\"" + time + "\",\"level\":\"%l\",%v"
                                : time + " %l %v",
      spdlog::pattern_time_type::utc));
  logger_->set_level(to_spdlog(level));
}

Log::~Log() = default;

void Log::set_level(LogLevel level) {
  level_ = level;
  logger_->set_level(to_spdlog(level));
}

void Log::flush() {
  logger_->flush();
}

void Log::write(LogLevel level, std::string_view event, const LogFields& fields) {
  if (!enabled(level)) return;
  logger_->log(to_spdlog(level), spdlog::string_view_t(format_event(format_, event, fields)));
}

}  // namespace railhead
