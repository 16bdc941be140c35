// SPDX-License-Identifier: Apache-2.0
#include "agent/pods_face.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "agent/metric_list.h"
#include "data/json.h"
#include "snapshot/snapshot_host.h"
#include "unit/source_dir.h"

namespace railhead::test {
namespace {

class PodsFaceTest : public testing::Test {
 protected:
  PodsFaceTest()
      : mailbox_(Mailbox::open().value()),
        machine_([this] { return open(); }, nullptr, {}, {}, clock_, log_, metrics_) {
    std::ostringstream text;
    text << std::ifstream(source_dir() + "/tests/pods/two-pods.node").rdbuf();
    text_ = text.str();
    EXPECT_TRUE(machine_.read("start"));
    face_.emplace(
        PodsFaceOptions(), [this] { return open(); }, loop_, *mailbox_, machine_, book_, log_,
        metrics_);
  }

  [[nodiscard]] Result<std::unique_ptr<Host>> open() const { return SnapshotHost::parse(text_); }

  [[nodiscard]] Usage usage() const {
    const auto host = open().value();
    return read_usage(*host);
  }

  [[nodiscard]] double of_pod(std::string_view metric, const std::string& pod) const {
    return metrics_.value(metric, {{"namespace", "train"}, {"pod", pod}, {"container", "main"}});
  }

  std::string text_ = "railhead-snapshot 1\n";
  ManualClock clock_;
  Log log_{LogLevel::error, LogFormat::text};
  MetricRegistry metrics_{metric_list()};
  boost::asio::io_context loop_;
  std::unique_ptr<Mailbox> mailbox_;
  Machine machine_;
  ContainerBook book_;
  std::optional<PodsFace> face_;
};

TEST_F(PodsFaceTest, metrics_say_what_each_container_uses) {
  face_->take(usage());
  EXPECT_EQ(of_pod("railhead_pod_silent_fallback", "a-0"), 0);
  EXPECT_EQ(of_pod("railhead_pod_silent_fallback", "a-1"), 1);
  EXPECT_EQ(of_pod("railhead_pod_queue_pairs_seen_total", "a-0"), 7);
  EXPECT_EQ(metrics_.value("railhead_pod_queue_pairs", {{"namespace", "train"},
                                                        {"pod", "a-0"},
                                                        {"container", "main"},
                                                        {"device", "mlx5_0"},
                                                        {"state", "connected"}}),
            3);
  EXPECT_EQ(metrics_.value("railhead_pods_complete"), 1);
  EXPECT_EQ(metrics_.value("railhead_silent_fallbacks_total"), 1);
  face_->take(usage());
  EXPECT_EQ(metrics_.value("railhead_silent_fallbacks_total"), 1);
}

TEST_F(PodsFaceTest, totals_stay_when_the_processes_end) {
  face_->take(usage());
  auto later = usage();
  for (auto& device : later.devices) device.queue_pairs.objects.clear();
  face_->take(later);
  EXPECT_EQ(of_pod("railhead_pod_queue_pairs_seen_total", "a-0"), 7);
}

TEST_F(PodsFaceTest, a_list_that_failed_once_makes_no_queue_pair_new) {
  const auto seen = [&] { return of_pod("railhead_pod_queue_pairs_seen_total", "a-0"); };
  face_->take(usage());
  auto failed = usage();
  for (auto& device : failed.devices) {
    device.queue_pairs = {TableState::interrupted, "interrupted", {}};
  }
  face_->take(failed);
  face_->take(failed);
  EXPECT_EQ(seen(), 7);
  face_->take(usage());
  EXPECT_EQ(seen(), 7);
}

TEST_F(PodsFaceTest, the_page_is_the_document_of_the_command) {
  EXPECT_EQ(Json::parse(face_->page())["complete"], false);
  face_->take(usage());
  const auto document = Json::parse(face_->page());
  EXPECT_EQ(document["kind"], "Pods");
  EXPECT_EQ(document["pods"].size(), 2U);
}

TEST_F(PodsFaceTest, a_fallback_is_counted_once) {
  face_->take(usage());
  face_->take(usage());
  auto without = usage();
  without.containers.clear();
  for (int i = 0; i < 3; ++i) face_->take(without);
  EXPECT_EQ(metrics_.value("railhead_silent_fallbacks_total"), 1);
}

TEST_F(PodsFaceTest, the_name_of_the_configuration_is_the_nodes) {
  PodsFaceOptions options;
  options.node_name = "gpu-17";
  PodsFace face(
      options, [this] { return open(); }, loop_, *mailbox_, machine_, book_, log_, metrics_);
  face.take(usage());
  EXPECT_EQ(Json::parse(face.page())["node"], "gpu-17");
}

TEST_F(PodsFaceTest, a_machine_that_cannot_be_opened_is_counted_and_keeps_the_page) {
  face_->take(usage());
  face_->take(Error{ErrorCode::unavailable, "gone"});
  EXPECT_EQ(metrics_.value("railhead_pods_reads_total", {{"outcome", "failed"}}), 1);
  EXPECT_EQ(Json::parse(face_->page())["pods"].size(), 2U);
}

TEST_F(PodsFaceTest, what_the_runtime_told_names_containers_without_a_bundle) {
  Holder holder;
  holder.container_id = std::string(64, 'd');
  holder.pod_namespace = "web";
  holder.pod = "nginx";
  holder.container = "main";
  holder.gpus = {"GPU-x"};
  book_.note(holder);
  face_->take(usage());
  const auto document = Json::parse(face_->page());
  ASSERT_EQ(document["pods"].size(), 3U);
  EXPECT_EQ(document["pods"][2]["pod"], "nginx");
}

TEST_F(PodsFaceTest, the_book_forgets_containers_that_are_gone) {
  Holder holder;
  holder.container_id = std::string(64, 'd');
  book_.note(holder);
  std::vector<Holder> named;
  book_.complete(named, Usage());  // fresh: it may not have a process yet
  book_.complete(named, Usage());
  book_.complete(named, usage());
  EXPECT_TRUE(named.empty());
}

TEST_F(PodsFaceTest, a_reading_comes_through_the_mailbox_and_only_one_at_a_time) {
  bool done = false;
  {
    UsageReader reader([this] { return open(); }, {}, *mailbox_);
    ASSERT_TRUE(reader.ask([&](const Result<Usage>& read) { done = read.has_value(); }));
    (void)reader.ask([](const Result<Usage>&) {});  // busy or not, it must not hang
    while (!done) mailbox_->run();
  }
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace railhead::test
