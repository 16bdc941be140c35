// SPDX-License-Identifier: Apache-2.0
#include "topology/nccl_hardware.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "topology/layout.h"
#include "unit/node_builder.h"
#include "unit/source_dir.h"
#include "unit/topology/nccl_text.h"

namespace railhead::topology {
namespace {

using test::topology_of;
using ::testing::HasSubstr;
using ::testing::Not;

/// What a process wrote of itself with NCCL_TOPO_DUMP_FILE, its class as NCCL shortens it.
const std::string kDumped =
    "<pci busid='ffff:ff:01.0' class='0x060400' link_speed='16.0 GT/s PCIe' link_width='16'>\n"
    "<pci busid='0001:00:00.0' class='0x03' link_speed='32.0 GT/s PCIe' link_width='16'>\n"
    "<gpu dev='5' sm='90' rank='5' gdr='1'><nvlink target='fffffff:ffff:ff' count='18' "
    "tclass='0x068000'/></gpu></pci>\n"
    "<pci busid='0002:00:00.0'><gpu dev='6' sm='90' rank='6'/></pci>\n"
    "<pci busid='0101:00:00.0' class='0x020700' link_speed='32.0 GT/s PCIe' link_width='16'><nic>\n"
    "<net name='mlx5_ib5' dev='5' speed='400000' port='1' latency='0.0' "
    "guid='0x6e65480003739de0' maxconn='131072' gdr='0'/></nic></pci></pci>\n";

TEST(NcclHardware, says_nothing_of_the_process_that_wrote_the_file) {
  const auto text = to_xml(hardware_of(topology_of({{"0", kDumped}})));
  EXPECT_THAT(text, Not(HasSubstr("<gpu")));
  EXPECT_THAT(text, Not(HasSubstr("dev=\"")));
  EXPECT_THAT(text, Not(HasSubstr("rank")));
  EXPECT_THAT(text, Not(HasSubstr("gdr")));
  EXPECT_THAT(text, Not(HasSubstr("maxconn")));
}

TEST(NcclHardware, keeps_what_describes_the_machine) {
  const auto text = to_xml(hardware_of(topology_of({{"0", kDumped}})));
  EXPECT_THAT(text, HasSubstr("<pci busid=\"0001:00:00.0\" class=\"0x030000\" "
                              "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"/>"));
  EXPECT_THAT(text, HasSubstr("<net name=\"mlx5_ib5\" speed=\"400000\" port=\"1\" "
                              "guid=\"0x6e65480003739de0\"/>"));
}

TEST(NcclHardware, a_function_that_only_gpu_made_one_is_still_a_gpu) {
  const auto file = hardware_of(topology_of({{"0", kDumped}}));
  EXPECT_EQ(node_from(file).gpus.size(), 2U);
}

TEST(NcclHardware, devices_without_a_function_are_numbered_anew_too) {
  const auto file =
      hardware_of(topology_of({{"0", "<nic><net name='rxe0' dev='3' port='1' gdr='0'/></nic>"}}));
  EXPECT_EQ(file.cpus[0].nets[0], (NcclNet{"rxe0", {}, {}, 1, {}, {}}));
}

TEST(NcclHardware, what_the_file_leaves_out_is_of_this_machine) {
  auto b = test::NodeBuilder().numa(0, 0, {0, 1});
  b.raw().cpu = {"x86_64", "GenuineIntel", 6, 143};
  const auto plx = b.pcie_switch(b.bridge(b.host_bridge(0x10, 0)));
  b.gpu(b.bridge(plx));
  node::Node node = b.build();
  for (auto& device : node.pci) device.device = device.is_bridge() ? 0x197c : 0x2330;
  const std::string gpu = "<pci busid='0000:13:00.0' class='0x030200'/>";
  const auto file =
      completed(topology_of({{"0", "<pci busid='" + plx.bridges.back().str() +
                                       "' class='0x060400' vendor='0x15b3'>" + gpu + "</pci>"}}),
                node);
  const auto text = to_xml(file);
  EXPECT_THAT(text, HasSubstr("<cpu numaid=\"0\" affinity=\"00000003\" arch=\"x86_64\" "
                              "vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\">"));
  EXPECT_THAT(text, HasSubstr("vendor=\"0x15b3\" device=\"0x197c\" subsystem_vendor=\"0x0000\""));
  EXPECT_THAT(text, HasSubstr("<pci busid=\"0000:13:00.0\" class=\"0x030200\"/>"));
}

TEST(NcclHardware, what_the_file_says_of_a_processor_stays) {
  auto b = test::NodeBuilder().numa(0, 0, {0, 1});
  b.raw().cpu = {"x86_64", "GenuineIntel", 6, 143};
  NcclTopology said;
  said.cpus.resize(1);
  said.cpus[0].numa_node = 0;
  said.cpus[0].affinity = "f";
  said.cpus[0].arch = "arm64";
  EXPECT_THAT(to_xml(completed(said, b.build())),
              HasSubstr("<cpu numaid=\"0\" affinity=\"f\" arch=\"arm64\"/>"));
}

TEST(NcclHardware, the_version_is_that_of_the_gpus_library) {
  node::Node node;
  EXPECT_EQ(nccl_version_for(node), 1U);
  node.gpus.resize(2);
  node.gpus[0].vendor = gpu::GpuVendor::amd;
  node.gpus[1].vendor = gpu::GpuVendor::amd;
  EXPECT_EQ(nccl_version_for(node), 2U);
  node.gpus[1].vendor = gpu::GpuVendor::nvidia;
  EXPECT_EQ(nccl_version_for(node), 1U);
}

/// Over what was published: the same GPUs, NICs and places.
TEST(NcclHardware, of_published_dumps_is_the_same_machine) {
  const char* given = std::getenv("RAILHEAD_CORPUS");
  const std::string corpus = given != nullptr ? given : test::source_dir() + "/../shared/corpus";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << "no corpus at " << corpus;
  std::size_t dumps = 0;
  for (const auto& folder : std::filesystem::directory_iterator(corpus)) {
    std::ifstream in(folder.path() / "nccl-topo.xml", std::ios::binary);
    if (!in) continue;
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto file = parse_nccl_topology(text, folder.path().filename());
    ASSERT_TRUE(file) << file.error().message;
    const auto stripped = hardware_of(*file);
    EXPECT_THAT(to_xml(stripped), Not(HasSubstr("dev=\""))) << file->origin;
    const node::Node before = node_from(*file);
    const node::Node after = node_from(stripped);
    EXPECT_EQ(after.gpus, before.gpus) << file->origin;
    EXPECT_EQ(after.nics, before.nics) << file->origin;
    EXPECT_EQ(layout_of(stripped).positions, layout_of(*file).positions) << file->origin;
    dumps += text.find("<gpu") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(dumps, 0U);
}

}  // namespace
}  // namespace railhead::topology
