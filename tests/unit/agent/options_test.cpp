// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/options.h"

namespace railhead::agent {
namespace {

using testing::HasSubstr;

Result<std::vector<affinity::RoleOverride>> roles_from(const std::string& entry) {
  const auto config =
      config::make_config({{{"railhead.yaml", "roles:\n- " + entry + "\n"}}, {}, {}});
  if (!config) return config.error();
  return role_overrides(*config);
}

std::string error_of(const std::string& entry) {
  const auto roles = roles_from(entry);
  return roles ? "no error" : roles.error().message;
}

TEST(RoleOverrides, all_selectors_are_read) {
  const auto roles = roles_from(
      "{name: 'mlx5_*', pci: '29:00.0', device: '15b3:101d', linkLayer: Ethernet, netdev: 'ens*', "
      "role: front-end}");
  ASSERT_TRUE(roles) << roles.error().message;
  ASSERT_EQ(roles->size(), 1U);
  const affinity::RoleOverride& rule = roles->front();
  EXPECT_EQ(rule.name_glob, "mlx5_*");
  EXPECT_EQ(rule.pci->str(), "0000:29:00.0");
  EXPECT_EQ(rule.vendor, 0x15b3);
  EXPECT_EQ(rule.device, 0x101d);
  EXPECT_EQ(rule.link_layer, node::LinkLayer::ethernet);
  EXPECT_EQ(rule.netdev_glob, "ens*");
  EXPECT_EQ(rule.role, affinity::Role::front_end);
}

TEST(RoleOverrides, device_may_be_any_of_a_vendor) {
  const auto roles = roles_from("{device: '1d0f:*', role: compute}");
  ASSERT_TRUE(roles) << roles.error().message;
  EXPECT_EQ(roles->front().vendor, 0x1d0f);
  EXPECT_EQ(roles->front().device, std::nullopt);
}

TEST(RoleOverrides, what_cannot_be_read_is_an_error_with_its_place) {
  EXPECT_EQ(error_of("{pci: 'mlx5_0', role: storage}"),
            "railhead.yaml:2:9: roles.pci: \"mlx5_0\" is no PCI address such as 0000:18:00.0");
  for (const char* ids :
       {"15b3", "15b3:", ":101d", "0x15b3:0x101d", "15b3:101", "*:101d", "a:b:c"}) {
    EXPECT_THAT(error_of("{device: '" + std::string(ids) + "', role: storage}"),
                HasSubstr("railhead.yaml:2:12: roles.device: "))
        << ids;
  }
  EXPECT_THAT(error_of("{linkLayer: infiniband, role: storage}"),
              HasSubstr("2:15: roles.linkLayer: \"infiniband\" is neither InfiniBand nor"));
  EXPECT_THAT(error_of("{name: a, role: fast}"),
              HasSubstr("railhead.yaml:2:19: roles.role: \"fast\" is no role: compute, storage"));
}

/// A driver that hangs does not keep an operator from seeing more of the log.

TEST(LoggedDifferences, are_those_of_another_plugins_file) {
  const auto logged = [](const std::string& text) {
    std::string ids;
    const auto config = config::make_config({{{"file", text}}, {}, {}});
    if (!config) return config.error().message;
    for (const auto& one : logged_differences(*config)) ids += std::string(one.id) + " ";
    return ids;
  };
  EXPECT_EQ(logged(R"({"configList": []})"), "nics-without-a-slot ");
  EXPECT_EQ(logged("resourceCount: 1"), "gpu-pods-need-a-slot other-pods-need-a-slot ");
  EXPECT_EQ(logged("pools: []"), "");
}

}  // namespace
}  // namespace railhead::agent
