// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace railhead::report {

/// A colour of a group with the text colour that can be read on it and a tint for large areas.
struct GroupColour {
  std::string_view strong;
  std::string_view text;
  std::string_view tint;
};

/// Eight colours that people with any kind of colour blindness can tell apart (after Okabe and Ito,
/// "Color Universal Design", 2008; yellow and black, which lines cannot use on white, are replaced
/// by indigo and olive). Groups from the ninth on use them again with a second pattern.
constexpr std::array<GroupColour, 8> kGroupColours = {{
    {"#0072b2", "#ffffff", "#cce3f0"},
    {"#e69f00", "#1b1f24", "#faeccc"},
    {"#009e73", "#ffffff", "#ccece3"},
    {"#cc79a7", "#1b1f24", "#f5e4ed"},
    {"#56b4e9", "#1b1f24", "#ddf0fb"},
    {"#d55e00", "#ffffff", "#f7dfcc"},
    {"#332288", "#ffffff", "#d6d3e7"},
    {"#8f8f2e", "#ffffff", "#e9e9d5"},
}};

constexpr const GroupColour& colour_of(std::size_t group) {
  return kGroupColours[group % kGroupColours.size()];
}

/// Whether the group uses the second pattern: dashed lines, square marks.
constexpr bool is_second_round(std::size_t group) {
  return group / kGroupColours.size() % 2 == 1;
}

}  // namespace railhead::report
