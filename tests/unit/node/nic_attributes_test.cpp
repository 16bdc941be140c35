// SPDX-License-Identifier: Apache-2.0
#include "node/nic_attributes.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace railhead::node {
namespace {

template <typename Table>
void expect_each_once(const Table& table) {
  std::set<std::string_view> files;
  std::set<std::string_view> keys;
  for_each_attribute(table, [&](const auto& row) {
    EXPECT_TRUE(row.file.empty() || files.insert(row.file).second) << row.file;
    EXPECT_TRUE(row.json.empty() || keys.insert(row.json).second) << row.json;
  });
}

TEST(NicAttributes, a_file_and_a_key_have_one_row) {
  expect_each_once(kNicAttributes);
  expect_each_once(kPortAttributes);
}

TEST(NicAttributes, every_guid_and_gid_is_replaced_in_snapshots) {
  const auto check = [](const auto& row) {
    const std::string file(row.file);
    const bool is_guid = file.ends_with("guid") || file.ends_with("gids");
    EXPECT_EQ(row.identifier != Identifier::none, is_guid) << file;
  };
  for_each_attribute(kNicAttributes, check);
  for_each_attribute(kPortAttributes, check);
}

}  // namespace
}  // namespace railhead::node
