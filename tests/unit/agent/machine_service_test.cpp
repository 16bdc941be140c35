// SPDX-License-Identifier: Apache-2.0
#include "agent/machine_service.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/inotify.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

#include "agent/metrics.h"
#include "host/directory_host.h"
#include "loop/mail_loop.h"
#include "unit/host/temporary_directory.h"
#include "unit/manual_clock.h"

namespace railhead::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Readings stop here while it is closed, as in a driver that hangs.
class Door {
 public:
  void close() { set(false); }

  void open() { set(true); }

  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }

  /// Somebody has come to the door since `before` did.
  void await_arrival(int before) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ > before; });
  }

  int arrived() {
    const std::lock_guard lock(mutex_);
    return arrived_;
  }

 private:
  void set(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int arrived_ = 0;
};

class MachineServiceTest : public testing::Test {
 protected:
  enum class Is : std::uint8_t { well, blind, stuck };

  explicit MachineServiceTest(Is is = Is::well)
      : is_blind_(is == Is::blind) {
    if (is == Is::stuck) door_.close();
    clock_.advance(1h);
    fs::create_directories(root_.path() / "sys/class/infiniband");
    if (is_blind_) number("231:192");
    agent::MachineSource source;
    source.open = [this] {
      door_.pass();
      if (is_gone_)
        return Result<std::unique_ptr<host::Host>>(Error{ErrorCode::unavailable, "gone"});
      return host::DirectoryHost::open(root_.path());
    };
    source.open_watch = [this] {
      auto sources = host::WatchSources::of_kernel();
      sources.uevents = sources.links = {};
      sources.add_watch = [this](int inotify, const char* path, std::uint32_t events) {
        errno = ENOSPC;
        return is_blind_ ? -1 : ::inotify_add_watch(inotify, path, events);
      };
      return host::Watch::open_with(root_.path(), std::move(sources));
    };
    service_.emplace(agent::Context{loop_, mail_.box(), clock_, log_, metrics_}, tables_,
                     agent::MachineOptions{.source = std::move(source), .times = {3600s, 0s, 1ms}},
                     first_reading(is));
    EXPECT_TRUE(service_->start());
    if (is == Is::stuck) return;
    EXPECT_TRUE(until([this] { return first_.has_value(); }));
    EXPECT_TRUE(*first_);
  }

  agent::FirstReading first_reading(Is is) {
    return {.done = [this](const Status& first) { first_ = first; },
            .late = [this] { ++late_; },
            .patience = is == Is::stuck ? 1ms : 3600s};
  }

  ~MachineServiceTest() override {
    door_.open();
    tables_.close();
    EXPECT_TRUE(service_->stop(60s));
  }

  bool until(const std::function<bool()>& so) {
    while (!so()) {
      if (loop_.run_one_for(30s) == 0) return false;
    }
    return true;
  }

  void plug(const std::string& nic) const {
    fs::create_directories(root_.path() / "sys/class/infiniband" / nic / "ports/1");
  }

  /// A device whose node has these numbers.
  void number(const std::string& dev) const {
    plug("rxe0");
    const auto folder = root_.path() / "sys/class/infiniband_verbs/uverbs0";
    fs::create_directories(folder);
    std::ofstream(folder / "ibdev") << "rxe0\n";
    std::ofstream(folder / "dev") << dev << "\n";
  }

  [[nodiscard]] std::size_t nics() const { return service_->table()->node().nics.size(); }

  /// What a hook would decide by, and whether it was the freshest.
  std::pair<std::size_t, bool> hook(std::chrono::milliseconds patience) {
    std::optional<bool> answer;
    service_->wait(patience, [&](bool fresh) { answer = fresh; });
    EXPECT_TRUE(until([&] { return answer.has_value(); }));
    return {nics(), answer.value_or(false)};
  }

  const bool is_blind_;
  boost::asio::io_context loop_;
  loop::MailLoop mail_{loop::Mailbox::open().value(), loop_};
  TemporaryDirectory root_;
  Door door_;
  test::ManualClock clock_;
  std::atomic<bool> is_gone_{false};
  agent::Log log_{config::LogLevel::error, config::LogFormat::text};
  agent::Metrics metrics_;
  agent::TableFeed tables_;
  std::optional<Status> first_;
  int late_ = 0;
  std::optional<agent::MachineService> service_;
};

TEST_F(MachineServiceTest, a_hook_waits_for_what_has_just_been_plugged_in) {
  EXPECT_EQ(nics(), 0U);
  EXPECT_FALSE(service_->is_behind());
  EXPECT_FALSE(service_->is_stale());
  plug("rxe0");
  ASSERT_TRUE(until([this] { return service_->is_behind(); }));
  EXPECT_TRUE(service_->is_stale());
  EXPECT_EQ(hook(60s), std::pair(std::size_t{1}, true));
  EXPECT_FALSE(service_->is_behind());
  EXPECT_FALSE(service_->is_stale());
}

