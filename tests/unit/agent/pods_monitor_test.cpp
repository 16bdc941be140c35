// SPDX-License-Identifier: Apache-2.0
#include "agent/pods_monitor.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "agent/metrics.h"
#include "data/json.h"
#include "snapshot/snapshot_host.h"
#include "unit/manual_clock.h"
#include "unit/source_dir.h"

namespace railhead::test {
namespace {

class PodsMonitorTest : public testing::Test {
 protected:
  PodsMonitorTest()
      : mailbox_(loop::Mailbox::open().value()) {
    text_ = text_of("/tests/pods/two-pods.node");
    const auto host = open().value();
    tables_.publish(std::make_shared<const inject::DecisionTable>(
        node::read_node(*host), affinity::OperatorRules(), inject::InjectionPolicy()));
    monitor_.emplace(
        context(), agent::PodsOptions(), [this] { return open(); },
        agent::PodsMonitor::Links{tables_, containers_, page_, &events_});
  }

  static std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(source_dir() + path).rdbuf();
    return text.str();
  }

  [[nodiscard]] Result<std::unique_ptr<host::Host>> open() const {
    return snapshot::SnapshotHost::parse(text_);
  }

  agent::Context context() { return {loop_, *mailbox_, clock_, log_, metrics_}; }

  [[nodiscard]] usage::Usage usage() const {
    const auto host = open().value();
    return usage::read_usage(*host);
  }

  /// Three looks in a row, so late after the first connection that its grace is over.
  void look_at_fallback() {
    for (std::uint64_t look = 0; look < 3; ++look) {
      auto seen = usage();
      seen.counted_ticks = *seen.counted_ticks + 30'000 * look;
      EXPECT_EQ(metrics_.silent_fallbacks.value(), 0);
      monitor_->take(seen);
    }
  }

  [[nodiscard]] static double of_pod(const auto& metric, std::string_view pod) {
    return metric.value("train", agent::label::Pod(pod), "main");
  }

  std::string text_ = "railhead-snapshot 1\n";
  test::ManualClock clock_;
  agent::Log log_{config::LogLevel::error, config::LogFormat::text};
  agent::Metrics metrics_;
  boost::asio::io_context loop_;
  std::unique_ptr<loop::Mailbox> mailbox_;
  agent::TableFeed tables_;
  agent::ContainerCache containers_;
  loop::Shared<std::string> page_;
  agent::EventOutbox outbox_{metrics_, clock_};
  agent::PodEvents events_{outbox_, ""};
  std::optional<agent::PodsMonitor> monitor_;
};

TEST_F(PodsMonitorTest, metrics_say_what_each_container_uses) {
  look_at_fallback();
  EXPECT_EQ(of_pod(metrics_.pod_silent_fallback, "a-0"), 0);
  EXPECT_EQ(of_pod(metrics_.pod_silent_fallback, "a-1"), 1);
  EXPECT_EQ(of_pod(metrics_.pod_queue_pairs_seen, "a-0"), 7);
  EXPECT_EQ(metrics_.pod_queue_pairs.value("train", "a-0", "main", "mlx5_0", "connected"), 3);
  EXPECT_EQ(metrics_.pods_complete.value(), 1);
  EXPECT_EQ(metrics_.silent_fallbacks.value(), 1);
  monitor_->take(usage());
  EXPECT_EQ(metrics_.silent_fallbacks.value(), 1);
}

TEST_F(PodsMonitorTest, a_silent_fallback_is_an_event_of_its_pod) {
  look_at_fallback();
  monitor_->take(usage());
  const auto any = [](const kube::Event&) { return true; };
  const auto event = outbox_.take(any);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->reason, "RdmaSilentFallback");
  EXPECT_EQ(event->about.name, "a-1");
  EXPECT_FALSE(event->about.uid.empty());
  EXPECT_FALSE(outbox_.take(any)) << "once, and of no other pod";
}

TEST_F(PodsMonitorTest, totals_stay_when_the_processes_end) {
  monitor_->take(usage());
  auto later = usage();
  for (auto& device : later.devices) device.queue_pairs.objects.clear();
  monitor_->take(later);
  EXPECT_EQ(of_pod(metrics_.pod_queue_pairs_seen, "a-0"), 7);
}

TEST_F(PodsMonitorTest, a_list_that_failed_once_makes_no_queue_pair_new) {
  const auto seen = [&] { return of_pod(metrics_.pod_queue_pairs_seen, "a-0"); };
  monitor_->take(usage());
  auto failed = usage();
  for (auto& device : failed.devices) {
    device.queue_pairs = {usage::TableState::interrupted, "interrupted", {}};
  }
  monitor_->take(failed);
  monitor_->take(failed);
  EXPECT_EQ(seen(), 7);
  monitor_->take(usage());
  EXPECT_EQ(seen(), 7);
}

/// The fallen pod's connection after so many seconds, over which it moved so much since it began.
usage::Usage with_tcp(usage::Usage usage, std::uint64_t seconds, std::uint64_t bytes) {
  usage.counted_ticks = *usage.counted_ticks + seconds * 100;
  auto& network = usage.containers.at(std::string(64, 'c')).network;
  network->sockets = std::vector<host::TcpSocket>{{31, bytes / 2, bytes / 2}};
  return usage;
}

