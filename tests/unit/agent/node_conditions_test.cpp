// SPDX-License-Identifier: Apache-2.0
#include "agent/node_conditions_service.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <mutex>

#include "host/unique_fd.h"
#include "loop/mail_loop.h"
#include "unit/host/temporary_directory.h"
#include "unit/kube/https_server.h"
#include "unit/manual_clock.h"

namespace railhead::test {
namespace {

using namespace std::chrono_literals;
using checks::Outcome;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kNode =
    R"({"status":{"conditions":[{"type":"Ready","status":"True"},)"
    R"({"type":"RDMALinkUnhealthy","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})";

/// What a look says: all is well, but for links.
std::vector<checks::ConditionState> states(Outcome links) {
  std::vector<checks::ConditionState> all;
  for (const auto& condition : checks::kNodeConditions) {
    all.push_back({&condition, Outcome::good, std::string(condition.good_message)});
    if (condition.type != "RDMALinkUnhealthy") continue;
    all.back().outcome = links;
    all.back().message = "FAIL link.port-state mlx5_3/1: DOWN";
  }
  return all;
}

/// An API server with one node, whose next answers a test may choose.
class NodeConditionsTest : public testing::Test {
 protected:
  NodeConditionsTest()
      : server_(certificate_, [this](const std::string& request) { return answer(request); }) {
    std::ofstream(folder_ / "ca.crt") << authority_.pem();
    std::ofstream(folder_ / "token") << "t0";
    agent::NodeConditionsOptions options;
    options.node = "node-1";
    options.access.environment = {{"KUBERNETES_SERVICE_HOST", "127.0.0.1"},
                                  {"KUBERNETES_SERVICE_PORT", server_.port()}};
    options.access.service_account = folder_.path().string();
    service_.emplace(agent::Context{loop_, mail_.box(), clock_, log_, metrics_}, options);
    EXPECT_TRUE(service_->start());
  }

  ~NodeConditionsTest() override { service_->stop(5s); }

  Reply answer(const std::string& request) {
    const std::lock_guard lock(mutex_);
    if (!next_.empty()) {
      auto reply = next_.front();
      next_.erase(next_.begin());
      return reply;
    }
    return reply(200, request.starts_with("GET") ? kNode : "{}");
  }

  bool until(const std::function<bool()>& so) {
    for (int i = 0; i < 2000 && !so(); ++i) loop_.run_for(5ms);
    return so();
  }

  /// Gives a look, and waits until it has been written, or could not be.
  void take(Outcome links) {
    const auto before = updates("done") + updates("failed");
    service_->take(states(links));
    ASSERT_TRUE(until([&] { return updates("done") + updates("failed") > before; }));
  }

  double updates(const char* outcome) {
    const auto text = metrics_.expose();
    const auto row =
        std::string("railhead_node_condition_updates_total{outcome=\"") + outcome + "\"} ";
    return std::stod(text.substr(text.find(row) + row.size()));
  }

  std::vector<std::string> verbs() const {
    std::vector<std::string> verbs;
    for (const auto& request : server_.requests())
      verbs.push_back(request.substr(0, request.find(' ')));
    return verbs;
  }

  /// A condition of the last patch, by key.
  std::string sent(std::string_view type, std::string_view key) const {
    const auto request = server_.requests().back();
    const auto body = data::parse_json(request.substr(request.find("\r\n\r\n"))).value();
    for (const auto& one : body.find("status")->find("conditions")->items) {
      if (one.find("type")->scalar == type) return one.find(key)->scalar;
    }
    return "no such condition";
  }

  std::string said() {
    log_.flush();
    return file_text(folder_ / "log");
  }

  TemporaryDirectory folder_;
  Certificate authority_{""};
  Certificate certificate_{"IP:127.0.0.1", &authority_};
  std::mutex mutex_;
  std::vector<Reply> next_;
  HttpsServer server_;
  host::UniqueFd log_file_{
      ::open((folder_ / "log").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_APPEND, 0600)};
  boost::asio::io_context loop_{1};
  loop::MailLoop mail_{std::move(loop::Mailbox::open()).value(), loop_};
  ManualClock clock_;
  agent::Log log_{config::LogLevel::info, config::LogFormat::text, log_file_.get()};
  agent::Metrics metrics_;
  std::optional<agent::NodeConditionsService> service_;
};

TEST_F(NodeConditionsTest, each_look_is_written_and_nothing_but_our_conditions) {
  take(Outcome::problem);
  ASSERT_THAT(verbs(), ElementsAre("GET", "PATCH"));
  const auto request = server_.requests().back();
  EXPECT_THAT(request, StartsWith("PATCH /api/v1/nodes/node-1/status HTTP"));
  EXPECT_THAT(request, HasSubstr("application/strategic-merge-patch+json"));
  EXPECT_EQ(request.find("\"Ready\""), std::string::npos);
  EXPECT_EQ(sent("RDMALinkUnhealthy", "status"), "True");
  EXPECT_EQ(sent("RDMALinkUnhealthy", "reason"), "RDMALinkIsDown");
  EXPECT_EQ(sent("RDMALinkUnhealthy", "message"), "FAIL link.port-state mlx5_3/1: DOWN");
  EXPECT_EQ(sent("RDMADeviceMissing", "status"), "False");
  EXPECT_EQ(sent("RDMADeviceMissing", "reason"), "RDMADevicesAreThere");
  take(Outcome::unknown);
  EXPECT_THAT(verbs(), ElementsAre("GET", "PATCH", "PATCH"));
  EXPECT_EQ(sent("RDMALinkUnhealthy", "status"), "Unknown");
}

TEST_F(NodeConditionsTest, since_when_it_holds_is_kept_also_from_an_agent_before) {
  take(Outcome::problem);
  EXPECT_EQ(sent("RDMALinkUnhealthy", "lastTransitionTime"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(sent("RDMADeviceMissing", "lastTransitionTime"), "1970-01-01T00:00:00Z");
  clock_.advance(300s);
  take(Outcome::good);
  EXPECT_EQ(sent("RDMALinkUnhealthy", "lastTransitionTime"), "1970-01-01T00:05:00Z");
  EXPECT_EQ(sent("RDMADeviceMissing", "lastTransitionTime"), "1970-01-01T00:00:00Z");
  EXPECT_EQ(sent("RDMADeviceMissing", "lastHeartbeatTime"), "1970-01-01T00:05:00Z");
}

TEST_F(NodeConditionsTest, a_refusal_is_said_once_and_the_next_look_tries_again) {
  const auto forbidden = reply(403, R"({"kind":"Status","message":"nodes is forbidden"})");
  next_ = {reply(200, kNode), forbidden, forbidden};
  take(Outcome::good);
  take(Outcome::good);
  EXPECT_EQ(updates("failed"), 2);
  take(Outcome::good);
  EXPECT_EQ(updates("done"), 1);
  const auto text = said();
  EXPECT_THAT(text, HasSubstr("warn node conditions not set node=node-1 why=\"PATCH"));
  EXPECT_THAT(text, HasSubstr("403 Forbidden"));
}

TEST_F(NodeConditionsTest, a_slow_server_gets_the_newest_look_alone) {
  next_ = {{"", Reply::Then::hang}};
  service_->take(states(Outcome::good));
  ASSERT_TRUE(until([&] { return verbs().size() == 1; }));
  service_->take(states(Outcome::problem));
  service_->take(states(Outcome::good));
  loop_.run_for(200ms);
  EXPECT_EQ(verbs().size(), 1U);
  EXPECT_TRUE(service_->stop(5s)) << "and holds up no end";
}

}  // namespace
}  // namespace railhead::test
