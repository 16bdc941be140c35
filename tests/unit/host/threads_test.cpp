// SPDX-License-Identifier: Apache-2.0
#include "host/threads.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <string>

#include <gtest/gtest.h>

#include "unit/this_program.h"

namespace railhead::test {
namespace {

TEST(Threads, some_are_left) {
  EXPECT_TRUE(host::has_threads_left(8));
}

TEST(Threads, without_room_for_their_stacks_it_says_so) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer has taken all addresses";
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  rlimit few = before;
  few.rlim_cur = 1;
  ::setrlimit(RLIMIT_AS, &few);
  const auto outcome = host::has_threads_left(100);  // some may have stacks of earlier ones
  ::setrlimit(RLIMIT_AS, &before);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, testing::StartsWith("no thread is left: "));
}

}  // namespace
}  // namespace railhead::test
