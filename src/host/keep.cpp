// SPDX-License-Identifier: Apache-2.0
#include "host/keep.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"

namespace railhead::host {

std::string keep_line(std::string_view content) {
  const auto line = trim(content);
  if (line.empty()) return content.empty() ? "" : "\n";
  constexpr std::size_t kShort = 32;
  const bool has_letters = std::ranges::any_of(
      line, [](char c) { return is_letter(c) || static_cast<unsigned char>(c) >= 0x80; });
  if (!is_plain_text(line) && (has_letters || line.size() > kShort)) return "?\n?\n";
  return std::string(line) + "\n";
}

std::string keep_numbers(std::string_view content) {
  const auto line = trim(content);
  if (line.empty()) return keep_line(content);
  const bool is_numbers =
      line.find_first_not_of("0123456789abcdefABCDEFxX-, ") == std::string_view::npos &&
      line.find_first_of("0123456789") != std::string_view::npos &&
      std::ranges::all_of(split_words(line), [](std::string_view word) {
        const bool is_hex = word.starts_with("0x") || word.starts_with("0X");
        return is_hex || word.find_first_not_of("0123456789-,") == std::string_view::npos;
      });
  return is_numbers ? std::string(line) + "\n" : "?\n";
}

std::string keep_first_number(std::string_view content) {
  const auto words = split_words(content);
  const bool is_number =
      !words.empty() && words[0].find_first_not_of("0123456789.") == std::string_view::npos;
  return is_number ? std::string(words[0]) + "\n" : keep_presence(content);
}

std::string keep_presence(std::string_view content) {
  return content.empty() ? "" : "\n";
}

std::string keep_lines(std::string_view content,
                       const std::function<std::string(std::string_view line)>& change) {
  std::string kept;
  for (const auto line : split(content, '\n')) {
    const auto changed = change(line);
    if (!changed.empty()) kept.append(changed).append("\n");
  }
  return kept.empty() ? keep_presence(content) : kept;
}

std::string keep_lines_if(std::string_view content, bool (*is_read)(std::string_view line)) {
  return keep_lines(content, [&](std::string_view line) {
    return is_read(line) ? std::string(line) : std::string();
  });
}

std::string keep_routes(std::string_view content) {
  return keep_lines(content, [](std::string_view line) -> std::string {
    constexpr std::string_view kNone6 = "00000000000000000000000000000000";
    constexpr std::string_view kNone4 = "00000000";
    auto words = split_words(line);
    if (!std::ranges::all_of(words, [](auto word) { return is_made_of(word, "_-.:@"); })) return "";
    if (words.size() == 10 && words[0] == kNone6 && words[1] == "00") {
      return join({std::string(kNone6), "00", std::string(kNone6), "00", std::string(kNone6),
                   std::string(words[5]), "00000000", "00000000", std::string(words[8]),
                   std::string(words[9])},
                  " ");
    }
    if (words.size() < 8 || words[1].size() != 8 || words[7].size() != 8) return "";
    if (!parse_hex(words[1]) || !parse_hex(words[7])) return "";
    const bool is_direct = words[2] == kNone4;
    if (!is_direct && words[1] != kNone4) return "";
    return join({std::string(words[0]), std::string(words[1]), is_direct ? "00000000" : "FFFFFFFF",
                 std::string(words[3]), "0", "0", std::string(words[6]), std::string(words[7]), "0",
                 "0", "0"},
                "\t");
  });
}

bool is_made_of(std::string_view word, std::string_view others) {
  return !word.empty() && std::ranges::all_of(word, [&](char c) {
    return is_letter_or_digit(c) || others.find(c) != std::string_view::npos;
  });
}

}  // namespace railhead::host
