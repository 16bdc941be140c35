// SPDX-License-Identifier: Apache-2.0
#include "agent/startup_taint_service.h"

#include <gmock/gmock.h>

#include "unit/agent/api_server_test.h"

namespace railhead::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kTainted =
    R"({"spec":{"taints":[{"key":"other"},{"key":"railhead.io/not-ready","effect":"NoSchedule"}]}})";
constexpr const char* kClean = R"({"spec":{"taints":[{"key":"other"}]}})";

/// A part of the agent that is as ready as the test says.
struct Part final : agent::Service {
  [[nodiscard]] std::string_view name() const override { return "part"; }

  Status start() override { return {}; }

  [[nodiscard]] agent::Readiness readiness() const override { return now; }

  bool stop(std::chrono::milliseconds) override { return true; }

  agent::Readiness now;
};

/// The API server has one node.
class StartupTaintTest : public ApiServerTest {
 protected:
  StartupTaintTest()
      : ApiServerTest([this](const std::string& request) { return node(request); }) {
    services_.push_back(std::make_unique<Part>());
  }

  ~StartupTaintTest() override {
    if (service_) service_->stop(5s);
  }

  agent::Readiness& part() { return static_cast<Part&>(*services_.front()).now; }

  Reply node(const std::string& request) {
    const auto refused = "Bearer " + refused_token_ + "\r\n";
    if (request.find(refused) != std::string::npos) return reply(401, "");
    if (request.starts_with("PATCH")) is_tainted_ = false;
    return reply(200, is_tainted_ ? kTainted : kClean);
  }

  void start() {
    agent::StartupTaintOptions options;
    options.node = "node-1";
    options.access = access();
    options.first_retry = 10ms;
    options.longest_retry = 40ms;
    options.look_again = look_again_;
    service_.emplace(context(), options, services_);
    ASSERT_TRUE(service_->start());
  }

  bool until_off() {
    return until([&] { return service_->readiness().text == "startup taint: not on the node"; });
  }

  double looks(const char* outcome) {
    return metrics_.startup_taint_looks.value(
        metrics::Label<"outcome", "absent", "removed", "failed">(outcome));
  }

  /// A failure, and then success.
  void expect_overcome(const Reply& failure, const std::string& why) {
    next_ = {failure};
    start();
    ASSERT_TRUE(until([&] { return looks("failed") == 1; }));
    const auto now = service_->readiness();
    EXPECT_TRUE(now.ready) << "containers are served all the same";
    ASSERT_TRUE(until_off());
    EXPECT_EQ(looks("removed"), 1);
    EXPECT_THAT(said(), HasSubstr("warn startup taint stays node=node-1 why=\"GET " + why));
  }

  bool is_tainted_ = true;
  std::string refused_token_ = "none";
  std::chrono::milliseconds look_again_ = 1h;
  std::vector<std::unique_ptr<agent::Service>> services_;
  std::optional<agent::StartupTaintService> service_;
};

TEST_F(StartupTaintTest, is_removed_once_all_are_ready) {
  part().ready = false;
  start();
  loop_.run_for(400ms);
  EXPECT_TRUE(verbs().empty()) << "nothing is asked before";
  EXPECT_EQ(service_->readiness().text, "startup taint: stays until the agent serves containers");
  part() = {true, "", true};
  loop_.run_for(400ms);
  EXPECT_TRUE(verbs().empty()) << "another agent serves";
  part() = {};
  ASSERT_TRUE(until_off());
  EXPECT_FALSE(is_tainted_);
  const auto requests = server_.requests();
  ASSERT_THAT(verbs(), ElementsAre("GET", "PATCH"));
  EXPECT_THAT(requests[0], StartsWith("GET /api/v1/nodes/node-1 HTTP"));
  EXPECT_THAT(requests[1], StartsWith("PATCH /api/v1/nodes/node-1 HTTP"));
  const auto patch = data::parse_json(requests[1].substr(requests[1].find("\r\n\r\n"))).value();
  EXPECT_EQ(patch.items.at(0).find("path")->scalar, "/spec/taints/1/key");
  EXPECT_THAT(said(), HasSubstr("info startup taint removed node=node-1\n"));
}

TEST_F(StartupTaintTest, a_node_without_it_is_left_alone) {
  is_tainted_ = false;
  start();
  ASSERT_TRUE(until_off());
  EXPECT_THAT(verbs(), ElementsAre("GET"));
  EXPECT_EQ(looks("absent"), 1);
}

TEST_F(StartupTaintTest, each_refusal_is_said_and_overcome) {
  expect_overcome(reply(403, R"({"kind":"Status","message":"nodes \"node-1\" is forbidden"})"),
                  "/api/v1/nodes/node-1: 403 Forbidden: nodes");
}

