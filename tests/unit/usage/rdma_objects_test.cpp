// SPDX-License-Identifier: Apache-2.0
#include "usage/rdma_objects.h"

#include <gtest/gtest.h>

#include "unit/netlink_builder.h"

namespace railhead::test {
namespace {

std::string table(unsigned command, unsigned outer, unsigned inner, const std::string& entry) {
  return rdma_message(
      command, u32(1, 0) + text_attribute(2, "mlx5_0") + attribute(outer, attribute(inner, entry)));
}

std::string pair_entry() {
  return u32(3, 1) + u32(21, 17) + u32(22, 99) + u32(28, 4711) + u32(60, 7) + u8(26, 2) + u8(27, 3);
}

TEST(RdmaObjects, a_queue_pair_has_its_numbers) {
  const auto pairs = usage::parse_queue_pairs(table(10, 19, 20, pair_entry())).value();
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].number, 17U);
  EXPECT_EQ(pairs[0].remote, 99U);
  EXPECT_EQ(pairs[0].owner.thread, 4711U);
  EXPECT_EQ(pairs[0].domain, 7U);
  EXPECT_EQ(to_string(pairs[0].type), "RC");
  EXPECT_EQ(to_string(pairs[0].state), "RTS");
}

TEST(RdmaObjects, kinds_and_states_that_are_new_are_unknown) {
  const auto pairs =
      usage::parse_queue_pairs(table(10, 19, 20, u32(21, 1) + u8(26, 77) + u8(27, 50))).value();
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].type, usage::QpType::unknown);
  EXPECT_EQ(pairs[0].state, usage::QpState::unknown);
}

TEST(RdmaObjects, an_attribute_of_another_size_is_not_known) {
  const auto pairs =
      usage::parse_queue_pairs(table(10, 19, 20, u32(21, 1) + u64(28, 4711) + u32(27, 3))).value();
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].owner.thread, std::nullopt);
  EXPECT_EQ(pairs[0].state, usage::QpState::unknown);
}

TEST(RdmaObjects, an_object_without_its_number_is_passed_over) {
  EXPECT_TRUE(usage::parse_queue_pairs(table(10, 19, 20, u8(27, 3))).value().empty());
  EXPECT_TRUE(usage::parse_memory_regions(table(13, 40, 41, u32(62, 1))).value().empty());
}

TEST(RdmaObjects, objects_of_the_kernel_have_a_name) {
  const auto pairs =
      usage::parse_queue_pairs(table(10, 19, 20, u32(21, 1) + text_attribute(29, "ib_core")))
          .value();
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_TRUE(pairs[0].owner.kernel);
  EXPECT_EQ(pairs[0].owner.kernel_name, "ib_core");
}

TEST(RdmaObjects, an_empty_dump_has_no_object) {
  EXPECT_TRUE(usage::parse_queue_pairs("").value().empty());
  EXPECT_TRUE(usage::parse_rdma_devices("").value().empty());
}

TEST(RdmaObjects, bytes_that_are_cut_off_are_malformed) {
  const auto whole = table(10, 19, 20, pair_entry());
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(usage::parse_queue_pairs(whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(usage::parse_queue_pairs(table(10, 19, 20, std::string("\x03\0\0\0", 4))));
}

}  // namespace
}  // namespace railhead::test
