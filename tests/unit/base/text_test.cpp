// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include <string_view>

namespace railhead {
namespace {

using namespace std::string_view_literals;

TEST(Text, numbers_agree_with_their_noun) {
  EXPECT_EQ(counted(1, "NIC"), "1 NIC");
  EXPECT_EQ(counted(0, "GPU"), "0 GPUs");
  EXPECT_EQ(counted(2, "address"), "2 addresses");
}

TEST(Text, trims_white_space_at_both_ends) {
  EXPECT_EQ(trim(" \t4: ACTIVE\n"), "4: ACTIVE");
  EXPECT_EQ(trim("\n"), "");
}

TEST(Text, splits_at_every_separator) {
  EXPECT_EQ(split("a,,b"sv, ',').size(), 3U);
  EXPECT_EQ(split(""sv, ',').size(), 1U);
}

TEST(Text, words_are_never_empty) {
  EXPECT_EQ(split_words("  eth0\t 00000000 \n"sv).size(), 2U);
}

TEST(Text, a_number_is_the_whole_text) {
  EXPECT_EQ(parse_unsigned("400").value(), 400U);
  EXPECT_EQ(parse_signed("-1").value(), -1);
  EXPECT_EQ(parse_hex("0x15b3").value(), 0x15b3U);
  for (const char* bad : {"", " 1", "1 ", "+1", "-1", "1x", "18446744073709551616"}) {
    EXPECT_FALSE(parse_unsigned(bad)) << bad;
  }
  EXPECT_EQ(parse_unsigned("1x").error().code, ErrorCode::malformed);
}

TEST(Text, globs_match_whole_names) {
  EXPECT_TRUE(glob_match("mlx5_*", "mlx5_bond_0"));
  EXPECT_TRUE(glob_match("*p??s0*", "ibp24s0"));
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("*a*b", "xxaxxb"));
  EXPECT_FALSE(glob_match("mlx5_", "mlx5_0"));
  EXPECT_FALSE(glob_match("?", ""));
}

TEST(Text, ranges_are_limited_and_ascending) {
  EXPECT_EQ(parse_range_list("0-3,8\n").value(), (std::vector<unsigned>{0, 1, 2, 3, 8}));
  EXPECT_TRUE(parse_range_list("").value().empty());
  EXPECT_FALSE(parse_range_list("3-1"));
  EXPECT_FALSE(parse_range_list("0-4294967295"));
  EXPECT_FALSE(parse_range_list("a"));
}

TEST(Text, quoted_text_is_safe_for_a_log_line) {
  EXPECT_EQ(in_quotes("a\"b\n\x01"), R"("a\"b\n\x01")");
  EXPECT_EQ(in_quotes(std::string(100, 'x'), 3), "\"xxx…\"");
  EXPECT_EQ(in_quotes("Käse \u65e5\u672c \U0001f600"), "\"Käse \u65e5\u672c \U0001f600\"");
}

TEST(Text, what_a_terminal_or_an_editor_obeys_is_escaped) {
  EXPECT_EQ(in_quotes("a\u009b2J\u0080"), R"("a\u009b2J\u0080")") << "C1 controls";
  EXPECT_EQ(in_quotes("\u2028\u2029"), R"("\u2028\u2029")") << "line ends";
  EXPECT_EQ(in_quotes("\u202a\u202egnp\u2066\u2069"), R"("\u202a\u202egnp\u2066\u2069")")
      << "directions";
  EXPECT_EQ(in_quotes("\u2060\u206a\ufeff"), R"("\u2060\u206a\ufeff")") << "no width";
  EXPECT_EQ(in_quotes("\u00a0\u2027\u202f\u2070"), "\"\u00a0\u2027\u202f\u2070\"");
}

TEST(Text, bytes_that_are_no_character_are_escaped) {
  EXPECT_EQ(in_quotes("\x9b"
                      "2J"),
            R"("\x9b2J")");
  EXPECT_EQ(in_quotes("\xc3"), R"("\xc3")") << "cut";
  EXPECT_EQ(in_quotes("\xc0\x8a\xed\xa0\x80"), R"("\xc0\x8a\xed\xa0\x80")")
      << "overlong, surrogate";
  EXPECT_EQ(in_quotes("\xf4\x90\x80\x80"), R"("\xf4\x90\x80\x80")") << "above U+10FFFF";
}

TEST(Text, a_decimal_number_has_no_more_places_than_it_needs) {
  EXPECT_EQ(decimal_text(400), "400");
  EXPECT_EQ(decimal_text(2.5), "2.5");
  EXPECT_EQ(decimal_text(0), "0");
}

}  // namespace
}  // namespace railhead
