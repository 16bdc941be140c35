// SPDX-License-Identifier: Apache-2.0
#include "inject/rdma_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inject/container_builder.h"

namespace railhead::inject {
namespace {

using test::ContainerBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RdmaDevices, every_device_of_the_node_is_found_by_its_path) {
  const auto table = test::table_of(test::seed_node());
  const auto kind = [&](const char* path) { return find_rdma_device(table, path)->kind; };
  EXPECT_EQ(kind("/dev/infiniband/uverbs1"), RdmaDeviceKind::uverbs);
  EXPECT_EQ(kind("/dev/infiniband/umad1"), RdmaDeviceKind::umad);
  EXPECT_EQ(kind("/dev/infiniband/issm1"), RdmaDeviceKind::issm);
  EXPECT_EQ(kind("/dev/infiniband/rdma_cm"), RdmaDeviceKind::rdma_cm);
  EXPECT_EQ(find_rdma_device(table, "/dev/infiniband/umad1")->nic, 1U);
  EXPECT_FALSE(find_rdma_device(table, "/dev/infiniband/rdma_cm")->nic);
  EXPECT_FALSE(find_rdma_device(table, "/dev/infiniband/uverbs1/"));
  EXPECT_FALSE(find_rdma_device(table, ""));
}

TEST(RdmaDevices, management_datagrams_are_given_only_where_listed) {
  InjectionPolicy policy;
  EXPECT_FALSE(is_given(RdmaDeviceKind::umad, device_classes(policy)));
  EXPECT_FALSE(is_given(RdmaDeviceKind::issm, device_classes(policy)));
  policy.devices = {"issm"};
  EXPECT_FALSE(is_given(RdmaDeviceKind::umad, device_classes(policy)));
  EXPECT_TRUE(is_given(RdmaDeviceKind::issm, device_classes(policy)));
  EXPECT_TRUE(is_given(RdmaDeviceKind::uverbs, device_classes(policy)));
  EXPECT_TRUE(is_given(RdmaDeviceKind::rdma_cm, device_classes(policy)));
}

TEST(RdmaDevices, rdma_cm_is_not_a_nic_that_is_present) {
  const auto table = test::table_of(test::seed_node());
  ContainerBuilder container;
  container.device("/dev/infiniband/rdma_cm", 10, 58).device("/dev/nvidia0", 195, 0);
  EXPECT_FALSE(present_rdma(container.request(), table).any);
}

TEST(RdmaDevices, a_umad_is_present_and_carries_no_traffic) {
  const auto table = test::table_of(test::seed_node());
  ContainerBuilder container;
  container.device("/dev/infiniband/umad0", 231, 0);
  EXPECT_TRUE(present_rdma(container.request(), table).any);
  EXPECT_THAT(present_rdma(container.request(), table).nics, IsEmpty());
}

TEST(RdmaDevices, every_umad_of_a_nic_is_given_where_they_are_at_all) {
  node::Node node = test::seed_node();
  auto second = node.nics[0].umads.at(0);
  second.path = "/dev/infiniband/umad17";
  second.minor = 17;
  node.nics[0].umads.push_back(second);
  const auto table = test::table_of(node);
  ContainerBuilder container;
  std::vector<std::string> paths;
  for (const auto& device : devices_to_add(container.request(), table, {0}, {.umad = true})) {
    paths.push_back(device.path);
  }
  EXPECT_THAT(paths, testing::IsSupersetOf({node.nics[0].umads[0].path, second.path}));
}

TEST(RdmaDevices, permission_bits_are_sent_without_a_file_type) {
  node::Node node = test::seed_node();
  node.nics[0].uverbs[0].mode = 020660;
  const auto table = test::table_of(node);
  ContainerBuilder container;
  EXPECT_EQ(devices_to_add(container.request(), table, {0}, {})[0].mode, 0660U);
}

TEST(RdmaDevices, no_nic_means_no_rdma_cm_either) {
  const auto table = test::table_of(test::seed_node());
  ContainerBuilder container;
  EXPECT_THAT(devices_to_add(container.request(), table, {}, {}), IsEmpty());
}

}  // namespace
}  // namespace railhead::inject