TEST_F(MachineServiceTest, a_driver_that_hangs_costs_one_wait_and_no_more) {
  door_.close();
  const int before = door_.arrived();
  plug("rxe0");
  ASSERT_TRUE(until([this] { return service_->is_behind(); }));
  door_.await_arrival(before);
  EXPECT_EQ(hook(1ms), std::pair(std::size_t{0}, false));
  EXPECT_FALSE(service_->is_behind()) << "no use to wait again";
  EXPECT_TRUE(service_->is_stale()) << "the next decision is as old";
  door_.open();
  EXPECT_TRUE(until([this] { return nics() == 1; }));
  plug("rxe1");
  ASSERT_TRUE(until([this] { return service_->is_behind(); }));
  EXPECT_EQ(hook(60s), std::pair(std::size_t{2}, true));
}

TEST_F(MachineServiceTest, an_event_while_a_driver_hangs_costs_no_wait) {
  door_.close();
  const int before = door_.arrived();
  service_->look_again(agent::Machine::kUnknownGpu);
  door_.await_arrival(before);
  EXPECT_TRUE(service_->is_behind()) << "it has only begun";
  clock_.advance(1s);
  plug("rxe0");
  EXPECT_FALSE(service_->is_behind());
  EXPECT_TRUE(service_->is_stale());
  door_.open();
  EXPECT_TRUE(until([this] { return nics() == 1 && !service_->is_stale(); }));
}

TEST_F(MachineServiceTest, a_reading_that_no_event_wanted_is_waited_for) {
  door_.close();
  const int before = door_.arrived();
  service_->look_again(agent::Machine::kUnknownGpu);
  door_.await_arrival(before);
  door_.open();
  EXPECT_TRUE(hook(60s).second);
}

TEST_F(MachineServiceTest, a_table_that_nobody_wished_for_counts_too) {
  const auto other = std::make_shared<const inject::DecisionTable>(*service_->table());
  tables_.publish(other);
  EXPECT_EQ(service_->table(), other);
}

TEST_F(MachineServiceTest, what_comes_during_a_reading_is_read_after_it) {
  door_.close();
  const int before = door_.arrived();
  plug("rxe0");
  ASSERT_TRUE(until([this] { return service_->is_behind(); }));
  door_.await_arrival(before);
  plug("rxe1");
  door_.open();
  EXPECT_TRUE(until([this] { return nics() == 2 && !service_->is_behind(); }));
}

TEST_F(MachineServiceTest, other_settings_come_with_their_table) {
  agent::MachineSettings settings;
  settings.policy.gpus = config::GpuPolicy::none;
  std::optional<Status> done;
  service_->reconfigure(std::move(settings), {3600s, 0s}, [&](const Status& outcome) {
    EXPECT_EQ(service_->table()->policy().gpus, config::GpuPolicy::none);
    done = outcome;
  });
  ASSERT_TRUE(until([&] { return done.has_value(); }));
  EXPECT_TRUE(*done);
}

TEST_F(MachineServiceTest, a_thread_that_hangs_at_the_end_is_left_behind) {
  door_.close();
  const int before = door_.arrived();
  service_->look_again(agent::Machine::kUnknownGpu);
  door_.await_arrival(before);
  EXPECT_FALSE(service_->stop(1ms));
}

TEST_F(MachineServiceTest, an_unreadable_machine_is_stale_and_nobody_waits_for_it) {
  is_gone_ = true;
  plug("rxe0");
  ASSERT_TRUE(until([this] { return service_->is_behind(); }));
  EXPECT_EQ(hook(60s), std::pair(std::size_t{0}, false));
  EXPECT_FALSE(service_->is_behind());
  EXPECT_TRUE(service_->is_stale());
  EXPECT_THAT(service_->readiness().text, testing::HasSubstr("cannot be read"));
  is_gone_ = false;
  EXPECT_TRUE(until([this] { return !service_->is_stale(); })) << "it is tried again";
  EXPECT_EQ(nics(), 1U);
  EXPECT_EQ(service_->readiness().text, "");
}

TEST_F(MachineServiceTest, a_reading_that_does_not_end_is_told_of) {
  service_->publish();
  EXPECT_EQ(metrics_.node_reading_seconds.value(), 0);
  door_.close();
  const int before = door_.arrived();
  service_->look_again(agent::Machine::kUnknownGpu);
  door_.await_arrival(before);
  clock_.advance(35s);
  service_->publish();
  EXPECT_EQ(metrics_.node_reading_seconds.value(), 35);
  EXPECT_TRUE(service_->readiness().ready);
  EXPECT_EQ(service_->readiness().text, "node: being read for 35 s, the last reading counts");
  door_.open();
  EXPECT_TRUE(hook(60s).second);
  service_->publish();
  EXPECT_EQ(metrics_.node_reading_seconds.value(), 0);
  EXPECT_EQ(service_->readiness().text, "");
}

