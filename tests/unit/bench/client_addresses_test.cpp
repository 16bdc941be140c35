// SPDX-License-Identifier: Apache-2.0
#include "bench/client_addresses.h"

#include <gmock/gmock.h>

namespace railhead::bench {
namespace {

using testing::ElementsAre;

const std::vector<OwnAddress> kOwn = {
    {"127.0.0.1", false, true, false},   {"::1", true, true, false},
    {"169.254.3.4", false, false, true}, {"10.0.0.5", false, false, false},
    {"fe80::1", true, false, true},      {"fd00::5", true, false, false},
    {"192.168.1.2", false, false, false}};

TEST(ClientAddresses, of_one_address_is_that_address) {
  EXPECT_THAT(client_addresses("10.0.0.1:7174", kOwn), ElementsAre("10.0.0.1:7174"));
  EXPECT_THAT(client_addresses("[fd00::1]:7174", kOwn), ElementsAre("[fd00::1]:7174"));
}

TEST(ClientAddresses, of_every_address_are_those_that_another_machine_may_know) {
  EXPECT_THAT(client_addresses("0.0.0.0:7174", kOwn),
              ElementsAre("10.0.0.5:7174", "192.168.1.2:7174"));
  EXPECT_THAT(client_addresses("[::]:7174", kOwn),
              ElementsAre("10.0.0.5:7174", "[fd00::5]:7174", "192.168.1.2:7174"));
}

TEST(ClientAddresses, without_any_other_are_loopback) {
  const std::vector<OwnAddress> loopback(kOwn.begin(), kOwn.begin() + 3);
  EXPECT_THAT(client_addresses("0.0.0.0:1", loopback), ElementsAre("127.0.0.1:1"));
  EXPECT_THAT(client_addresses("[::]:1", loopback), ElementsAre("127.0.0.1:1", "[::1]:1"));
  EXPECT_THAT(client_addresses("0.0.0.0:1", {}), ElementsAre("0.0.0.0:1"));
}

TEST(ClientAddresses, are_eight_at_most) {
  const std::vector<OwnAddress> many(50, kOwn[3]);
  EXPECT_EQ(client_addresses("0.0.0.0:1", many).size(), 8U);
}

TEST(OwnAddresses, have_loopback_marked) {
  for (const auto& one : own_addresses()) {
    EXPECT_EQ(one.is_loopback, one.text.starts_with("127.") || one.text == "::1") << one.text;
  }
}

}  // namespace
}  // namespace railhead::bench
