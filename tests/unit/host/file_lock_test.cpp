// SPDX-License-Identifier: Apache-2.0
#include "host/file_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "host/input_file.h"
#include "host/watch.h"
#include "unit/host/temporary_directory.h"

namespace railhead::host {
namespace {

TEST(FileLock, a_pipe_is_no_lock_and_keeps_nobody) {
  const test::TemporaryDirectory directory;
  const std::string pipe = directory / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(FileLock::try_take(pipe).error().message, pipe + ": is not a file");
}

TEST(FileLock, one_holder_at_a_time) {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "lock";
  {
    const auto first = FileLock::try_take(path);
    ASSERT_TRUE(first);
    ASSERT_TRUE(first->has_value());
    const auto second = FileLock::try_take(path);
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->has_value());
  }
  const auto third = FileLock::try_take(path);
  ASSERT_TRUE(third);
  EXPECT_TRUE(third->has_value());
}

TEST(FileLock, a_name_that_was_given_to_another_file_is_told) {
  const test::TemporaryDirectory folder;
  const auto path = folder / "lock";
  const auto lock = FileLock::try_take(path);
  ASSERT_TRUE(lock && *lock);
  EXPECT_TRUE((*lock)->is_at(path));
  std::filesystem::remove(path);
  EXPECT_FALSE((*lock)->is_at(path));
  const auto next = FileLock::try_take(path);
  EXPECT_TRUE(next && *next);
  EXPECT_FALSE((*lock)->is_at(path));
}

TEST(FileLock, the_file_ends_with_its_holder) {
  const test::TemporaryDirectory folder;
  const auto path = folder / "lock";
  {
    auto lock = FileLock::try_take(path);
    ASSERT_TRUE(lock && *lock);
    const FileLock moved = std::move(**lock);
    EXPECT_TRUE(moved.is_at(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(FileLock, the_file_of_another_stays) {
  const test::TemporaryDirectory folder;
  const auto path = folder / "lock";
  auto lock = FileLock::try_take(path);
  ASSERT_TRUE(lock && *lock);
  std::filesystem::remove(path);
  const auto next = FileLock::try_take(path);
  ASSERT_TRUE(next && *next);
  lock->reset();
  EXPECT_TRUE((*next)->is_at(path));
}

TEST(FileLock, two_never_hold_one_name_while_locks_come_and_go) {
  const test::TemporaryDirectory folder;
  const auto path = folder / "lock";
  std::atomic<int> holders{0};
  std::atomic<int> most{0};
  std::vector<std::thread> takers;
  for (int taker = 0; taker < 4; ++taker) {
    takers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        const auto lock = FileLock::try_take(path);
        ASSERT_TRUE(lock);
        if (!*lock) continue;
        const int now = ++holders;
        if (now > most) most = now;
        --holders;
      }
    });
  }
  for (auto& taker : takers) taker.join();
  EXPECT_EQ(most, 1);
}

TEST(FileLock, looking_at_a_lock_is_no_event) {
  const test::TemporaryDirectory folder;
  const auto path = folder / "lock";
  const auto lock = FileLock::try_take(path);
  ASSERT_TRUE(lock && *lock);
  auto watch = Watch::open("/", {folder.path().string()}).value();
  const auto other = FileLock::try_take(path);
  ASSERT_TRUE(other);
  EXPECT_FALSE(watch->drain());
}

TEST(FileLock, a_folder_that_is_not_there_is_an_error_with_its_path) {
  const auto lock = FileLock::try_take("/nonexistent/railhead.lock");
  ASSERT_FALSE(lock);
  EXPECT_NE(lock.error().message.find("/nonexistent/railhead.lock"), std::string::npos);
}

TEST(FileLock, a_link_is_not_followed) {
  const test::TemporaryDirectory directory;
  std::filesystem::create_symlink(directory / "elsewhere", directory / "lock");
  EXPECT_FALSE(FileLock::try_take(directory / "lock"));
  EXPECT_FALSE(std::filesystem::exists(directory / "elsewhere"));
}

TEST(FileIdentity, a_file_made_anew_is_another_one) {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "file";
  EXPECT_FALSE(identity_of(path));
  ASSERT_TRUE(write_file_atomic(path, "a"));
  const auto before = identity_of(path);
  ASSERT_TRUE(before);
  EXPECT_EQ(before, identity_of(path));
  std::filesystem::remove(path);
  ASSERT_TRUE(write_file_atomic(path, "a"));
  EXPECT_NE(before, identity_of(path));
}

}  // namespace
}  // namespace railhead::host
