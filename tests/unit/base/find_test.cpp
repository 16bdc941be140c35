// SPDX-License-Identifier: Apache-2.0
#include "base/find.h"

#include <vector>

#include <gtest/gtest.h>

namespace railhead {
namespace {

struct Port {
  int number;
  int lanes;
};

const std::vector<Port> kSorted{{1, 4}, {3, 4}, {3, 2}};

TEST(Find, the_first_that_fits_is_found) {
  EXPECT_EQ(find_where(kSorted, [](const Port& port) { return port.number == 3; }), &kSorted[1]);
  EXPECT_EQ(find_by(kSorted, &Port::lanes, 2), &kSorted[2]);
  EXPECT_EQ(find_sorted(kSorted, &Port::number, 3), &kSorted[1]);
}

TEST(Find, nothing_is_found_where_none_fits) {
  EXPECT_EQ(find_by(kSorted, &Port::lanes, 8), nullptr);
  EXPECT_EQ(find_sorted(kSorted, &Port::number, 2), nullptr);  // between two
  EXPECT_EQ(find_sorted(kSorted, &Port::number, 4), nullptr);
  const std::vector<Port> none;
  EXPECT_EQ(find_sorted(none, &Port::number, 1), nullptr);
}

TEST(Find, what_is_found_can_be_changed) {
  auto ports = kSorted;
  find_by(ports, &Port::number, 1)->lanes = 16;
  EXPECT_EQ(ports.front().lanes, 16);
}

}  // namespace
}  // namespace railhead
