// SPDX-License-Identifier: Apache-2.0
#include "agent/pool_publisher.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <optional>

#include "agent/machine.h"
#include "agent/metrics.h"
#include "base/text.h"
#include "host/file_lock.h"
#include "host/input_file.h"
#include "loop/mail_loop.h"
#include "unit/host/temporary_directory.h"
#include "unit/inject/container_builder.h"
#include "unit/kubelet/fake_kubelet.h"
#include "unit/manual_clock.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;

class PoolPublisherTest : public testing::Test {
 protected:
  PoolPublisherTest() { read("start"); }

  void read(const char* cause) {
    ASSERT_TRUE(machine_.read(cause));
    tables_.publish(machine_.table());
  }

  void configure(std::vector<pools::PoolSpec> pools) {
    inject::InjectionPolicy policy;
    policy.pools = std::move(pools);
    ASSERT_TRUE(machine_.reconfigure({{}, std::move(policy), {}}));
    tables_.publish(machine_.table());
    publisher_->look();
  }

  agent::PoolPublisher& started(const std::string& folder) {
    agent::KubeletOptions options;
    options.registrar.plugin_folder = folder;
    options.hand_out = config::HandOut::cdi;
    options.folders = {cdi_, ""};
    publisher_.emplace(agent::Context{loop_, mail_.box(), clock_, log_, metrics_},
                       std::move(options),
                       agent::PoolPublisher::Links{tables_, runtime_, pod_resources_});
    publisher_->start();
    return *publisher_;
  }

  /// Lets what is on the loop happen until this is so. The tick that covers lost events is further
  /// away than one wait here, so it is not what brings anything about.
  bool until(const std::function<bool()>& so) {
    while (!so()) {
      clock_.advance(std::chrono::milliseconds(500));
      if (loop_.run_one_for(std::chrono::seconds(5)) == 0) return so();
    }
    return true;
  }

  static inject::InjectionPolicy policy() {
    inject::InjectionPolicy policy;
    policy.pools = {pools::default_pool()};
    return policy;
  }

  boost::asio::io_context loop_{1};
  loop::MailLoop mail_{std::move(loop::Mailbox::open()).value(), loop_};
  TemporaryDirectory folder_;
  std::string cdi_ = folder_ / "cdi";
  std::string spec_ = cdi_ + "/railhead.io-resource-rdma.io_hca.json";
  test::ManualClock clock_;
  agent::Log log_{config::LogLevel::error, config::LogFormat::text};
  agent::Metrics metrics_;
  std::string text_ = machine_text("seed-8gpu-4nic");
  agent::Machine machine_{{[this] { return snapshot::SnapshotHost::parse(text_); }, nullptr},
                          {{}, policy(), {}},
                          {clock_, log_, metrics_}};
  agent::TableFeed tables_;
  agent::RuntimeLink runtime_{""};
  kubelet::PodResources pod_resources_{folder_ / "kubelet.sock", mail_.box()};
  std::optional<agent::PoolPublisher> publisher_;
};

TEST_F(PoolPublisherTest, where_there_is_no_kubelet_the_agent_is_ready_and_says_so) {
  auto& publisher = started((folder_.path() / "none").string());
  EXPECT_TRUE(publisher.readiness().ready);
  EXPECT_TRUE(publisher.readiness().is_idle);
  EXPECT_THAT(publisher.readiness().text, HasSubstr("kubelet: none"));
  EXPECT_EQ(metrics_.kubelet_enrolled.value("rdma.io/hca"), 0);
  EXPECT_EQ(metrics_.pool_devices.value("rdma.io/hca", "healthy", {}), 100);
  EXPECT_THAT(metrics_.expose(), HasSubstr("state=\"unhealthy\",reason=\"not-ready\"} 0"));
}

TEST_F(PoolPublisherTest, what_a_pool_lacks_is_logged_once) {
  const auto drop = [this](std::string_view what) {
    std::string kept;
    for (const auto line : split(text_, '\n')) {
      if (line.find(what) == std::string_view::npos) kept.append(line).append("\n");
    }
    kept.pop_back();  // after the last line end stands nothing
    text_ = kept;
  };
  drop("rdma_cm");
  log_.set_level(config::LogLevel::warn);
  testing::internal::CaptureStderr();
  read("rescan");
  auto& publisher = started((folder_.path() / "none").string());
  read("rescan");
  publisher.look();
  log_.flush();
  const auto said = testing::internal::GetCapturedStderr();
  const std::string_view line = "pool lacks something pool=rdma.io/hca";
  const auto first = said.find(line);
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find(line, first + 1), std::string::npos) << said;
}

