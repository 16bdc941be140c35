// SPDX-License-Identifier: Apache-2.0
#include "host/hang_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <iostream>

#include "host/bounded_host.h"
#include "unit/manual_clock.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

TEST(HangWatch, ends_the_process_where_its_work_does_not_end) {
  const auto hang = [] {
    const host::HangWatch watch(std::chrono::milliseconds(1), 2,
                                [] { std::cerr << "still reading /a" << std::endl; });
    for (;;) ::pause();
  };
  EXPECT_EXIT(hang(), testing::ExitedWithCode(2), "still reading /a");
}

TEST(HangWatch, says_nothing_of_work_that_ends) {
  bool said = false;
  {
    const host::HangWatch watch(std::chrono::hours(1), 2, [&] { said = true; });
  }
  EXPECT_FALSE(said);
}

TEST(BoundedHost, says_what_is_read_also_of_a_host_that_it_owns) {
  ManualClock clock;
  host::ReadingNow now;
  host::BoundedHost host(host_of("t /a b\n"), clock, std::chrono::milliseconds(10), &now);
  EXPECT_EQ(host.read("/a").value(), "b\n");
  EXPECT_EQ(now.path(), "/a");
  EXPECT_TRUE(host.list("/lib").has_value());
  EXPECT_EQ(now.path(), "/lib");
}

}  // namespace
}  // namespace railhead::test
