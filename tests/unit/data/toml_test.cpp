// SPDX-License-Identifier: Apache-2.0
#include "data/toml.h"

#include <gmock/gmock.h>

namespace railhead::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

data::Value parsed(std::string_view text) {
  auto value = data::parse_toml(text);
  EXPECT_TRUE(value.has_value()) << value.error().message;
  return value ? std::move(*value) : data::Value();
}

std::string refusal(std::string_view text) {
  const auto value = data::parse_toml(text);
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

TEST(Toml, names_the_line_of_what_is_wrong) {
  EXPECT_THAT(refusal("a = 1\nb\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("a = 1\na = 2\n"), HasSubstr("line 2: \"a\" stands twice"));
  EXPECT_THAT(refusal("[a\n"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("a = \"x\n"), HasSubstr("a string without its end"));
  EXPECT_THAT(refusal("a = [1, 2\n"), HasSubstr("a list without its end"));
  EXPECT_THAT(refusal("a = 1 b = 2\n"), HasSubstr("something behind a value"));
  EXPECT_THAT(refusal("a = 1\n[a.b]\n"), HasSubstr("is no table"));
  EXPECT_THAT(refusal("a = \n"), HasSubstr("a value is missing"));
}

TEST(Toml, keeps_its_limits) {
  EXPECT_THAT(refusal("a = " + std::string(1000, '[')), HasSubstr("too deep"));
  std::string keys;
  for (int n = 0; n < 100'000; ++n) keys += "a.";
  EXPECT_THAT(refusal(keys + "b = 1"), HasSubstr("too deep"));
  EXPECT_FALSE(data::parse_toml(std::string((1U << 20U) + 1, '\n')).has_value());
}

}  // namespace
}  // namespace railhead::test
