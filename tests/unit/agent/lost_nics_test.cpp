// SPDX-License-Identifier: Apache-2.0
#include "agent/lost_nics.h"

#include <gmock/gmock.h>

#include "unit/inject/container_builder.h"

namespace railhead::agent {
namespace {

using testing::HasSubstr;

class LostNicsTest : public testing::Test {
 protected:
  LostNicsTest() {
    hold("1", "trainer", {"mlx5_0", "mlx5_1"});
    hold("2", "server", {"mlx5_0"});
    hold("3", "idle", {});
  }

  void hold(std::string id, std::string pod, std::vector<std::string> nics) {
    proof::ContainerRecord record;
    record.container_id = std::move(id);
    record.pod_namespace = "team";
    record.pod = std::move(pod);
    record.container = "main";
    record.nics = std::move(nics);
    containers_.note(record);
  }

  /// What is said when the first machine becomes the second.
  std::string said(node::Node before, node::Node now) {
    LostNics lost(containers_, log_);
    testing::internal::CaptureStderr();
    for (auto* node : {&before, &now}) {
      lost.look(std::make_shared<const inject::DecisionTable>(test::table_of(std::move(*node))));
    }
    log_.flush();
    return testing::internal::GetCapturedStderr();
  }

  ContainerCache containers_;
  Log log_{config::LogLevel::info, config::LogFormat::text};
};

TEST_F(LostNicsTest, are_named_with_the_containers_that_held_them) {
  auto now = test::seed_node();
  now.nics.erase(now.nics.begin());
  EXPECT_THAT(said(test::seed_node(), std::move(now)),
              HasSubstr("warn containers lost a nic nic=mlx5_0 "
                        "containers=team/server/main,team/trainer/main"));
}

TEST_F(LostNicsTest, are_those_whose_nodes_have_gone_or_are_others) {
  auto now = test::seed_node();
  now.nics[0].uverbs[0].minor += 9;
  now.nics[1].uverbs.clear();
  const auto text = said(test::seed_node(), std::move(now));
  EXPECT_THAT(text, HasSubstr("nic=mlx5_0"));
  EXPECT_THAT(text, HasSubstr("nic=mlx5_1 containers=team/trainer/main"));
}

TEST_F(LostNicsTest, that_nobody_held_are_not_said) {
  auto now = test::seed_node();
  now.nics.pop_back();
  EXPECT_EQ(said(test::seed_node(), std::move(now)), "");
  EXPECT_EQ(said(test::seed_node(), test::seed_node()), "");
}

TEST_F(LostNicsTest, by_another_name_or_owner_are_not_lost) {
  auto now = test::seed_node();
  now.nics[0].name = "ibp24s0";
  now.nics[1].uverbs[0].gid = 107;
  EXPECT_EQ(said(test::seed_node(), std::move(now)), "");
}

TEST_F(LostNicsTest, in_the_namespace_of_a_pod_are_not_lost) {
  auto there = test::seed_node();
  there.nics[0].elsewhere = true;
  there.nics[0].uverbs[0].minor += 9;
  EXPECT_EQ(said(test::seed_node(), there), "");
  EXPECT_EQ(said(there, test::seed_node()), "");
}

TEST_F(LostNicsTest, are_said_with_so_many_containers_and_a_count) {
  for (int i = 0; i < 40; ++i) hold("x" + std::to_string(i), "many", {"mlx5_3"});
  auto now = test::seed_node();
  now.nics.pop_back();
  EXPECT_THAT(said(test::seed_node(), std::move(now)), HasSubstr(",and 24 more"));
}

}  // namespace
}  // namespace railhead::agent
