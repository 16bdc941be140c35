// SPDX-License-Identifier: Apache-2.0
#include "kube/node_condition.h"

#include <gmock/gmock.h>

#include "data/json.h"

namespace railhead::kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const NodeCondition kLink{"RDMALinkUnhealthy",    "True",
                          "RDMALinkIsDown",       "mlx5_3/1: DOWN",
                          "2026-11-23T10:05:00Z", "2026-11-23T10:00:00Z"};

TEST(NodeCondition, is_patched_by_its_type_in_the_status) {
  const auto request = patch_conditions("gpu/a", {kLink});
  EXPECT_EQ(request.verb, Verb::patch);
  EXPECT_EQ(request.target, "/api/v1/nodes/gpu%2fa/status");
  EXPECT_EQ(request.content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(data::Json::parse(request.body),
            (data::Json{{"status",
                         {{"conditions",
                           {{{"type", "RDMALinkUnhealthy"},
                             {"status", "True"},
                             {"reason", "RDMALinkIsDown"},
                             {"message", "mlx5_3/1: DOWN"},
                             {"lastHeartbeatTime", "2026-11-23T10:05:00Z"},
                             {"lastTransitionTime", "2026-11-23T10:00:00Z"}}}}}}}));
}

TEST(NodeCondition, is_read_with_nodes_status_alone) {
  EXPECT_EQ(get_node_status("gpu-a").target, "/api/v1/nodes/gpu-a/status");
}

TEST(NodeCondition, of_a_node_are_read_as_they_are) {
  const auto node = data::parse_json(R"({"status":{"conditions":[{"type":"Ready"},
      {"type":"RDMALinkUnhealthy","status":"True","reason":"RDMALinkIsDown",
       "message":"mlx5_3/1: DOWN","lastHeartbeatTime":"2026-11-23T10:05:00Z",
       "lastTransitionTime":"2026-11-23T10:00:00Z"}]}})");
  const NodeCondition ready{"Ready", "", "", "", "", ""};
  EXPECT_THAT(conditions_in(*node), ElementsAre(ready, kLink));
}

TEST(NodeCondition, what_is_malformed_is_left_out) {
  for (const auto* node :
       {"{}", R"({"status":[]})", R"({"status":{"conditions":null}})",
        R"({"status":{"conditions":"x"}})",
        R"({"status":{"conditions":[1,null,[],{"status":"True"},{"type":["a"]}]}})"}) {
    EXPECT_THAT(conditions_in(data::parse_json(node).value()), IsEmpty()) << node;
  }
}

}  // namespace
}  // namespace railhead::kube
