// SPDX-License-Identifier: Apache-2.0
#include "topology/layout_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/node_builder.h"

namespace railhead::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Two GPUs and two NICs on PCI domains of their own.
test::NodeBuilder guest(std::uint32_t first_domain = 1) {
  test::NodeBuilder b;
  b.raw().hypervisor = true;
  b.gpu(b.host_bridge(0, 0, first_domain));
  b.gpu(b.host_bridge(0, 0, first_domain + 1));
  b.nic(b.host_bridge(0, 0, first_domain + 2)).name("ib0");
  b.nic(b.host_bridge(0, 0, first_domain + 3)).name("ib1");
  return b;
}

/// A layout that knows the functions of these PCI domains.
Layout knows(const std::vector<std::uint32_t>& domains) {
  Layout layout;
  for (const auto domain : domains) layout.positions.push_back({{domain, 0, 0, 0}, "pci", {}, 0});
  return layout;
}

TEST(LayoutFit, a_layout_that_knows_everything_fits) {
  const auto fit = fit_of(knows({1, 2, 3, 4}), guest().build());
  EXPECT_EQ(fit.refusal, "");
  EXPECT_EQ(fit.confidence, Confidence::high);
  EXPECT_THAT(fit.remarks, IsEmpty());
}

TEST(LayoutFit, what_is_missing_in_the_machine_does_not_matter) {
  EXPECT_EQ(fit_of(knows({1, 2, 3, 4, 5, 6}), guest().build()).confidence, Confidence::high);
}

TEST(LayoutFit, an_unknown_gpu_is_refused_and_named) {
  EXPECT_EQ(fit_of(knows({1, 3, 4}), guest().build()).refusal, "does not know GPU 0002:00:00.0");
  EXPECT_EQ(fit_of(knows({}), guest().build()).refusal,
            "does not know GPUs 0001:00:00.0, 0002:00:00.0");
}

TEST(LayoutFit, no_known_nic_is_refused) {
  EXPECT_EQ(fit_of(knows({1, 2}), guest().build()).refusal, "knows no NIC of this machine");
}

TEST(LayoutFit, no_nic_is_needed_where_the_only_one_has_the_default_route) {
  test::NodeBuilder b;
  b.gpu(b.host_bridge(0, 0, 1));
  b.nic(b.host_bridge(0, 0, 9)).netdev("eth0").default_route();
  EXPECT_EQ(fit_of(knows({1}), b.build()).refusal, "");
}

TEST(LayoutFit, a_nic_of_the_same_model_that_is_left_out_is_named) {
  const auto fit = fit_of(knows({1, 2, 4}), guest().build());
  EXPECT_EQ(fit.refusal, "");
  EXPECT_EQ(fit.confidence, Confidence::medium);
  EXPECT_THAT(fit.remarks, ElementsAre("leaves out ib0; there the PCI tree counts"));
}

TEST(LayoutFit, nics_of_another_model_or_the_default_route_may_be_left_out) {
  auto b = guest();
  b.nic(b.host_bridge(0, 0, 8)).ids(0x15b3, 0x101b);
  b.nic(b.host_bridge(0, 0, 9)).netdev("eth0").default_route();
  b.soft_nic("rxe0", "eth0");
  const auto fit = fit_of(knows({1, 2, 3, 4}), b.build());
  EXPECT_EQ(fit.confidence, Confidence::high);
  EXPECT_THAT(fit.remarks, IsEmpty());
}

TEST(LayoutFit, functions_of_one_card_stand_for_each_other) {
  test::NodeBuilder b;
  b.gpu(b.host_bridge(0, 0, 1));
  b.nic(b.host_bridge(0, 0, 2), 2);
  b.nic(b.host_bridge(0, 0, 3)).virtual_functions(2);
  EXPECT_EQ(fit_of(knows({1, 2, 3}), b.build()).confidence, Confidence::high);
}

TEST(LayoutFit, pci_domains_drawn_at_random_are_little_to_build_on) {
  const auto fit = fit_of(knows({0xa2b3, 0xa2b4, 0xa2b5, 0xa2b6}), guest(0xa2b3).build());
  EXPECT_EQ(fit.refusal, "");
  EXPECT_EQ(fit.confidence, Confidence::low);
  ASSERT_EQ(fit.remarks.size(), 1U);
  EXPECT_THAT(fit.remarks[0], HasSubstr("names a2b3:00:00.0"));
}

TEST(LayoutFit, a_front_end_on_a_random_domain_does_not_matter) {
  auto b = guest();
  b.nic(b.host_bridge(0, 0, 0xb3f7)).ids(0x15b3, 0x1016);
  EXPECT_EQ(fit_of(knows({1, 2, 3, 4}), b.build()).confidence, Confidence::high);
}

TEST(LayoutFit, high_domains_of_bare_metal_are_not_random) {
  node::Node node = guest(0x10000).build();
  node.hypervisor = false;
  EXPECT_EQ(fit_of(knows({0x10000, 0x10001, 0x10002, 0x10003}), node).confidence, Confidence::high);
}

}  // namespace
}  // namespace railhead::topology
