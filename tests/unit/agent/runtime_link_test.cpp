// SPDX-License-Identifier: Apache-2.0
#include "agent/runtime_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railhead::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

const RuntimeLink::Time kNow{std::chrono::hours(1)};

TEST(RuntimeLink, a_start_waits_for_the_connection) {
  RuntimeLink link("/run/nri.sock");
  EXPECT_THAT(link.may_start(kNow).error().message, HasSubstr("not connected to /run/nri.sock"));
  EXPECT_FALSE(link.owes(kNow));
  link.set_connected();
  EXPECT_TRUE(link.may_start(kNow));
}

TEST(RuntimeLink, says_why_it_is_not_connected) {
  RuntimeLink link("/run/nri.sock");
  EXPECT_EQ(link.readiness().text, "nri: not connected to /run/nri.sock");
  link.set_disconnected("nri: connecting to /run/nri.sock: No such file or directory");
  EXPECT_FALSE(link.readiness().ready);
  EXPECT_EQ(link.readiness().text,
            "nri: not connected to /run/nri.sock: No such file or directory");
  link.set_connected();
  EXPECT_EQ(link.readiness().text, "nri: connected");
}

TEST(RuntimeLink, a_container_that_may_start_is_owed_its_nodes) {
  RuntimeLink link("/run/nri.sock");
  link.set_connected();
  EXPECT_FALSE(link.owes(kNow));
  ASSERT_TRUE(link.may_start(kNow));
  EXPECT_TRUE(link.owes(kNow + RuntimeLink::kCreationTakes - milliseconds(1)));
  EXPECT_FALSE(link.owes(kNow + RuntimeLink::kCreationTakes));
  link.set_disconnected("gone");
  EXPECT_FALSE(link.owes(kNow)) << "nobody asks any more";
}

TEST(RuntimeLink, an_agent_that_ends_grants_no_start) {
  RuntimeLink link("/run/nri.sock");
  link.set_connected();
  link.end();
  EXPECT_THAT(link.may_start(kNow).error().message, HasSubstr("(it is being ended); the start is"));
  EXPECT_FALSE(link.owes(kNow)) << "what was refused is owed nothing";
}

TEST(RuntimeLink, a_container_that_is_asked_about_is_owed_an_answer) {
  RuntimeLink link("/run/nri.sock");
  link.set_connected();
  link.set_unanswered(2);
  EXPECT_TRUE(link.owes(kNow));
  link.set_unanswered(0);
  EXPECT_FALSE(link.owes(kNow));
}

}  // namespace
}  // namespace railhead::agent
