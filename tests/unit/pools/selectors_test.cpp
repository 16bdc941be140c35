// SPDX-License-Identifier: Apache-2.0
#include "pools/selectors.h"

#include <gtest/gtest.h>

namespace railhead::pools {
namespace {

TEST(Selectors, values_are_spelt_as_facts_are) {
  const auto spelt = [](Fact fact, std::string_view text) {
    return selector_of(fact).spelt(text).value_or("wrong");
  };
  EXPECT_EQ(spelt(Fact::vendor, "0x15B3"), "15b3");
  EXPECT_EQ(spelt(Fact::device, "101e"), "101e");
  EXPECT_EQ(spelt(Fact::pci_address, "18:00.A"), "wrong");
  EXPECT_EQ(spelt(Fact::pci_address, "5E:00.1"), "0000:5e:00.1");
  EXPECT_EQ(spelt(Fact::link_layer, "infiniband"), "InfiniBand");
  EXPECT_EQ(spelt(Fact::port_state, "active"), "ACTIVE");
  EXPECT_EQ(spelt(Fact::guid, "B8CE:F603:00AB:1234"), "b8cef60300ab1234");
  EXPECT_EQ(spelt(Fact::guid, "0xb8cef603*"), "b8cef603*");
  EXPECT_EQ(spelt(Fact::pkey, "0x8001"), "0x0001");
  EXPECT_EQ(spelt(Fact::pkey, "ffff"), "0x7fff");
  EXPECT_EQ(spelt(Fact::numa_node, "1"), "1");
}

TEST(Selectors, values_that_no_machine_can_have_are_errors) {
  EXPECT_FALSE(selector_of(Fact::vendor).spelt("mellanox"));
  EXPECT_FALSE(selector_of(Fact::vendor).spelt("115b3"));
  EXPECT_FALSE(selector_of(Fact::link_layer).spelt("ib"));
  EXPECT_FALSE(selector_of(Fact::port_state).spelt("up"));
  EXPECT_FALSE(selector_of(Fact::guid).spelt("mlx5_0"));
  EXPECT_FALSE(selector_of(Fact::numa_node).spelt("-1"));
  EXPECT_FALSE(selector_of(Fact::pkey).spelt("0x10000"));
  EXPECT_FALSE(selector_of(Fact::rdma_name).spelt(""));
}

}  // namespace
}  // namespace railhead::pools