TEST_F(MachineServiceTest, readings_without_events_leave_one_wait_for_events) {
  for (int reading = 0; reading < 100; ++reading) {
    service_->look_again(agent::Machine::kUnknownGpu);
    EXPECT_TRUE(hook(60s).second);
  }
  plug("rxe0");
  ASSERT_TRUE(until([this] { return service_->is_behind(); }));
  EXPECT_LT(loop_.poll(), 10U);
}

/// The loop does what waits in this turn, requests among it, before it looks at descriptors again.
TEST_F(MachineServiceTest, an_event_during_a_reading_is_known_when_its_reading_is_done) {
  auto box = loop::Mailbox::open().value();
  int tables = 0;
  tables_.follow(*box, [&] { ++tables; });
  door_.close();
  const int before = door_.arrived();
  plug("rxe0");
  ASSERT_TRUE(until([this] { return service_->is_behind(); }));
  std::optional<bool> behind;
  service_->wait(60s, [&](bool) { behind = service_->is_behind(); });
  door_.await_arrival(before);
  plug("rxe1");
  door_.open();
  // Its table comes when all that the reading tells is in our mailbox.
  service_->reconfigure({}, {3600s, 0s}, [](const Status&) {});
  while (tables < 2) {
    pollfd mail{box->descriptor(), POLLIN, 0};
    ::poll(&mail, 1, -1);
    box->run();
  }
  ASSERT_TRUE(until([&] { return behind.has_value(); }));
  EXPECT_TRUE(*behind);
}

TEST_F(MachineServiceTest, with_events_no_answer_looks_at_device_nodes) {
  number("231:192");
  ASSERT_TRUE(until([this] { return nics() == 1 && !service_->is_behind(); }));
  EXPECT_TRUE(until([this] { return service_->table()->node().nics[0].uverbs.size() == 1; }));
  while (loop_.poll() != 0) {
  }
  const int before = door_.arrived();
  EXPECT_FALSE(service_->is_behind());
  EXPECT_EQ(door_.arrived(), before);
}

class BlindMachineService : public MachineServiceTest {
 protected:
  BlindMachineService()
      : MachineServiceTest(Is::blind) {}
};

TEST_F(BlindMachineService, looks_at_device_numbers_before_each_answer) {
  const auto minor = [this] { return service_->table()->node().nics.at(0).uverbs.at(0).minor; };
  EXPECT_EQ(minor(), 192U);
  number("231:200");
  EXPECT_TRUE(service_->is_behind());
  EXPECT_TRUE(hook(60s).second);
  EXPECT_EQ(minor(), 200U);
  EXPECT_TRUE(service_->is_behind()) << "before each";
}

class StuckMachineService : public MachineServiceTest {
 protected:
  StuckMachineService()
      : MachineServiceTest(Is::stuck) {}
};

TEST_F(StuckMachineService, that_is_not_read_in_time_has_nothing_and_says_so) {
  plug("rxe0");
  EXPECT_EQ(service_->table(), nullptr);
  ASSERT_TRUE(until([this] { return late_ == 1; }));
  EXPECT_FALSE(first_);
  EXPECT_EQ(nics(), 0U);
  EXPECT_EQ(tables_.latest(), nullptr) << "nobody else is told that there is nothing";
  EXPECT_TRUE(service_->is_stale());
  EXPECT_TRUE(service_->is_behind()) << "it may come in time";
  EXPECT_EQ(hook(1ms), std::pair(std::size_t{0}, false));
  EXPECT_FALSE(service_->is_behind());
  EXPECT_FALSE(service_->readiness().ready);
  door_.open();
  ASSERT_TRUE(until([this] { return first_.has_value(); }));
  EXPECT_EQ(nics(), 1U);
  EXPECT_TRUE(until([this] { return !service_->is_stale(); })) << "the event of rxe0 is read, too";
  EXPECT_TRUE(service_->readiness().ready);
}

TEST_F(StuckMachineService, is_ready_when_those_who_need_it_have_been_told) {
  EXPECT_FALSE(service_->readiness().ready);
  door_.open();
  while (!tables_.latest()) std::this_thread::sleep_for(1ms);  // published by the reader's thread
  EXPECT_FALSE(service_->readiness().ready)
      << "who registers with runtime and kubelet has not begun";
  ASSERT_TRUE(until([this] { return first_.has_value(); }));
  EXPECT_TRUE(service_->readiness().ready);
}

}  // namespace
}  // namespace railhead::test
