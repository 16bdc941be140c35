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

/// Not quite the ink of other text: that becomes light on a dark ground, and this does not.
constexpr std::string_view kInkOnColour = "#1b1f23";

/// Eight colours that people with any kind of colour blindness can tell apart (after Okabe and Ito,
/// "Color Universal Design", 2008; yellow and black, which lines cannot use on white, are replaced
/// by indigo and olive; green, vermilion and olive are darker, so that white text on them has a
/// contrast of 4.5). Groups from the ninth on use them again with a second pattern.
constexpr std::array<GroupColour, 8> kGroupColours = {{
    {"#0072b2", "#ffffff", "#cce3f0"},
    {"#e69f00", kInkOnColour, "#faeccc"},
    {"#00825f", "#ffffff", "#ccece3"},
    {"#cc79a7", kInkOnColour, "#f5e4ed"},
    {"#56b4e9", kInkOnColour, "#ddf0fb"},
    {"#c25500", "#ffffff", "#f7dfcc"},
    {"#332288", "#ffffff", "#d6d3e7"},
    {"#757526", "#ffffff", "#e9e9d5"},
}};

constexpr const GroupColour& colour_of(std::size_t group) {
  return kGroupColours[group % kGroupColours.size()];
}

/// Whether the group uses the second pattern: dashed lines, square marks.
constexpr bool is_second_round(std::size_t group) {
  return group / kGroupColours.size() % 2 == 1;
}

}  // namespace railhead::report
