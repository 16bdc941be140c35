// SPDX-License-Identifier: Apache-2.0
#include "agent/config_follower.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include "agent/metrics.h"
#include "host/input_file.h"
#include "unit/few_descriptors.h"
#include "unit/host/temporary_directory.h"
#include "unit/manual_clock.h"

namespace railhead::agent {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::ptrdiff_t inotify_instances() {
  const auto is_inotify = [](const fs::directory_entry& one) {
    std::error_code gone;
    return fs::read_symlink(one, gone) == "anon_inode:inotify";
  };
  return std::ranges::count_if(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator(),
                               is_inotify);
}

/// A mounted ConfigMap: config.yaml -> ..data/config.yaml, ..data -> a folder of its own.
class ConfigFollowerTest : public testing::Test {
 protected:
  ConfigFollowerTest() {
    swap("log: {level: warn}\n");
    fs::create_symlink("..data/config.yaml", path_);
  }

  void swap(const std::string& text) {
    const std::string folder = "..v" + std::to_string(++version_);
    fs::create_directory(folder_.path() / folder);
    ASSERT_TRUE(host::write_file_atomic(folder_ / (folder + "/config.yaml"), text));
    fs::create_symlink(folder, folder_.path() / "..data_tmp");
    fs::rename(folder_.path() / "..data_tmp", folder_.path() / "..data");
  }

  ConfigFollower& started() {
    ConfigReader reader;
    reader.paths = {path_};
    reader.settle = std::chrono::milliseconds(1);
    reader.recheck = recheck_;
    reader.read = [this]() -> Result<config::ConfigSources> {
      if (!host::input_file_exists(path_)) return config::ConfigSources{};
      auto text = TRY(host::read_input_file(path_, 65536));
      return config::ConfigSources{{{path_, std::move(text)}}, {}, {}};
    };
    return follower_.emplace(Context{loop_, *mailbox_, clock_, log_, metrics_}, std::move(reader),
                             [this](const config::Config& config,
                                    const ConfigFollower::Done& done) { done(take(config)); });
  }

  Result<ConfigNews> take(const config::Config& config) {
    if (refuses_) return Error{ErrorCode::malformed, "two pools want one NIC"};
    levels_.push_back(config.entry("log.level").text);
    const bool first = levels_.size() == 1;
    return ConfigNews{first ? std::vector<std::string>() : std::vector<std::string>{"log.level"},
                      restart_,
                      {},
                      left_out_,
                      {}};
  }

  bool until(const std::function<bool()>& so) {
    while (!so()) {
      if (loop_.run_one_for(std::chrono::seconds(5)) == 0) return false;
    }
    return true;
  }

  double reloads(std::string_view outcome) {
    return metrics_.config_reloads.value(metrics::Label<"outcome", "loaded", "refused">(outcome));
  }

  double is_good() { return metrics_.config_last_reload_successful.value(); }

  boost::asio::io_context loop_{1};
  std::unique_ptr<loop::Mailbox> mailbox_ = loop::Mailbox::open().value();
  test::TemporaryDirectory folder_;
  std::string path_ = folder_ / "config.yaml";
  int version_ = 0;
  bool refuses_ = false;
  std::chrono::seconds recheck_{0};
  std::vector<std::string> levels_;
  std::vector<std::string> restart_;
  std::vector<std::string> left_out_;
  test::ManualClock clock_;
  Log log_{config::LogLevel::error, config::LogFormat::text};
  Metrics metrics_;
  std::optional<ConfigFollower> follower_;
};

TEST_F(ConfigFollowerTest, a_start_is_no_reload) {
  clock_.advance(std::chrono::seconds(7));
  started().start();
  EXPECT_EQ(is_good(), 1);
  EXPECT_EQ(reloads("loaded"), 0);
  EXPECT_EQ(metrics_.config_last_success_timestamp_seconds.value(), 7);
}

TEST_F(ConfigFollowerTest, a_link_that_is_swapped_is_followed) {
  started().start();
  swap("log: {level: debug}\n");
  ASSERT_TRUE(until([&] { return levels_.size() == 2; }));
  EXPECT_EQ(levels_.back(), "debug");
  swap("log: {level: error}\n");
  ASSERT_TRUE(until([&] { return levels_.size() == 3; }));
  EXPECT_EQ(reloads("loaded"), 2);
}

TEST_F(ConfigFollowerTest, a_resource_that_is_left_out_is_said_and_no_success) {
  auto& follower = started();
  follower.start();
  left_out_ = {"sriov.json:3:5: no"};
  swap("log: {level: debug}\n");
  testing::internal::CaptureStderr();
  log_.set_level(config::LogLevel::warn);
  follower.check();
  log_.flush();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("resource left out"), HasSubstr("sriov.json:3:5: no")));
  EXPECT_EQ(is_good(), 0);
  EXPECT_EQ(reloads("loaded"), 1);
}

