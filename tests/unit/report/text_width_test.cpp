// SPDX-License-Identifier: Apache-2.0
#include "report/text_width.h"

#include <gtest/gtest.h>

namespace railhead::report {
namespace {

const std::string kBad = "\xef\xbf\xbd";

TEST(TextWidth, what_a_document_cannot_hold_becomes_a_replacement_character) {
  EXPECT_EQ(printable("mlx5_0 é 漢 🚂"), "mlx5_0 é 漢 🚂");
  EXPECT_EQ(printable(std::string("a\0b\x1b[1m\n\x7f", 9)),
            "a" + kBad + "b" + kBad + "[1m" + kBad + kBad);
  EXPECT_EQ(printable("\xc0\xaf"), kBad + kBad) << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), kBad + kBad + kBad) << "surrogate";
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), kBad + kBad + kBad + kBad) << "beyond Unicode";
  EXPECT_EQ(printable("x\xe2\x82"), "x" + kBad + kBad) << "cut";
  EXPECT_EQ(printable("\xc2\x85"), kBad) << "C1";
  EXPECT_EQ(printable("\xef\xbf\xbe"), kBad) << "U+FFFE";
}

TEST(TextWidth, text_does_not_turn_around) {
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a" + kBad + "b")
      << "U+202E";
  EXPECT_EQ(printable("a\xe2\x81\xa6"
                      "b"),
            "a" + kBad + "b")
      << "U+2066";
}

TEST(TextWidth, what_is_cut_fits_and_keeps_both_ends) {
  const std::string name = "rocep_with_a_very_long_name_0000_port_12";
  for (int width = 12; width < 400; width += 7) {
    for (const auto weight : {Weight::regular, Weight::bold}) {
      const auto cut = cut_to(name, width, 10, weight);
      EXPECT_LE(text_width(cut, 10, weight), width) << cut;
      EXPECT_TRUE(cut == name || cut.find("…") != std::string::npos);
    }
  }
  const auto cut = cut_to(name, 100, 10);
  EXPECT_TRUE(cut.starts_with("rocep")) << cut;
  EXPECT_TRUE(cut.ends_with("_12")) << cut;
}

TEST(TextWidth, characters_are_never_cut_in_two) {
  for (int width = 12; width < 60; ++width) {
    const auto cut = cut_to("漢字漢字漢字漢字", width, 10);
    EXPECT_EQ(printable(cut), cut);
    EXPECT_LE(text_width(cut, 10), width);
  }
}

TEST(TextWidth, a_huge_text_is_cut_without_looking_at_its_middle) {
  EXPECT_LE(text_width(cut_to(std::string(std::size_t{1} << 24, 'x'), 100, 10), 10), 100);
}

TEST(TextWidth, lines_break_at_spaces) {
  const auto lines = wrap_to("one two three " + std::string(200, 'x') + " four", 80, 10);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "one two three");
  EXPECT_TRUE(lines[1].find("…") != std::string::npos);
  EXPECT_EQ(lines[2], "four");
  for (const auto& line : lines) EXPECT_LE(text_width(line, 10), 80);
  EXPECT_TRUE(wrap_to("", 80, 10).empty());
}

}  // namespace
}  // namespace railhead::report
