// SPDX-License-Identifier: Apache-2.0
#include "agent/startup_taint_service.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <mutex>

#include "host/unique_fd.h"
#include "loop/mail_loop.h"
#include "unit/host/temporary_directory.h"
#include "unit/kube/https_server.h"

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

/// An API server with one node, whose next answers a test may choose.
class StartupTaintTest : public testing::Test {
 protected:
  StartupTaintTest()
      : server_(certificate_, [this](const std::string& request) { return answer(request); }) {
    write("ca.crt", authority_.pem());
    write("token", "t0");
    services_.push_back(std::make_unique<Part>());
  }

  ~StartupTaintTest() override {
    if (service_) service_->stop(5s);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  agent::Readiness& part() { return static_cast<Part&>(*services_.front()).now; }

  Reply answer(const std::string& request) {
    const std::lock_guard lock(mutex_);
    if (!refused_token_.empty() && request.find("Bearer " + refused_token_) != std::string::npos) {
      return reply(401, "");
    }
    if (!next_.empty()) {
      auto reply = next_.front();
      next_.erase(next_.begin());
      return reply;
    }
    if (request.starts_with("PATCH")) is_tainted_ = false;
    return reply(200, is_tainted_ ? kTainted : kClean);
  }

  void start() {
    agent::StartupTaintOptions options;
    options.node = "node-1";
    options.access.environment = {{"KUBERNETES_SERVICE_HOST", "127.0.0.1"},
                                  {"KUBERNETES_SERVICE_PORT", server_.port()}};
    options.access.service_account = folder_.path().string();
    options.first_retry = 10ms;
    options.longest_retry = 40ms;
    options.look_again = look_again_;
    service_.emplace(agent::Context{loop_, mail_.box(), clock_, log_, metrics_}, options,
                     services_);
    ASSERT_TRUE(service_->start());
  }

  bool until(const std::function<bool()>& so) {
    for (int i = 0; i < 2000 && !so(); ++i) loop_.run_for(5ms);
    return so();
  }

  bool until_off() {
    return until([&] { return service_->readiness().text == "startup taint: not on the node"; });
  }

  std::vector<std::string> verbs() const {
    std::vector<std::string> verbs;
    for (const auto& request : server_.requests())
      verbs.push_back(request.substr(0, request.find(' ')));
    return verbs;
  }

  double looks(const char* outcome) {
    const auto text = metrics_.expose();
    const std::string row =
        std::string("railhead_startup_taint_looks_total{outcome=\"") + outcome + "\"} ";
    const auto at = text.find(row);
    return at == std::string::npos ? -1 : std::stod(text.substr(at + row.size()));
  }

  std::string said() {
    log_.flush();
    return file_text(folder_ / "log");
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

  TemporaryDirectory folder_;
  Certificate authority_{""};
  Certificate certificate_{"IP:127.0.0.1", &authority_};
  std::mutex mutex_;
  std::vector<Reply> next_;
  bool is_tainted_ = true;
  std::string refused_token_;
  std::chrono::milliseconds look_again_ = 1h;
  HttpsServer server_;
  host::UniqueFd log_file_{
      ::open((folder_ / "log").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_APPEND, 0600)};
  boost::asio::io_context loop_{1};
  loop::MailLoop mail_{std::move(loop::Mailbox::open()).value(), loop_};
  host::SystemClock clock_;
  agent::Log log_{config::LogLevel::info, config::LogFormat::text, log_file_.get()};
  agent::Metrics metrics_;
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
  const auto began = clock_.now();
  EXPECT_TRUE(service_->stop(5s));
  EXPECT_LT(clock_.now() - began, 4s);
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
