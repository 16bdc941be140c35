// SPDX-License-Identifier: Apache-2.0
#include "system/lldp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/lldp_builder.h"

namespace railhead::system {
namespace {

using test::lldp_frame;
using test::lldp_max_frame;
using test::lldp_tlv;
using test::lldp_vlan;
using test::networkd_frame;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kNamedPort =
    "\x05"
    "Ethernet1/7";

std::vector<SwitchPort> ports_in(const std::string& file) {
  return switch_ports(kept_lldp(file));
}

TEST(Lldp, a_port_has_a_name_a_vlan_and_a_largest_frame) {
  const auto frame = lldp_frame(kNamedPort, lldp_vlan(100) + lldp_max_frame(9216));
  EXPECT_THAT(ports_in(networkd_frame(frame)), ElementsAre(SwitchPort{"Ethernet1/7", 100, 9216}));
}

TEST(Lldp, each_neighbour_is_a_port) {
  const auto one = networkd_frame(lldp_frame(kNamedPort, lldp_vlan(100)));
  const auto two =
      networkd_frame(lldp_frame("\x07"
                                "swp8",
                                lldp_max_frame(1518)));
  EXPECT_THAT(ports_in(one + two),
              ElementsAre(SwitchPort{"Ethernet1/7", 100, {}}, SwitchPort{"swp8", {}, 1518}));
}

TEST(Lldp, an_address_is_no_name_and_vlan_0_is_none) {
  const auto frame = lldp_frame(
      "\x03"
      "abcdef",
      lldp_vlan(0) + lldp_max_frame(9216));
  EXPECT_THAT(ports_in(networkd_frame(frame)), ElementsAre(SwitchPort{"", {}, 9216}));
  EXPECT_THAT(ports_in(networkd_frame(lldp_frame("\x05"
                                                 "a b\n",
                                                 ""))),
              IsEmpty());
}

TEST(Lldp, no_name_or_address_of_a_switch_is_kept) {
  const auto kept = kept_lldp(networkd_frame(lldp_frame(kNamedPort, lldp_vlan(7))));
  EXPECT_EQ(kept, "port=Ethernet1/7 vlan=7\n");
  EXPECT_EQ(kept_lldp(kept), kept);
}

TEST(Lldp, what_is_cut_off_or_no_frame_is_left_out) {
  const auto whole = networkd_frame(lldp_frame(kNamedPort, lldp_vlan(100) + lldp_max_frame(9216)));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(ports_in(whole.substr(0, size)), IsEmpty()) << size;
  }
  auto other = whole;
  other[8 + 12] = 'x';
  EXPECT_THAT(ports_in(other), IsEmpty()) << "another type of frame";
  EXPECT_THAT(ports_in("port=a vlan=x\nport=\nframe=70000\nvlan"), IsEmpty());
  std::string many;
  for (int i = 0; i < 40; ++i) many += whole;
  EXPECT_EQ(ports_in(many).size(), 16U);
}

}  // namespace
}  // namespace railhead::system
