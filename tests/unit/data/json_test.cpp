// SPDX-License-Identifier: Apache-2.0
#include "data/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/value.h"

namespace railhead {
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

TEST(Json, errors_name_the_line) {
  const auto broken = parse_json("{\n\"a\": 1,\n}");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("line 3"));
  EXPECT_FALSE(parse_json(""));
  EXPECT_FALSE(parse_json("{} x"));
  EXPECT_FALSE(parse_json("\"\xff\""));
}

TEST(Json, duplicate_keys_and_depth_are_errors) {
  EXPECT_THAT(parse_json(R"({"a":1,"a":2})").error().message, HasSubstr("stands twice"));
  EXPECT_THAT(parse_json(std::string(100000, '[')).error().message, HasSubstr("deeper"));
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

}  // namespace
}  // namespace railhead