TEST_F(StartupTaintTest, an_unknown_token_is_said_and_overcome) {
  expect_overcome(reply(401, R"({"kind":"Status","message":"Unauthorized"})"),
                  "/api/v1/nodes/node-1: 401 Unauthorized");
}

TEST_F(StartupTaintTest, a_node_that_is_not_there_yet_is_overcome) {
  expect_overcome(reply(404, R"({"message":"nodes not found"})"),
                  "/api/v1/nodes/node-1: 404 Not Found");
}

TEST_F(StartupTaintTest, a_broken_server_is_said_and_overcome) {
  expect_overcome(reply(500, "oops"), "/api/v1/nodes/node-1: 500 Internal Server Error");
}

TEST_F(StartupTaintTest, a_cut_answer_is_said_and_overcome) {
  expect_overcome({"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", Reply::Then::cut},
                  "/api/v1/nodes/node-1 at 127.0.0.1:");
}

TEST_F(StartupTaintTest, the_same_failure_is_said_once) {
  next_ = {reply(403, ""), reply(403, ""), reply(403, ""), reply(500, "")};
  start();
  ASSERT_TRUE(until_off());
  EXPECT_EQ(looks("failed"), 4);
  const auto text = said();
  EXPECT_THAT(text, HasSubstr("403 Forbidden"));
  EXPECT_EQ(text.find("403 Forbidden"), text.rfind("403 Forbidden"));
  EXPECT_THAT(text, HasSubstr("500 Internal"));
}

TEST_F(StartupTaintTest, a_conflict_is_read_again_at_once) {
  next_ = {reply(200, kTainted), reply(422, R"({"message":"the test failed"})"),
           reply(200, kTainted), reply(409, "")};
  start();
  ASSERT_TRUE(until_off());
  EXPECT_THAT(verbs(), ElementsAre("GET", "PATCH", "GET", "PATCH", "GET", "PATCH"));
  EXPECT_EQ(looks("failed"), 0);
  EXPECT_THAT(said(), Not(HasSubstr("warn")));
}

TEST_F(StartupTaintTest, a_policy_that_always_denies_is_said) {
  for (int i = 0; i < 6; ++i) {
    next_.push_back(reply(200, kTainted));
    next_.push_back(reply(422, R"({"message":"denied by policy"})"));
  }
  start();
  ASSERT_TRUE(until_off());
  EXPECT_EQ(looks("failed"), 1);
  EXPECT_THAT(said(), HasSubstr("422 Unprocessable Entity: denied by policy"));
}

TEST_F(StartupTaintTest, the_server_says_how_long_to_wait) {
  next_ = {reply(429, "", "Retry-After: 1\r\n")};
  const auto began = clock_.now();
  start();
  ASSERT_TRUE(until_off());
  EXPECT_GE(clock_.now() - began, 1s);
}

TEST_F(StartupTaintTest, a_node_that_was_made_again_is_seen) {
  look_again_ = 50ms;
  start();
  ASSERT_TRUE(until_off());
  {
    const std::lock_guard lock(mutex_);
    is_tainted_ = true;
  }
  ASSERT_TRUE(until([&] { return looks("removed") == 2; }));
}

TEST_F(StartupTaintTest, a_rotated_token_is_used) {
  refused_token_ = "t0";
  start();
  ASSERT_TRUE(until([&] { return looks("failed") > 0; }));
  write("token", "t1");
  ASSERT_TRUE(until_off());
  EXPECT_THAT(server_.requests().front(), HasSubstr("Bearer t0\r\n"));
  EXPECT_THAT(server_.requests().back(), HasSubstr("Bearer t1\r\n"));
}

TEST_F(StartupTaintTest, nothing_is_removed_while_not_ready) {
  next_ = {reply(500, "")};
  start();
  ASSERT_TRUE(until([&] { return looks("failed") == 1; }));
  part().ready = false;
  loop_.run_for(500ms);
  {
    const std::lock_guard lock(mutex_);
    is_tainted_ = true;
  }
  const auto asked = verbs().size();
  loop_.run_for(300ms);
  EXPECT_EQ(verbs().size(), asked);
}

TEST_F(StartupTaintTest, a_slow_server_holds_up_no_end) {
  next_ = {{"", Reply::Then::hang}};
  start();
  ASSERT_TRUE(until([&] { return verbs().size() == 1; }));
  EXPECT_TRUE(service_->stop(5s));
  service_.reset();
}

TEST_F(StartupTaintTest, without_a_service_account_it_says_so) {
  std::filesystem::remove(folder_ / "token");
  start();
  EXPECT_TRUE(
      until([&] { return service_->readiness().text.find("/token") != std::string::npos; }));
  EXPECT_TRUE(verbs().empty());
}

}  // namespace
}  // namespace railhead::test
