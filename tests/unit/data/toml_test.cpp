// SPDX-License-Identifier: Apache-2.0
#include "data/toml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railhead::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TomlPath kDisable{"plugins", "io.containerd.nri.v1.nri", "disable"};

std::string set_false(std::string_view text) {
  const auto edited = set_toml_boolean(text, kDisable, false);
  return edited ? *edited : "error: " + edited.error().message;
}

Value parsed(std::string_view text) {
  auto value = parse_toml(text);
  EXPECT_TRUE(value.has_value()) << value.error().message;
  return value ? std::move(*value) : Value();
}

std::string refusal(std::string_view text) {
  const auto value = parse_toml(text);
  EXPECT_FALSE(value.has_value()) << text;
  return value ? "" : value.error().message;
}

TEST(Toml, reads_a_configuration_of_containerd) {
  const auto file = parsed(
      "version = 3 # as of 2.0\n"
      "imports = [\n  'conf.d/*.toml', # drop-ins\n  \"/x.toml\",\n]\n"
      "[plugins]\n  [plugins.\"io.containerd.nri.v1.nri\"]\n    disable = false\r\n"
      "    socket_path = '/var/run/nri/nri.sock'\n"
      "[[stream]]\nname = \"a\"\n[stream.args]\nn = 1\n[[stream]]\nname = \"b\"\n"
      "[plugins.other]\npoint = { x = 1, \"y.z\" = [true] }\ndotted.key = 2\n");
  EXPECT_EQ(file.find("version")->as_unsigned().value(), 3U);
  EXPECT_THAT(file.find("imports")->as_strings().value(), ElementsAre("conf.d/*.toml", "/x.toml"));
  const auto* nri = file.find("plugins")->find("io.containerd.nri.v1.nri");
  ASSERT_NE(nri, nullptr);
  EXPECT_FALSE(nri->find("disable")->as_bool().value());
  EXPECT_EQ(nri->find("socket_path")->scalar, "/var/run/nri/nri.sock");
  const auto* streams = file.find("stream");
  ASSERT_EQ(streams->items.size(), 2U);
  EXPECT_EQ(streams->items[0].find("args")->find("n")->scalar, "1");
  EXPECT_EQ(streams->items[1].find("name")->scalar, "b");
  const auto* other = file.find("plugins")->find("other");
  EXPECT_TRUE(other->find("point")->find("y.z")->items[0].as_bool().value());
  EXPECT_EQ(other->find("dotted")->find("key")->scalar, "2");
}

TEST(Toml, reads_strings_of_all_four_kinds) {
  const auto file =
      parsed("a = \"x\\ty\\\"\"\nb = 'C:\\n'\nc = \"\"\"\none\ntwo\"\"\"\nd = '''it's'''\n");
  EXPECT_EQ(file.find("a")->scalar, "x\ty\"");
  EXPECT_EQ(file.find("b")->scalar, "C:\\n");
  EXPECT_EQ(file.find("c")->scalar, "one\ntwo");
  EXPECT_EQ(file.find("d")->scalar, "it's");
}

TEST(Toml, errors_name_line_and_column) {
  EXPECT_THAT(refusal("a = 1\nb\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("version = 2\n[plugins\n"), HasSubstr("line 2 column 9"));
  for (const auto* text : {"a = 1\na = 2\n", "[a\n", "a = \"x\n", "a = [1, 2\n", "a = 1 b = 2\n",
                           "a = 1\n[a.b]\n", "a = \n"}) {
    EXPECT_THAT(refusal(text), HasSubstr("line ")) << text;
  }
}

TEST(Toml, a_header_without_a_name_is_an_error) {
  for (const char* text : {"[)]", "[=]", "[[ .a]]", "[\xff]"})
    EXPECT_THAT(refusal("a = 1\n" + std::string(text)), HasSubstr("2")) << text;
}

TEST(Toml, letters_beyond_ascii_are_no_keys) {
  for (const char* text : {"\xC3\xBC = 1", "a\xD2\x95 = 1", "[a\xC3\xBC]", "a = 1 \xC3\xBC"})
    EXPECT_NE(refusal(text), "") << text;
  EXPECT_EQ(parsed("'\xC3\xBC' = 1 # \xD2\x95").find("\xC3\xBC")->scalar, "1");
}

TEST(Toml, keeps_its_limits) {
  EXPECT_NE(refusal("a = " + std::string(1000, '[')), "");
  EXPECT_NE(refusal("a = " + std::string(100, '[') + std::string(100, ']')), "");
  std::string keys;
  for (int n = 0; n < 100'000; ++n) keys += "a.";
  EXPECT_NE(refusal(keys + "b = 1"), "");
  EXPECT_EQ(parse_toml(std::string((1U << 20U) + 1, '\n')).error().code, ErrorCode::too_large);
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

TEST(SetTomlBoolean, gives_a_header_to_a_table_that_only_has_tables) {
  const std::string inner =
      "[plugins.'io.containerd.nri.v1.nri'.default_validator]\nenable = true\n";
  EXPECT_EQ(set_false(inner),
            inner + "\n[plugins.\"io.containerd.nri.v1.nri\"]\n  disable = false\n");
}

TEST(SetTomlBoolean, refuses_what_would_change_more) {
  EXPECT_THAT(set_false("plugins = {x = 1}\n"), HasSubstr("cannot be set without a change"));
  EXPECT_THAT(set_false("plugins = 3\n"), HasSubstr("\"plugins\" is not a table"));
  EXPECT_THAT(set_false("[plugins.'io.containerd.nri.v1.nri']\ndisable = 'yes'\n"),
              HasSubstr("line 2 column 11: \"disable\" is not a boolean"));
}

TEST(SetTomlBoolean, twice_is_the_same_as_once) {
  const auto once = set_false("version = 3\r\n[plugins]\r\n");
  EXPECT_EQ(set_false(once), once);
}

}  // namespace
}  // namespace railhead::data
