// SPDX-License-Identifier: Apache-2.0
#include "host/vf_netlink.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <gtest/gtest.h>

#include <cerrno>

#include "host/host_error.h"
#include "host/netlink.h"
#include "unit/link_builder.h"

namespace railhead::host {
namespace {

/// The attributes of the one IFLA_VF_INFO in a request.
std::string info_of(const std::string& request) {
  std::string_view rest = request;
  const auto message = take_netlink_message(rest);
  EXPECT_TRUE(message && rest.empty());
  if (!message) return "";
  EXPECT_EQ(message->type, RTM_SETLINK);
  EXPECT_EQ(message->flags, NLM_F_REQUEST | NLM_F_ACK);
  std::string_view attributes = message->payload.substr(sizeof(ifinfomsg));
  const auto list = take_netlink_attribute(attributes);
  EXPECT_TRUE(list && list->type == IFLA_VFINFO_LIST);
  std::string_view inner = list->payload;
  const auto info = take_netlink_attribute(inner);
  EXPECT_TRUE(info && info->type == IFLA_VF_INFO);
  return std::string(info->payload);
}

TEST(VfNetlink, a_mac_is_set_as_ip_link_does) {
  const VfIdentity identity{parse_mac("0C:42:a1:00:00:01"), {}};
  const std::string info = info_of(vf_identity_request(7, 3, identity, 1));
  std::string_view rest = info;
  const auto mac = take_netlink_attribute(rest);
  ASSERT_TRUE(mac);
  EXPECT_EQ(mac->type, IFLA_VF_MAC);
  ASSERT_EQ(mac->payload.size(), 36U);
  EXPECT_EQ(mac->payload.substr(0, 10), std::string_view("\x03\0\0\0\x0c\x42\xa1\0\0\x01", 10));
  EXPECT_TRUE(rest.empty());
}

TEST(VfNetlink, guids_are_set_and_the_link_follows) {
  const VfIdentity identity{{}, 0x0e42a18000123456U};
  const std::string info = info_of(vf_identity_request(7, 3, identity, 1));
  std::string_view rest = info;
  for (const unsigned type : {IFLA_VF_IB_NODE_GUID, IFLA_VF_IB_PORT_GUID}) {
    const auto guid = take_netlink_attribute(rest);
    ASSERT_TRUE(guid);
    EXPECT_EQ(guid->type, type);
    EXPECT_EQ(guid->payload.size(), 16U);
    EXPECT_EQ(netlink_number<std::uint64_t>(guid->payload.substr(8)), 0x0e42a18000123456U);
  }
  const auto state = take_netlink_attribute(rest);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->type, IFLA_VF_LINK_STATE);
  EXPECT_EQ(state->payload, std::string_view("\x03\0\0\0\0\0\0\0", 8));
}

TEST(VfNetlink, functions_are_asked_for) {
  const std::string header =
      std::string(4, '\0') + test::raw(std::int32_t{7}) + std::string(8, '\0');
  EXPECT_EQ(vf_question(7, 1), test::message(18, header + test::u32(29, 0x9), 1, 1));
}

TEST(VfNetlink, reads_what_is_said_of_functions) {
  const auto functions = parse_vf_settings(test::vf_answer({3, 2, 1, 0x1234})).value();
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_EQ(functions[0], (VfSettings{3, VfLink::always_down, true, std::nullopt, true, true}));
}

TEST(VfNetlink, what_a_driver_does_not_know_is_not_known) {
  const auto functions = parse_vf_settings(test::vf_answer({0, 9, 0xffffffff, 0})).value();
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_EQ(functions[0], (VfSettings{0, std::nullopt, std::nullopt, std::nullopt, false, false}));
}

TEST(VfNetlink, bytes_that_are_no_answer_are_malformed) {
  for (const auto& bytes : {std::string("x"), test::message(17, "abcd"), test::message(16, "ab")}) {
    EXPECT_FALSE(parse_vf_settings(bytes)) << bytes;
    EXPECT_EQ(kept_of_vfs(bytes), "");
  }
}

TEST(VfNetlink, neither_addresses_nor_guids_pass_the_door) {
  const auto kept = kept_of_vfs(test::vf_answer({3, 0, 1, 0x0c42a10300aabbccULL}));
  EXPECT_EQ(kept.find("\x02\x42\x0a"), std::string::npos);
  EXPECT_EQ(kept.find("ib0"), std::string::npos);
  EXPECT_EQ(kept.find(test::raw(std::uint64_t{0x0c42a10300aabbccULL})), std::string::npos);
  EXPECT_EQ(parse_vf_settings(kept).value(),
            parse_vf_settings(test::vf_answer({3, 0, 1, 5})).value());
  EXPECT_EQ(kept_of_vfs(kept), kept);
}

TEST(VfNetlink, trust_is_set) {
  EXPECT_EQ(info_of(vf_trust_request(7, 3, true, 1)),
            test::attribute(9, test::raw(std::uint32_t{3}) + test::raw(std::uint32_t{1})));
}

/// Of this very machine's kernel: loopback has no virtual functions, and nobody has the other name.
TEST(VfNetlink, loopback_has_none) {
  const auto loopback = ask_vfs("lo").value();
  ASSERT_TRUE(loopback);
  EXPECT_TRUE(parse_vf_settings(*loopback)->empty());
  const auto nobody = ask_vfs("nobody0");
  ASSERT_FALSE(nobody);
  EXPECT_EQ(errno_of(nobody.error()), ENODEV);
}

TEST(VfNetlink, a_mac_is_six_bytes_in_hex) {
  EXPECT_TRUE(parse_mac("00:11:22:33:44:ff"));
  for (const auto* text : {"", "00:11:22:33:44", "00:11:22:33:44:5", "00-11-22-33-44-55",
                           "00:11:22:33:44:5g", "00:11:22:33:44:55:66"}) {
    EXPECT_FALSE(parse_mac(text)) << text;
  }
}

TEST(VfNetlink, a_netdev_that_is_not_there_is_named) {
  const auto status = set_vf_identity("none0", 1, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message.substr(0, 13), "none0: VF 1: ");
}

}  // namespace
}  // namespace railhead::host