TEST_F(PodsMonitorTest, bytes_over_tcp_are_counted_for_each_container) {
  const auto bytes = [&](std::string_view pod) { return of_pod(metrics_.pod_tcp_bytes, pod); };
  monitor_->take(with_tcp(usage(), 0, 1'000'000));
  EXPECT_EQ(bytes("a-1"), 0) << "what it moved before the first look is not known to be TCP's";
  monitor_->take(with_tcp(usage(), 120, 5'000'000));
  EXPECT_NEAR(bytes("a-1"), 4e6, 1e-3);
  EXPECT_EQ(bytes("a-0"), 0);
  const auto rate = [&] {
    return data::Json::parse(page_.get())["pods"][1]["tcpBytesPerSecond"].get<double>();
  };
  EXPECT_NEAR(rate(), 4e6 / 120, 1e-6);
  monitor_->take(with_tcp(usage(), 240, 5'000'000));
  EXPECT_NEAR(bytes("a-1"), 4e6, 1e-3) << "it never falls";
  EXPECT_EQ(rate(), 0);
}

TEST_F(PodsMonitorTest, a_look_without_processes_forgets_nobody) {
  proof::ContainerRecord record;
  record.container_id = std::string(64, 'd');
  record.pod = "nginx";
  record.gpus = {"GPU-x"};
  containers_.note(record);
  look_at_fallback();
  usage::Usage blind;
  blind.processes_why = "/proc: larger than our limit";
  for (int i = 0; i < 30; ++i) monitor_->take(blind);
  EXPECT_EQ(metrics_.pods_complete.value(), 0);
  EXPECT_EQ(of_pod(metrics_.pod_queue_pairs_seen, "a-0"), 7);
  monitor_->take(usage());
  monitor_->take(usage());
  monitor_->take(usage());
  EXPECT_EQ(metrics_.silent_fallbacks.value(), 1) << "it is the same fallback";
  EXPECT_EQ(data::Json::parse(page_.get())["pods"].size(), 3U) << "what the runtime told is kept";
}

TEST_F(PodsMonitorTest, a_sole_user_is_rdma_by_three_looks_in_a_row) {
  const auto look_at = [&](const std::string& moment) {
    text_ = text_of("/tests/pods/usages/ucx-devx-moves" + moment + ".node");
    monitor_->take(usage());
    return data::Json::parse(page_.get())["pods"][0]["verdict"];
  };
  EXPECT_EQ(look_at(".first"), "unknown");
  EXPECT_EQ(look_at(".before"), "unknown");
  EXPECT_EQ(look_at(""), "RDMA");
}

TEST_F(PodsMonitorTest, the_page_is_the_document_of_the_command) {
  EXPECT_EQ(data::Json::parse(page_.get())["complete"], false);
  monitor_->take(usage());
  const auto document = data::Json::parse(page_.get());
  EXPECT_EQ(document["kind"], "Pods");
  EXPECT_EQ(document["pods"].size(), 2U);
}

TEST_F(PodsMonitorTest, a_fallback_is_counted_once) {
  look_at_fallback();
  monitor_->take(usage());
  auto without = usage();
  without.containers.clear();
  for (int i = 0; i < 3; ++i) monitor_->take(without);
  EXPECT_EQ(metrics_.silent_fallbacks.value(), 1);
}

TEST_F(PodsMonitorTest, the_name_of_the_configuration_is_the_nodes) {
  agent::PodsOptions options;
  options.node_name = "gpu-17";
  agent::PodsMonitor monitor(context(), options, [this] { return open(); },
                             {tables_, containers_, page_});
  monitor.take(usage());
  EXPECT_EQ(data::Json::parse(page_.get())["node"], "gpu-17");
}

TEST_F(PodsMonitorTest, a_failed_open_of_the_machine_is_counted_and_the_page_stays) {
  monitor_->take(usage());
  monitor_->take(Error{ErrorCode::unavailable, "gone"});
  EXPECT_EQ(metrics_.pods_reads.value("failed"), 1);
  EXPECT_EQ(data::Json::parse(page_.get())["pods"].size(), 2U);
}

TEST_F(PodsMonitorTest, what_the_runtime_told_names_containers_without_a_bundle) {
  proof::ContainerRecord record;
  record.container_id = std::string(64, 'd');
  record.pod_namespace = "web";
  record.pod = "nginx";
  record.container = "main";
  record.gpus = {"GPU-x"};
  containers_.note(record);
  monitor_->take(usage());
  const auto document = data::Json::parse(page_.get());
  ASSERT_EQ(document["pods"].size(), 3U);
  EXPECT_EQ(document["pods"][2]["pod"], "nginx");
}

TEST_F(PodsMonitorTest, containers_that_are_gone_are_forgotten) {
  proof::ContainerRecord record;
  record.container_id = std::string(64, 'd');
  containers_.note(record);
  std::vector<proof::ContainerRecord> named;
  containers_.complete(named, usage::Usage());  // fresh: it may not have a process yet
  containers_.complete(named, usage::Usage());
  containers_.complete(named, usage());
  EXPECT_TRUE(named.empty());
}

}  // namespace
}  // namespace railhead::test
