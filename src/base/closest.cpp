// SPDX-License-Identifier: Apache-2.0
#include "base/closest.h"

#include <algorithm>
#include <cstddef>

namespace railhead {
namespace {

constexpr std::size_t kMaxLength = 64;  ///< no word of ours is as long

/// Edits between two words (optimal string alignment: a swap of neighbours is one).
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) table[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) table[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
      auto& least = table[i][j];
      least = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + other});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        least = std::min(least, table[i - 2][j - 2] + 1);
      }
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace

std::string closest_word(std::string_view typed, const std::vector<std::string>& words) {
  if (typed.empty() || typed.size() > kMaxLength) return "";
  std::size_t least = std::max<std::size_t>(2, typed.size() / 3) + 1;
  std::string best;
  for (const auto& word : words) {
    const auto count = edits(typed, word);
    // As many edits as there are letters make any word of any other.
    if (count >= least || count >= word.size()) continue;
    least = count;
    best = word;
  }
  return best;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words) {
  const auto word = closest_word(typed, words);
  return word.empty() ? "" : "; did you mean " + word + "?";
}

}  // namespace railhead
