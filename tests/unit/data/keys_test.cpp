// SPDX-License-Identifier: Apache-2.0
#include "data/keys.h"

#include <optional>

#include <gtest/gtest.h>

namespace railhead::data {
namespace {

struct Switch {
  std::string name;
  unsigned ports = 0;
  std::optional<bool> managed;
};

struct Rack {
  Switch top;
};

constexpr Key<Switch> kSwitchKeys[] = {
    {"name", take_text<&Switch::name>},
    {"ports", take_number<&Switch::ports>},
    {"managed", take_flag<&Switch::managed>},
};

constexpr Key<Rack> kRackKeys[] = {{"top", take_map_of<&Rack::top, kSwitchKeys>}};

Status read(std::string_view yaml, Rack& rack) {
  return take_keys(TRY(parse_yaml(yaml)), kRackKeys, rack);
}

std::string error_of(std::string_view yaml) {
  Rack rack;
  const auto status = read(yaml, rack);
  return status ? "no error" : status.error().message;
}

TEST(Keys, each_value_comes_to_the_member_of_its_row) {
  Rack rack;
  ASSERT_TRUE(read("top: {name: leaf, ports: 64, managed: true}", rack));
  EXPECT_EQ(rack.top.name, "leaf");
  EXPECT_EQ(rack.top.ports, 64U);
  EXPECT_EQ(rack.top.managed, true);
}

TEST(Keys, a_key_that_is_not_there_leaves_its_member_alone) {
  Rack rack{{"spine", 32, {}}};
  ASSERT_TRUE(read("top: {ports: 64}", rack));
  EXPECT_EQ(rack.top.name, "spine");
  EXPECT_FALSE(rack.top.managed);
}

TEST(Keys, an_error_names_the_way_to_the_key_and_its_line) {
  EXPECT_EQ(error_of("top:\n  prots: 64"), "top: line 2: there is no key \"prots\"");
  EXPECT_EQ(error_of("top:\n  ports: 65536"), "top: ports: line 2: more than 65535");
  EXPECT_EQ(error_of("top: 3"), "top: line 1: no map");
}

}  // namespace
}  // namespace railhead::data
