// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/utf8.h"

namespace railhead {
namespace {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

template <typename Number>
Result<Number> parse_whole(std::string_view digits, int base, std::string_view original) {
  Number number{};
  const char* end = digits.data() + digits.size();
  auto [stop, problem] = std::from_chars(digits.data(), end, number, base);
  if (digits.empty() || problem != std::errc{} || stop != end) {
    return Error{ErrorCode::malformed, in_quotes(original) + " is not a number"};
  }
  return number;
}

/// Which bytes stand for themselves between quotes.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x7f; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

/// Appends what the text begins with, escaped where it has to be; how many bytes that was.
std::size_t append_special(std::string& out, std::string_view text) {
  const char first = text.front();
  const auto [code, bytes, is_valid] = first_character(text);
  if (first == '\n') {
    out += "\\n";
  } else if (first == '"' || first == '\\') {
    out += {'\\', first};
  } else if (!is_valid || code < 0x80) {
    out += "\\x" + to_hex(static_cast<unsigned char>(first), 2);
  } else if (is_obeyed(code)) {
    out += code > 0xffff ? "\\U" + to_hex(code, 8) : "\\u" + to_hex(code, 4);
  } else {
    out += text.substr(0, bytes);
  }
  return bytes;
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const auto& part : parts) {
    if (&part != &parts.front()) text += separator;
    text += part;
  }
  return text;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string counted(std::uint64_t count, std::string_view what) {
  const std::string_view ending = count == 1 ? "" : what.ends_with('s') ? "es" : "s";
  return std::to_string(count) + " " + std::string(what) + std::string(ending);
}

Result<std::uint64_t> parse_unsigned(std::string_view text) {
  return parse_whole<std::uint64_t>(text, 10, text);
}

Result<std::int64_t> parse_signed(std::string_view text) {
  return parse_whole<std::int64_t>(text, 10, text);
}

Result<std::uint64_t> parse_hex(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  return parse_whole<std::uint64_t>(digits, 16, text);
}

Result<std::uint64_t> parse_number(std::string_view text) {
  return text.starts_with("0x") || text.starts_with("0X") ? parse_hex(text) : parse_unsigned(text);
}

std::string to_hex(std::uint64_t number, unsigned digits) {
  std::string text;
  append_hex(text, number, digits);
  return text;
}

void append_hex(std::string& out, std::uint64_t number, unsigned digits) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  out.append(digits, '0');
  for (auto at = out.rbegin(); digits > 0; ++at, --digits) {
    *at = kDigits[number & 15U];
    number >>= 4;
  }
}

std::string decimal_text(double number) {
  auto text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string in_quotes(std::string_view text, std::size_t limit) {
  std::string out;
  append_in_quotes(out, text, limit);
  return out;
}

void append_in_quotes(std::string& out, std::string_view text, std::size_t limit) {
  out += '"';
  std::string_view rest = text.substr(0, limit);
  while (!rest.empty()) {
    const auto special = std::ranges::find_if_not(
        rest, [](char c) { return kPlain[static_cast<unsigned char>(c)]; });
    out.append(rest.begin(), special);
    rest = {special, rest.end()};
    if (!rest.empty()) rest.remove_prefix(append_special(out, rest));
  }
  if (text.size() > limit) out += "…";
  out += '"';
}

bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*') {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Result<std::vector<unsigned>> parse_range_list(std::string_view text, std::size_t limit) {
  std::vector<unsigned> numbers;
  text = trim(text);
  if (text.empty()) return numbers;
  for (const auto part : split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = TRY(parse_unsigned(part.substr(0, dash)));
    auto last = first;
    if (dash != std::string_view::npos) last = TRY(parse_unsigned(part.substr(dash + 1)));
    if (last < first || last > 0xffffffffU || numbers.size() + (last - first) >= limit) {
      return Error{ErrorCode::malformed, in_quotes(text) + " is not a list of ranges"};
    }
    for (auto n = first; n <= last; ++n) numbers.push_back(static_cast<unsigned>(n));
  }
  return numbers;
}

}  // namespace railhead
