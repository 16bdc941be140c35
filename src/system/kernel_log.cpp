// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"
#include "system/gather.h"
#include "system/kept_files.h"

namespace railhead::system {
namespace {

/// "6,1234,5678901,-;text": priority, sequence, microseconds, flags. A line that begins with a
/// space belongs to the record above and is of no interest.
std::optional<LogLine> parse_record(std::string_view line) {
  if (line.empty() || line.front() == ' ') return std::nullopt;
  const auto semicolon = line.find(';');
  const auto fields = split(line.substr(0, semicolon), ',');
  if (semicolon == std::string_view::npos || fields.size() < 3) {
    return LogLine{0, std::string(line)};
  }
  const auto usec = parse_unsigned(fields[2]);
  if (!usec) return LogLine{0, std::string(line)};
  return LogLine{*usec, std::string(line.substr(semicolon + 1))};
}

/// PRINTK_MESSAGE_MAX of Linux kernel/printk/internal.h; what is longer is no record, and only its
/// beginning is looked at.
constexpr std::size_t kMaxLineBytes = 2048;

}  // namespace

std::vector<LogLine> parse_kernel_log(std::string_view text) {
  std::vector<LogLine> lines;
  for (const auto& line : split(text, '\n')) {
    if (auto record = parse_record(line)) lines.push_back(std::move(*record));
  }
  if (lines.size() > kMaxLogLines) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kMaxLogLines));
  }
  for (auto& line : lines) {
    if (line.text.size() > kMaxLineBytes) line.text.resize(kMaxLineBytes);
    line.pattern = pattern_of(line.text);
  }
  return lines;
}

void read_kernel_log(const Gather& gather) {
  const std::string path(host::Host::kKernelLog);
  gather.text("/proc/uptime", host::keep_first_number);
  const auto text = fact_of(path, gather.host.read_keeping(path, kept_kernel_log));
  auto& log = gather.into.kernel_log;
  log.error = text.error;
  if (!text.value) return;
  auto lines = parse_kernel_log(*text.value);
  if (lines.empty()) {
    log.error = "it has no line";  // a kernel that runs has written some
  } else {
    log.value = std::move(lines);
  }
}

}  // namespace railhead::system
