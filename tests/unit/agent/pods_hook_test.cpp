// SPDX-License-Identifier: Apache-2.0
#include "agent/pods_hook.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>

#include "agent/metric_list.h"
#include "data/json.h"
#include "unit/host/temporary_directory.h"

namespace railhead {
namespace {

using testing::ElementsAre;

PodUse fallen_pod(const std::string& name = "a-1") {
  PodUse pod;
  pod.holder.pod_namespace = "train";
  pod.holder.pod = name;
  pod.holder.container = "main";
  pod.holder.gpus = {"GPU-2", "GPU-3"};
  pod.verdict = Verdict::tcp;
  pod.silent_fallback = true;
  pod.evidence = {{"proc net tcp", "4 TCP connections"}};
  return pod;
}

/// A program that ends when the test says so.
class PodsHookTest : public testing::Test {
 protected:
  PodsHookTest() { hook_->use({"/bin/hook", "argument"}); }

  ProgramEnd run(const ProgramCall& call) {
    std::unique_lock lock(mutex_);
    calls_.push_back(call);
    changed_.notify_all();
    changed_.wait(lock, [this] { return end_.has_value(); });
    return *std::exchange(end_, std::nullopt);
  }

  void await_calls(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return calls_.size() >= count; });
  }

  void end(const ProgramEnd& how) {
    {
      const std::lock_guard lock(mutex_);
      end_ = how;
    }
    changed_.notify_all();
    deliver();
  }

  /// Waits for what the hook's thread posts, as the agent's loop does.
  void deliver() {
    pollfd place{mailbox_->descriptor(), POLLIN, 0};
    ASSERT_EQ(::poll(&place, 1, 60'000), 1);
    mailbox_->run();
  }

  [[nodiscard]] double count(const std::string& outcome) const {
    return metrics_.value("railhead_pods_hook_events_total", {{"outcome", outcome}});
  }

  ManualClock clock_;
  Log log_{LogLevel::error, LogFormat::text};
  MetricRegistry metrics_{metric_list()};
  std::unique_ptr<Mailbox> mailbox_ = Mailbox::open().value();
  std::vector<ProgramCall> calls_;
  std::optional<ProgramEnd> end_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<PodsHook> hook_ =
      PodsHook::open(*mailbox_, clock_, log_, metrics_, [this](const auto& call, const auto&) {
        return run(call);
      }).value();
};

TEST_F(PodsHookTest, the_program_reads_one_line_with_the_members_of_the_pods_document) {
  hook_->tell("silent-fallback", fallen_pod(), "node-7");
  await_calls(1);
  EXPECT_THAT(calls_[0].words, ElementsAre("/bin/hook", "argument"));
  EXPECT_EQ(calls_[0].input.find('\n'), calls_[0].input.size() - 1);
  const auto event = Json::parse(calls_[0].input);
  EXPECT_EQ(event["kind"], "PodEvent");
  EXPECT_EQ(event["time"], "1970-01-01T00:00:00Z");
  EXPECT_EQ(event["node"], "node-7");
  EXPECT_EQ(event["event"], "silent-fallback");
  EXPECT_EQ(event["namespace"], "train");
  EXPECT_EQ(event["pod"], "a-1");
  EXPECT_EQ(event["container"], "main");
  EXPECT_EQ(event["gpus"], Json({"GPU-2", "GPU-3"}));
  EXPECT_EQ(event["nics"], Json::array());
  EXPECT_EQ(event["verdict"], "TCP");
  EXPECT_EQ(event["evidence"][0]["value"], "4 TCP connections");
  end({ProgramEnd::How::exited, 0, ""});
  EXPECT_EQ(count("done"), 1);
}

TEST_F(PodsHookTest, one_run_at_a_time_and_in_order) {
  hook_->tell("silent-fallback", fallen_pod("first"), "n");
  hook_->tell("silent-fallback", fallen_pod("second"), "n");
  await_calls(1);
  EXPECT_EQ(calls_.size(), 1U);
  end({ProgramEnd::How::exited, 1, "no such webhook"});
  await_calls(2);
  EXPECT_EQ(Json::parse(calls_[1].input)["pod"], "second");
  end({ProgramEnd::How::timed_out, 15, ""});
  EXPECT_EQ(count("failed"), 1);
  EXPECT_EQ(count("timed-out"), 1);
}

TEST_F(PodsHookTest, what_finds_no_place_is_counted) {
  for (std::size_t i = 0; i < PodsHook::kMaxWaiting + 3; ++i) {
    hook_->tell("silent-fallback", fallen_pod(), "n");
  }
  EXPECT_EQ(count("dropped"), 2);  // one runs
  await_calls(1);
  hook_->use({});  // what waits is for a program that is not wanted any more
  EXPECT_EQ(count("dropped"), 2 + PodsHook::kMaxWaiting);
  end({ProgramEnd::How::exited, 0, ""});
}

TEST_F(PodsHookTest, without_a_program_nothing_happens) {
  hook_->use({});
  hook_->tell("silent-fallback", fallen_pod(), "n");
  EXPECT_TRUE(calls_.empty());
  EXPECT_EQ(count("dropped"), 0);
}

TEST_F(PodsHookTest, another_program_gets_what_comes_after_it_was_named) {
  hook_->tell("silent-fallback", fallen_pod(), "n");
  await_calls(1);
  hook_->use({"/bin/other"});
  hook_->tell("recovered", fallen_pod(), "n");
  end({ProgramEnd::How::not_started, 2, "/bin/hook: no such file or directory"});
  await_calls(2);
  EXPECT_THAT(calls_[1].words, ElementsAre("/bin/other"));
  end({ProgramEnd::How::exited, 0, ""});
  EXPECT_EQ(count("not-started"), 1);
}

TEST_F(PodsHookTest, a_real_program_gets_the_event_and_an_agent_that_stops_ends_it) {
  const TemporaryDirectory folder;
  const auto path = folder / "hook";
  std::ofstream(path) << "#!/bin/sh\ncat > " << (folder / "event") << "\ntest \"$1\" != hang || "
                      << "while :; do sleep 0.01; done\n";
  ::chmod(path.c_str(), 0755);
  auto hook = PodsHook::open(*mailbox_, clock_, log_, metrics_).value();
  hook->use({path});
  hook->tell("gone", fallen_pod(), "n");
  deliver();
  EXPECT_EQ(count("done"), 1);
  EXPECT_EQ(Json::parse(file_text(folder / "event"))["event"], "gone");
  hook->use({path, "hang"});
  hook->tell("gone", fallen_pod(), "n");
  hook.reset();  // returns
}

}  // namespace
}  // namespace railhead
