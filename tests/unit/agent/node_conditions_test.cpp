// SPDX-License-Identifier: Apache-2.0
#include "agent/node_conditions_service.h"

#include <gmock/gmock.h>

#include "data/below.h"
#include "unit/agent/api_server_test.h"
#include "unit/stepped_clock.h"

namespace railhead::test {
namespace {

using namespace std::chrono_literals;
using checks::Outcome;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kType = "RDMALinkUnhealthy";
constexpr const char* kOther = "RDMAMemoryLockTooLow";

/// An API server with one node, whose next answers a test may choose.
class NodeConditionsTest : public ApiServerTest {
 protected:
  NodeConditionsTest()
      : ApiServerTest([this](const std::string&) { return reply(200, node_); }) {
    options_.node = "node-1";
    options_.access = access();
    options_.look_every = 5ms;
    options_.stale_after = 1h;
    options_.shortest_gap = 0ms;
    options_.first_retry = 0ms;
    options_.longest_retry = 0ms;
  }

  ~NodeConditionsTest() override {
    if (service_) service_->stop(5s);
  }

  void start() {
    service_.emplace(agent::Context{loop_, mail_.box(), stepped_, log_, metrics_}, options_, seen_);
    ASSERT_TRUE(service_->start());
  }

  /// The doctor looks, and finds this of the links; of memlock it knows nothing.
  void look(Outcome outcome, const std::string& message = "text") {
    seen_.set(std::make_shared<const checks::ConditionsSeen>(checks::ConditionsSeen{
        {{kType, outcome, "RDMALinkIsDown", message}, {kOther, Outcome::unknown, "NotKnown", ""}},
        stepped_.now(),
        stepped_.calendar()}));
  }

  double counted(const char* outcome) {
    return metrics_.node_conditions.value(metrics::Label<"outcome", "written", "failed">(outcome));
  }

  bool until_counted(const char* outcome, double number) {
    return until([&] { return counted(outcome) >= number; });
  }

  /// "TYPE STATUS REASON: MESSAGE at HEARTBEAT since TRANSITION" of the last patch, by second.
  [[nodiscard]] std::vector<std::string> patched() const {
    const auto last = server_.requests().back();
    EXPECT_THAT(last, StartsWith("PATCH /api/v1/nodes/node-1/status HTTP"));
    const auto body = data::parse_json(last.substr(last.find("\r\n\r\n"))).value();
    std::vector<std::string> lines;
    for (const auto& one : data::items_below(body, {"status", "conditions"})) {
      const auto text = [&](const char* key) { return std::string(data::text_below(one, {key})); };
      lines.push_back(text("type") + " " + text("status") + " " + text("reason") + ": " +
                      text("message") + " at " + text("lastHeartbeatTime").substr(14) + " since " +
                      text("lastTransitionTime").substr(14));
    }
    return lines;
  }

  std::string node_ = R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})";
  SteppedClock stepped_;
  loop::Shared<checks::LatestConditions> seen_;
  agent::NodeConditionsOptions options_;
  std::optional<agent::NodeConditionsService> service_;
};

TEST_F(NodeConditionsTest, nothing_is_asked_before_the_first_look) {
  start();
  std::this_thread::sleep_for(100ms);
  EXPECT_THAT(verbs(), IsEmpty());
  EXPECT_EQ(service_->readiness().text, "node conditions: no look yet");
  EXPECT_TRUE(service_->readiness().ready);
}

TEST_F(NodeConditionsTest, what_is_known_is_written_and_the_rest_is_not) {
  start();
  look(Outcome::problem, "mlx5_3/1: DOWN");
  ASSERT_TRUE(until_counted("written", 1));
  EXPECT_THAT(verbs(), ElementsAre("GET", "PATCH"));
  EXPECT_THAT(server_.requests()[0], StartsWith("GET /api/v1/nodes/node-1/status HTTP"));
  EXPECT_THAT(
      patched(),
      ElementsAre("RDMALinkUnhealthy True RDMALinkIsDown: mlx5_3/1: DOWN at 13:20Z since 13:20Z"));
  EXPECT_TRUE(until([&] { return service_->readiness().text == "node conditions: written"; }));
  EXPECT_EQ(said(), "");
}

TEST_F(NodeConditionsTest, what_has_not_changed_is_written_again_as_a_heartbeat_alone) {
  start();
  look(Outcome::good);
  ASSERT_TRUE(until_counted("written", 1));
  stepped_.advance(60s);
  look(Outcome::good);
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(counted("written"), 1);
  stepped_.advance(240s);
  ASSERT_TRUE(until_counted("written", 2));
  EXPECT_THAT(patched(),
              ElementsAre("RDMALinkUnhealthy False RDMALinkIsDown: text at 14:20Z since 13:20Z"))
      << "the time is that of the look";
  stepped_.advance(300s);
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(counted("written"), 2) << "without a look it would not be true";
  look(Outcome::good);
  ASSERT_TRUE(until_counted("written", 3));
  EXPECT_THAT(patched(),
              ElementsAre("RDMALinkUnhealthy False RDMALinkIsDown: text at 23:20Z since 13:20Z"));
}

TEST_F(NodeConditionsTest, a_change_is_written_at_once_with_its_time) {
  start();
  look(Outcome::good);
  ASSERT_TRUE(until_counted("written", 1));
  stepped_.advance(10s);
  look(Outcome::problem);
  ASSERT_TRUE(until_counted("written", 2));
  EXPECT_THAT(patched(),
              ElementsAre("RDMALinkUnhealthy True RDMALinkIsDown: text at 13:30Z since 13:30Z"));
  stepped_.advance(10s);
  look(Outcome::problem, "another port");
  ASSERT_TRUE(until_counted("written", 3));
  EXPECT_THAT(patched(), ElementsAre("RDMALinkUnhealthy True RDMALinkIsDown: another port at "
                                     "13:40Z since 13:30Z"))
      << "the status is as it was";
}

