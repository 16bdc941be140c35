// SPDX-License-Identifier: Apache-2.0
#include "host/link_news.h"

#include <linux/if.h>

#include <gtest/gtest.h>

#include "unit/host/link_messages.h"

namespace railhead::test {
namespace {

constexpr unsigned kUp = IFF_UP | IFF_LOWER_UP;

TEST(LinkNews, a_carrier_that_is_lost_or_comes_back_is_news_once) {
  host::LinkNews news;
  EXPECT_TRUE(news.take(link(2, kUp))) << "nothing was known";
  EXPECT_FALSE(news.take(link(2, kUp)));
  EXPECT_TRUE(news.take(link(2, IFF_UP)));
  EXPECT_FALSE(news.take(link(2, IFF_UP)));
  EXPECT_TRUE(news.take(link(2, kUp)));
}

TEST(LinkNews, what_says_nothing_of_the_link_is_no_news) {
  host::LinkNews news;
  news.take(link(2, kUp));
  EXPECT_FALSE(news.take(link(2, kUp | IFF_PROMISC)));
  EXPECT_FALSE(news.take(message(RTM_NEWADDR, std::string(64, '\0'))));
}

TEST(LinkNews, the_network_of_a_container_is_no_news) {
  host::LinkNews news;
  for (const auto* kind : {"veth", "vlan", "vxlan", "bridge", "dummy", "macvlan"}) {
    EXPECT_FALSE(news.take(link(7, kUp, of_kind(kind)))) << kind;
  }
  EXPECT_FALSE(news.take(link(1, kUp | IFF_LOOPBACK)));
}

TEST(LinkNews, bonds_their_members_and_ipoib_are_news) {
  host::LinkNews news;
  EXPECT_TRUE(news.take(link(3, kUp, of_kind("bond"))));
  EXPECT_TRUE(news.take(link(4, kUp, of_kind("ipoib"))));
  const auto member = attribute(IFLA_LINKINFO, text_attribute(IFLA_INFO_SLAVE_KIND, "bond"));
  EXPECT_TRUE(news.take(link(5, kUp, member)));
}

TEST(LinkNews, name_their_interface) {
  host::LinkNews news;
  const auto changes = news.take(link(2, kUp) + link(7, kUp, of_kind("veth")) + link(3, kUp));
  EXPECT_EQ(changes.netdevs, (host::MachineChanges::Names{"x2", "x3"}));
  ifinfomsg nameless{};
  nameless.ifi_index = 9;
  EXPECT_TRUE(news.take(message(RTM_NEWLINK, raw(nameless))).everything);
}

TEST(LinkNews, after_a_loss_each_interface_is_news) {
  host::LinkNews news;
  news.take(link(2, kUp));
  EXPECT_FALSE(news.take(link(2, kUp)));
  news.forget();  // that it went down and came up
  EXPECT_TRUE(news.take(link(2, kUp)));
}

TEST(LinkNews, every_message_of_a_datagram_is_read) {
  host::LinkNews news;
  news.take(link(2, kUp) + link(3, kUp));
  EXPECT_TRUE(news.take(link(7, kUp, of_kind("veth")) + link(2, kUp) + link(3, 0)));
  EXPECT_FALSE(news.take(link(3, 0) + link(2, kUp)));
}

TEST(LinkNews, an_interface_that_went_and_came_is_a_new_one) {
  host::LinkNews news;
  news.take(link(2, kUp));
  EXPECT_FALSE(news.take(link(2, 0, "", RTM_DELLINK)));
  EXPECT_TRUE(news.take(link(2, kUp)));
}

TEST(LinkNews, what_is_cut_off_or_too_short_is_no_news) {
  host::LinkNews news;
  const auto whole = link(2, kUp, of_kind("bond"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(news.take(whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(news.take(message(RTM_NEWLINK, std::string(15, '\1'))));
  EXPECT_FALSE(news.take(message(RTM_DELLINK, "")));
}

TEST(LinkNews, more_interfaces_than_are_kept_are_forgotten_and_not_fatal) {
  host::LinkNews news;
  for (int index = 1; index <= static_cast<int>(host::LinkNews::kMaxInterfaces) + 1; ++index) {
    EXPECT_TRUE(news.take(link(index, kUp)));
  }
  EXPECT_TRUE(news.take(link(1, kUp)));
}

}  // namespace
}  // namespace railhead::test
