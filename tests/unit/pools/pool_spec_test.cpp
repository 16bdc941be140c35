// SPDX-License-Identifier: Apache-2.0
#include "pools/pool_spec.h"

#include <gtest/gtest.h>

namespace railhead::pools {
namespace {

TEST(FunctionRange, a_name_alone_covers_all_functions) {
  const auto range = FunctionRange::parse("ens1f0np0");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->parent, "ens1f0np0");
  EXPECT_TRUE(range->covers(0));
  EXPECT_TRUE(range->covers(4711));
}

TEST(FunctionRange, numbers_and_ranges_cover_both_their_ends) {
  const auto range = FunctionRange::parse("0000:86:00.0#0,2-7,9");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->parent, "0000:86:00.0");
  std::vector<unsigned> covered;
  for (unsigned i = 0; i < 12; ++i) {
    if (range->covers(i)) covered.push_back(i);
  }
  EXPECT_EQ(covered, (std::vector<unsigned>{0, 2, 3, 4, 5, 6, 7, 9}));
}

TEST(FunctionRange, impossible_ranges_are_errors) {
  for (const char* text : {"", "#1", "eth0#", "eth0#7-2", "eth0#a", "eth0#1-", "eth0#-1",
                           "eth0#1,,2", "eth0#1-2-3", "eth0# 1", "eth0#99999999999", "eth0#1#2"}) {
    EXPECT_FALSE(FunctionRange::parse(text)) << text;
  }
}

TEST(DefaultPool, is_k8s_rdma_device_plugins_resource_with_its_hundred_slots) {
  const auto pool = default_pool();
  EXPECT_EQ(pool.name, "rdma.io/hca");
  EXPECT_EQ(pool.mode, PoolMode::shared);
  EXPECT_EQ(pool.slots, 100U);
  EXPECT_FALSE(pool.slots_per_nic);
}

}  // namespace
}  // namespace railhead::pools
