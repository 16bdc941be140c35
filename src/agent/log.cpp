// SPDX-License-Identifier: Apache-2.0
#include "agent/log.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf8.h"
#include "data/json.h"

namespace railhead::agent {
namespace {

constexpr std::size_t kUsualLineBytes = 512;
/// A value that is cut keeps so many bytes: the first of these that makes the line short enough.
constexpr std::size_t kKept[] = {2048, 512, 128, 32};
constexpr std::size_t kLeftOutBytes = 64;  ///< for the field that says how many are missing

/// The words that `log.level` has.
std::string_view word(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::debug: return "debug";
    case config::LogLevel::info: return "info";
    case config::LogLevel::warn: return "warn";
    case config::LogLevel::error: return "error";
  }
  return "info";
}

/// Which bytes a value may have to be written as it is; one look a byte, for the hot path.
using ByteSet = std::array<bool, 256>;

constexpr ByteSet kPlainInJson = [] {
  ByteSet set{};
  for (std::size_t c = 0x20; c < 0x7f; ++c) set[c] = c != '"' && c != '\\';
  return set;
}();

constexpr ByteSet kPlainInText = [] {
  ByteSet set{};
  for (std::size_t c = 0x21; c < 0x7f; ++c) set[c] = c != '"' && c != '=' && c != '\\';
  return set;
}();

bool is_plain(std::string_view text, const ByteSet& plain) {
  return std::ranges::all_of(text, [&](char c) { return plain[static_cast<unsigned char>(c)]; });
}

void append_json(std::string& line, std::string_view text) {
  if (is_plain(text, kPlainInJson)) {
    line += '"';
    line += text;
    line += '"';
    return;
  }
  line += data::to_json_line(std::string(text));
}

void append_text(std::string& line, std::string_view text) {
  if (!text.empty() && is_plain(text, kPlainInText)) {
    line += text;
  } else {
    append_in_quotes(line, text, std::string::npos);
  }
}

void append_field(std::string& line, config::LogFormat format, std::string_view name,
                  std::string_view value) {
  if (format == config::LogFormat::json) {
    line += ',';
    append_json(line, name);
    line += ':';
    append_json(line, value);
  } else {
    line += ' ';
    line += name;
    line += '=';
    append_text(line, value);
  }
}

/// At most `kept` bytes of it, whole characters, and how long it was.
std::string cut(std::string_view value, std::size_t kept) {
  return fmt::format("{}… ({} bytes)", whole_characters(value, kept), value.size());
}

constexpr std::size_t kMostBytes = kMaxLogLineBytes - 2;  ///< a brace and the newline

/// Appends a field, of a longer value `kept` bytes. False, and the line as it was, where it would
/// be longer than `most`.
bool append_within(std::string& line, config::LogFormat format, std::string_view name,
                   std::string_view value, std::size_t kept, std::size_t most) {
  const std::size_t before = line.size();
  if (before + name.size() + std::min(value.size(), kept) >= most) return false;
  if (value.size() > kept) {
    append_field(line, format, name, cut(value, kept));
  } else {
    append_field(line, format, name, value);
  }
  if (line.size() <= most) return true;
  line.resize(before);
  return false;
}

/// Appends fields until the line would be longer than `most`; how many were appended.
std::size_t append_fields(std::string& line, config::LogFormat format, const LogFields& fields,
                          std::size_t kept, std::size_t most) {
  const auto left_out = std::ranges::find_if_not(fields, [&](const auto& field) {
    return append_within(line, format, field.first, field.second, kept, most);
  });
  return static_cast<std::size_t>(left_out - fields.begin());
}

/// Decimal digits, with zeros in front.
template <std::size_t digits>
char* write_digits(char* to, unsigned number) {
  for (std::size_t i = digits; i > 0; --i, number /= 10) {
    to[i - 1] = static_cast<char>('0' + number % 10);
  }
  return to + digits;
}

void append_time(std::string& line, std::chrono::system_clock::time_point when) {
  const auto day = std::chrono::floor<std::chrono::days>(when);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::milliseconds>(when - day));
  char text[] = "2026-11-21T03:31:00.000Z";
  char* at = write_digits<4>(text, static_cast<unsigned>(static_cast<int>(date.year())));
  at = write_digits<2>(at + 1, static_cast<unsigned>(date.month()));
  at = write_digits<2>(at + 1, static_cast<unsigned>(date.day()));
  at = write_digits<2>(at + 1, static_cast<unsigned>(time.hours().count()));
  at = write_digits<2>(at + 1, static_cast<unsigned>(time.minutes().count()));
  at = write_digits<2>(at + 1, static_cast<unsigned>(time.seconds().count()));
  write_digits<3>(at + 1, static_cast<unsigned>(time.subseconds().count()));
  line.append(text, sizeof text - 1);
}

host::LineWriterOptions writer_options(config::LogFormat format, int descriptor) {
  host::LineWriterOptions options;
  options.descriptor = descriptor;
  options.dropped_line = [format](std::uint64_t lines) {
    return format_line(format, host::SystemClock().calendar(), config::LogLevel::warn,
                       "log lines dropped", {{"lines", std::to_string(lines)}});
  };
  return options;
}

}  // namespace

LogLine::LogLine(config::LogFormat format, std::chrono::system_clock::time_point when,
                 config::LogLevel level, std::string_view event)
    : format_(format) {
  const bool is_json = format == config::LogFormat::json;
  text_.reserve(kUsualLineBytes);
  if (is_json) text_ += "{\"time\":\"";
  append_time(text_, when);
  text_ += is_json ? "\",\"level\":\"" : " ";
  text_ += word(level);
  text_ += is_json ? "\",\"event\":" : " ";
  if (is_json) {
    append_json(text_, event);
  } else {
    text_ += event;
  }
  head_bytes_ = text_.size();
}

void LogLine::add(std::string_view name, std::string_view value) {
  fits_ = fits_ && append_within(text_, format_, name, value, kMostBytes, kMostBytes);
}

void LogLine::cut_to(const LogFields& fields) {
  for (const std::size_t kept : kKept) {
    text_.resize(head_bytes_);
    if (append_fields(text_, format_, fields, kept, kMostBytes) == fields.size()) return;
  }
  text_.resize(head_bytes_);
  const auto done =
      append_fields(text_, format_, fields, std::end(kKept)[-1], kMostBytes - kLeftOutBytes);
  append_field(text_, format_, "fieldsLeftOut", std::to_string(fields.size() - done));
}

std::string LogLine::finish() && {
  if (format_ == config::LogFormat::json) text_ += '}';
  return std::move(text_);
}

std::string format_line(config::LogFormat format, std::chrono::system_clock::time_point when,
                        config::LogLevel level, std::string_view event, const LogFields& fields) {
  LogLine line(format, when, level, event);
  for (const auto& [name, value] : fields) line.add(name, value);
  if (!line.fits()) line.cut_to(fields);
  return std::move(line).finish();
}

Log::Log(config::LogLevel level, config::LogFormat format, int descriptor)
    : level_(level),
      format_(format),
      writer_(writer_options(format, descriptor)) {}

void Log::write(config::LogLevel level, std::string_view event, const LogFields& fields) {
  if (!enabled(level)) return;
  writer_.write(format_line(format_, clock_.calendar(), level, event, fields), haste_of(level));
}

}  // namespace railhead::agent
