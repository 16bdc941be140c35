// SPDX-License-Identifier: Apache-2.0
#include "node/name_walk.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace railhead::node {
namespace {

using Items = NameWalk<int>::Items;

/// Items that are new get the number 1.
Items walked(Items items, const std::vector<std::string>& names) {
  NameWalk<int> walk(items);
  for (const auto& name : names) {
    const auto [item, is_new] = walk.next(name);
    EXPECT_EQ(item == 0, is_new) << name;
    if (is_new) item = 1;
  }
  walk.end();
  return items;
}

TEST(NameWalk, the_listed_stay_the_unlisted_go_and_the_new_come_empty) {
  const Items before{{"b", 7}, {"d", 8}, {"f", 9}};
  EXPECT_EQ(walked(before, {"b", "d", "f"}), before);
  EXPECT_EQ(walked(before, {"a", "b", "c", "f", "g"}),
            (Items{{"a", 1}, {"b", 7}, {"c", 1}, {"f", 9}, {"g", 1}}));
  EXPECT_EQ(walked(before, {"d"}), (Items{{"d", 8}}));
  EXPECT_EQ(walked(before, {}), Items());
  EXPECT_EQ(walked({}, {"a", "b"}), (Items{{"a", 1}, {"b", 1}}));
}

}  // namespace
}  // namespace railhead::node
