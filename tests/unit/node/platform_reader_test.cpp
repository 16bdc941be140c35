// SPDX-License-Identifier: Apache-2.0
#include "node/platform_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/node/hosts.h"

namespace railhead::node {
namespace {

using test::file_entry;
using test::node_of;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(PlatformReader, an_empty_machine_is_an_empty_node_without_problems) {
  EXPECT_EQ(node_of(""), Node{});
}

TEST(PlatformReader, rdma_namespaces_are_shared_exclusive_or_unknown) {
  const std::string path = "/sys/module/ib_core/parameters/netns_mode";
  EXPECT_EQ(node_of("t " + path + " Y\n").rdma_netns, RdmaNetns::shared);
  EXPECT_EQ(node_of("t " + path + " N\n").rdma_netns, RdmaNetns::exclusive);
  const auto odd = node_of("t " + path + " maybe\n");
  EXPECT_EQ(odd.rdma_netns, RdmaNetns::unknown);
  EXPECT_THAT(odd.problems, SizeIs(1));
}

TEST(PlatformReader, the_cpu_says_that_there_is_a_hypervisor) {
  EXPECT_TRUE(node_of(file_entry("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor lm\n"))
                  .hypervisor);
  EXPECT_FALSE(node_of(file_entry("/proc/cpuinfo", "model name: hypervisor\nflags\t\t: fpu lm\n"))
                   .hypervisor);
  EXPECT_TRUE(node_of("t /sys/hypervisor/type xen\n").hypervisor);
}

TEST(PlatformReader, on_arm64_the_firmware_says_that_there_is_a_hypervisor) {
  const auto machine = [](const std::string& vendor, const std::string& product,
                          const std::string& cpu = "CPU implementer\t: 0x41\n") {
    return node_of(file_entry("/proc/cpuinfo", "processor\t: 0\n" + cpu) +
                   "t /sys/class/dmi/id/sys_vendor " + vendor +
                   "\nt /sys/class/dmi/id/product_name " + product + "\n")
        .hypervisor;
  };
  EXPECT_TRUE(machine("Microsoft Corporation", "Virtual Machine"));
  EXPECT_TRUE(machine("Amazon EC2", "p6e-gb200.36xlarge"));
  EXPECT_TRUE(machine("QEMU", "KVM Virtual Machine"));
  EXPECT_FALSE(machine("Amazon EC2", "c7g.metal"));
  EXPECT_FALSE(machine("Microsoft Corporation", "C2080"));
  EXPECT_FALSE(machine("NVIDIA", "GB200 NVL"));
  EXPECT_FALSE(machine("QEMU", "Standard PC", "vendor_id\t: GenuineIntel\nflags\t\t: fpu lm\n"));
}

TEST(PlatformReader, the_first_processor_tells_what_all_are) {
  const auto intel = node_of(file_entry(
      "/proc/cpuinfo",
      "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
      "model name\t: Intel(R) Xeon(R) Platinum 8480C\n\nprocessor\t: 1\nmodel\t\t: 1\n"));
  EXPECT_EQ(intel.cpu, (Cpu{"x86_64", "GenuineIntel", 6, 143}));
  EXPECT_EQ(cpu_of("processor\t: 0\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\n").arch, "arm64");
  EXPECT_EQ(cpu_of("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n").arch, "ppc64");
  EXPECT_EQ(cpu_of("processor\t: 0\nflags\t\t: fpu\n"), Cpu{});
  EXPECT_EQ(cpu_of("vendor_id\t: X\nmodel\t: a lot\n").model, std::nullopt);
}

TEST(PlatformReader, a_cpuinfo_that_cannot_be_read_is_no_problem) {
  const auto node = node_of("e /proc/cpuinfo EFBIG\n");
  EXPECT_FALSE(node.hypervisor);
  EXPECT_EQ(node.cpu, Cpu{});
  EXPECT_THAT(node.problems, IsEmpty());
}

TEST(PlatformReader, dmi_strings_may_be_denied) {
  const auto node =
      node_of("t /sys/class/dmi/id/sys_vendor NVIDIA\ne /sys/class/dmi/id/product_name EACCES\n");
  EXPECT_EQ(node.dmi.sys_vendor, "NVIDIA");
  EXPECT_EQ(node.dmi.product_name, std::nullopt);
  EXPECT_EQ(node.dmi.chassis_asset_tag, std::nullopt);
  EXPECT_THAT(node.problems, SizeIs(1));
}

TEST(PlatformReader, cdi_specs_are_kept_as_text_up_to_a_limit) {
  std::string entries =
      "t /etc/cdi/readme.txt no\nt /etc/cdi/a.yaml kind: a/b\nt /var/run/cdi/b.json {}\n";
  const auto node = node_of(entries);
  ASSERT_THAT(node.cdi, SizeIs(2));
  EXPECT_EQ(node.cdi[0], (TextFile{"/etc/cdi/a.yaml", "kind: a/b\n"}));
  for (int i = 0; i < 100; ++i) entries += "t /etc/cdi/c" + std::to_string(i) + ".yml x\n";
  const auto many = node_of(entries);
  EXPECT_THAT(many.cdi, SizeIs(kMaxCdiFiles));
  EXPECT_THAT(many.problems, SizeIs(1));
}

TEST(NumaReader, nodes_are_in_numerical_order_and_may_be_sparse) {
  const auto node = node_of(
      "t /sys/devices/system/node/node8/cpulist 64-127\n"
      "t /sys/devices/system/node/node0/cpulist 0-63\n"
      "t /sys/devices/system/node/node255/cpulist\n"
      "t /sys/devices/system/node/node255/distance 80 80 10\n"
      "t /sys/devices/system/node/online 0,8,255\n"
      "t /sys/devices/system/cpu/cpu0/topology/physical_package_id 0\n"
      "t /sys/devices/system/cpu/cpu64/topology/physical_package_id -1\n");
  ASSERT_THAT(node.numa, SizeIs(3));
  EXPECT_EQ(node.numa[0].socket, 0);
  EXPECT_EQ(node.numa[1].id, 8);
  EXPECT_EQ(node.numa[1].socket, std::nullopt);
  EXPECT_EQ(node.numa[2].id, 255);
  EXPECT_THAT(node.numa[2].cpus, IsEmpty());
  EXPECT_THAT(node.numa[2].distances, testing::ElementsAre(80U, 80U, 10U));
  EXPECT_THAT(node.problems, IsEmpty());
}

TEST(NumaReader, lists_that_are_none_are_problems) {
  for (const auto* list : {"3-1", "0-99999999", "a", "1,,2", "-"}) {
    const auto node =
        node_of(std::string("t /sys/devices/system/node/node0/cpulist ") + list + "\n");
    EXPECT_THAT(node.numa.at(0).cpus, IsEmpty()) << list;
    EXPECT_THAT(node.problems, SizeIs(1)) << list;
  }
}

}  // namespace
}  // namespace railhead::node
