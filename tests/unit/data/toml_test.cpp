// SPDX-License-Identifier: Apache-2.0
#include "data/toml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railhead::data {
namespace {

using ::testing::HasSubstr;

const TomlPath kDisable{"plugins", "io.containerd.nri.v1.nri", "disable"};

std::string set_false(std::string_view text) {
  const auto edited = set_toml_boolean(text, kDisable, false);
  return edited ? *edited : "error: " + edited.error().message;
}

TEST(Toml, is_read_as_a_document) {
  const auto json = parse_toml("version = 3\n[a.'b.c']\nlist = [1, 2.5, true]\nday = 2026-11-23\n");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->dump(), R"({"a":{"b.c":{"day":"2026-11-23","list":[1,2.5,true]}},"version":3})");
}

TEST(Toml, errors_name_line_and_column) {
  const auto json = parse_toml("version = 2\n[plugins\n");
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().code, ErrorCode::malformed);
  EXPECT_THAT(json.error().message, HasSubstr("line 2"));
  EXPECT_FALSE(parse_toml("a = 1\na = 2\n"));
}

TEST(Toml, has_limits) {
  EXPECT_EQ(parse_toml(std::string((1 << 20) + 1, '#')).error().code, ErrorCode::too_large);
  EXPECT_FALSE(parse_toml("a = " + std::string(10000, '[')));
}

TEST(SetTomlBoolean, replaces_a_value_and_nothing_else) {
  EXPECT_EQ(set_false("# first\nversion = 2 # two\n[plugins.\"io.containerd.nri.v1.nri\"] # nri\n"
                      "  disable   =   true # no\n  socket_path = \"/x\"\n"),
            "# first\nversion = 2 # two\n[plugins.\"io.containerd.nri.v1.nri\"] # nri\n"
            "  disable   =   false # no\n  socket_path = \"/x\"\n");
}

TEST(SetTomlBoolean, counts_characters_beyond_ascii) {
  EXPECT_EQ(
      set_false("plugins = {\"ä\" = 'größe', \"io.containerd.nri.v1.nri\" = {disable=true}}\n"),
      "plugins = {\"ä\" = 'größe', \"io.containerd.nri.v1.nri\" = {disable=false}}\n");
}

TEST(SetTomlBoolean, adds_a_key_below_the_header_of_its_table) {
  EXPECT_EQ(
      set_false("[plugins]\n  [plugins.'io.containerd.nri.v1.nri']\n    socket_path = '/x'\n"),
      "[plugins]\n  [plugins.'io.containerd.nri.v1.nri']\n    disable = false\n"
      "    socket_path = '/x'\n");
}

TEST(SetTomlBoolean, adds_a_table_at_the_end) {
  const std::string added = "[plugins.\"io.containerd.nri.v1.nri\"]\n  disable = false\n";
  EXPECT_EQ(set_false(""), added);
  EXPECT_EQ(set_false("version = 2"), "version = 2\n\n" + added);
  EXPECT_EQ(set_false("[plugins.x]\ny = 1\n"), "[plugins.x]\ny = 1\n\n" + added);
}

TEST(SetTomlBoolean, refuses_what_would_change_more) {
  EXPECT_THAT(set_false("plugins = {x = 1}\n"), HasSubstr("cannot be set without a change"));
  EXPECT_THAT(set_false("plugins = 3\n"), HasSubstr("\"plugins\" is no table"));
  EXPECT_THAT(set_false("[plugins.'io.containerd.nri.v1.nri']\ndisable = 'yes'\n"),
              HasSubstr("line 2 column 11: \"disable\" is no boolean"));
}

TEST(SetTomlBoolean, twice_is_the_same_as_once) {
  const auto once = set_false("version = 3\r\n[plugins]\r\n");
  EXPECT_EQ(set_false(once), once);
}

}  // namespace
}  // namespace railhead::data
