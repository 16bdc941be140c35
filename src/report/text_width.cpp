// SPDX-License-Identifier: Apache-2.0
#include "report/text_width.h"

#include <array>

#include "base/utf8.h"

namespace railhead::report {
namespace {

/// Advance widths of DejaVu Sans (and Bold), U+0020 to U+007E, in hundredths of the font size.
constexpr std::array<std::uint8_t, 95> kRegular = {
    32, 41, 46, 84, 64, 96, 78, 28, 40,  40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 78, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79,
    61, 79, 70, 64, 62, 74, 69, 99, 69,  62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64,  64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84};
constexpr std::array<std::uint8_t, 95> kBold = {
    35, 46,  53, 84, 70, 101, 88, 31,  46, 46, 53, 84, 38, 42,  38, 37, 70, 70,  70,
    70, 70,  70, 70, 70, 70,  70, 40,  40, 84, 84, 84, 59, 100, 78, 77, 74, 84,  69,
    69, 83,  84, 38, 38, 78,  64, 100, 84, 86, 74, 86, 78, 73,  69, 82, 78, 111, 78,
    73, 73,  46, 37, 46, 84,  50, 50,  68, 72, 60, 72, 68, 44,  72, 72, 35, 35,  67,
    35, 105, 72, 69, 72, 72,  50, 60,  48, 72, 66, 93, 65, 66,  59, 72, 37, 72,  84};

constexpr int kElse = 105;  ///< any other character, wide ones included

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

bool is_harmless(char32_t code) {
  return !is_obeyed(code) && (code & 0xfffeU) != 0xfffe;
}

int width_of(char32_t code, Weight weight) {
  if (code < 0x20 || code > 0x7e) return kElse;
  const auto index = static_cast<std::size_t>(code - 0x20);
  return weight == Weight::bold ? kBold[index] : kRegular[index];
}

/// Bytes of the characters at the beginning that fit; of those at the end with `from_end`.
std::size_t bytes_that_fit(const std::vector<std::string_view>& characters, int width_px,
                           int font_px, Weight weight, bool from_end) {
  std::size_t bytes = 0;
  int hundredths = 0;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const auto character = from_end ? characters[characters.size() - 1 - i] : characters[i];
    hundredths += width_of(first_character(character).code, weight);
    if (hundredths * font_px > width_px * 100) break;
    bytes += character.size();
  }
  return bytes;
}

std::vector<std::string_view> characters_of(std::string_view text) {
  std::vector<std::string_view> characters;
  for (std::size_t at = 0; at < text.size();) {
    const auto bytes = first_character(text.substr(at)).bytes;
    characters.push_back(text.substr(at, bytes));
    at += bytes;
  }
  return characters;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = first_character(text.substr(at));
    if (character.is_valid && is_harmless(character.code)) {
      out += text.substr(at, character.bytes);
    } else {
      out += kReplacement;
    }
    at += character.bytes;
  }
  return out;
}

int text_width(std::string_view text, int font_px, Weight weight) {
  int hundredths = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = first_character(text.substr(at));
    hundredths += width_of(character.code, weight);
    at += character.bytes;
  }
  return (hundredths * font_px + 99) / 100;
}

std::string cut_to(std::string_view text, int width_px, int font_px, Weight weight) {
  // A text of this many bytes cannot fit; its middle is not looked at, whatever its length.
  constexpr std::size_t kEnough = 4096;
  std::string shorter;
  if (text.size() > 2 * kEnough) {
    shorter.append(text.substr(0, kEnough)).append(text.substr(text.size() - kEnough));
    shorter = printable(shorter);
    text = shorter;
  }
  if (text_width(text, font_px, weight) <= width_px) return std::string(text);
  const auto characters = characters_of(text);
  const int left_px = width_px - (kElse * font_px + 99) / 100;
  if (left_px <= 0) return "…";
  const auto end = bytes_that_fit(characters, left_px * 2 / 5, font_px, weight, true);
  const int end_px = text_width(text.substr(text.size() - end), font_px, weight);
  const auto begin = bytes_that_fit(characters, left_px - end_px, font_px, weight, false);
  return std::string(text.substr(0, begin)) + "…" + std::string(text.substr(text.size() - end));
}

std::vector<std::string> wrap_to(std::string_view text, int width_px, int font_px) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const auto space = text.find(' ');
    const auto word = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    const auto longer = line.empty() ? std::string(word) : line + " " + std::string(word);
    if (text_width(longer, font_px) <= width_px) {
      line = longer;
      continue;
    }
    if (!line.empty()) lines.push_back(line);
    line = cut_to(word, width_px, font_px);
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

}  // namespace railhead::report
