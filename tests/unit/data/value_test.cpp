// SPDX-License-Identifier: Apache-2.0
#include "data/value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railhead::data {
namespace {

using ::testing::HasSubstr;

Value scalar(std::string text, bool is_quoted = false) {
  Value value;
  value.kind = Value::Kind::scalar;
  value.quoted = is_quoted;
  value.scalar = std::move(text);
  return value;
}

TEST(Value, only_the_six_words_of_the_core_schema_are_booleans) {
  for (const char* text : {"true", "True", "TRUE"}) EXPECT_TRUE(scalar(text).as_bool().value());
  for (const char* text : {"false", "False", "FALSE"}) {
    EXPECT_FALSE(scalar(text).as_bool().value());
  }
  for (const char* text : {"yes", "on", "1", "tRUE", ""}) EXPECT_FALSE(scalar(text).as_bool());
  EXPECT_FALSE(scalar("true", true).as_bool()) << "quoted";
}

TEST(Value, numbers_are_whole_texts_without_quotes) {
  EXPECT_EQ(scalar("0x15b3").as_unsigned().value(), 0x15b3U);
  EXPECT_EQ(scalar("-2").as_signed().value(), -2);
  for (const char* text : {"1.5", "1 ", "0x", "-1", "1_000"}) {
    EXPECT_FALSE(scalar(text).as_unsigned()) << text;
  }
  EXPECT_FALSE(scalar("1", true).as_unsigned());
  EXPECT_FALSE(scalar("1", true).as_signed());
}

TEST(Value, an_unknown_place_is_not_invented) {
  EXPECT_EQ(Value{}.as_string().error().message, "expected text, found nothing");
  Value placed = scalar("maybe");
  placed.mark = {3, 7};
  EXPECT_EQ(placed.as_bool().error().message,
            "line 3 column 7: expected true or false, found \"maybe\"");
}

TEST(Value, a_list_of_strings_has_nothing_else) {
  Value list;
  list.kind = Value::Kind::list;
  EXPECT_TRUE(list.as_strings().value().empty());
  list.items = {scalar("a"), Value{}};
  EXPECT_FALSE(list.as_strings());
  EXPECT_THAT(scalar("a").as_strings().error().message, HasSubstr("expected a list"));
}

TEST(Value, find_is_empty_handed_in_anything_but_a_map) {
  EXPECT_EQ(scalar("a").find("a"), nullptr);
  Value map;
  map.kind = Value::Kind::map;
  map.entries.push_back({"a", {}, scalar("1")});
  EXPECT_EQ(map.find("a")->scalar, "1");
  EXPECT_EQ(map.find("b"), nullptr);
}

}  // namespace
}  // namespace railhead::data
