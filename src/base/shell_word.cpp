// SPDX-License-Identifier: Apache-2.0
#include "base/shell_word.h"

#include <algorithm>

#include "base/text.h"

namespace railhead {

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "-_./:=@%+,";
  const bool is_plain = !text.empty() && std::ranges::all_of(text, [&](char c) {
    return is_letter_or_digit(c) || kPlain.find(c) != std::string_view::npos;
  });
  if (is_plain) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

}  // namespace railhead
