// SPDX-License-Identifier: Apache-2.0
#include "host/dcb_netlink.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "host/host_error.h"
#include "unit/link_builder.h"

namespace railhead::host {
namespace {

using test::app_object;
using test::dcb_answer;
using test::ets_object;
using test::pfc_object;

constexpr unsigned kSetDcb = 79;  // RTM_SETDCB

/// A request as dcb(8) makes it: four bytes, the netdev, the objects.
std::string dcb_message(unsigned type, unsigned command, const std::string& objects) {
  return test::message(type,
                       test::raw(std::uint8_t{0}) + test::raw(static_cast<std::uint8_t>(command)) +
                           test::raw(std::uint16_t{0}) + test::text_attribute(1, "ens8f0") +
                           (objects.empty() ? "" : test::attribute(0x800d, objects)),
                       1, 1);
}

std::string whole_answer() {
  return dcb_answer(
      ets_object({0, 1, 2, 3, 4, 5, 6, 7}, {0, 0, 0, 2, 2, 0, 0, 0}, {0, 0, 0, 60, 40, 0, 0, 0}) +
      pfc_object(0x08) +
      test::attribute(3, app_object(5, 3, 26) + app_object(5, 6, 48) + app_object(5, 0, 26) +
                             app_object(1, 3, 0x8915)));
}

TEST(DcbNetlink, asks_for_the_objects_of_ieee) {
  EXPECT_EQ(dcb_request("ens8f0", 1), dcb_message(test::kGetDcb, 21, ""));
}

TEST(DcbNetlink, an_answer_has_pfc_ets_and_dscps) {
  const auto settings = parse_dcb(whole_answer());
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->pfc, 0x08);
  EXPECT_EQ(settings->pfc_most, 8U);
  ASSERT_TRUE(settings->ets);
  EXPECT_EQ(settings->ets->priority_to_class[7], 7);
  EXPECT_EQ(settings->ets->tsa[3], 2);
  EXPECT_EQ(settings->ets->bandwidth[4], 40);
  ASSERT_TRUE(settings->dscp);
  EXPECT_EQ(*settings->dscp, (std::map<unsigned, std::uint8_t>{{26, 0x09}, {48, 0x40}}));
}

TEST(DcbNetlink, what_a_driver_does_not_have_is_absent) {
  EXPECT_EQ(parse_dcb(dcb_answer("")).value(), DcbSettings());
  EXPECT_EQ(parse_dcb(dcb_answer(test::attribute(2, "short"))).value(), DcbSettings());
  EXPECT_FALSE(parse_dcb("no message"));
  EXPECT_FALSE(parse_dcb(test::message(test::kGetDcb, "ab")));
}

TEST(DcbNetlink, an_answer_is_kept_without_the_netdev_and_other_applications) {
  const auto kept = kept_of_dcb(whole_answer());
  EXPECT_EQ(kept.find("ens8f0"), std::string::npos);
  EXPECT_EQ(kept.find(test::app_object(1, 3, 0x8915)), std::string::npos);
  EXPECT_EQ(parse_dcb(kept).value(), parse_dcb(whole_answer()).value());
  EXPECT_EQ(kept_of_dcb(kept), kept);
  EXPECT_EQ(kept_of_dcb(test::message(77, "abcd")), "");
}

TEST(DcbNetlink, a_dscp_without_an_entry_has_priority_0) {
  const auto settings = parse_dcb(whole_answer()).value();
  EXPECT_EQ(priorities_of(settings, 26), 0x09);
  EXPECT_EQ(priorities_of(settings, 25), 1);
  EXPECT_EQ(priorities_of({}, 26), 1);
  EXPECT_TRUE(maps_dscp(settings));
  EXPECT_FALSE(maps_dscp({}));
}

/// Of this very machine's kernel: loopback has no DCB, and nobody has the other name.
TEST(DcbNetlink, loopback_has_none) {
  EXPECT_EQ(ask_dcb("lo").value(), std::nullopt);
  const auto nobody = ask_dcb("nobody0");
  ASSERT_FALSE(nobody);
  EXPECT_EQ(errno_of(nobody.error()), ENODEV);
}

TEST(DcbNetlink, a_change_of_pfc_leaves_the_rest_of_it) {
  EXPECT_EQ(pfc_change("ens8f0", whole_answer(), 0x18, 1),
            dcb_message(kSetDcb, 20, pfc_object(0x18)));
}

TEST(DcbNetlink, a_change_of_ets_has_the_three_lists) {
  Ets ets;
  ets.priority_to_class = {0, 0, 0, 1, 0, 0, 0, 0};
  ets.tsa = {2, 2, 0, 0, 0, 0, 0, 0};
  ets.bandwidth = {50, 50, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(ets_change("ens8f0", whole_answer(), ets, 1),
            dcb_message(kSetDcb, 20,
                        ets_object({0, 0, 0, 1, 0, 0, 0, 0}, {2, 2, 0, 0, 0, 0, 0, 0},
                                   {50, 50, 0, 0, 0, 0, 0, 0})));
}

TEST(DcbNetlink, a_dscp_is_added_and_taken_out) {
  const std::string table = test::attribute(0x8003, app_object(5, 3, 26));
  EXPECT_EQ(dscp_change("ens8f0", 26, 3, true, 1), dcb_message(kSetDcb, 20, table));
  EXPECT_EQ(dscp_change("ens8f0", 26, 3, false, 1), dcb_message(kSetDcb, 27, table));
}

TEST(DcbNetlink, the_byte_of_an_answer_is_an_errno) {
  const auto answer = [](unsigned byte) {
    return test::message(
        kSetDcb, std::string(4, '\0') + test::text_attribute(1, "ens8f0") + test::u8(13, byte), 0,
        1);
  };
  EXPECT_EQ(dcb_status(answer(0), 1), 0);
  EXPECT_EQ(dcb_status(answer(256 - EOPNOTSUPP), 1), EOPNOTSUPP);
  EXPECT_EQ(dcb_status(answer(0), 2), std::nullopt) << "another's";
  EXPECT_EQ(dcb_status(test::message(test::kNetlinkError, test::netlink_status(EPERM), 0, 1), 1),
            EPERM);
  EXPECT_EQ(dcb_status(test::message(kSetDcb, "ab", 0, 1), 1), EPROTO);
}

}  // namespace
}  // namespace railhead::host
