// SPDX-License-Identifier: Apache-2.0
#include "host/ethtool.h"

#include <gmock/gmock.h>

#include "host/directory_host.h"

namespace railhead::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::string block(std::string name) {
  name.resize(32, '\0');
  return name;
}

TEST(Ethtool, names_and_numbers_are_paired) {
  EXPECT_THAT(paired_counters(block("rx_prio0_pause") + block("b"), {7, 8}),
              ElementsAre(Pair("rx_prio0_pause", 7), Pair("b", 8)));
  EXPECT_THAT(paired_counters(std::string(32, 'x'), {1}),
              ElementsAre(Pair(std::string(32, 'x'), 1)))
      << "a name may fill its block";
  EXPECT_THAT(paired_counters(block("a"), {1, 2}), ElementsAre(Pair("a", 1)));
  EXPECT_THAT(paired_counters("short", {1}), IsEmpty());
  EXPECT_THAT(paired_counters(block("a"), {}), IsEmpty());
}

TEST(Ethtool, a_netdev_that_is_not_there_or_of_another_function_has_none) {
  for (const char* name : {"", "nosuchdev", "a-name-that-is-too-long-for-a-netdev", "lo"}) {
    const auto counters = ask_driver_counters(name, "0000:3b:00.0");
    ASSERT_TRUE(counters) << name << ": " << counters.error().message;
    EXPECT_FALSE(*counters) << name;
  }
}

TEST(Ethtool, every_netdev_of_this_machine_answers_without_privileges) {
  const auto host = DirectoryHost::open("/").value();
  const auto netdevs = host->list("/sys/class/net").value();
  for (const auto& name : netdevs.value_or(std::vector<std::string>())) {
    // Virtual ones are on no bus; what they count has names.
    const auto counters = ask_driver_counters(name, "");
    ASSERT_TRUE(counters) << counters.error().message;
    if (!*counters) continue;
    for (const auto& [counter, number] : **counters) EXPECT_NE(counter, "") << name;
  }
}

}  // namespace
}  // namespace railhead::host
