// SPDX-License-Identifier: Apache-2.0
#include "topology/nccl_guid.h"

#include <gtest/gtest.h>

namespace railhead::topology {
namespace {

TEST(NcclGuid, is_that_of_sysfs_with_its_bytes_turned) {
  EXPECT_EQ(guid_from_nccl("0xc8c9d60003ae6d94"), "946d:ae03:00d6:c9c8");
  EXPECT_EQ(guid_from_nccl("0x885b20003f6ceb8"), "b8ce:f603:00b2:8508");
}

TEST(NcclGuid, is_printed_as_nccl_does) {
  EXPECT_EQ(nccl_guid("946d:ae03:00d6:c9c8"), "0xc8c9d60003ae6d94");
  EXPECT_EQ(nccl_guid("b8ce:f603:00b2:8508"), "0x885b20003f6ceb8");
  EXPECT_EQ(nccl_guid("0000:0000:0000:0000"), std::nullopt);
  EXPECT_EQ(nccl_guid("b8ce:f603"), std::nullopt);
  EXPECT_EQ(nccl_guid("(null)"), std::nullopt);
}

TEST(NcclGuid, zero_and_text_are_none) {
  EXPECT_EQ(guid_from_nccl("0x0"), std::nullopt);
  EXPECT_EQ(guid_from_nccl("none"), std::nullopt);
  EXPECT_EQ(guid_from_nccl("0x11112222333344445"), std::nullopt);
}

}  // namespace
}  // namespace railhead::topology
