// SPDX-License-Identifier: Apache-2.0
#include "node/pci_config.h"

#include <gtest/gtest.h>

#include "unit/config_space.h"

namespace railhead::test {
namespace {

TEST(PciConfig, reads_device_control_and_acs) {
  const auto config = node::parse_pci_config(config_space(0x5930, 0x001d));
  ASSERT_TRUE(config.has_value());
  EXPECT_TRUE(config->whole);
  EXPECT_EQ(config->max_read_request_bytes(), 4096U);
  EXPECT_EQ(config->relaxed_ordering(), true);
  EXPECT_EQ(config->acs_capability, 0x5f);
  EXPECT_EQ(config->acs_control, 0x1d);
  EXPECT_FALSE(config->ats_control);
  EXPECT_EQ(node::parse_pci_config(config_space(0x2920))->max_read_request_bytes(), 512U);
  EXPECT_EQ(node::parse_pci_config(config_space(0x2920))->relaxed_ordering(), false);
}

TEST(PciConfig, reads_payload_tags_and_link) {
  ConfigSpace space;
  space.device_control = 0x5930;
  space.express = Express::upstream;
  space.link_status = 0x0084;  // 16 GT/s, 8 lanes
  space.has_ats = true;
  space.ats_control = 0x8000;
  const auto config = node::parse_pci_config(space.bytes()).value();
  EXPECT_EQ(config.max_payload_bytes(), 256U);
  EXPECT_EQ(config.possible_payload_bytes(), 512U);
  EXPECT_EQ(config.extended_tags(), true);
  EXPECT_EQ(config.can_extend_tags(), true);
  EXPECT_EQ(config.port, node::PciPort::upstream);
  EXPECT_EQ(config.link_capability, (node::PciLink{32, 16}));
  EXPECT_EQ(config.link_status, (node::PciLink{16, 8}));
  EXPECT_EQ(config.ats_control, 0x8000);
  space.link_status = 0x0001;  // nothing is plugged in
  EXPECT_FALSE(node::parse_pci_config(space.bytes())->link_status);
}

TEST(PciConfig, the_first_64_bytes_have_no_capability) {
  const auto config = node::parse_pci_config(config_space(0x5930).substr(0, 64));
  ASSERT_TRUE(config.has_value());
  EXPECT_FALSE(config->whole);
  EXPECT_FALSE(config->device_control);
}

TEST(PciConfig, a_list_that_does_not_end_is_malformed) {
  auto bytes = config_space(0x5930);
  bytes[0x61] = 0x60;
  EXPECT_FALSE(node::parse_pci_config(bytes).has_value());
  bytes = config_space(0x5930);
  bytes[0x14b] = 0x10;
  bytes[0x14a] = 0x01;
  EXPECT_FALSE(node::parse_pci_config(bytes).has_value());
  EXPECT_FALSE(node::parse_pci_config("short").has_value());
}

TEST(PciConfig, a_serial_number_is_blanked_and_the_rest_stays) {
  auto bytes = config_space(0x5930, 0x001d);
  bytes.replace(0x200, 4, "SN12");
  const auto blanked = node::blanked_pci_config(bytes);
  ASSERT_TRUE(blanked.has_value());
  EXPECT_EQ(blanked->find("SN12"), std::string::npos);
  EXPECT_EQ(node::parse_pci_config(*blanked).value(), node::parse_pci_config(bytes).value());
  EXPECT_EQ(node::blanked_pci_config(*blanked), blanked);
  EXPECT_FALSE(node::blanked_pci_config("x").has_value());
}

}  // namespace
}  // namespace railhead::test
