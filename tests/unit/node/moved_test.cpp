// SPDX-License-Identifier: Apache-2.0
#include "node/moved.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/node_builder.h"

namespace railhead::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Two cards, mlx5_0 with netdev ens1 and mlx5_1 with ens2, in the exclusive mode.
class Moved : public testing::Test {
 protected:
  Moved() {
    NodeBuilder b;
    const auto left = b.host_bridge(0x10, 0);
    b.nic(b.bridge(left)).ethernet(200).netdev("ens1");
    b.nic(b.bridge(left)).ethernet(200).netdev("ens2");
    before_ = b.build();
    for (auto& device : before_.pci) device.driver = "mlx5_core";
    before_.nics[0].node_guid = "0000:0000:0000:0001";
    before_.rdma_netns = node::RdmaNetns::exclusive;
    now_ = before_;
    handed_ = {*before_.nics[0].pci};
  }

  void take_netdev() {
    now_.nics[0].netdevs.clear();
    std::erase_if(now_.netdevs, [](const node::Netdev& netdev) { return netdev.name == "ens1"; });
  }

  /// As read_nics() shows a device that has been moved.
  void move_device() {
    node::Nic& nic = now_.nics[0];
    nic.elsewhere = true;
    static_cast<node::NicAttributes&>(nic) = {};
    nic.ports.clear();
  }

  /// As it shows one in the middle of a move.
  void lose_device() {
    node::Nic& nic = now_.nics[0];
    nic.registered = false;
    nic.name = nic.pci->str();
    nic.ports.clear();
    nic.uverbs.clear();
  }

  void keep() { node::keep_what_moved(before_, handed_, now_); }

  node::Node before_;
  node::Node now_;
  std::set<node::PciAddress> handed_;
};

TEST_F(Moved, nothing_is_kept_where_nothing_moved) {
  keep();
  EXPECT_EQ(now_, before_);
}

TEST_F(Moved, a_moved_rdma_device_keeps_its_facts_and_has_its_new_nodes) {
  move_device();
  now_.nics[0].uverbs[0].path = "/dev/infiniband/uverbs7";
  keep();
  EXPECT_EQ(now_.nics[0].ports, before_.nics[0].ports);
  const node::NicAttributes& known = before_.nics[0];
  EXPECT_EQ(now_.nics[0], known);
  EXPECT_EQ(now_.nics[0].node_guid, "0000:0000:0000:0001");
  EXPECT_EQ(now_.nics[0].uverbs[0].path, "/dev/infiniband/uverbs7");
  EXPECT_TRUE(now_.nics[0].elsewhere);
}

TEST_F(Moved, it_keeps_that_through_any_number_of_readings) {
  const auto ports = before_.nics[0].ports;
  for (int i = 0; i < 3; ++i) {
    move_device();
    keep();
    before_ = now_;
  }
  EXPECT_EQ(now_.nics[0].ports, ports);
}

TEST_F(Moved, a_device_that_is_back_is_as_it_is_read) {
  const auto home = now_;
  move_device();
  keep();
  before_ = now_;
  now_ = home;
  keep();
  EXPECT_EQ(now_, home);
}

TEST_F(Moved, a_netdev_of_what_is_handed_out_keeps_its_name) {
  take_netdev();
  keep();
  EXPECT_THAT(now_.nics[0].netdevs, ElementsAre("ens1"));
  ASSERT_NE(now_.find_netdev("ens1"), nullptr);
  EXPECT_TRUE(now_.find_netdev("ens1")->elsewhere);
  EXPECT_EQ(now_.find_netdev("ens1")->up, std::nullopt);
  EXPECT_EQ(now_.netdevs.front().name, "ens1") << "sorted";
}

TEST_F(Moved, one_of_any_other_function_is_gone) {
  handed_ = {*before_.nics[1].pci};
  take_netdev();
  keep();
  EXPECT_THAT(now_.nics[0].netdevs, IsEmpty());
  EXPECT_EQ(now_.find_netdev("ens1"), nullptr);
}

TEST_F(Moved, a_netdev_with_another_name_is_the_same_netdev) {
  now_.nics[0].netdevs = {"eth7"};
  now_.netdevs[0].name = "eth7";
  keep();
  EXPECT_THAT(now_.nics[0].netdevs, ElementsAre("eth7"));
  EXPECT_EQ(now_.netdevs.size(), 2U);
}

TEST_F(Moved, a_netdev_of_a_function_without_rdma_is_kept_too) {
  before_.nics.erase(before_.nics.begin());
  now_.nics.erase(now_.nics.begin());
  std::erase_if(now_.netdevs, [](const node::Netdev& netdev) { return netdev.name == "ens1"; });
  keep();
  EXPECT_NE(now_.find_netdev("ens1"), nullptr);
}

TEST_F(Moved, where_another_driver_holds_the_function_nothing_is_kept) {
  take_netdev();
  lose_device();
  for (auto& device : now_.pci) device.driver = "vfio-pci";
  keep();
  EXPECT_FALSE(now_.nics[0].registered);
  EXPECT_EQ(now_.find_netdev("ens1"), nullptr);
}

TEST_F(Moved, a_function_that_is_unplugged_is_gone) {
  now_ = node::Node{};
  now_.rdma_netns = node::RdmaNetns::exclusive;
  keep();
  EXPECT_THAT(now_.nics, IsEmpty());
  EXPECT_THAT(now_.netdevs, IsEmpty());
}

TEST_F(Moved, amid_a_move_a_device_is_kept_without_nodes_for_one_reading) {
  const auto ports = before_.nics[0].ports;
  lose_device();
  keep();
  ASSERT_EQ(now_.nics.size(), 2U);
  EXPECT_TRUE(now_.nics[0].registered);
  EXPECT_TRUE(now_.nics[0].elsewhere);
  EXPECT_EQ(now_.nics[0].name, "mlx5_0");
  EXPECT_EQ(now_.nics[0].ports, ports);
  EXPECT_THAT(now_.nics[0].uverbs, IsEmpty());
  EXPECT_THAT(now_.nics[0].netdevs, ElementsAre("ens1"));
  before_ = now_;
  lose_device();
  keep();
  EXPECT_FALSE(now_.nics[0].registered);
}

TEST_F(Moved, a_device_that_read_nics_shows_no_more_keeps_its_place) {
  now_.nics.erase(now_.nics.begin());
  keep();
  ASSERT_EQ(now_.nics.size(), 2U);
  EXPECT_EQ(now_.nics[0].name, "mlx5_0");
}

TEST_F(Moved, in_the_shared_mode_a_device_that_is_not_seen_is_gone) {
  now_.rdma_netns = node::RdmaNetns::shared;
  lose_device();
  keep();
  EXPECT_FALSE(now_.nics[0].registered);
}

}  // namespace
}  // namespace railhead::test
