// SPDX-License-Identifier: Apache-2.0
#include "host/ethtool_netlink.h"

#include <gtest/gtest.h>

#include "unit/link_builder.h"

namespace railhead::host {
namespace {

constexpr unsigned kEthtoolFamily = 0x15;  // whatever this kernel gave
const std::string kNetdev = test::attribute(0x8001, test::text_attribute(2, "ens8f0"));

std::string header(unsigned command) {
  return test::raw(static_cast<std::uint8_t>(command)) + test::raw(std::uint8_t{1}) +
         test::raw(std::uint16_t{0});
}

TEST(EthtoolNetlink, asks_as_the_header_of_the_kernel_says) {
  EXPECT_EQ(ethtool_request(LinkPart::rings, kEthtoolFamily, "ens8f0", 2),
            test::message(kEthtoolFamily, header(15) + kNetdev, 1, 2));
  EXPECT_EQ(ethtool_request(LinkPart::coalesce, kEthtoolFamily, "ens8f0", 2),
            test::message(kEthtoolFamily, header(19) + kNetdev, 1, 2));
  EXPECT_EQ(ethtool_request(LinkPart::pause, kEthtoolFamily, "ens8f0", 2),
            test::message(kEthtoolFamily, header(21) + kNetdev, 1, 2));
}

TEST(EthtoolNetlink, a_change_has_what_changes_alone_and_is_acknowledged) {
  EXPECT_EQ(ethtool_change(*find_ethtool_field("rings.tx"), 4096, kEthtoolFamily, "ens8f0", 2),
            test::message(kEthtoolFamily, header(16) + kNetdev + test::u32(9, 4096), 5, 2));
  EXPECT_EQ(
      ethtool_change(*find_ethtool_field("coalesce.adaptive-rx"), 1, kEthtoolFamily, "ens8f0", 2),
      test::message(kEthtoolFamily, header(20) + kNetdev + test::u8(11, 1), 5, 2));
  EXPECT_EQ(ethtool_change(*find_ethtool_field("pause.tx"), 0, kEthtoolFamily, "ens8f0", 2),
            test::message(kEthtoolFamily, header(22) + kNetdev + test::u8(4, 0), 5, 2));
}

TEST(EthtoolNetlink, an_answer_is_its_numbers) {
  const auto rings = parse_ethtool(test::rings_answer(512, 256));
  ASSERT_TRUE(rings);
  EXPECT_EQ(rings->at(find_ethtool_field("rings.rx")->attribute), 512U);
  EXPECT_EQ(rings->at(find_ethtool_field("rings.tx")->attribute), 256U);
  EXPECT_EQ(rings->at(find_ethtool_field("rings.rx")->limit), 8192U);
  const auto pause = parse_ethtool(test::pause_answer(true, false, true));
  ASSERT_TRUE(pause);
  EXPECT_EQ(pause->at(find_ethtool_field("pause.autoneg")->attribute), 1U);
  EXPECT_EQ(pause->at(find_ethtool_field("pause.rx")->attribute), 0U);
  EXPECT_FALSE(parse_ethtool("no message"));
  EXPECT_FALSE(parse_ethtool(test::message(kEthtoolFamily, "ab")));
  EXPECT_FALSE(parse_ethtool(test::ethtool_answer(15, "abcd")));
}

TEST(EthtoolNetlink, a_name_that_there_is_not_is_no_field) {
  EXPECT_EQ(find_ethtool_field("rings.middle"), nullptr);
  for (const auto& field : ethtool_fields()) EXPECT_EQ(find_ethtool_field(field.name), &field);
}

}  // namespace
}  // namespace railhead::host
