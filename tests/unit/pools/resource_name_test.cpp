// SPDX-License-Identifier: Apache-2.0
#include "pools/resource_name.h"

#include <gtest/gtest.h>

#include <string>

namespace railhead::pools {
namespace {

TEST(ResourceName, a_domain_and_a_name_is_one) {
  for (const char* name : {"rdma.io/hca", "rdma/hca_shared_devices_a", "nvidia.com/hostdev", "a/b",
                           "intel.com/SRIOV.Net-1", "0.0/9"}) {
    EXPECT_TRUE(check_resource_name(name)) << name;
  }
}

TEST(ResourceName, what_the_kubelet_would_refuse_is_refused) {
  for (const char* name :
       {"", "hca", "/hca", "rdma.io/", "Rdma.io/hca", "rdma.io/hca/x", "rdma.io/-a", "rdma.io/a-",
        "rdma.io/a b", "rdma_io/hca", "rdma..io/hca", "-a.io/hca", "rdma.io/_a", "kubernetes.io/x",
        "node.kubernetes.io/x", "requests.rdma.io/hca", "rdma.io/h\xc3\xa4"}) {
    EXPECT_FALSE(check_resource_name(name)) << name;
  }
}

TEST(ResourceName, sixty_three_characters_after_the_slash_are_the_most) {
  EXPECT_TRUE(check_resource_name("rdma.io/" + std::string(63, 'a')));
  EXPECT_FALSE(check_resource_name("rdma.io/" + std::string(64, 'a')));
  EXPECT_TRUE(check_resource_name(std::string(244, 'a') + "/a"));
  EXPECT_FALSE(check_resource_name(std::string(245, 'a') + "/a"));
}

}  // namespace
}  // namespace railhead::pools
