// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/value.h"

namespace railhead::data {
namespace {

using testing::HasSubstr;

std::string yaml_error(std::string_view text, const ParseLimits& limits = {}) {
  const auto value = parse_yaml(text, limits);
  return value ? "" : value.error().message;
}

TEST(Yaml, values_keep_their_place_counted_from_one) {
  const auto root = parse_yaml("a: 1\nb:\n  - x\n  - 'y'\n");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->find("a")->as_unsigned().value(), 1U);
  EXPECT_EQ(root->find("a")->mark.column, 4U);
  const auto& list = *root->find("b");
  EXPECT_EQ(list.items.at(1).mark.line, 4U);
  EXPECT_TRUE(list.items.at(1).quoted);
  EXPECT_EQ(list.as_strings().value(), (std::vector<std::string>{"x", "y"}));
}

TEST(Yaml, null_is_nothing_and_quotes_make_text) {
  const auto root = parse_yaml("a:\nb: ~\nc: null\nd: 'null'\ne: ''\n");
  ASSERT_TRUE(root);
  for (const char* key : {"a", "b", "c"})
    EXPECT_EQ(root->find(key)->kind, Value::Kind::null) << key;
  EXPECT_EQ(root->find("d")->as_string().value(), "null");
  EXPECT_EQ(root->find("e")->as_string().value(), "");
  EXPECT_EQ(parse_yaml("")->kind, Value::Kind::null);
  EXPECT_EQ(parse_yaml("# only words")->kind, Value::Kind::null);
}

TEST(Yaml, a_bomb_of_aliases_is_refused_at_its_first_anchor) {
  EXPECT_THAT(yaml_error("a: &a [x, x]\nb: [*a, *a]\n"), HasSubstr("anchor"));
  EXPECT_THAT(yaml_error("b: *a\n"), testing::Not(testing::IsEmpty()));
  EXPECT_THAT(yaml_error("a: !!binary AAAA\n"), HasSubstr("tag"));
  EXPECT_THAT(yaml_error("a: !!map {}\n"), HasSubstr("tag"));
  EXPECT_THAT(yaml_error("<<: {a: 1}\n"), HasSubstr("merge key"));
}

TEST(Yaml, depth_count_and_size_are_limited_while_parsing) {
  EXPECT_THAT(yaml_error("[[[[x]]]]", {.depth = 3}), HasSubstr("deeper than 3"));
  EXPECT_THAT(yaml_error("[1,2,3,4]", {.values = 4}), HasSubstr("more than 4 values"));
  EXPECT_THAT(yaml_error("[1,2,3,4]", {.bytes = 4}), HasSubstr("more than 4 bytes"));
  EXPECT_EQ(parse_yaml("[[x]]", {.depth = 1}).error().code, ErrorCode::too_large);
  EXPECT_EQ(parse_yaml("[1,2]", {.values = 1}).error().code, ErrorCode::too_large);
  EXPECT_EQ(parse_yaml("[1,2]", {.bytes = 1}).error().code, ErrorCode::too_large);
  EXPECT_TRUE(parse_yaml("[[[x]]]", {.depth = 3}));
  EXPECT_TRUE(parse_yaml("[1,2,3]", {.values = 4}));
}

TEST(Yaml, nesting_of_100000_levels_neither_recurses_nor_stays) {
  for (const char* unit : {"[", "{", "- ", "? ", "{a: ", "[a: ", "[? ", "- [", "[{", "[\n"}) {
    std::string text;
    while (text.size() < 400000) text += unit;
    EXPECT_NE(yaml_error(text), "") << unit;
    text.resize(4000);
    EXPECT_NE(yaml_error(text), "") << unit;
  }
  std::string staircase;
  for (std::size_t i = 0; i < 1000; ++i) staircase += std::string(i, ' ') + "a:\n";
  EXPECT_THAT(yaml_error(staircase), HasSubstr("line 33 column"));
}

TEST(Yaml, too_many_indicators_are_refused_before_they_become_tokens) {
  for (const char* unit : {"[]", "\"\"", "a,", "[? ", "{a:", "*a "}) {
    std::string text = "[";
    while (text.size() < 900000) text += unit;
    const auto value = parse_yaml(text);
    ASSERT_FALSE(value) << unit;
    EXPECT_EQ(value.error().message, "more than 65536 values") << unit;
  }
}

TEST(Yaml, duplicate_keys_and_second_documents_are_errors) {
  EXPECT_THAT(yaml_error("a: 1\na: 2\n"), HasSubstr("line 2 column 1: key \"a\" stands twice"));
  EXPECT_THAT(yaml_error("a: 1\n---\nb: 2\n"), HasSubstr("line 2 column 1: a second document"));
  EXPECT_THAT(yaml_error("? [a]\n: b\n"), HasSubstr("key must be text"));
}

TEST(Yaml, broken_text_names_line_and_column) {
  EXPECT_THAT(yaml_error("a: [1, 2\n"), HasSubstr("line "));
  EXPECT_THAT(yaml_error("a: 'x"), HasSubstr("line "));
  EXPECT_NE(yaml_error(std::string_view("\0\x01\xff", 3)), "x");
}

TEST(Yaml, an_error_shows_no_control_characters) {
  using namespace std::string_view_literals;
  for (const auto text : {"a: [\0\n"sv, "a: \"\\\x1b\"\n"sv, "a: \"\\\xff\"\n"sv}) {
    const auto error = yaml_error(text);
    EXPECT_NE(error, "");
    for (const char c : error) EXPECT_TRUE(c >= ' ' && c <= '~') << error;
  }
}

TEST(Yaml, typed_access_says_what_was_found_instead) {
  const auto root = parse_yaml("n: -1\nb: maybe\nm: {}\nq: '1'\n");
  EXPECT_THAT(root->find("n")->as_unsigned().error().message, HasSubstr("line 1 column 4"));
  EXPECT_THAT(root->find("b")->as_bool().error().message, HasSubstr("\"maybe\""));
  EXPECT_THAT(root->find("m")->as_string().error().message, HasSubstr("keys and values"));
  EXPECT_FALSE(root->find("q")->as_unsigned());
  EXPECT_EQ(root->find("n")->as_signed().value(), -1);
}

}  // namespace
}  // namespace railhead::data
