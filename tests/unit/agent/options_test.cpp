// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "agent/options.h"

namespace railhead::agent {
namespace {

TEST(StartupTaintOptions, are_there_where_it_is_on) {
  const auto options = [](const std::string& text) {
    const auto config = config::make_config({{{"file", text}}, {}, {}});
    return startup_taint_options(config.value().settings(), {{"A", "b"}});
  };
  EXPECT_FALSE(options("node: {name: n}"));
  const auto on = options("node: {name: n}\nkubernetes: {startupTaint: true, kubeconfig: /k}");
  ASSERT_TRUE(on);
  EXPECT_EQ(on->node, "n");
  EXPECT_EQ(on->access.kubeconfig, "/k");
  EXPECT_EQ(on->access.environment.at("A"), "b");
}

TEST(KubeEventsOptions, are_there_where_it_is_on) {
  const auto options = [](const std::string& text) {
    const auto config = config::make_config({{{"file", text}}, {}, {}});
    return kube_events_options(config.value().settings(), {{"A", "b"}});
  };
  EXPECT_FALSE(options("kubernetes: {startupTaint: true}"));
  const auto on = options("node: {name: n}\nkubernetes: {events: true, kubeconfig: /k}");
  ASSERT_TRUE(on);
  EXPECT_EQ(on->node, "n");
  EXPECT_EQ(on->access.kubeconfig, "/k");
  EXPECT_EQ(on->access.environment.at("A"), "b");
}

TEST(NodeConditionsOptions, are_there_where_it_is_on) {
  const auto options = [](const std::string& text) {
    const auto config = config::make_config({{{"file", text}}, {}, {}});
    return node_conditions_options(config.value().settings(), {{"A", "b"}});
  };
  EXPECT_FALSE(options("doctor: {everySeconds: 60}"));
  const auto on = options(
      "node: {name: n}\nkubernetes: {conditions: true, kubeconfig: /k}\n"
      "doctor: {everySeconds: 60}");
  ASSERT_TRUE(on);
  EXPECT_EQ(on->node, "n");
  EXPECT_EQ(on->access.kubeconfig, "/k");
  EXPECT_EQ(on->stale_after, std::chrono::seconds(210));
}

TEST(FeatureFileOptions, are_there_where_a_file_is_named) {
  const auto options = [](const std::string& text) {
    return feature_file_options(config::make_config({{{"file", text}}, {}, {}}).value().settings());
  };
  EXPECT_FALSE(options("nfd: {removeAtEnd: true}"));
  const auto on = options("nfd: {file: /a/b, expirySeconds: 60, removeAtEnd: true}");
  ASSERT_TRUE(on);
  EXPECT_EQ(on->path, "/a/b");
  EXPECT_EQ(on->expiry, std::chrono::seconds(60));
  EXPECT_TRUE(on->remove_at_end);
  EXPECT_NE(on->writer, options("nfd: {file: /a/b}")->writer);
}

TEST(NodeDoctorOptions, are_as_configured) {
  const auto config = config::make_config(
      {{{"file", "node: {name: n}\ndoctor: {everySeconds: 60, historyFile: /h}"}}, {}, {}});
  const auto options = node_doctor_options(config.value().settings());
  EXPECT_EQ(options.every, std::chrono::seconds(60));
  EXPECT_EQ(options.history_file, "/h");
  EXPECT_EQ(options.node_name, "n");
}

}  // namespace
}  // namespace railhead::agent
