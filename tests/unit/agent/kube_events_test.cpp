// SPDX-License-Identifier: Apache-2.0
#include "agent/kube_events.h"

#include <gmock/gmock.h>

#include "agent/hosted_service.h"
#include "unit/agent/api_server_test.h"
#include "unit/manual_clock.h"

namespace railhead::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const kube::EventObject kJob{"Pod", "train", "job-0", "1b4e28ba"};
constexpr const char* kReason = "RdmaRequiredNotMet";

class KubeEventsTest : public ApiServerTest {
 protected:
  KubeEventsTest()
      : ApiServerTest([](const std::string&) { return reply(201, "{}"); }) {
    options_.node = "gpu-a";
    options_.access = access();
    options_.look_every = 5ms;
    options_.repeat_after = 0ms;
    options_.refill = 1ms;
    options_.first_retry = 10ms;
    options_.longest_retry = 40ms;
    options_.try_at_start = false;
  }

  ~KubeEventsTest() override {
    if (service_) service_->stop(5s);
  }

  void start() {
    service_ =
        agent::make_hosted<agent::KubeEvents>(context(), "events", options_, std::ref(outbox_));
    ASSERT_TRUE(service_->start());
  }

  double counted(const char* outcome) {
    return metrics_.kube_events.value(
        metrics::Label<"outcome", "posted", "failed", "dropped">(outcome));
  }

  bool until_counted(const char* outcome, double number) {
    return until([&] { return counted(outcome) >= number; });
  }

  [[nodiscard]] static data::Value body(const std::string& request) {
    return data::parse_json(request.substr(request.find("\r\n\r\n"))).value();
  }

  agent::EventOutbox outbox_{metrics_, clock_};
  agent::KubeEventsOptions options_;
  std::unique_ptr<agent::Service> service_;
};

TEST_F(KubeEventsTest, what_happens_again_is_the_same_event_with_a_count) {
  start();
  outbox_.note(kJob, kReason, "first");
  ASSERT_TRUE(until_counted("posted", 1));
  outbox_.note(kJob, kReason, "second");
  ASSERT_TRUE(until_counted("posted", 2));
  const auto requests = server_.requests();
  ASSERT_THAT(verbs(), ElementsAre("POST", "PATCH"));
  EXPECT_THAT(requests[0],
              AllOf(HasSubstr("/api/v1/namespaces/train/events HTTP"), HasSubstr("Bearer t0\r\n")));
  const auto name = body(requests[0]).find("metadata")->find("name")->scalar;
  EXPECT_THAT(requests[1], HasSubstr("/api/v1/namespaces/train/events/" + name + " HTTP"));
  EXPECT_EQ(body(requests[1]).find("count")->scalar, "2");
  EXPECT_EQ(body(requests[1]).find("message")->scalar, "second");
  EXPECT_EQ(said(), "");
}

TEST_F(KubeEventsTest, a_pod_that_comes_again_and_again_is_patched_now_and_then) {
  options_.repeat_after = 1h;
  start();
  outbox_.note(kJob, kReason, "first");
  ASSERT_TRUE(until_counted("posted", 1));
  for (int i = 0; i < 500; ++i) outbox_.note(kJob, kReason, "again");
  auto other = kJob;
  other.name = "job-1";
  outbox_.note(other, kReason, "another is not held up");
  ASSERT_TRUE(until_counted("posted", 2));
  std::this_thread::sleep_for(50ms);
  EXPECT_THAT(verbs(), ElementsAre("POST", "POST"));
  EXPECT_EQ(counted("dropped"), 0);
}

TEST_F(KubeEventsTest, a_burst_is_told_slowly) {
  options_.burst = 3;
  options_.refill = 1h;
  start();
  for (int i = 0; i < 10; ++i) {
    auto pod = kJob;
    pod.name = "job-" + std::to_string(i);
    outbox_.note(pod, kReason, "a");
  }
  ASSERT_TRUE(until_counted("posted", 3));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(verbs().size(), 3U);
  EXPECT_EQ(counted("dropped"), 0) << "the others wait";
}

TEST_F(KubeEventsTest, an_event_that_the_server_has_forgotten_is_made_anew) {
  next_ = {reply(201, "{}"), reply(404, R"({"message":"events \"job-0.1\" not found"})")};
  start();
  outbox_.note(kJob, kReason, "first");
  ASSERT_TRUE(until_counted("posted", 1));
  outbox_.note(kJob, kReason, "second");
  ASSERT_TRUE(until_counted("posted", 2));
  ASSERT_THAT(verbs(), ElementsAre("POST", "PATCH", "POST"));
  EXPECT_EQ(body(server_.requests().back()).find("count")->scalar, "1");
  EXPECT_EQ(counted("failed"), 0);
}

TEST_F(KubeEventsTest, without_the_right_a_line_is_logged_and_events_are_lost) {
  usual_ = [](const std::string&) {
    return reply(403, R"({"kind":"Status","message":"events is forbidden"})");
  };
  start();
  for (int i = 0; i < 3; ++i) {
    outbox_.note(kJob, kReason, "a");
    ASSERT_TRUE(until_counted("dropped", i + 1));
  }
  EXPECT_EQ(counted("posted"), 0);
  const auto text = said();
  EXPECT_THAT(text, HasSubstr("warn events not posted why=\"POST /api/v1/namespaces/train/events: "
                              "403 Forbidden: events is forbidden\"\n"));
  EXPECT_EQ(text.find("not posted"), text.rfind("not posted")) << "once";
}

