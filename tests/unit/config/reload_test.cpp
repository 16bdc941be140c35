// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <gmock/gmock.h>

namespace railhead::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Config config_of(const std::string& text) {
  auto config = make_config({{{"c.yaml", text}}, {}, {}});
  EXPECT_TRUE(config) << config.error().message;
  return std::move(config).value();
}

TEST(Reload, what_changes_live_is_taken_and_named) {
  const auto reload = reload_of(config_of("injection: {gpus: closest}\n"),
                                config_of("injection: {gpus: none}\nlog: {level: debug}\n"));
  EXPECT_THAT(reload.changed, ElementsAre("injection.gpus", "log.level"));
  EXPECT_THAT(reload.restart, IsEmpty());
  EXPECT_EQ(reload.config.settings().injection.gpus, GpuPolicy::none);
}

TEST(Reload, what_needs_a_restart_stays_and_is_named_with_its_place) {
  const auto running = config_of("metrics:\n  bindAddress: :1\n");
  const auto reload =
      reload_of(running, config_of("metrics:\n  bindAddress: :2\nhost: {root: /x}"));
  EXPECT_THAT(reload.changed, IsEmpty());
  EXPECT_THAT(reload.restart,
              ElementsAre("host.root (c.yaml:3:14)", "metrics.bindAddress (c.yaml:2:16)"));
  EXPECT_EQ(reload.config.settings().metrics.bind_address, ":1");
  EXPECT_EQ(reload.config.settings().host.root, "/");
  EXPECT_EQ(reload.config.entry("host.root").text, "/");
}

TEST(Reload, what_was_taken_back_waits_for_nothing) {
  const auto running = config_of("metrics: {bindAddress: ':1'}\n");
  const auto once = reload_of(running, config_of("metrics: {bindAddress: ':2'}\n"));
  EXPECT_THAT(reload_of(once.config, config_of("metrics: {bindAddress: ':1'}\n")).restart,
              IsEmpty());
}

TEST(Reload, the_same_words_on_other_lines_change_nothing) {
  const auto reload =
      reload_of(config_of("roles:\n  - {name: a, role: storage}\nlog: {level: warn}\n"),
                config_of("log: {level: warn}\n\nroles:\n  - {name: a, role: storage}\n"));
  EXPECT_THAT(reload.changed, IsEmpty());
}

TEST(Reload, the_log_and_ignored_pods_do_not_concern_the_machine) {
  const auto concerns = [](const std::string& text) {
    return reload_of(config_of(""), config_of(text)).concerns_machine;
  };
  EXPECT_FALSE(concerns("log: {level: debug}\n"));
  EXPECT_FALSE(concerns("pods: {ignore: [a/b]}\nlog: {level: debug}\n"));
  EXPECT_FALSE(concerns("nri: {enabled: false}\n"));
  EXPECT_TRUE(concerns("log: {level: debug}\ninjection: {gpus: none}\n"));
  EXPECT_TRUE(concerns("host: {rescanSeconds: 60}\n"));
  EXPECT_TRUE(concerns("roles:\n  - {name: a, role: storage}\n"));
}

TEST(Reload, roles_are_compared) {
  const auto reload = reload_of(config_of(""), config_of("roles:\n  - {name: a, role: storage}\n"));
  EXPECT_THAT(reload.changed, ElementsAre("roles"));
}

}  // namespace
}  // namespace railhead::config
