// SPDX-License-Identifier: Apache-2.0
// What functions bring along that are no RDMA devices.
#include <gmock/gmock.h>

#include "unit/inject/pool_specs.h"

namespace railhead::inject {
namespace {

using test::ContainerBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kDpdk = "allocation.railhead.io/intel.com/dpdk";

DecisionTable vfio_table(node::Node node = test::vfio_node()) {
  return test::vfio_with(test::driver_pool("intel.com/dpdk", "vfio-pci"), std::move(node));
}

TEST(FunctionDevices, of_vfio_are_the_container_and_its_own_groups) {
  ContainerBuilder container;
  container.annotation(kDpdk, "0000:11:01.1");
  const auto decision = test::decide(container, vfio_table());
  EXPECT_EQ(decision.outcome, Outcome::adjusted);
  EXPECT_EQ(decision.reason_code, "resource");
  EXPECT_EQ(decision.message, "intel.com/dpdk -> /dev/vfio/vfio, /dev/vfio/27");
  EXPECT_THAT(decision.adjustment.devices,
              ElementsAre(container::NewDevice{"/dev/vfio/vfio", 10, 196, 0666, 0, 0},
                          container::NewDevice{"/dev/vfio/27", 511, 1, 0600, 0, 0}));
}

TEST(FunctionDevices, follow_a_function_to_another_group) {
  auto node = test::vfio_node();
  for (auto& device : node.pci) {
    if (device.iommu_group) device.iommu_group = 53 - *device.iommu_group;  // 27 and 26
  }
  ContainerBuilder container;
  container.annotation(kDpdk, "0000:11:01.1");
  const auto decision = test::decide(container, vfio_table(std::move(node)));
  ASSERT_EQ(decision.adjustment.devices.size(), 2U);
  EXPECT_EQ(decision.adjustment.devices[1].path, "/dev/vfio/26");
}

TEST(FunctionDevices, without_an_iommu_lose_that_part_of_their_name) {
  auto node = test::vfio_node();
  for (auto& device : node.pci) device.no_iommu = true;
  node.function_devices[1].device.path = "/dev/vfio/noiommu-26";
  ContainerBuilder container;
  container.annotation(kDpdk, "0000:11:01.0");
  const auto decision = test::decide(container, vfio_table(std::move(node)));
  ASSERT_EQ(decision.adjustment.devices.size(), 2U);
  EXPECT_EQ(decision.adjustment.devices[1].path, "/dev/vfio/26");
  EXPECT_EQ(decision.adjustment.devices[1].major, 511);
}

TEST(FunctionDevices, that_are_not_there_refuse_the_start) {
  auto node = test::vfio_node();
  node.function_devices.pop_back();
  ContainerBuilder container;
  container.annotation(kDpdk, "0000:11:01.1");
  const auto decision = test::decide(container, vfio_table(std::move(node)));
  EXPECT_EQ(decision.outcome, Outcome::refused);
  EXPECT_THAT(decision.adjustment.devices, IsEmpty());
  EXPECT_THAT(decision.message,
              HasSubstr("holds intel.com/dpdk and would not get all of that: /dev/vfio/27"));
}

TEST(FunctionDevices, that_the_container_has_are_not_added_again) {
  ContainerBuilder container;
  container.annotation(kDpdk, "0000:11:01.0").device("/dev/vfio/vfio", 10, 196);
  const auto decision = test::decide(container, vfio_table());
  ASSERT_EQ(decision.adjustment.devices.size(), 1U);
  EXPECT_EQ(decision.adjustment.devices[0].path, "/dev/vfio/26");
}

TEST(FunctionDevices, are_given_to_a_kernel_of_its_own_too) {
  ContainerBuilder container;
  container.annotation(kDpdk, "0000:11:01.0").handler("kata-qemu");
  EXPECT_EQ(test::decide(container, vfio_table()).adjustment.devices.size(), 2U);
}

TEST(FunctionDevices, are_all_there_in_a_privileged_container) {
  ContainerBuilder container;
  container.annotation(kDpdk, "0000:11:01.0").privileged();
  EXPECT_EQ(test::decide(container, vfio_table()).outcome, Outcome::untouched);
}

TEST(FunctionDevices, need_an_allocation_that_pods_cannot_write) {
  ContainerBuilder container;
  container.annotation(kDpdk, "0000:11:01.0").pod_annotation(kDpdk, "0000:11:01.0");
  EXPECT_THAT(test::decide(container, vfio_table()).adjustment.devices, IsEmpty());
}

TEST(FunctionDevices, of_vdpa_are_the_node_of_vhost) {
  const auto table =
      test::vfio_with(test::vdpa_pool("nvidia.com/vhost", "vhost"), test::vdpa_node());
  ContainerBuilder container;
  container.annotation("allocation.railhead.io/nvidia.com/vhost", "0000:11:01.0");
  EXPECT_THAT(test::decide(container, table).adjustment.devices,
              ElementsAre(container::NewDevice{"/dev/vhost-vdpa-7", 510, 7, 0600, 0, 0}));
}

TEST(FunctionDevices, lacking_in_a_running_container_are_named) {
  ContainerBuilder container;
  container.annotation(kDpdk, "0000:11:01.0");
  const auto table = vfio_table();
  const auto facts = examine(container.request(), table);
  EXPECT_THAT(missing_devices(container.request(), facts, table, test::able()),
              ElementsAre("/dev/vfio/vfio", "/dev/vfio/26"));
}

}  // namespace
}  // namespace railhead::inject
