// SPDX-License-Identifier: Apache-2.0
#include "proof/line_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"

namespace railhead::proof {
namespace {

struct Spelling {
  std::string_view text;
  std::string_view meaning;
};

/// HTML's names, JSON's slash, and characters that a page of the web puts between others: of no
/// width (U+200B to U+200D, U+2060, U+FEFF), a hyphen that is not shown, a blank that does not
/// break.
constexpr std::array kSpellings = {
    Spelling{"&lt;", "<"},        Spelling{"&gt;", ">"},        Spelling{"&amp;", "&"},
    Spelling{"&nbsp;", " "},      Spelling{"&quot;", "\""},     Spelling{"\\/", "/"},
    Spelling{"\xc2\xa0", " "},    Spelling{"\xc2\xad", ""},     Spelling{"\xe2\x80\x8b", ""},
    Spelling{"\xe2\x80\x8c", ""}, Spelling{"\xe2\x80\x8d", ""}, Spelling{"\xe2\x81\xa0", ""},
    Spelling{"\xef\xbb\xbf", ""}};

/// ESC, as it is and as others spell it. Without the bracket behind it those of several characters
/// are none.
constexpr std::array<std::string_view, 6> kEscapes = {"\x1b",  "\\u001b", "\\x1b",
                                                      "\\033", "^[",      "ESC"};

/// ECMA-48 control sequence: a bracket, parameters and intermediates, then one byte from @ to ~.
std::size_t size_of_control(std::string_view text) {
  if (!text.starts_with('[')) return 0;
  std::size_t size = 1;
  while (size < text.size() && text[size] < '@') ++size;
  return std::min(size + 1, text.size());
}

/// What follows ESC: a control sequence, a title or link (up to BEL or ESC \), a set of letters.
std::size_t size_behind_escape(std::string_view text) {
  if (text.starts_with(']')) {
    const auto end = text.substr(0, 512).find_first_of("\a\x1b");
    return end == std::string_view::npos ? 1 : end + (text[end] == '\a' ? 1 : 2);
  }
  if (text.starts_with('(') || text.starts_with(')')) return std::min<std::size_t>(text.size(), 2);
  return size_of_control(text);
}

/// "[36m", "[0m", "[1;32m", whose ESC was lost.
std::size_t size_of_bare_colour(std::string_view text) {
  const auto end = text.find_first_not_of("0123456789;", 1);
  const bool is_colour = end != std::string_view::npos && end > 1 && end < 10 && text[end] == 'm';
  return is_colour ? end + 1 : 0;
}

struct Markup {
  std::size_t size = 0;  ///< 0 where the text begins with none
  std::string_view meaning;
};

/// The character of a number that is ASCII and can be printed; an end of line is one of a progress
/// bar.
std::string_view character(std::uint64_t number) {
  static constexpr std::string_view kPrintable =
      " !\"#$%&'()*+,-./"
      "0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|"
      "}~";
  if (number == '\n' || number == '\r') return "\r";
  if (number == '\t') return " ";
  const bool is_printable = number >= ' ' && number <= '~' && number != '"' && number != '\\';
  return is_printable ? kPrintable.substr(number - ' ', 1) : std::string_view();
}

/// "\u003e" of JSON, "&#62;" and "&#x3e;" of HTML.
Markup numbered(std::string_view text) {
  if (text.starts_with("\\u") && text.size() >= 6) {
    const auto number = parse_hex(text.substr(2, 4));
    const auto meaning = number ? character(*number) : std::string_view();
    return {meaning.empty() ? 0U : 6U, meaning};
  }
  if (!text.starts_with("&#")) return {};
  const auto end = text.substr(0, 8).find(';');
  if (end == std::string_view::npos) return {};
  const bool is_hex = text[2] == 'x' || text[2] == 'X';
  const auto digits = text.substr(is_hex ? 3 : 2, end - (is_hex ? 3 : 2));
  const auto number = is_hex ? parse_hex(digits) : parse_unsigned(digits);
  const auto meaning = number ? character(*number) : std::string_view();
  return {meaning.empty() ? 0U : end + 1, meaning};
}

Markup markup_at(std::string_view text) {
  for (const auto escape : kEscapes) {
    if (!text.starts_with(escape)) continue;
    const auto rest = text.substr(escape.size());
    if (escape.size() == 1) return {1 + size_behind_escape(rest), ""};
    if (rest.starts_with('[')) return {escape.size() + size_of_control(rest), ""};
  }
  if (text.front() == '[') return {size_of_bare_colour(text), ""};
  // What is appended in UTF-16 has one in each character, a log that was cut while it grew has
  // many.
  if (text.front() == '\0') return {std::min(text.find_first_not_of('\0'), text.size()), ""};
  for (const auto& spelling : kSpellings) {
    if (text.starts_with(spelling.text)) return {spelling.text.size(), spelling.meaning};
  }
  return numbered(text);
}

/// Whether a markup can begin with the character.
bool may_be_markup(char c) {
  switch (c) {
    case '\x1b':
    case '\\':
    case '^':
    case 'E':
    case '[':
    case '&':
    case '\0':
    case '\xc2':
    case '\xe2':
    case '\xef': return true;
    default: return false;
  }
}

}  // namespace

std::string_view without_frame(std::string_view line) {
  const bool is_frame = line.size() >= 8 && (line[0] == '\x01' || line[0] == '\x02') &&
                        line[1] == '\0' && line[2] == '\0' && line[3] == '\0';
  return is_frame ? line.substr(8) : line;
}

std::string_view plain_text(std::string_view line, std::string& room) {
  bool is_changed = false;
  std::size_t kept = 0;  // up to here the line is in the room
  for (std::size_t at = 0; at < line.size();) {
    const auto markup = may_be_markup(line[at]) ? markup_at(line.substr(at)) : Markup{};
    if (markup.size == 0) {
      ++at;
      continue;
    }
    if (!is_changed) room.clear();
    is_changed = true;
    room += line.substr(kept, at - kept);
    room += markup.meaning;
    kept = at += markup.size;
  }
  if (!is_changed) return line;
  return room += line.substr(kept);
}

std::size_t end_of_last_piece(std::string_view line) {
  std::size_t end = 0;
  for (const std::string_view separator : {"\r", "\\n", "\\r"}) {
    const auto at = line.rfind(separator);
    if (at != std::string_view::npos) end = std::max(end, at + separator.size());
  }
  return end;
}

std::string_view take_piece(std::string_view& line) {
  std::size_t end = line.size();
  std::size_t size = 0;
  for (auto at = line.find_first_of("\r\\"); at != std::string_view::npos;
       at = line.find_first_of("\r\\", at + 1)) {
    const auto letter = line.substr(at + 1, 1);
    if (line[at] == '\\' && letter != "n" && letter != "r") continue;
    end = at;
    size = line[at] == '\r' ? 1 : 2;
    break;
  }
  auto piece = line.substr(0, end);
  line.remove_prefix(end + size);
  // JSON within JSON has two before the letter.
  while (size > 1 && piece.ends_with('\\')) piece.remove_suffix(1);
  return piece;
}

std::string_view without_closing_quote(std::string_view message) {
  auto first = std::string_view::npos;
  std::size_t count = 0;
  for (auto at = message.find('"'); at != std::string_view::npos; at = message.find('"', at + 1)) {
    if (at > 0 && message[at - 1] == '\\') continue;
    first = std::min(first, at);
    ++count;
  }
  if (count % 2 == 1) return trim(message.substr(0, first));
  return trim(message.substr(0, message.find("', ")));
}

}  // namespace railhead::proof
