// SPDX-License-Identifier: Apache-2.0
//
// What a resource of k8s-rdma-shared-dev-plugin takes: kinds of selectors by AND, values by OR.
#include <gmock/gmock.h>

#include "unit/pools/pools_of.h"

namespace railhead::test {
namespace {

using test::kDefault;
using test::kEns2;
using test::kIb;
using test::kIntel;

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SharedPluginSelection, by_vendor) {
  const Pooled pooled(small_server(), shared(R"({"vendors": ["15b3"]})"));
  EXPECT_THAT(pooled.members(), ElementsAre(kIb, kEns2, kDefault));
  EXPECT_EQ(pooled.why(kIntel), "vendors: 8086 is not 15b3");
}

TEST(SharedPluginSelection, by_device_id) {
  const Pooled pooled(small_server(), shared(R"({"deviceIDs": ["101d", "1592"]})"));
  EXPECT_THAT(pooled.members(), ElementsAre(kEns2, kIntel));
  EXPECT_EQ(pooled.why(kIb), "deviceIDs: 1021 is none of 101d, 1592");
}

TEST(SharedPluginSelection, by_driver) {
  const Pooled pooled(small_server(), shared(R"({"drivers": ["ice"]})"));
  EXPECT_THAT(pooled.members(), ElementsAre(kIntel));
  EXPECT_EQ(pooled.why(kIb), "drivers: mlx5_core is not ice");
}

TEST(SharedPluginSelection, by_interface_name_even_where_it_carries_the_default_route) {
  const Pooled pooled(small_server(), shared(R"({"ifNames": ["ib0", "eno1", "ens9"]})"));
  EXPECT_THAT(pooled.members(), ElementsAre(kIb, kDefault));
  EXPECT_EQ(pooled.why(kEns2), "ifNames: ens2 is none of ib0, eno1, ens9");
}

TEST(SharedPluginSelection, by_the_old_form_devices) {
  const auto parsed = parse_text(
      R"({"configList": [{"resourceName": "hca", "rdmaHcaMax": 10, "devices": ["ib0"]}]})");
  ASSERT_TRUE(parsed);
  EXPECT_THAT(Pooled(small_server(), parsed->specs).members(), ElementsAre(kIb));
}

TEST(SharedPluginSelection, by_link_type) {
  const Pooled ether(small_server(), shared(R"({"linkTypes": ["ether"]})"));
  EXPECT_THAT(ether.members(), ElementsAre(kEns2, kIntel, kDefault));
  EXPECT_EQ(ether.why(kIb), "linkTypes: infiniband is not ether");
  const Pooled infiniband(small_server(), shared(R"({"linkTypes": ["infiniband"]})"));
  EXPECT_THAT(infiniband.members(), ElementsAre(kIb));
}

TEST(SharedPluginSelection, all_kinds_must_hold) {
  const Pooled pooled(
      small_server(),
      shared(R"({"vendors": ["15b3"], "linkTypes": ["ether"], "ifNames": ["ens2", "ens3"]})"));
  EXPECT_THAT(pooled.members(), ElementsAre(kEns2));
  EXPECT_EQ(pooled.why(kIb), "ifNames: ib0 is none of ens2, ens3");
  EXPECT_EQ(pooled.why(kIntel), "vendors: 8086 is not 15b3");
}

TEST(SharedPluginSelection, values_are_compared_letter_by_letter) {
  EXPECT_THAT(Pooled(small_server(), shared(R"({"vendors": ["15B3"]})")).members(), IsEmpty());
  EXPECT_THAT(Pooled(small_server(), shared(R"({"vendors": ["0x15b3"]})")).members(), IsEmpty());
  EXPECT_THAT(Pooled(small_server(), shared(R"({"ifNames": ["ens*"]})")).members(), IsEmpty());
  EXPECT_THAT(Pooled(small_server(), shared(R"({"linkTypes": ["InfiniBand"]})")).members(),
              IsEmpty());
}

TEST(SharedPluginSelection, infiniband_without_an_interface_has_a_link_type_here) {
  auto node = small_server();
  node.nics[0].netdevs.clear();
  EXPECT_THAT(Pooled(node, shared(R"({"linkTypes": ["infiniband"]})")).members(), ElementsAre(kIb));
  EXPECT_EQ(Pooled(node, shared(R"({"ifNames": ["ib0"]})")).why(kIb),
            "ifNames: it has no network interface");
}

TEST(SharedPluginSelection, umad_and_rdma_cm_are_not_required) {
  auto node = small_server();
  for (auto& nic : node.nics) nic.umads.clear();
  node.rdma_cm.reset();
  EXPECT_EQ(Pooled(node, shared(R"({"vendors": ["15b3"]})")).members().size(), 3U);
}

TEST(SharedPluginSelection, a_function_without_an_rdma_driver_is_left_out_and_says_why) {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0))).unregistered();
  const Pooled pooled(b.build(), shared(R"({"vendors": ["15b3"]})"));
  EXPECT_THAT(pooled.members(), IsEmpty());
  EXPECT_EQ(pooled.why(kIb), "it has no RDMA device (is its RDMA driver loaded?)");
}

TEST(SharedPluginSelection, virtual_functions_are_taken_and_physical_ones_beside_them) {
  EXPECT_EQ(Pooled(vf_server(), shared(R"({"vendors": ["15b3"]})")).members().size(), 10U);
  EXPECT_EQ(Pooled(vf_server(), shared(R"({"deviceIDs": ["101e"]})")).members().size(), 8U);
}

TEST(SharedPluginSelection, soft_and_scalable_functions_are_not_looked_at) {
  NodeBuilder b;
  b.soft_nic("rxe0", "eth0");
  const Pooled pooled(b.build(), shared(R"({"ifNames": ["eth0"]})"));
  EXPECT_THAT(pooled.members(), IsEmpty());
  EXPECT_EQ(pooled.why("rxe0"), "functions: it is a soft");
}

TEST(SharedPluginSelection, several_resources_may_have_the_same_nic) {
  const Pooled pooled(small_server(), R"({"configList": [
      {"resourceName": "a", "rdmaHcaMax": 3, "selectors": {"vendors": ["15b3"]}},
      {"resourceName": "b", "rdmaHcaMax": 4, "selectors": {"ifNames": ["ib0"]}}]})");
  EXPECT_THAT(pooled.members(0), ElementsAre(kIb, kEns2, kDefault));
  EXPECT_THAT(pooled.members(1), ElementsAre(kIb));
}

}  // namespace
}  // namespace railhead::test