TEST_F(PoolPublisherTest, a_pool_that_is_empty_by_design_is_no_warning) {
  log_.set_level(config::LogLevel::info);
  testing::internal::CaptureStderr();
  text_ = machine_text("gpus-only");
  read("timer");
  started((folder_.path() / "none").string());
  log_.flush();
  const auto said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("info pool is empty pool=rdma.io/hca "
                              "why=\"this node has no RDMA device\""));
}

TEST_F(PoolPublisherTest, who_stands_by_is_ready) {
  const auto other = host::FileLock::try_take((folder_.path() / "railhead.lock").string());
  ASSERT_TRUE(other && *other);
  auto& publisher = started(folder_.path().string());
  EXPECT_TRUE(publisher.readiness().ready);
  EXPECT_TRUE(publisher.readiness().is_idle);
  EXPECT_THAT(publisher.readiness().text, HasSubstr("standing by"));
}

TEST_F(PoolPublisherTest, who_has_the_lock_is_not_ready_before_it_is_enrolled) {
  auto& publisher = started(folder_.path().string());
  EXPECT_FALSE(publisher.readiness().ready);
  EXPECT_THAT(publisher.readiness().text, HasSubstr("rdma.io/hca: enrolling"));
}

TEST_F(PoolPublisherTest, a_lock_that_cannot_be_made_is_not_another_agent) {
  std::filesystem::create_directory((folder_.path() / "railhead.lock").string());
  auto& publisher = started(folder_.path().string());
  EXPECT_FALSE(publisher.readiness().ready);
  EXPECT_THAT(publisher.readiness().text, HasSubstr("railhead.lock"));
}

TEST_F(PoolPublisherTest, a_publisher_that_was_stopped_leaves_the_lock_to_the_next) {
  auto& publisher = started(folder_.path().string());
  publisher.stop();
  const auto next = host::FileLock::try_take((folder_.path() / "railhead.lock").string());
  EXPECT_TRUE(next && *next);
}

pools::PoolSpec named(const char* name, unsigned slots) {
  auto spec = pools::default_pool();
  spec.name = name;
  spec.slots = slots;
  return spec;
}

TEST_F(PoolPublisherTest, pools_that_come_change_and_go_are_told_while_it_runs) {
  kubelet::test::FakeKubelet kubelet(folder_.path().string());
  auto& publisher = started(folder_.path().string());
  ASSERT_TRUE(until([&] { return kubelet.devices("rdma.io/hca") == 100; }));
  configure({named("rdma.io/hca", 50), named("a.io/new", 7)});
  EXPECT_TRUE(until([&] { return kubelet.devices("rdma.io/hca") == 50; }));
  EXPECT_TRUE(until([&] { return kubelet.devices("a.io/new") == 7; }));
  EXPECT_EQ(kubelet.registrations, 2) << "a changed number is no new registration";

  configure({named("a.io/new", 7)});
  ASSERT_TRUE(until([&] { return kubelet.devices("rdma.io/hca") == -1; }));
  EXPECT_EQ(kubelet.last_devices("rdma.io/hca"), 0) << "first none, then the end";
  EXPECT_EQ(metrics_.expose().find("rdma.io/hca"), std::string::npos);
  EXPECT_TRUE(until([&] { return publisher.readiness().text == "kubelet: 1 resources enrolled"; }));

  configure({named("rdma.io/hca", 9), named("a.io/new", 7)});
  EXPECT_TRUE(until([&] { return kubelet.devices("rdma.io/hca") == 9; }));
}