TEST_F(NodeConditionsTest, what_an_agent_before_wrote_goes_on) {
  node_ = R"({"status":{"conditions":[
      {"type":"RDMALinkUnhealthy","status":"True","lastTransitionTime":"2023-11-14T00:01:02Z"},
      {"type":"RDMAMemoryLockTooLow","status":"False",
       "lastTransitionTime":"2023-11-14T00:00:00Z"}]}})";
  start();
  look(Outcome::problem);
  ASSERT_TRUE(until_counted("written", 1));
  EXPECT_THAT(patched(),
              ElementsAre("RDMALinkUnhealthy True RDMALinkIsDown: text at 13:20Z since 01:02Z",
                          "RDMAMemoryLockTooLow Unknown NotKnown:  at 13:20Z since 13:20Z"));
}

TEST_F(NodeConditionsTest, without_looks_nothing_is_known_any_more) {
  start();
  look(Outcome::good);
  ASSERT_TRUE(until_counted("written", 1));
  stepped_.advance(3600s);
  ASSERT_TRUE(until_counted("written", 2));
  EXPECT_THAT(
      patched(),
      ElementsAre("RDMALinkUnhealthy Unknown NotKnown: no look since "
                  "2023-11-14T22:13:20Z: reading the machine hangs at 13:20Z since 13:20Z"));
  stepped_.advance(3600s);
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(counted("written"), 2) << "a heartbeat would say that somebody looks";
}

TEST_F(NodeConditionsTest, writes_have_a_pause_between_and_the_newest_counts) {
  options_.shortest_gap = 10s;
  start();
  look(Outcome::good);
  ASSERT_TRUE(until_counted("written", 1));
  look(Outcome::problem);
  stepped_.advance(1s);
  look(Outcome::problem, "newest");
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(counted("written"), 1);
  stepped_.advance(9s);
  ASSERT_TRUE(until_counted("written", 2));
  EXPECT_THAT(patched()[0], HasSubstr("newest"));
}

TEST_F(NodeConditionsTest, each_refusal_is_said_once_and_overcome) {
  next_ = {reply(403, R"({"message":"nodes \"node-1\" is forbidden"})"), reply(403, ""),
           reply(403, ""), reply(500, "oops")};
  start();
  look(Outcome::good);
  ASSERT_TRUE(until_counted("written", 1));
  EXPECT_EQ(counted("failed"), 4);
  const auto text = said();
  EXPECT_THAT(text, HasSubstr("warn node conditions not written node=node-1 why=\"GET "
                              "/api/v1/nodes/node-1/status: 403 Forbidden: nodes"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 3) << "one more for another text\n" << text;
}

TEST_F(NodeConditionsTest, a_policy_that_denies_is_said) {
  next_ = {reply(200, node_), reply(403, R"({"message":"denied by policy"})")};
  start();
  look(Outcome::good);
  ASSERT_TRUE(until_counted("written", 1));
  EXPECT_THAT(verbs(), ElementsAre("GET", "PATCH", "GET", "PATCH"));
  EXPECT_THAT(said(), HasSubstr("PATCH /api/v1/nodes/node-1/status: 403 Forbidden: denied"));
}

TEST_F(NodeConditionsTest, a_node_that_is_not_there_yet_is_overcome) {
  next_ = {reply(404, R"({"message":"nodes not found"})")};
  start();
  look(Outcome::good);
  ASSERT_TRUE(until_counted("written", 1));
  EXPECT_EQ(counted("failed"), 1);
}

TEST_F(NodeConditionsTest, pauses_after_failures_grow_and_the_server_may_ask_for_more) {
  options_.first_retry = 1000ms;
  options_.longest_retry = 300000ms;
  next_ = {reply(500, ""), reply(500, ""), reply(429, "", "Retry-After: 20\r\n")};
  start();
  look(Outcome::good);
  ASSERT_TRUE(until_counted("failed", 1));
  stepped_.advance(1s);
  ASSERT_TRUE(until_counted("failed", 2));
  stepped_.advance(1s);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(counted("failed"), 2);
  stepped_.advance(1s);
  ASSERT_TRUE(until_counted("failed", 3));
  stepped_.advance(19s);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(verbs().size(), 3U);
  stepped_.advance(1s);
  EXPECT_TRUE(until_counted("written", 1));
}

TEST_F(NodeConditionsTest, a_broken_answer_is_said_and_overcome) {
  next_ = {reply(200, "no JSON"),
           {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", Reply::Then::cut}};
  start();
  look(Outcome::good);
  ASSERT_TRUE(until_counted("written", 1));
  EXPECT_EQ(counted("failed"), 2);
}

TEST_F(NodeConditionsTest, a_slow_server_holds_up_no_end) {
  next_ = {{"", Reply::Then::hang}};
  start();
  look(Outcome::good);
  ASSERT_TRUE(until([&] { return verbs().size() == 1; }));
  EXPECT_TRUE(service_->stop(5s));
  service_.reset();
}

TEST_F(NodeConditionsTest, without_a_service_account_it_says_so) {
  std::filesystem::remove(folder_ / "token");
  options_.first_retry = 1h;
  start();
  look(Outcome::good);
  EXPECT_TRUE(
      until([&] { return service_->readiness().text.find("/token") != std::string::npos; }));
  EXPECT_THAT(verbs(), IsEmpty());
}

}  // namespace
}  // namespace railhead::test
