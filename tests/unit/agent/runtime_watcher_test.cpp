// SPDX-License-Identifier: Apache-2.0
#include "agent/runtime_watcher.h"

#include <gtest/gtest.h>

#include <vector>

#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

constexpr const char* kStatus = "Name:\tcontainerd\nUid:\t0\nCapEff:\t000001ffffffffff\n";

class RuntimeWatcherTest : public testing::Test {
 protected:
  /// The answers for a runtime of this process, on a machine that is opened in vain so often.
  std::vector<agent::RuntimeProcess> answers(std::optional<int> pid, int failures) {
    nri::RuntimePeer peer;
    peer.name = "containerd";
    peer.pid = pid;
    std::vector<agent::RuntimeProcess> all;
    boost::asio::io_context loop;
    const auto open = [&]() -> Result<std::unique_ptr<host::Host>> {
      if (failures-- > 0) return Error{ErrorCode::unavailable, "/: too many open files"};
      return host_of(machine_);
    };
    agent::RuntimeWatcher watcher(loop, open, "/proc", std::chrono::milliseconds(0));
    watcher.connected(peer, [&](const agent::RuntimeProcess& process) { all.push_back(process); });
    loop.run();
    return all;
  }

  std::string machine_ =
      file_entry("/proc/7/comm", "containerd\n") + file_entry("/proc/7/status", kStatus);
};

TEST_F(RuntimeWatcherTest, a_runtime_that_is_read_is_told_once) {
  const auto all = answers(7, 0);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_FALSE(all.front().in_doubt);
}

TEST_F(RuntimeWatcherTest, one_that_could_not_be_read_is_in_doubt_until_it_could) {
  const auto all = answers(7, 3);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all.front().in_doubt);
  EXPECT_FALSE(all.back().in_doubt);
  EXPECT_EQ(all.back().pid, 7);
}

TEST_F(RuntimeWatcherTest, a_process_that_has_gone_is_an_answer) {
  const auto all = answers(8, 0);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(all.front().in_doubt);
}

TEST_F(RuntimeWatcherTest, a_command_of_the_runtimes_program_counts_while_it_runs) {
  nri::RuntimePeer peer;
  peer.name = "containerd";
  const auto command = file_entry("/proc/8/comm", "containerd\n") +
                       file_entry("/proc/8/status", "Name:\tcontainerd\nUid:\t0\nCapEff:\t0\n");
  int looks = 0;
  boost::asio::io_context loop;
  const auto open = [&]() -> Result<std::unique_ptr<host::Host>> {
    return host_of(++looks == 1 ? machine_ + command : machine_);
  };
  std::vector<agent::RuntimeProcess> all;
  agent::RuntimeWatcher watcher(loop, open, "/proc", std::chrono::milliseconds(0));
  watcher.connected(peer, [&](const agent::RuntimeProcess& process) { all.push_back(process); });
  loop.run();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_FALSE(all.front().pid);
  EXPECT_EQ(all.back().pid, 7);
}

TEST_F(RuntimeWatcherTest, one_that_went_while_it_was_looked_at_is_none) {
  nri::RuntimePeer peer;
  peer.name = "containerd";
  const auto gone = file_entry("/proc/8/comm", "containerd\n");  // no status any more
  const auto process = agent::read_runtime(peer, *host_of(machine_ + gone), "/proc");
  EXPECT_FALSE(process.in_doubt);
  EXPECT_EQ(process.pid, 7);
}

/// Otherwise it would be one that nobody sees, which is taken for able to do everything.
TEST_F(RuntimeWatcherTest, a_process_whose_name_cannot_be_read_now_is_in_doubt) {
  nri::RuntimePeer peer;
  peer.name = "containerd";
  const auto broken = host_of("e /proc/7/comm EMFILE\n");
  const auto process = agent::read_runtime(peer, *broken, "/proc");
  EXPECT_TRUE(process.in_doubt);
  EXPECT_TRUE(process.may_be_read_later);
}

}  // namespace
}  // namespace railhead::test
