// SPDX-License-Identifier: Apache-2.0
#include "data/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/utf8.h"
#include "data/value.h"

namespace railhead::data {
namespace {

using testing::HasSubstr;

TEST(Json, parses_into_the_same_value_as_yaml) {
  const auto root = parse_json(R"({"a": 1, "b": ["x", true, null, -2], "c": "1"})");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->find("a")->as_unsigned().value(), 1U);
  EXPECT_TRUE(root->find("b")->items.at(1).as_bool().value());
  EXPECT_EQ(root->find("b")->items.at(2).kind, Value::Kind::null);
  EXPECT_FALSE(root->find("c")->as_unsigned());
}

TEST(Json, values_and_keys_know_where_they_began) {
  const auto root = parse_json("{\"a\": 12,\n  \"b\" : [[1], \"x\\n\" , {} , true]}");
  ASSERT_TRUE(root) << root.error().message;
  const auto place = [](const Mark& mark) { return std::pair{mark.line, mark.column}; };
  using Place = std::pair<unsigned, unsigned>;
  EXPECT_EQ(place(root->mark), Place(1, 1));
  EXPECT_EQ(place(root->entries.at(0).mark), Place(1, 2));
  EXPECT_EQ(place(root->entries.at(0).value.mark), Place(1, 7));
  EXPECT_EQ(place(root->entries.at(1).mark), Place(2, 3));
  const auto& items = root->find("b")->items;
  EXPECT_EQ(place(items.at(0).mark), Place(2, 10));
  EXPECT_EQ(place(items.at(0).items.at(0).mark), Place(2, 11));
  EXPECT_EQ(place(items.at(1).mark), Place(2, 15));
  EXPECT_EQ(place(items.at(2).mark), Place(2, 23));
  EXPECT_EQ(place(items.at(3).mark), Place(2, 28));
}

TEST(Json, numbers_keep_their_text) {
  const auto root =
      parse_json("[18446744073709551615, 18446744073709551616, -9223372036854775808, 1e3]");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->items.at(0).as_unsigned().value(), 18446744073709551615U);
  EXPECT_EQ(root->items.at(1).as_string().value(), "18446744073709551616");
  EXPECT_FALSE(root->items.at(1).as_unsigned());
  EXPECT_EQ(root->items.at(2).as_signed().value(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(root->items.at(3).as_string().value(), "1e3");
}

TEST(Json, errors_name_the_line) {
  const auto broken = parse_json("{\n\"a\": 1,\n}");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("line 3"));
  EXPECT_FALSE(parse_json(""));
  EXPECT_FALSE(parse_json("{} x"));
  EXPECT_FALSE(parse_json("\"\xff\""));
}

TEST(Json, errors_say_what_is_wrong) {
  EXPECT_EQ(parse_json("[1,\n]").error().message,
            "line 2 column 1: not JSON: a comma before the end of a list or an object");
  EXPECT_EQ(parse_json("{\"a\": [{ { }]}").error().message,
            "line 1 column 10: not JSON: unexpected '{'; expected string literal");
  EXPECT_EQ(parse_json("[\"a,\"}").error().message,
            "line 1 column 6: not JSON: unexpected '}'; expected ']'");
}

TEST(Json, the_last_of_a_repeated_key_counts_where_that_is_asked) {
  std::vector<Error> repeated;
  const auto value = parse_json("{\"a\": 1, \"b\": 2,\n \"a\": {\"a\": 3}}", {}, &repeated);
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(value->entries.size(), 2U);
  EXPECT_EQ(value->find("a")->find("a")->scalar, "3");
  ASSERT_EQ(repeated.size(), 1U);
  EXPECT_EQ(repeated[0].message, "line 2 column 2: key \"a\" stands twice");
  std::string many = "{\"a\": 0";
  for (int i = 0; i < 65; ++i) many += ", \"a\": 0";
  repeated.clear();
  EXPECT_FALSE(parse_json(many + "}", {}, &repeated));
}

TEST(Json, duplicate_keys_and_depth_are_errors) {
  EXPECT_THAT(parse_json(R"({"a":1,"a":2})").error().message, HasSubstr("stands twice"));
  for (const char* unit : {"[", "{\"a\":", "[{\"a\":"}) {
    std::string deep;
    while (deep.size() < 400000) deep += unit;
    EXPECT_THAT(parse_json(deep).error().message, HasSubstr("deeper")) << unit;
    EXPECT_EQ(parse_json(deep).error().code, ErrorCode::too_large);
  }
}

TEST(Json, size_and_number_of_values_are_limited) {
  EXPECT_EQ(parse_json("[1,2]", {.values = 2}).error().code, ErrorCode::too_large);
  EXPECT_EQ(parse_json("[1,2]", {.bytes = 4}).error().code, ErrorCode::too_large);
  EXPECT_TRUE(parse_json("[1,2]", {.bytes = 5, .values = 3}));
}

TEST(Json, bytes_that_are_not_utf8_are_refused) {
  for (const char* text : {"\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "{\"\xfe\": 1}"}) {
    EXPECT_EQ(parse_json(text).error().code, ErrorCode::malformed);
  }
}

TEST(Json, prints_in_the_order_of_insertion_and_survives_bad_utf8) {
  Json json;
  json["z"] = 1;
  json["a"] = "\xff";
  EXPECT_EQ(to_json_text(json), "{\n  \"z\": 1,\n  \"a\": \"\xef\xbf\xbd\"\n}\n");
}

TEST(Json, as_yaml_keeps_types_apart) {
  Json json;
  json["text"] = "true";
  json["flag"] = true;
  json["list"] = {1, nullptr};
  json["none"] = Json::array();
  const auto back = parse_yaml(to_yaml(json));
  ASSERT_TRUE(back) << to_yaml(json);
  EXPECT_TRUE(back->find("text")->quoted);
  EXPECT_TRUE(back->find("flag")->as_bool().value());
  EXPECT_EQ(back->find("list")->items.at(1).kind, Value::Kind::null);
  EXPECT_EQ(back->find("none")->kind, Value::Kind::list);
}

TEST(Json, keys_that_yaml_could_mistake_are_quoted) {
  Json json;
  for (const char* key : {"true", "1", "no", "a b", "", "x: y", "plain.key/of-us_1"}) json[key] = 1;
  const std::string text = to_yaml(json);
  EXPECT_THAT(text, HasSubstr("\"true\": 1\n\"1\": 1\n\"no\": 1\n\"a b\": 1\n\"\": 1\n"));
  EXPECT_THAT(text, HasSubstr("\nplain.key/of-us_1: 1\n"));
  const auto back = parse_yaml(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->entries.size(), json.size());
}

TEST(Json, what_a_terminal_obeys_is_escaped_and_reads_back_as_it_was) {
  const Json json{
      {"a\u202ekey",
       "\u001b[2J \u009b31m \u061c\u200e\u200f \u2028\u2029 \u202a\u202e \u2066\u2069 \x7f "
       "\ufeff\U000e0041 \u00fc \u20ac \U0001f600"}};
  for (const auto& document : {to_json_text(json), to_json_line(json), to_yaml(json)}) {
    for (std::string_view rest = document; !rest.empty();) {
      const auto character = first_character(rest);
      EXPECT_TRUE(rest.front() == '\n' || !is_obeyed(character.code)) << document;
      rest.remove_prefix(character.bytes);
    }
    EXPECT_THAT(document, HasSubstr("\u00fc \u20ac \U0001f600"));
    const auto read = document.front() == '{' ? parse_json(document) : parse_yaml(document);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->entries.at(0).key, json.begin().key());
    EXPECT_EQ(read->entries.at(0).value.scalar, json.front().get<std::string>());
  }
}

}  // namespace
}  // namespace railhead::data
