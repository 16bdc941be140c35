// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "host/watch.h"

namespace railhead {
namespace {

std::string uevent(std::initializer_list<std::string> fields) {
  std::string message;
  for (const auto& field : fields) message += field + std::string(1, '\0');
  return message;
}

TEST(Uevent, only_what_the_reader_reads_is_relevant) {
  EXPECT_TRUE(is_relevant_uevent(uevent({"add@/devices/x", "SUBSYSTEM=infiniband", "SEQNUM=1"})));
  EXPECT_TRUE(is_relevant_uevent(uevent({"bind@/devices/x", "SUBSYSTEM=pci"})));
  EXPECT_TRUE(is_relevant_uevent(uevent({"bind@/devices/x/vdpa0", "SUBSYSTEM=vdpa"})));
  EXPECT_TRUE(
      is_relevant_uevent(uevent({"add@/x", "DEVPATH=/devices/virtual/misc/rdma_cm",
                                 "SUBSYSTEM=misc", "MAJOR=10", "DEVNAME=infiniband/rdma_cm"})));
  EXPECT_TRUE(is_relevant_uevent(
      uevent({"add@/x", "DEVPATH=/bus/pci/drivers/nvidia", "SUBSYSTEM=drivers"})));
  EXPECT_FALSE(is_relevant_uevent(uevent({"change@/x", "SUBSYSTEM=block"})));
  EXPECT_FALSE(is_relevant_uevent(uevent({"add@/x", "SUBSYSTEM=misc", "DEVNAME=fuse"})));
  EXPECT_FALSE(is_relevant_uevent(""));
  EXPECT_FALSE(is_relevant_uevent(uevent({"libudev", "\xfe\xed\xca\xfe"})));
}

TEST(Uevent, the_virtual_netdev_of_a_container_is_not) {
  EXPECT_FALSE(is_relevant_uevent(uevent(
      {"add@/x", "DEVPATH=/devices/virtual/net/veth12ab", "SUBSYSTEM=net", "INTERFACE=veth12ab"})));
  EXPECT_TRUE(is_relevant_uevent(
      uevent({"add@/x", "DEVPATH=/devices/pci0000:00/0000:00:01.0/net/eth0", "SUBSYSTEM=net"})));
}

}  // namespace
}  // namespace railhead
