// SPDX-License-Identifier: Apache-2.0
#include "host/host.h"

#include <gtest/gtest.h>

namespace railhead::host {
namespace {

TEST(Host, joins_a_link_by_text) {
  EXPECT_EQ(join_link("/a/b", "../c"), "/c");
  EXPECT_EQ(join_link("/a/b", "c"), "/a/c");
  EXPECT_EQ(join_link("/a/b", "/c/./d/../e"), "/c/e");
  EXPECT_EQ(join_link("/a/b", "../../../.."), "/");
  EXPECT_EQ(join_link("/a/b", ".."), "/");
  EXPECT_EQ(join_link("/sys/class/infiniband/mlx5_0", "../../devices/x"), "/sys/devices/x");
  EXPECT_EQ(join_link("/", "a"), "/a");
}

TEST(Host, the_base_name_is_the_last_component) {
  EXPECT_EQ(base_name("/sys/class/net/eth0"), "eth0");
  EXPECT_EQ(base_name("../../0000:18:00.0"), "0000:18:00.0");
  EXPECT_EQ(base_name("/a/b/"), "b");
  EXPECT_EQ(base_name("name"), "name");
  EXPECT_EQ(base_name("/"), "/");
  EXPECT_EQ(base_name(""), "");
}

}  // namespace
}  // namespace railhead::host
