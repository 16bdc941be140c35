// SPDX-License-Identifier: Apache-2.0
#include "loop/mailbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

namespace railhead::loop {
namespace {

using ::testing::ElementsAre;

bool is_readable(const Mailbox& box) {
  pollfd wanted{box.descriptor(), POLLIN, 0};
  return ::poll(&wanted, 1, 0) == 1;
}

TEST(Mailbox, does_what_was_posted_in_order_on_the_thread_that_runs_it) {
  const auto box = Mailbox::open();
  ASSERT_TRUE(box);
  std::vector<int> seen;
  const auto here = std::this_thread::get_id();
  EXPECT_FALSE(is_readable(**box));
  std::thread([&] {
    for (int i = 0; i < 3; ++i) {
      (*box)->post([&seen, i, here] {
        EXPECT_EQ(std::this_thread::get_id(), here);
        seen.push_back(i);
      });
    }
  }).join();
  EXPECT_TRUE(is_readable(**box));
  (*box)->run();
  EXPECT_THAT(seen, ElementsAre(0, 1, 2));
  EXPECT_FALSE(is_readable(**box));
  (*box)->run();
  EXPECT_THAT(seen, ElementsAre(0, 1, 2));
}

TEST(Mailbox, what_the_work_posts_waits_for_the_next_run) {
  const auto box = Mailbox::open();
  ASSERT_TRUE(box);
  int count = 0;
  std::function<void()> again = [&] {
    ++count;
    (*box)->post(again);
  };
  (*box)->post(again);
  (*box)->run();
  EXPECT_EQ(count, 1);
  EXPECT_TRUE(is_readable(**box));
  (*box)->run();
  EXPECT_EQ(count, 2);
}

TEST(Mailbox, many_threads_lose_nothing) {
  const auto box = Mailbox::open();
  ASSERT_TRUE(box);
  int count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) (*box)->post([&count] { ++count; });
    });
  }
  while (count < 4000) (*box)->run();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(count, 4000);
}

}  // namespace
}  // namespace railhead::loop
