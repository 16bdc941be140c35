// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace railhead {
namespace {

void expect_character(std::string_view text, char32_t code) {
  const auto first = first_character(std::string(text) + "x");
  EXPECT_TRUE(first.is_valid) << text;
  EXPECT_EQ(first.code, code) << text;
  EXPECT_EQ(first.bytes, text.size()) << text;
}

TEST(Utf8, the_ends_of_each_length_are_characters) {
  expect_character(std::string_view("\0", 1), 0);
  expect_character("\x7f", 0x7f);
  expect_character("\xc2\x80", 0x80);
  expect_character("\xdf\xbf", 0x7ff);
  expect_character("\xe0\xa0\x80", 0x800);
  expect_character("\xed\x9f\xbf", 0xd7ff);
  expect_character("\xee\x80\x80", 0xe000);
  expect_character("\xef\xbf\xbf", 0xffff);
  expect_character("\xf0\x90\x80\x80", 0x10000);
  expect_character("\xf4\x8f\xbf\xbf", 0x10ffff);
}

TEST(Utf8, what_is_no_character_is_one_byte) {
  for (const std::string_view text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xc2\xc2", "\xe0\x9f\xbf",
        "\xe2\x82", "\xe2\x28\xa1", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf",
        "\xf0\x90\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    const auto first = first_character(text);
    EXPECT_FALSE(first.is_valid) << text.size();
    EXPECT_EQ(first.bytes, 1U);
    EXPECT_EQ(first.code, 0U);
  }
}

TEST(Utf8, a_text_is_cut_between_characters) {
  EXPECT_EQ(whole_characters("aä…", 9), "aä…");
  EXPECT_EQ(whole_characters("aä…", 6), "aä…");
  EXPECT_EQ(whole_characters("aä…", 5), "aä");
  EXPECT_EQ(whole_characters("aä…", 2), "a");
  EXPECT_EQ(whole_characters("…", 2), "");
  EXPECT_EQ(whole_characters("\x80\x80", 1), "") << "bytes of no character";
}

TEST(Utf8, controls_are_those_of_c0_and_c1) {
  for (const char32_t code : U"\x01\x0a\x1f\x7f\u0080\u009f") EXPECT_TRUE(is_control(code));
  for (const char32_t code : std::u32string_view(U" ~\u00a0\u2028")) EXPECT_FALSE(is_control(code));
}

}  // namespace
}  // namespace railhead
