// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "unit/host/temporary_directory.h"
#include "unit/source_dir.h"

namespace railhead::agent {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

config::Config config_of(std::map<config::SettingRow, std::string> flags) {
  config::ConfigSources sources;
  sources.flags = std::move(flags);
  sources.flags.merge(std::map<config::SettingRow, std::string>{
      {config::SettingRow("host.snapshot"),
       test::source_dir() + "/tests/nodes/seed-8gpu-4nic.node"},
      {config::SettingRow("nri.enabled"), "false"},
      {config::SettingRow("devicePlugin.enabled"), "false"},
      {config::SettingRow("pods.sampleSeconds"), "0"},
      {config::SettingRow("metrics.bindAddress"), ""},
      {config::SettingRow("metrics.socket"), ""},
      {config::SettingRow("log.level"), "error"}});
  return config::make_config(sources).value();
}

/// Names of the threads of this process.
std::set<std::string> threads() {
  std::set<std::string> names;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    auto name = test::file_text((task.path() / "comm").string());
    names.insert(name.substr(0, name.find('\n')));
  }
  return names;
}

TEST(Agent, services_that_are_off_have_no_thread) {
  Status outcome;
  std::atomic<bool> has_ended = false;
  std::thread agent([&] {
    // The thread sanitizer of GCC 12 loses a signal that comes during a thread's first blocking
    // call (SigCtx() in tsan_interceptors_posix.cpp makes two contexts): let that be this one.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    outcome = run_agent(config_of({}), {});
    has_ended = true;
  });
  std::set<std::string> seen;
  // "config" is started last; each thread names itself, in any order.
  const auto are_there = [&] { return seen.contains("config") && seen.contains("reader"); };
  while (!are_there() && !has_ended) seen = threads();
  ::pthread_kill(agent.native_handle(), SIGTERM);  // what its handler reads was written there
  agent.join();
  EXPECT_TRUE(outcome);
  EXPECT_THAT(seen, AllOf(Contains("reader"), Not(Contains("pages")), Not(Contains("files")),
                          Not(Contains("kubelet")), Not(Contains("usage"))));
}

TEST(Agent, an_address_that_is_none_is_named_with_who_said_it) {
  const auto outcome =
      run_agent(config_of({{config::SettingRow("metrics.bindAddress"), "foo"}}), {});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message,
              HasSubstr("--bind-address: metrics.bindAddress: \"foo\": expected HOST:PORT"));
}

}  // namespace
}  // namespace railhead::agent