TEST_F(ConfigFollowerTest, a_broken_file_is_refused_once_and_a_good_one_taken_again) {
  auto& follower = started();
  follower.start();
  clock_.advance(std::chrono::seconds(7));
  swap("log: {level: loud}\n");
  testing::internal::CaptureStderr();
  follower.check();
  follower.check();
  log_.flush();
  const auto said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr(path_ + ":1:14"));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1);
  EXPECT_EQ(reloads("refused"), 1);
  EXPECT_EQ(is_good(), 0);
  EXPECT_EQ(metrics_.config_last_success_timestamp_seconds.value(), 0);
  EXPECT_THAT(levels_, ElementsAre("warn"));
  swap("log: {level: debug}\n");
  follower.check();
  EXPECT_THAT(levels_, ElementsAre("warn", "debug"));
  EXPECT_EQ(is_good(), 1);
}

TEST_F(ConfigFollowerTest, what_was_refused_but_not_for_its_text_is_tried_again) {
  auto& follower = started();
  follower.start();
  refuses_ = true;
  swap("log: {level: debug}\n");
  follower.check();
  follower.check();
  EXPECT_EQ(reloads("refused"), 1);
  refuses_ = false;
  follower.check();
  EXPECT_THAT(levels_, ElementsAre("warn", "debug"));
}

TEST_F(ConfigFollowerTest, a_file_that_has_gone_leaves_its_configuration) {
  auto& follower = started();
  follower.start();
  fs::remove(path_);
  follower.check();
  EXPECT_EQ(reloads("refused"), 1);
  EXPECT_THAT(levels_, ElementsAre("warn"));
}

TEST_F(ConfigFollowerTest, a_file_that_comes_later_is_followed) {
  fs::remove(path_);
  started().start();
  fs::create_symlink("..data/config.yaml", path_);
  ASSERT_TRUE(until([&] { return levels_.size() == 2; }));
  EXPECT_EQ(levels_.back(), "warn");
}

TEST_F(ConfigFollowerTest, events_that_could_not_be_had_are_asked_for_again) {
  const auto before = inotify_instances();
  recheck_ = std::chrono::seconds(1);
  auto& follower = started();
  testing::internal::CaptureStderr();
  log_.set_level(config::LogLevel::warn);
  {
    const test::FewDescriptors few(2);  // the root, and the set of sources
    follower.start();
    loop_.run_one_for(std::chrono::milliseconds(1500));  // once more in vain
  }
  EXPECT_TRUE(until([&] { return inotify_instances() > before; }));
  log_.flush();
  const auto said = testing::internal::GetCapturedStderr();
  const std::string complaint = "no events of configuration files";
  EXPECT_THAT(said, HasSubstr(complaint));
  EXPECT_EQ(said.find(complaint), said.rfind(complaint)) << said;
}

TEST_F(ConfigFollowerTest, a_hangup_asks_even_where_nothing_has_changed) {
  started().start();
  ::raise(SIGHUP);
  ASSERT_TRUE(until([&] { return reloads("loaded") == 1; }));
  EXPECT_EQ(levels_.size(), 2U);
}

TEST_F(ConfigFollowerTest, what_waits_for_a_restart_is_counted_and_warned_of_once) {
  auto& follower = started();
  follower.start();
  restart_ = {"nri.socket (config.yaml:1:1)"};
  testing::internal::CaptureStderr();
  log_.set_level(config::LogLevel::warn);
  swap("log: {level: debug}\n");
  follower.check();
  swap("log: {level: error}\n");
  follower.check();
  log_.flush();
  const auto said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("configuration needs a restart settings=\"nri.socket"));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
  EXPECT_EQ(metrics_.config_settings_awaiting_restart.value(), 1);
}

}  // namespace
}  // namespace railhead::agent
