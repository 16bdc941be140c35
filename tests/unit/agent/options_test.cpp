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

}  // namespace
}  // namespace railhead::agent