TEST_F(KubeEventsTest, without_the_right_that_is_said_at_the_start) {
  options_.try_at_start = true;
  usual_ = [](const std::string&) {
    return reply(403, R"({"kind":"Status","message":"events is forbidden"})");
  };
  start();
  ASSERT_TRUE(until([&] { return !said().empty(); }));
  EXPECT_THAT(said(), HasSubstr("warn events not posted why=\"POST "
                                "/api/v1/namespaces/default/events?dryRun=All: 403 Forbidden"));
  EXPECT_EQ(counted("failed"), 0) << "no event was";
  outbox_.note(kJob, kReason, "a");
  ASSERT_TRUE(until_counted("dropped", 1));
  const auto text = said();
  EXPECT_EQ(text.find("not posted"), text.rfind("not posted")) << "once";
}

TEST_F(KubeEventsTest, with_the_right_nothing_is_said_or_kept_at_the_start) {
  options_.try_at_start = true;
  start();
  ASSERT_TRUE(until([&] { return server_.requests().size() == 1; }));
  EXPECT_THAT(server_.requests()[0],
              HasSubstr("POST /api/v1/namespaces/default/events?dryRun=All"));
  EXPECT_EQ(body(server_.requests()[0]).find("involvedObject")->find("name")->scalar, "gpu-a");
  outbox_.note(kJob, kReason, "a");
  ASSERT_TRUE(until_counted("posted", 1));
  EXPECT_EQ(counted("posted"), 1);
  EXPECT_EQ(said(), "");
}

TEST_F(KubeEventsTest, an_event_that_is_refused_holds_up_no_other) {
  next_ = {reply(404, R"({"message":"namespaces \"gone\" not found"})")};
  options_.first_retry = options_.longest_retry = std::chrono::hours(1);
  start();
  outbox_.note({"Pod", "gone", "a", "1"}, kReason, "a");
  outbox_.note(kJob, kReason, "b");
  ASSERT_TRUE(until_counted("posted", 1));
  EXPECT_EQ(counted("dropped"), 1);
  EXPECT_EQ(server_.requests().size(), 2U);
}

TEST_F(KubeEventsTest, what_a_broken_server_did_not_take_is_told_later) {
  next_ = {reply(500, "oops"),
           reply(429, "", "Retry-After: 1\r\n"),
           {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", Reply::Then::cut}};
  start();
  outbox_.note(kJob, kReason, "a");
  ASSERT_TRUE(until_counted("posted", 1));
  EXPECT_EQ(counted("failed"), 3);
  EXPECT_EQ(counted("dropped"), 0);
  EXPECT_EQ(body(server_.requests().back()).find("count")->scalar, "1");
}

TEST_F(KubeEventsTest, a_server_that_never_answers_holds_up_nobody) {
  usual_ = [](const std::string&) { return Reply{"", Reply::Then::hang}; };
  start();
  outbox_.note(kJob, kReason, "a");
  ASSERT_TRUE(until([&] { return verbs().size() == 1; }));
  for (int i = 0; i < 5000; ++i) {
    auto pod = kJob;
    pod.name = "job-" + std::to_string(i);
    outbox_.note(pod, kReason, "a");
  }
  EXPECT_EQ(counted("dropped"), 5000 - 256);
  EXPECT_TRUE(service_->readiness().ready);
  EXPECT_TRUE(service_->stop(5s));
  service_.reset();
}

TEST_F(KubeEventsTest, without_a_service_account_a_line_is_logged) {
  std::filesystem::remove(folder_ / "token");
  start();
  outbox_.note(kJob, kReason, "a");
  ASSERT_TRUE(until_counted("failed", 3));
  const auto text = said();
  EXPECT_THAT(text, HasSubstr("/token"));
  EXPECT_EQ(text.find("not posted"), text.rfind("not posted"));
  EXPECT_TRUE(verbs().empty());
  EXPECT_EQ(counted("dropped"), 0) << "it waits for the token";
}

TEST(EventOutbox, joins_what_happened_again_also_with_what_was_put_back) {
  ManualClock clock;
  agent::Metrics metrics;
  agent::EventOutbox outbox(metrics, clock);
  const auto any = [](const kube::Event&) { return true; };
  outbox.note(kJob, kReason, "a");
  outbox.note(kJob, "Other", "b");
  outbox.note(kJob, kReason, "c");
  auto first = outbox.take(any);
  ASSERT_TRUE(first);
  EXPECT_EQ(std::tie(first->reason, first->message, first->count), std::tuple(kReason, "c", 2U));
  outbox.note(kJob, kReason, "d");
  outbox.put_back(*first);
  EXPECT_EQ(outbox.take(any)->reason, "Other");
  const auto joined = outbox.take(any);
  EXPECT_EQ(std::tie(joined->message, joined->count), std::tuple("d", 3U));
  EXPECT_FALSE(outbox.take(any));
}

}  // namespace
}  // namespace railhead::test
