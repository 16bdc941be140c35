// SPDX-License-Identifier: Apache-2.0
#include "agent/machine_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "agent/metrics.h"
#include "loop/mail_loop.h"
#include "unit/host/temporary_directory.h"
#include "unit/manual_clock.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A reader on the thread of its owner, whose machine takes time by the clock to be read. The
/// machine is a text, its events are those of a tree.
class MachineReaderTest : public testing::Test, public agent::MachineReader::Owner {
 protected:
  MachineReaderTest() { fs::create_directories(root_.path() / "dev/infiniband"); }

  void begin(agent::ReadTimes times = {3600s, 0s, 1ms}) {
    agent::MachineSource source;
    source.open = [this]() -> Result<std::unique_ptr<host::Host>> {
      clock_.advance(takes_);
      ++opened_;
      auto host = snapshot::SnapshotHost::parse(text_);
      if (!host || !is_short_) return host;
      return std::unique_ptr<host::Host>(new ShortHost(*std::move(host), EMFILE, 0));
    };
    source.open_watch = [this]() -> Result<std::unique_ptr<host::Watch>> {
      if (no_watch_) return Error{ErrorCode::unavailable, "epoll: too many open files"};
      return host::Watch::open(root_.path());
    };
    const agent::Context context{loop_, mail_.box(), clock_, log_, metrics_};
    reader_.emplace(context, agent::MachineReader::Links{tables_, shared_, *this, mail_.box()},
                    agent::MachineOptions{.source = std::move(source), .times = times});
    reader_->start(1);
    until([this] { return first_.has_value(); });
  }

  void watching(int events) override { events_.push_back(events); }

  void started(const Status& first) override { first_ = first; }

  void drained() override { ++drained_; }

  void look_again(std::string_view /*cause*/) override { ++changed_; }

  void fulfilled(std::uint64_t wish, bool is_read) override { fulfilled_ = {wish, is_read}; }

  void until(const std::function<bool()>& so) {
    while (!so() && loop_.run_one_for(30s) != 0) {
    }
    EXPECT_TRUE(so());
  }

  double readings(std::string_view cause) {
    return metrics_.node_reads.value(agent::label::Cause(cause));
  }

  void plug(const std::string& nic) const {
    fs::create_directories(root_.path() / "sys/class/infiniband" / nic);
  }

  boost::asio::io_context loop_;
  loop::MailLoop mail_{loop::Mailbox::open().value(), loop_};
  TemporaryDirectory root_;
  std::string text_ = machine_text("seed-8gpu-4nic");
  std::chrono::milliseconds takes_{0};
  int opened_ = 0;
  bool is_short_ = false;
  bool no_watch_ = false;
  test::ManualClock clock_;
  agent::Log log_{config::LogLevel::error, config::LogFormat::text};
  agent::Metrics metrics_;
  agent::TableFeed tables_;
  agent::MachineReader::Shared shared_;
  std::optional<Status> first_;
  std::vector<int> events_;
  int drained_ = 0;
  int changed_ = 0;
  std::pair<std::uint64_t, bool> fulfilled_{0, true};
  std::optional<agent::MachineReader> reader_;
};

TEST_F(MachineReaderTest, reads_for_events_a_third_of_the_time_at_most) {
  begin();
  takes_ = 100ms;
  plug("rxe0");
  reader_->fulfil(2, agent::Machine::kEvent);
  EXPECT_EQ(readings("event"), 1);
  clock_.advance(199ms);
  plug("rxe1");
  reader_->fulfil(3, agent::Machine::kEvent);
  EXPECT_EQ(readings("event"), 1) << "the pause is not over";
  until([this] { return fulfilled_.first == 3; });
  EXPECT_EQ(readings("event"), 2);
  clock_.advance(200ms);
  plug("rxe2");
  reader_->fulfil(4, agent::Machine::kEvent);
  EXPECT_EQ(readings("event"), 3);
}

TEST_F(MachineReaderTest, pauses_for_a_second_at_most) {
  begin();
  takes_ = 600s;
  plug("rxe0");
  reader_->fulfil(2, agent::Machine::kEvent);
  clock_.advance(1s);
  plug("rxe1");
  reader_->fulfil(3, agent::Machine::kEvent);
  EXPECT_EQ(readings("event"), 2);
}

TEST_F(MachineReaderTest, does_all_that_was_wished_for_during_a_pause) {
  begin();
  takes_ = 1ms;
  plug("rxe0");
  reader_->fulfil(2, agent::Machine::kEvent);
  clock_.advance(2ms);
  reader_->fulfil(3, agent::Machine::kUnknownGpu);
  reader_->fulfil(4, agent::Machine::kBlind);
  reader_->fulfil(5, agent::Machine::kEvent);
  until([this] { return fulfilled_.first == 5; });
  EXPECT_EQ(readings("unknown-gpu"), 1);
  EXPECT_EQ(readings("no-events"), 0) << "the numbers are what they were";
}

TEST_F(MachineReaderTest, repeats_a_reading_that_failed) {
  begin();
  is_short_ = true;
  plug("rxe0");
  reader_->fulfil(2, agent::Machine::kEvent);
  until([this] { return fulfilled_ == std::pair(std::uint64_t{2}, false); });
  EXPECT_EQ(tables_.latest()->node().nics.size(), 4U);
  is_short_ = false;
  until([this] { return fulfilled_ == std::pair(std::uint64_t{2}, true); });
  EXPECT_EQ(readings("timer"), 1);
}

TEST_F(MachineReaderTest, tells_of_events_when_they_can_be_had) {
  no_watch_ = true;
  begin();
  EXPECT_THAT(events_, testing::IsEmpty());
  EXPECT_TRUE(shared_.is_blind);
  no_watch_ = false;
  is_short_ = true;
  reader_->fulfil(2, agent::Machine::kUnknownGpu);  // fails, and is repeated
  until([this] { return !events_.empty(); });
  EXPECT_FALSE(shared_.is_blind);
  EXPECT_THAT(events_, testing::SizeIs(1));
}

/// Every user may touch a device node.
class TouchedNode : public MachineReaderTest {
 protected:
  TouchedNode() { std::ofstream(node_) << ""; }

  void touch() const { EXPECT_EQ(::utimensat(AT_FDCWD, node_.c_str(), nullptr, 0), 0); }

  const fs::path node_ = root_.path() / "dev/infiniband/uverbs0";
};

TEST_F(TouchedNode, is_no_change) {
  begin();
  touch();
  until([this] { return opened_ == 2; });
  loop_.poll();
  EXPECT_EQ(changed_, 0);
  reader_->fulfil(2, agent::Machine::kEvent);
  EXPECT_EQ(readings("event"), 0);
}

TEST_F(TouchedNode, with_another_mode_is_a_change_that_is_read) {
  begin();
  const std::string before = "/dev/infiniband/uverbs0 231:192 0666";
  text_.replace(text_.find(before), before.size(), "/dev/infiniband/uverbs0 231:192 0600");
  touch();
  until([this] { return changed_ == 1; });
  reader_->fulfil(2, agent::Machine::kEvent);
  EXPECT_EQ(readings("event"), 1);
  EXPECT_EQ(tables_.latest()->node().nics.at(0).uverbs.at(0).mode, 0600U);
}

}  // namespace
}  // namespace railhead::test
