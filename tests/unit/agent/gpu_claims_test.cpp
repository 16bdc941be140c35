// SPDX-License-Identifier: Apache-2.0
#include "agent/gpu_claims.h"

#include <gtest/gtest.h>

#include "unit/inject/container_builder.h"

namespace railhead {
namespace {

GpuClaim claim(const std::string& resource, const std::vector<std::string>& ids) {
  const auto table = test::table_of(test::seed_node(), {});
  const kubelet::PodHoldings pod{"default", "a", {{"main", {{resource, ids}}}}};
  return claim_in(pod, table, {"nvidia.com/gpu*", "nvidia.com/mig-*", "amd.com/gpu"});
}

TEST(GpuClaims, a_gpu_resource_is_a_claim) {
  EXPECT_EQ(claim("nvidia.com/gpu", {"GPU-x"}), GpuClaim::holds);
  EXPECT_EQ(claim("nvidia.com/gpu.shared", {"GPU-x::1"}), GpuClaim::holds);
  EXPECT_EQ(claim("nvidia.com/mig-1g.10gb", {"MIG-x"}), GpuClaim::holds);
}

TEST(GpuClaims, a_device_of_this_node_is_a_claim_whatever_its_resource) {
  const auto node = test::seed_node();
  ASSERT_TRUE(node.gpus[0].uuid);
  EXPECT_EQ(claim("example.com/accelerator", {*node.gpus[0].uuid}), GpuClaim::holds);
}

TEST(GpuClaims, other_resources_and_none_are_no_claim) {
  EXPECT_EQ(claim("rdma.io/hca", {"rdma-0"}), GpuClaim::holds_none);
  EXPECT_EQ(claim("nvidia.com/gpu", {}), GpuClaim::holds_none);
}

TEST(GpuClaims, only_where_nobody_is_there_the_environment_is_trusted) {
  const auto table = test::table_of(test::seed_node(), {});
  const auto after = [&](ErrorCode code) { return claim_in(Error{code, "x"}, table, {}); };
  EXPECT_EQ(after(ErrorCode::unavailable), GpuClaim::no_kubelet);
  EXPECT_EQ(after(ErrorCode::timeout), GpuClaim::unanswered);
  EXPECT_EQ(after(ErrorCode::too_large), GpuClaim::unanswered);
  EXPECT_EQ(after(ErrorCode::denied), GpuClaim::unanswered);
}

}  // namespace
}  // namespace railhead