TEST_F(PoolPublisherTest, a_pool_that_comes_back_before_its_end_has_never_gone) {
  kubelet::test::FakeKubelet kubelet(folder_.path().string());
  started(folder_.path().string());
  ASSERT_TRUE(until([&] { return kubelet.devices("rdma.io/hca") == 100; }));
  log_.set_level(config::LogLevel::info);
  testing::internal::CaptureStderr();
  configure({});
  configure({pools::default_pool()});
  log_.flush();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::ContainsRegex(" pool ended pool=rdma.io/hca\n[^\n]* node read [^\n]*\n"
                                     "[^\n]* pool pool=rdma.io/hca devices=100\n"));
  EXPECT_TRUE(until([&] { return metrics_.kubelet_enrolled.value("rdma.io/hca") == 1; }));
  EXPECT_TRUE(until([&] { return kubelet.devices("rdma.io/hca") == 100; }));
  EXPECT_EQ(kubelet.registrations, 1);
}

TEST_F(PoolPublisherTest, a_pool_that_is_empty_at_the_start_is_registered_and_fills) {
  text_ = machine_text("gpus-only");
  read("timer");
  kubelet::test::FakeKubelet kubelet(folder_.path().string());
  started(folder_.path().string());
  ASSERT_TRUE(until([&] { return kubelet.devices("rdma.io/hca") == 0; }));
  text_ = machine_text("seed-8gpu-4nic");
  read("timer");
  publisher_->look();
  EXPECT_TRUE(until([&] { return kubelet.devices("rdma.io/hca") == 100; }));
  EXPECT_EQ(kubelet.registrations, 1);
}

TEST_F(PoolPublisherTest, a_kubelet_that_comes_or_starts_again_is_seen_by_its_socket) {
  const auto folder = folder_ / "kubelet/device-plugins";
  auto& publisher = started(folder);
  const auto enrolled = [&] { return metrics_.kubelet_enrolled.value("rdma.io/hca") == 1; };
  const auto alone = [&] { return publisher.readiness().text.find("none") != std::string::npos; };
  EXPECT_TRUE(alone());
  std::filesystem::create_directories(folder);
  auto kubelet = std::make_unique<kubelet::test::FakeKubelet>(folder);
  ASSERT_TRUE(until(enrolled));
  EXPECT_TRUE(until([&] { return kubelet->devices("rdma.io/hca") == 100; }));
  for (int round = 0; round < 3; ++round) {
    kubelet.reset();
    ASSERT_TRUE(until(alone));
    kubelet = std::make_unique<kubelet::test::FakeKubelet>(folder);
    ASSERT_TRUE(until(enrolled));
  }
  kubelet.reset();
  std::filesystem::remove_all(folder_ / "kubelet");
  ASSERT_TRUE(until(alone));
  std::filesystem::create_directories(folder);
  kubelet = std::make_unique<kubelet::test::FakeKubelet>(folder);
  ASSERT_TRUE(until(enrolled));
  EXPECT_TRUE(until([&] { return metrics_.kubelet_registrations.value("rdma.io/hca") == 5; }));
}

TEST_F(PoolPublisherTest, specs_are_there_for_containers_of_an_earlier_agent) {
  auto& publisher = started(folder_.path().string());
  EXPECT_THAT(file_text(spec_), HasSubstr("\"rdma.io:hca\""));
  publisher.stop();
  EXPECT_TRUE(std::filesystem::exists(spec_));
}

TEST_F(PoolPublisherTest, without_the_lock_files_of_others_stay) {
  std::filesystem::create_directory((folder_.path() / "railhead.lock").string());
  std::filesystem::create_directory(cdi_);
  const auto of_other = cdi_ + "/railhead.io-resource-other.io_x.json";
  ASSERT_TRUE(host::write_file_atomic(of_other, "{}"));
  auto& publisher = started(folder_.path().string());
  publisher.stop();
  EXPECT_TRUE(std::filesystem::exists(of_other));
  EXPECT_FALSE(std::filesystem::exists(spec_));
}

TEST_F(PoolPublisherTest, an_agent_that_stands_by_leaves_the_files_to_the_other) {
  const auto other = host::FileLock::try_take((folder_.path() / "railhead.lock").string());
  ASSERT_TRUE(other && *other);
  auto& publisher = started(folder_.path().string());
  publisher.stop();
  EXPECT_FALSE(std::filesystem::exists(cdi_));
}

}  // namespace
}  // namespace railhead::test
