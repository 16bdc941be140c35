// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "host/changes.h"

namespace railhead::host {
namespace {

using Names = MachineChanges::Names;

constexpr const char* kFunction = "/devices/pci0000:15/0000:15:01.0/0000:16:00.0";

MachineChanges changes(std::initializer_list<std::string> fields) {
  std::string message;
  for (const auto& field : fields) message += field + std::string(1, '\0');
  return changes_of_uevent(message);
}

std::string path(const std::string& below = "") {
  return std::string("DEVPATH=") + kFunction + below;
}

TEST(Uevent, of_an_rdma_device_names_it) {
  const auto found = changes({"add@/x", path("/infiniband/mlx5_0"), "SUBSYSTEM=infiniband"});
  MachineChanges expected;
  expected.add_rdma("mlx5_0");
  EXPECT_EQ(found, expected);
}

TEST(Uevent, of_a_renamed_device_names_both) {
  const auto rdma = changes({"move@/x", path("/infiniband/rail0"), "SUBSYSTEM=infiniband",
                             "DEVPATH_OLD=/devices/x/infiniband/mlx5_0"});
  EXPECT_EQ(rdma.rdma, (Names{"mlx5_0", "rail0"}));
  const auto net = changes({"move@/x", path("/net/rail0"), "SUBSYSTEM=net",
                            "DEVPATH_OLD=/devices/x/net/eth0", "INTERFACE=rail0"});
  EXPECT_EQ(net.netdevs, (Names{"eth0", "rail0"}));
}

TEST(Uevent, of_a_device_node_names_it) {
  EXPECT_EQ(
      changes({"add@/x", path("/infiniband_verbs/uverbs0"), "SUBSYSTEM=infiniband_verbs"}).nodes,
      Names{"uverbs0"});
  EXPECT_EQ(changes({"add@/x", path("/infiniband_mad/umad3"), "SUBSYSTEM=infiniband_mad"}).nodes,
            Names{"umad3"});
  EXPECT_EQ(changes({"add@/x", "DEVPATH=/devices/virtual/misc/rdma_cm", "SUBSYSTEM=misc",
                     "DEVNAME=infiniband/rdma_cm"})
                .nodes,
            Names{"rdma_cm"});
}

TEST(Uevent, of_a_function_or_of_what_it_made_names_the_function) {
  EXPECT_EQ(changes({"bind@/x", path(), "SUBSYSTEM=pci"}).pci, Names{"0000:16:00.0"});
  EXPECT_EQ(changes({"bind@/x", path("/vdpa0"), "SUBSYSTEM=vdpa"}).pci, Names{"0000:16:00.0"});
  EXPECT_TRUE(changes({"add@/x", "DEVPATH=/devices/vdpasim0/vdpa0", "SUBSYSTEM=vdpa"}).empty());
}

TEST(Uevent, of_graphics_and_their_drivers_is_about_gpus) {
  MachineChanges gpus;
  gpus.gpus = true;
  EXPECT_EQ(changes({"add@/x", path("/drm/renderD128"), "SUBSYSTEM=drm"}), gpus);
  EXPECT_EQ(changes({"add@/x", "DEVPATH=/bus/pci/drivers/nvidia", "SUBSYSTEM=drivers"}), gpus);
  EXPECT_EQ(changes({"add@/x", "DEVPATH=/bus/pci/drivers/xe", "SUBSYSTEM=drivers"}), gpus);
  EXPECT_EQ(changes({"add@/x", "DEVPATH=/module/gdrdrv", "SUBSYSTEM=module"}), gpus);
  EXPECT_TRUE(changes({"add@/x", "DEVPATH=/module/nfsd", "SUBSYSTEM=module"}).empty());
  EXPECT_TRUE(changes({"add@/x", "DEVPATH=/bus/pci/drivers/nvme", "SUBSYSTEM=drivers"}).empty());
}

TEST(Uevent, of_what_the_reader_does_not_read_is_no_change) {
  EXPECT_TRUE(changes({"change@/x", "DEVPATH=/x", "SUBSYSTEM=block"}).empty());
  EXPECT_TRUE(changes({"add@/x", "DEVPATH=/x", "SUBSYSTEM=misc", "DEVNAME=fuse"}).empty());
  EXPECT_TRUE(changes_of_uevent("").empty());
  EXPECT_TRUE(changes({"libudev", "\xfe\xed\xca\xfe"}).empty());
}

TEST(Uevent, of_the_virtual_netdev_of_a_container_is_no_change) {
  EXPECT_TRUE(changes({"add@/x", "DEVPATH=/devices/virtual/net/veth12ab", "SUBSYSTEM=net",
                       "INTERFACE=veth12ab"})
                  .empty());
}

TEST(Uevent, that_cannot_be_told_is_everything) {
  EXPECT_TRUE(changes({"add@/x", "DEVPATH=/devices/odd", "SUBSYSTEM=pci"}).everything);
  EXPECT_TRUE(changes({"add@/x", "SUBSYSTEM=infiniband"}).everything);
  std::string endless = std::string("SUBSYSTEM=block") + '\0';
  for (int field = 0; field < 1000; ++field) endless += std::string("A=1") + '\0';
  EXPECT_TRUE(changes_of_uevent(endless).everything);
}

TEST(MachineChanges, of_more_names_than_are_kept_are_everything) {
  MachineChanges some;
  for (std::size_t at = 0; at < MachineChanges::kMaxNames; ++at) {
    some.add_rdma("mlx5_" + std::to_string(at));
  }
  EXPECT_FALSE(some.everything);
  MachineChanges one;
  one.add_rdma("one_more");
  some.merge(one);
  EXPECT_TRUE(some.everything);
}

TEST(MachineChanges, know_a_pci_address_by_its_form) {
  for (const auto* address : {"0000:3b:00.0", "10000:e1:1f.7", "0000:00:00.0"}) {
    EXPECT_TRUE(is_pci_address(address)) << address;
  }
  for (const auto* text : {"", "3b:00.0", "0000:3b:00.8", "0000:3B:00.0", "0000:3b:00:0", "new_id",
                           "000000000:3b:00.0", "0000:3b:00.0 "}) {
    EXPECT_FALSE(is_pci_address(text)) << text;
  }
  EXPECT_EQ(pci_address_in("/devices/pci0000:15/0000:15:01.0/0000:16:00.0/net/a"), "0000:16:00.0");
  EXPECT_EQ(pci_address_in("/devices/virtual/net/a"), "");
}

}  // namespace
}  // namespace railhead::host
