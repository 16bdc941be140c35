// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "setup/plan.h"
#include "unit/setup/node_tree.h"

namespace railhead::setup {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

class Skipped : public ::testing::Test {
 protected:
  /// An Ethernet card without RDMA, by default: Intel's 82576.
  void function(const std::string& address, const std::string& vendor = "0x8086",
                const std::string& device = "0x10c9") {
    const auto path = test::NodeTree::path_of(address);
    tree_.write(path + "vendor", vendor + "\n");
    tree_.write(path + "device", device + "\n");
    tree_.write(path + "class", "0x020000\n");
  }

  [[nodiscard]] std::string why(const std::string& text = "nri: true\n") const {
    const auto machine = Machine::open(tree_.at("").string()).value();
    const auto wanted = parse_wanted("x", text).value();
    const auto reason = why_skipped(machine, wanted);
    const auto plan = make_plan(machine, wanted, Risk::reboot).value();
    if (reason.empty()) {
      EXPECT_THAT(plan, Not(IsEmpty()));
    } else {
      EXPECT_THAT(plan, IsEmpty());
    }
    return reason;
  }

  test::NodeTree tree_;
};

TEST_F(Skipped, a_machine_whose_functions_are_no_rdma_nics_is_left_as_it_is) {
  function("0000:01:00.0");
  function("0000:02:00.0", "0x1af4", "0x1041");
  EXPECT_EQ(why(), "no-rdma-nic");
  for (const std::string text :
       {"modules: [ib_umad]\n", "memlock: {limitsFile: true, services: [kubelet]}\n",
        "sysctl: {net.ipv4.conf.all.arp_ignore: 1}\n", "gpudirect: {route: true}\n",
        "nfs: [{what: \"a:/b\", where: /mnt/b}]\n", "mtu: {eth0: 9000}\n"}) {
    EXPECT_EQ(why(text), "no-rdma-nic") << text;
  }
}

TEST_F(Skipped, a_machine_without_any_function_is_left_as_it_is) {
  std::filesystem::create_directories(tree_.at("sys/bus/pci/devices"));
  EXPECT_EQ(why(), "no-rdma-nic");
}

TEST_F(Skipped, each_nic_that_may_do_rdma_counts_without_a_driver_too) {
  const std::pair<const char*, const char*> kNics[] = {
      {"0x15b3", "0x1021"},  // ConnectX-7
      {"0x15b3", "0x101e"},  // a virtual one
      {"0x1d0f", "0xefa1"},  // EFA
      {"0x14e4", "0x1750"},  // Thor, whose module is loaded by nobody
      {"0x8086", "0x37ce"},  // X722: maybe
      {"0x17db", "0x0501"},  // Slingshot, without verbs
  };
  for (const auto& [vendor, device] : kNics) {
    function("0000:01:00.0", vendor, device);
    EXPECT_EQ(why(), "") << vendor << ":" << device;
  }
}

TEST_F(Skipped, an_rdma_device_of_software_counts) {
  function("0000:01:00.0");
  std::filesystem::create_directories(tree_.at("sys/class/infiniband"));
  EXPECT_EQ(why(), "no-rdma-nic");
  tree_.write("sys/class/infiniband/rxe0/node_type", "1: CA\n");
  EXPECT_EQ(why(), "");
}

TEST_F(Skipped, who_wants_a_software_device_has_no_nic_yet) {
  function("0000:01:00.0");
  EXPECT_EQ(why("modules: [rdma-rxe]\n"), "");
  EXPECT_EQ(why("modules: [siw]\n"), "");
}

TEST_F(Skipped, what_cannot_be_read_is_not_taken_for_none) {
  EXPECT_EQ(why(), "") << "a copied tree without /sys/bus/pci/devices";
  function("0000:01:00.0");
  EXPECT_EQ(why(), "no-rdma-nic");
  std::filesystem::remove(tree_.at("sys/bus/pci/devices/0000:01:00.0/device"));
  EXPECT_EQ(why(), "") << "a function without its id";
  tree_.write("sys/bus/pci/devices/0000:01:00.0/device", "card\n");
  EXPECT_EQ(why(), "") << "no id";
}

}  // namespace
}  // namespace railhead::setup
