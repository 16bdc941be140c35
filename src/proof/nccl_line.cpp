// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_line.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "proof/line_text.h"

namespace railhead::proof {
namespace {

constexpr std::string_view kInfo = "NCCL INFO";
constexpr std::string_view kWarn = "NCCL WARN";
/// A warning has file, line and function before its prefix: so many bytes at most.
constexpr std::size_t kMaxWarningPlace = 256;
/// What stands in front of a message without a level is not longer.
constexpr std::size_t kMaxFront = 256;

/// How a message about networks begins (src/init.cc, src/transport, src/plugin/net.cc), and what
/// else has to stand in it.
struct Start {
  std::string_view text;
  std::string_view also;
};

constexpr std::array kStarts = {Start{"NET/", ""},
                                Start{"Using network ", ""},
                                Start{"Using internal Network ", ""},
                                Start{"Initialized NET plugin ", ""},
                                Start{"Assigned NET plugin ", ""},
                                Start{"Failed to initialize NET plugin ", ""},
                                Start{"P2P plugin ", ""},
                                Start{"Call to ibv_", " failed"},
                                Start{"comm 0x", " nRanks "},
                                Start{"comm 0x", " nranks "},
                                Start{"comm rank ", " nRanks "},
                                Start{"ncclCommInit", " nranks "},
                                Start{"Failed to open libibverbs", ""},
                                Start{"NCCL_IB_DISABLE set by environment", ""},
                                Start{"NCCL_NET set by environment", ""},
                                Start{"CollNet ", " via COLLNET/"},
                                Start{"Channel ", " via "},
                                Start{"Ring ", " via "}};
/// What a person or a terminal may have put in front of a quoted line: marks of quotations and
/// lists, the frame that a terminal draws.
constexpr std::string_view kQuotation = " \t>|*`-\"'\u2502\u2022";

bool is_host_character(char c) {
  return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_';
}

void drop_blanks_at_end(std::string_view& text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
}

/// Takes the digits at the end off the text; absent, and the text unchanged, where there are none.
std::optional<std::uint32_t> take_number_at_end(std::string_view& text) {
  const auto before = text.find_last_not_of(kDecimalDigits);
  const auto start = before == std::string_view::npos ? 0 : before + 1;
  const auto number = parse_unsigned(text.substr(start));
  if (!number || *number > UINT32_MAX) return std::nullopt;
  text = text.substr(0, start);
  return static_cast<std::uint32_t>(*number);
}

/// Takes "[7]" off the end, or "[-1]" of a thread that has no device; false where neither is there.
bool take_gpu_at_end(std::string_view& text, std::optional<std::uint32_t>& gpu) {
  auto rest = text;
  if (rest.empty() || rest.back() != ']') return false;
  rest.remove_suffix(1);
  drop_blanks_at_end(rest);
  const auto number = take_number_at_end(rest);
  if (!number) return false;
  const bool is_negative = !rest.empty() && rest.back() == '-';
  if (is_negative) rest.remove_suffix(1);
  drop_blanks_at_end(rest);
  if (rest.empty() || rest.back() != '[') return false;
  rest.remove_suffix(1);
  drop_blanks_at_end(rest);
  if (!is_negative) gpu = number;
  text = rest;
  return true;
}

/// Takes ":4711" off the end.
std::optional<std::uint32_t> take_id_at_end(std::string_view& text) {
  auto rest = text;
  const auto id = take_number_at_end(rest);
  if (!id || rest.empty() || rest.back() != ':') return std::nullopt;
  text = rest.substr(0, rest.size() - 1);
  return id;
}

/// Reads `host:pid:tid [gpu]` at the end of the text; returns where it begins. Where the GPU was
/// cut off, the host has a letter, as a time of the day has not.
std::size_t read_prefix(std::string_view text, NcclRecord& record) {
  drop_blanks_at_end(text);
  const bool has_gpu = take_gpu_at_end(text, record.gpu);
  auto rest = text;
  const auto tid = take_id_at_end(rest);
  const auto pid = tid ? take_id_at_end(rest) : std::nullopt;
  if (!pid) return text.size();
  std::size_t start = rest.size();
  while (start > 0 && is_host_character(rest[start - 1])) --start;
  const auto host = rest.substr(start);
  const bool is_time = std::none_of(host.begin(), host.end(),
                                    [](char c) { return is_letter_or_digit(c) && !is_digit(c); });
  if (!has_gpu && is_time) return text.size();
  record.pid = pid;
  record.host = host;
  return start;
}

/// Between the prefix of a warning and its level stand the file, the line and the function; they
/// go into `place`. Where there is no prefix, they are all there is.
std::string_view without_warning_place(std::string_view text, std::string_view& place) {
  const auto from = text.size() > kMaxWarningPlace ? text.size() - kMaxWarningPlace : 0;
  const auto at = text.rfind("] ");
  const bool has_prefix = at != std::string_view::npos && at >= from;
  place = trim(text.substr(has_prefix ? at + 1 : from));
  return has_prefix ? text.substr(0, at + 1) : text;
}

struct Marker {
  std::size_t at = std::string_view::npos;
  NcclLevel level = NcclLevel::info;
};

/// NCCL 2.1: "host:pid:tid [gpu] INFO message", "host:pid:tid [gpu] misc/ibvwrap.cu:269 WARN …",
/// "include/socket.h:344 WARN …".
std::optional<NcclRecord> old_record(std::string_view line) {
  const auto info = line.find("] INFO ");
  if (info != std::string_view::npos) {
    NcclRecord record;
    read_prefix(line.substr(0, info + 1), record);
    record.message = trim(line.substr(info + 7));
    if (record.pid) return record;
  }
  const auto warn = line.find(" WARN ");
  if (warn == std::string_view::npos) return std::nullopt;
  auto place = line.substr(0, warn);
  const bool has_line = take_id_at_end(place).has_value();
  const bool is_header = place.ends_with(".h") && place.find("include/") != place.npos;
  if (!has_line || !(place.ends_with(".cu") || place.ends_with(".cc") || is_header)) {
    return std::nullopt;
  }
  NcclRecord record;
  read_prefix(without_warning_place(line.substr(0, warn), record.place), record);
  record.level = NcclLevel::warn;
  record.message = trim(line.substr(warn + 6));
  return record;
}

/// "0[0] -> 4[0] [send] via NET/IB/0": what is left of a connection where a quotation begins within
/// a line. Nothing but ranks stands before it, as in no sentence.
bool is_tail_of_connection(std::string_view text) {
  auto end = text.find(" [send] via NET/");
  if (end == std::string_view::npos) end = text.find(" [receive] via NET/");
  if (end == std::string_view::npos || end == 0 || text[end - 1] != ']') return false;
  return text.substr(0, end).find_first_not_of("0123456789abcdef[]-> :/") == std::string_view::npos;
}

bool is_start(std::string_view text) {
  return std::any_of(kStarts.begin(), kStarts.end(), [&](const Start& start) {
    return text.starts_with(start.text) && text.find(start.also) != std::string_view::npos;
  });
}

/// "WARN: Function: ofi_init Line: 686: NET/OFI …", as the tests of aws-ofi-nccl print it.
std::string_view without_function(std::string_view line, NcclLevel& level) {
  const auto at = line.find(": Function: ");
  const auto place = line.find(" Line: ");
  const auto end = line.find(": ", place == std::string_view::npos ? place : place + 7);
  if (at == std::string_view::npos || at > kMaxFront || end == std::string_view::npos) return line;
  if (line.substr(0, at).ends_with("WARN")) level = NcclLevel::warn;
  return line.substr(end + 2);
}

/// A word of what a collector puts in front of a line: "[rank0]:", "(RayWorker", "pid=285,", a
/// time, "node-1:", "stdout", `{"log":"`. None of a sentence: it may quote what did not happen.
/// Plugins that print without NCCL begin with their function: "tcpxResult_t tcpxInit(…):379".
bool is_word_of_collector(std::string_view word) {
  static constexpr std::array<std::string_view, 12> kWords = {
      "-", "|", "INFO", "WARN", "[INFO]", "[WARN]", "stdout", "stderr", "F", "P", "*", ">"};
  const bool is_group = word.find_first_of("[(<{=\"") != std::string_view::npos;
  return is_group || word.ends_with("Result_t") ||
         word.find_first_of(kDecimalDigits) != std::string_view::npos ||
         std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// Where a message may begin in a line without a level, and what of its prefix is left.
std::optional<NcclRecord> record_at(std::string_view line, std::size_t at) {
  NcclRecord record;
  const auto before = line.substr(0, at);
  read_prefix(before, record);
  if (!record.pid && !may_stand_before_message(before)) return std::nullopt;
  record.message = trim(line.substr(at));
  return record;
}

bool may_begin_message(char before, char c) {
  static constexpr std::string_view kFirst = "NUIAFPCcRn";
  const bool is_inside = is_letter_or_digit(before) || before == '/' || before == '_';
  return !is_inside && kFirst.find(c) != std::string_view::npos;
}

/// A message whose level was taken away, with its prefix or without. What collectors put in front
/// of it stands within the first bytes.
std::optional<NcclRecord> bare_record(std::string_view line) {
  auto level = NcclLevel::info;
  const auto text = without_function(line, level);
  const auto end = std::min(text.size(), kMaxFront);
  const auto first = std::min(text.find_first_not_of(kQuotation), text.size());
  for (std::size_t at = 0; at < end; ++at) {
    const bool may_begin = may_begin_message(at == 0 ? ' ' : text[at - 1], text[at]);
    const auto rest = text.substr(at);
    const bool is_tail = at == first && is_tail_of_connection(rest);
    if (!is_tail && !(may_begin && is_start(rest))) continue;
    auto record = record_at(text, at);
    if (!record) continue;
    record->level = level;
    return record;
  }
  return std::nullopt;
}

Marker next_marker(std::string_view line, std::size_t from) {
  for (auto at = line.find("NCCL ", from); at != std::string_view::npos;
       at = line.find("NCCL ", at + 1)) {
    const auto end = at + kInfo.size();
    if (end < line.size() && line[end] != ' ') continue;
    const auto word = line.substr(at, kInfo.size());
    if (word == kInfo) return {at, NcclLevel::info};
    if (word == kWarn) return {at, NcclLevel::warn};
  }
  return {};
}

}  // namespace

/// A month and a program come without digits: "Jan 02 03:04:05 node1 bash[123]: ".
bool may_stand_before_message(std::string_view text) {
  const auto quoted = text.find_last_not_of(kQuotation);
  if (quoted == std::string_view::npos) return true;
  const char last = text[quoted];
  const bool is_closed = last == ':' || last == ']' || last == ')' || last == '>';
  const bool is_apart = quoted + 1 < text.size();
  if (!is_closed && !is_apart) return false;
  std::size_t others = 0;
  for (const auto word : split_words(text)) {
    if (!is_word_of_collector(word)) ++others;
  }
  return others == 0 || (others == 1 && is_closed && text.front() >= 'A' && text.front() <= 'Z' &&
                         text.substr(0, 4).ends_with(' '));
}

std::vector<NcclRecord> nccl_records(std::string_view line) {
  std::vector<NcclRecord> records;
  std::size_t from = 0;  // where the message before begins
  for (auto marker = next_marker(line, 0); marker.at != std::string_view::npos;) {
    NcclRecord record;
    record.level = marker.level;
    auto before = line.substr(from, marker.at - from);
    if (marker.level == NcclLevel::warn) before = without_warning_place(before, record.place);
    const auto start = from + read_prefix(before, record);
    if (!records.empty()) records.back().message = trim(line.substr(from, start - from));
    from = marker.at + kInfo.size();
    record.message = trim(line.substr(from));
    records.push_back(record);
    marker = next_marker(line, from);
  }
  if (records.empty()) {
    auto record = old_record(line);
    if (!record) record = bare_record(line);
    if (record) records.push_back(*record);
  }
  if (!records.empty()) records.back().message = without_closing_quote(records.back().message);
  return records;
}

}  // namespace railhead::proof
