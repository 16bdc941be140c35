// SPDX-License-Identifier: Apache-2.0
#include "agent/runtime_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "agent/metrics.h"
#include "loop/mail_loop.h"
#include "unit/agent/fixed_tables.h"
#include "unit/host/temporary_directory.h"
#include "unit/manual_clock.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

namespace fs = std::filesystem;

class RuntimeFilesTest : public testing::Test {
 protected:
  static std::shared_ptr<const inject::DecisionTable> table_with(const std::string& path) {
    inject::InjectionPolicy policy;
    policy.topology_file = path;
    return FixedTables(machine("azure-nd-a100-v4"), policy).table();
  }

  boost::asio::io_context loop_{1};
  loop::MailLoop mail_{std::move(loop::Mailbox::open()).value(), loop_};
  ManualClock clock_;
  agent::Log log_{config::LogLevel::error, config::LogFormat::text};
  agent::Metrics metrics_;
  TemporaryDirectory folder_;
  agent::TableFeed tables_;
  std::shared_ptr<const inject::DecisionTable> provided_;
  agent::RuntimeFiles files_{agent::Context{loop_, mail_.box(), clock_, log_, metrics_}, "/proc",
                             tables_, [this](auto table) { provided_ = std::move(table); }};
};

TEST_F(RuntimeFilesTest, what_failed_once_is_tried_again) {
  const auto in_the_way = folder_.path() / "run";
  std::ofstream(in_the_way) << "a file where the folder belongs";
  tables_.publish(table_with((in_the_way / "topology.xml").string()));
  files_.runtime_connected(::getpid());
  EXPECT_EQ(provided_, nullptr);
  fs::remove(in_the_way);  // of which no event tells
  while (!provided_) {
    ASSERT_GT(loop_.run_one_for(std::chrono::seconds(60)), 0U);
  }
  EXPECT_TRUE(fs::exists(in_the_way / "topology.xml"));
}

TEST(TableFeed, who_follows_after_its_end_is_not_called) {
  agent::TableFeed tables;
  const auto box = std::move(loop::Mailbox::open()).value();
  bool called = false;
  tables.close();
  tables.follow(*box, [&called] { called = true; });
  tables.publish(FixedTables(machine("seed-8gpu-4nic")).table());
  box->run();
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace railhead::test
