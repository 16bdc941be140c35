// SPDX-License-Identifier: Apache-2.0
#include "loop/loop_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <thread>

namespace railhead::loop {
namespace {

using namespace std::chrono_literals;

TEST(LoopThread, work_is_done_on_the_thread_in_its_order) {
  auto thread = LoopThread::start("test").value();
  std::promise<std::thread::id> first;
  std::promise<std::thread::id> second;
  thread->mailbox().post([&] { first.set_value(std::this_thread::get_id()); });
  thread->mailbox().post([&] { second.set_value(std::this_thread::get_id()); });
  const auto where = first.get_future().get();
  EXPECT_NE(where, std::this_thread::get_id());
  EXPECT_EQ(second.get_future().get(), where);
  EXPECT_TRUE(thread->end(10s));
  EXPECT_TRUE(thread->end(0ms)) << "a second time";
}

TEST(LoopThread, one_that_waits_is_left_behind_and_says_so) {
  auto thread = LoopThread::start("stuck").value();
  auto release = std::make_shared<std::promise<void>>();
  auto left = std::make_shared<std::promise<void>>();
  auto done = left->get_future();
  thread->mailbox().post([release, left] {
    release->get_future().wait();
    left->set_value();
  });
  EXPECT_FALSE(thread->end(10ms));
  thread.reset();
  release->set_value();
  EXPECT_EQ(done.wait_for(10s), std::future_status::ready);
}

}  // namespace
}  // namespace railhead::loop
