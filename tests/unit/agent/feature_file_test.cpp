// SPDX-License-Identifier: Apache-2.0
#include "agent/feature_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "host/boot_id.h"
#include "host/unique_fd.h"
#include "unit/host/temporary_directory.h"
#include "unit/manual_clock.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

class FeatureFileTest : public testing::Test {
 protected:
  FeatureFileTest() {
    options_.path = folder_ / "features.d/railhead";
    options_.writer = "1";
    fs::create_directory(folder_ / "features.d");
    publish("seed-8gpu-4nic");
  }

  void publish(const std::string& name) {
    publish(machine(name));
    machine_ = name;
  }

  void publish(node::Node node) {
    tables_.publish(std::make_shared<const inject::DecisionTable>(
        std::move(node), affinity::OperatorRules(), inject::InjectionPolicy()));
  }

  std::unique_ptr<agent::FeatureFile> file() {
    return std::make_unique<agent::FeatureFile>(
        agent::Context{loop_, *mailbox_, clock_, log_, metrics_}, options_, tables_,
        [this]() -> Result<std::unique_ptr<host::Host>> {
          auto all = TRY(snapshot::parse_snapshot(machine_text(machine_)));
          all.entries[host::kBootId] = snapshot::SnapshotFile{boot_id_};
          return std::unique_ptr<host::Host>(
              std::make_unique<snapshot::SnapshotHost>(std::move(all)));
        });
  }

  [[nodiscard]] std::string text() const {
    return fs::exists(options_.path) ? file_text(options_.path) : "";
  }

  /// The line of the file with this label; "" where there is none.
  [[nodiscard]] std::string line_of(const std::string& label) const {
    const auto whole = text();
    const auto at = whole.find("\nrailhead.io/" + label + "=");
    return at == std::string::npos ? "" : whole.substr(at + 1, whole.find('\n', at + 1) - at - 1);
  }

  /// Whether a look writes the file.
  bool writes(agent::FeatureFile& file) {
    const auto before = fs::last_write_time(options_.path);
    fs::last_write_time(options_.path, before - 1h);
    file.look();
    const bool written = fs::last_write_time(options_.path) != before - 1h;
    return written;
  }

  std::string said() {
    log_.flush();
    return file_text(folder_ / "log");
  }

  TemporaryDirectory folder_;
  std::string machine_;
  std::string boot_id_ = "b0\n";
  agent::FeatureFileOptions options_;
  host::UniqueFd log_file_{
      ::open((folder_ / "log").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_APPEND, 0600)};
  boost::asio::io_context loop_{1};
  std::unique_ptr<loop::Mailbox> mailbox_ = std::move(loop::Mailbox::open()).value();
  ManualClock clock_;
  agent::Log log_{config::LogLevel::info, config::LogFormat::text, log_file_.get()};
  agent::Metrics metrics_;
  agent::TableFeed tables_;
};

TEST_F(FeatureFileTest, is_written_when_a_feature_changes_and_else_not) {
  const auto one = file();
  one->look();
  EXPECT_THAT(text(), HasSubstr("\nrailhead.io/rdma.capable=true\n"));
  EXPECT_THAT(text(), HasSubstr("\nrailhead.io/rails=4\n"));
  EXPECT_THAT(text(), Not(HasSubstr("+expiry-time")));
  EXPECT_FALSE(writes(*one));
  publish("dgx-h100");
  EXPECT_TRUE(writes(*one));
  EXPECT_THAT(text(), HasSubstr("\nrailhead.io/rails=8\n"));
  EXPECT_FALSE(writes(*one));
}

TEST_F(FeatureFileTest, that_has_gone_is_written_again) {
  const auto one = file();
  one->look();
  fs::remove(options_.path);
  one->look();
  EXPECT_NE(text(), "");
}

TEST_F(FeatureFileTest, is_written_again_in_time_before_it_expires) {
  options_.expiry = 600s;
  const auto one = file();
  one->look();
  EXPECT_THAT(text(),
              HasSubstr("\n# +expiry-time=" + host::utc_text(clock_.calendar() + 600s) + "\n"));
  clock_.advance(299s);
  EXPECT_FALSE(writes(*one));
  clock_.advance(2s);
  EXPECT_TRUE(writes(*one));
  EXPECT_THAT(text(), HasSubstr(host::utc_text(clock_.calendar() + 600s)));
}

TEST_F(FeatureFileTest, stays_at_the_end_unless_it_is_to_go) {
  file()->look();
  EXPECT_NE(text(), "");
  options_.remove_at_end = true;
  file()->look();
  EXPECT_EQ(text(), "");
}

TEST_F(FeatureFileTest, of_another_agent_stays) {
  options_.remove_at_end = true;
  auto before = file();
  before->look();
  options_.writer = "2";
  auto after = file();
  after->look();
  before.reset();
  EXPECT_THAT(text(), HasSubstr("# writer: 2\n"));
  after.reset();
  EXPECT_EQ(text(), "");
}

TEST_F(FeatureFileTest, keeps_the_numbers_of_rails_also_for_the_next_agent) {
  auto before = file();
  before->look();
  const auto rail_3 = line_of("rail-3.nic");
  auto node = machine(machine_);
  std::erase_if(node.nics, [](const node::Nic& nic) { return nic.name == "mlx5_1"; });
  publish(node);
  before->look();
  EXPECT_EQ(line_of("rails"), "railhead.io/rails=3");
  EXPECT_EQ(line_of("rail-1.nic"), "");
  EXPECT_EQ(line_of("rail-3.nic"), rail_3);
  options_.writer = "2";
  file()->look();
  EXPECT_EQ(line_of("rail-3.nic"), rail_3);
  boot_id_ = "b1\n";  // started anew: nothing of before counts
  options_.writer = "3";
  file()->look();
  EXPECT_EQ(line_of("rail-3.nic"), "");
}

TEST_F(FeatureFileTest, a_folder_that_is_not_there_is_said_once_and_overcome) {
  fs::remove(folder_ / "features.d");
  const auto one = file();
  one->look();
  one->look();
  const auto log = said();
  EXPECT_THAT(log, HasSubstr("warn feature file file=" + options_.path));
  EXPECT_EQ(log.find("warn"), log.rfind("warn"));
  fs::create_directory(folder_ / "features.d");
  one->look();
  EXPECT_NE(text(), "");
}

TEST_F(FeatureFileTest, a_folder_that_cannot_be_written_leaves_nothing_behind) {
  options_.path = "/proc/railhead";
  const auto one = file();
  one->look();
  EXPECT_THAT(said(), HasSubstr("warn feature file file=/proc/railhead"));
}

}  // namespace
}  // namespace railhead::test
