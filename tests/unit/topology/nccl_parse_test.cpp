// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/nccl_topology.h"

namespace railhead::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

NcclTopology parsed(const std::string& text) {
  const auto topology = parse_nccl_topology(text, "topo.xml");
  EXPECT_TRUE(topology) << topology.error().message;
  return topology ? *topology : NcclTopology{};
}

std::string parse_error(const std::string& text) {
  const auto topology = parse_nccl_topology(text, "topo.xml");
  return topology ? "accepted" : topology.error().message;
}

/// One <cpu numaid="0"> around this.
std::string in_cpu(const std::string& text) {
  return "<system version=\"1\">\n<cpu numaid=\"0\">\n" + text + "\n</cpu>\n</system>\n";
}

NcclPci first_pci(const std::string& text) {
  const auto topology = parsed(in_cpu(text));
  EXPECT_THAT(topology.cpus, SizeIs(1));
  EXPECT_FALSE(topology.cpus[0].pci.empty());
  return topology.cpus[0].pci[0];
}

TEST(NcclParse, a_dump_is_read_as_it_stands) {
  const auto topology = parsed(R"(<system version="1">
  <cpu host_hash="0xf1" numaid="1" affinity="ffffffff,ffff0000" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:0c:00.0" class="0x060400" vendor="0x1000" device="0xc030" subsystem_vendor="0x1000" subsystem_device="0x2004" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:0e:00.0" class="0x020700" vendor="0x15b3" device="0x1021" link_speed="16 GT/s" link_width="8">
        <nic>
          <net name="mlx5_0" dev="3" latency="0.0" speed="400000" port="1" guid="0xc8c9d60003ae6d94" maxconn="131072" gdr="1"/>
        </nic>
      </pci>
      <pci busid="0000:0f:00.0" class="0x030200" vendor="0x10de" device="0x2324" link_speed="" link_width="0">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="fffffff:ff:ff.0" count="18" tclass="0x068000"/>
        </gpu>
      </pci>
    </pci>
  </cpu>
</system>
)");
  EXPECT_THAT(topology.warnings, IsEmpty());
  EXPECT_EQ(topology.origin, "topo.xml");
  ASSERT_THAT(topology.cpus, SizeIs(1));
  const auto& cpu = topology.cpus[0];
  EXPECT_EQ(cpu.numa_node, 1);
  EXPECT_EQ(cpu.affinity, "ffffffff,ffff0000");
  EXPECT_EQ(cpu.arch, "x86_64");
  EXPECT_EQ(cpu.vendor, "GenuineIntel");
  EXPECT_EQ(cpu.family, 6);
  EXPECT_EQ(cpu.model, 143);
  ASSERT_THAT(cpu.pci, SizeIs(1));
  const auto& plx = cpu.pci[0];
  EXPECT_TRUE(plx.is_switch());
  EXPECT_EQ(plx.line, 3U);
  EXPECT_EQ(plx.vendor, 0x1000);
  EXPECT_EQ(plx.subsystem_device, 0x2004);
  EXPECT_EQ(plx.link_gts, 32.0);
  ASSERT_THAT(plx.below, SizeIs(2));
  const auto& nic = plx.below[0];
  EXPECT_TRUE(nic.is_nic());
  EXPECT_FALSE(nic.is_switch());
  EXPECT_EQ(nic.link_gts, 16.0);
  EXPECT_EQ(nic.link_width, 8U);
  EXPECT_THAT(nic.nets, ElementsAre(NcclNet{"mlx5_0", 3, 400000, 1, "0xc8c9d60003ae6d94", true}));
  const auto& gpu = plx.below[1];
  EXPECT_TRUE(gpu.is_gpu());
  EXPECT_EQ(gpu.gpu, (NcclGpu{0, 90}));
  EXPECT_EQ(gpu.link_gts, std::nullopt);
  EXPECT_EQ(gpu.link_width, std::nullopt);
}

TEST(NcclParse, elements_without_gpu_and_net_are_known_by_their_class) {
  EXPECT_TRUE(first_pci("<pci busid='0001:00:00.0' class='0x030200'/>").is_gpu());
  EXPECT_TRUE(first_pci("<pci busid='0001:00:00.0' class='0x120000' vendor='0x1002'/>").is_gpu());
  EXPECT_FALSE(first_pci("<pci busid='0001:00:00.0' class='0x030000' vendor='0x1a03'/>").is_gpu());
  EXPECT_TRUE(first_pci("<pci busid='0001:00:00.0' class='0x020700'/>").is_nic());
  const auto unknown = first_pci("<pci busid='0001:00:00.0'/>");
  EXPECT_FALSE(unknown.is_gpu() || unknown.is_nic() || unknown.is_switch());
}

TEST(NcclParse, what_holds_functions_is_a_switch_whatever_its_class) {
  const auto pci =
      first_pci("<pci busid='ffff:ff:01.0'><pci busid='0001:00:00.0' class='0x030200'/></pci>");
  EXPECT_TRUE(pci.is_switch());
  EXPECT_FALSE(pci.is_nic());
}

TEST(NcclParse, a_net_with_port_0_is_a_socket_and_no_rdma_device) {
  EXPECT_FALSE(first_pci("<pci busid='0000:18:00.0' class='0x020000'><nic><net name='eno1' "
                         "port='0'/></nic></pci>")
                   .is_nic());
  EXPECT_TRUE(first_pci("<pci busid='0000:18:00.0' class='0x020700'><nic><net name='ib0' "
                        "port='0'/></nic></pci>")
                  .is_nic());
}

TEST(NcclParse, short_classes_are_what_nccl_writes_without_sysfs) {
  EXPECT_EQ(first_pci("<pci busid='0001:00:00.0' class='0x03'/>").class_code, 0x030000U);
  EXPECT_EQ(first_pci("<pci busid='0001:00:00.0' class='0207'/>").class_code, 0x020700U);
}

TEST(NcclParse, a_numa_node_of_minus_one_is_no_node) {
  const auto topology = parsed("<system version='1'><cpu numaid='-1'/></system>");
  EXPECT_EQ(topology.cpus[0].numa_node, std::nullopt);
  EXPECT_THAT(topology.warnings, IsEmpty());
}

TEST(NcclParse, domains_may_have_more_than_four_digits) {
  EXPECT_EQ(first_pci("<pci busid='10000:e1:00.0'/>").address.domain, 0x10000U);
  EXPECT_EQ(first_pci("<pci busid='FFFFFFFF:01:00.0'/>").address.domain, 0xffffffffU);
}

TEST(NcclParse, a_nic_without_a_place_belongs_to_its_cpu) {
  const auto topology = parsed(in_cpu("<nic><net name='rxe0' port='1'/></nic>"));
  EXPECT_THAT(topology.cpus[0].nets, ElementsAre(NcclNet{"rxe0", {}, {}, 1, {}, {}}));
}

TEST(NcclParse, a_device_that_stands_twice_counts_once) {
  const auto topology =
      parsed(in_cpu("<pci busid='0000:ba:00.0' class='0x020700'/>\n"
                    "<pci busid='0000:ba:00.0' class='0x030200'/>"));
  ASSERT_THAT(topology.cpus[0].pci, SizeIs(1));
  EXPECT_TRUE(topology.cpus[0].pci[0].is_nic());
  EXPECT_THAT(topology.warnings, ElementsAre("line 4: 0000:ba:00.0 again, after line 3: left out"));
}

TEST(NcclParse, a_switch_that_stands_twice_is_two_switches) {
  const auto topology =
      parsed(in_cpu("<pci busid='ffff:ff:01.0'><pci busid='0000:01:00.0'/></pci>\n"
                    "<pci busid='ffff:ff:01.0'><gpu/><pci busid='0000:02:00.0'/></pci>"));
  ASSERT_THAT(topology.cpus[0].pci, SizeIs(2));
  EXPECT_EQ(topology.cpus[0].pci[1].gpu, std::nullopt);
  EXPECT_THAT(topology.warnings,
              ElementsAre("line 4: ffff:ff:01.0 again, after line 3: taken as another switch"));
}

TEST(NcclParse, a_device_with_the_address_of_a_switch_stays) {
  const auto topology =
      parsed(in_cpu("<pci busid='0000:a1:00.0'><pci busid='0000:a2:00.0' class='0x030200'/>\n"
                    "<pci busid='0000:a1:00.0' class='0x020700'/></pci>\n"
                    "<pci busid='0000:a1:00.0' class='0x030200'/>"));
  ASSERT_THAT(topology.cpus[0].pci, SizeIs(1));
  EXPECT_THAT(topology.cpus[0].pci[0].below, SizeIs(2));
  EXPECT_THAT(topology.warnings,
              ElementsAre("line 4: 0000:a1:00.0 again, after line 3: a switch has its address",
                          "line 5: 0000:a1:00.0 again, after line 3: left out"));
}

TEST(NcclParse, what_it_does_not_know_is_left_out_and_said_once) {
  const auto topology =
      parsed(in_cpu("<pci busid='0000:01:00.0'><gpu><cable/></gpu><pcilink target='x'/></pci>\n"
                    "<disk><pci busid='0000:02:00.0'/></disk><disk/>\n<nic><port/><net/></nic>"));
  EXPECT_THAT(topology.cpus[0].pci, SizeIs(1));
  EXPECT_THAT(topology.warnings,
              ElementsAre("line 3: <cable> is not known here, it and all below it is left out",
                          "line 4: <disk> is not known here, it and all below it is left out",
                          "line 5: <port> is not known here, it and all below it is left out",
                          "line 5: <net> without a name, left out"));
}

TEST(NcclParse, attributes_that_make_no_sense_are_named_and_absent) {
  const auto topology = parsed(
      "<system>\n<cpu numaid='one' affinity='0-3' familyid='six'>\n"
      "<pci busid='0000:01:00.0' class='gpu' vendor='NVIDIA' link_speed='fast' link_width='99'>\n"
      "<nic><net name='a' speed='-1' port='first'/></nic></pci></cpu><cpu/></system>");
  EXPECT_THAT(topology.warnings,
              ElementsAre("line 1: version is absent, where NCCL wants 1 and RCCL 2",
                          "line 2: <cpu> numaid: \"one\" is not a NUMA node",
                          "line 2: <cpu> affinity: \"0-3\" is not a CPU mask",
                          "line 2: <cpu> familyid: \"six\" is not a number up to 2147483647",
                          "line 3: <pci> class: \"gpu\" is not a PCI class",
                          "line 3: <pci> vendor: \"NVIDIA\" is not a PCI id",
                          "line 3: <pci> link_speed: \"fast\" is not a speed in GT/s",
                          "line 3: <pci> link_width: \"99\" is not a number up to 32",
                          "line 4: <net> speed: \"-1\" is not a number up to 6400000",
                          "line 4: <net> port: \"first\" is not a number up to 2147483647",
                          "line 4: <cpu> without numaid"));
}

TEST(NcclParse, names_that_are_none_are_left_out) {
  const std::vector<std::string> refused = {"a\x1b[31mb", "mlx5_0,mlx5_1", "mlx5_0:1",
                                            "=mlx5_0",    "^mlx5_0",       "mlx5 0",
                                            "a&#10;b",    "\xc2\x9bm",     std::string(64, 'x')};
  for (const auto& name : refused) {
    const auto topology = parsed(in_cpu("<nic><net name='" + name + "' port='1'/></nic>"));
    EXPECT_THAT(topology.cpus[0].nets, IsEmpty()) << name;
    ASSERT_THAT(topology.warnings, SizeIs(1)) << name;
    EXPECT_THAT(topology.warnings[0], HasSubstr("is not a device's name, left out"));
    EXPECT_THAT(topology.warnings[0], Not(HasSubstr("\x1b")));
  }
  for (const auto& name : {"mlx5_bond_0", "rocep1s0f0v3", "cxi0", "a+b", "&lt;a"}) {
    const auto topology = parsed(in_cpu("<nic><net name='" + std::string(name) + "'/></nic>"));
    EXPECT_THAT(topology.cpus[0].nets, SizeIs(1)) << name;
  }
}

TEST(NcclParse, words_that_are_none_are_absent) {
  const auto topology = parsed(
      "<system version='1'><cpu numaid='0' arch='x86\x1b_64' vendor='a b'>"
      "<nic><net name='a' guid='what'/></nic></cpu></system>");
  EXPECT_EQ(topology.cpus[0].arch, "");
  EXPECT_EQ(topology.cpus[0].vendor, "");
  EXPECT_EQ(topology.cpus[0].nets[0].guid, std::nullopt);
  EXPECT_THAT(topology.warnings, SizeIs(3));
}

TEST(NcclParse, the_version_is_kept) {
  for (const std::string version : {"1", "2"}) {
    const auto topology = parsed("<system version='" + version + "'/>");
    EXPECT_EQ(std::to_string(topology.version), version);
    EXPECT_THAT(topology.warnings, IsEmpty());
    EXPECT_THAT(to_xml(topology), HasSubstr("version=\"" + version + "\""));
  }
  EXPECT_EQ(parsed("<system version='3'/>").version, 1U);
}

TEST(NcclParse, warnings_end_somewhere) {
  std::string many;
  for (int i = 0; i < 300; ++i) many += "<pci busid='0000:01:00.0'/>";
  const auto topology = parsed(in_cpu(many));
  EXPECT_THAT(topology.warnings, SizeIs(101));
  EXPECT_EQ(topology.warnings.back(), "more warnings than these");
}

TEST(NcclParse, errors_name_file_and_line) {
  EXPECT_EQ(parse_error("<topology/>"),
            "topo.xml: line 1: the root element is <topology>, not <system>");
  EXPECT_EQ(parse_error(in_cpu("<pci class='0x03'/>")), "topo.xml: line 3: <pci> without busid");
  EXPECT_EQ(parse_error(in_cpu("<pci busid='18:00'/>")),
            "topo.xml: line 3: <pci> busid: \"18:00\" is not a PCI address");
  EXPECT_THAT(parse_error(in_cpu("<pci busid='0000:01:00.0'>")),
              HasSubstr("topo.xml: line 4: not XML"));
}

TEST(NcclParse, functions_are_limited) {
  std::string many;
  for (int i = 0; i < 1025; ++i) many += "<pci busid='0000:01:00.0'/>";
  EXPECT_EQ(parse_error(in_cpu(many)), "topo.xml: line 3: more than 1024 functions");
}

TEST(NcclParse, nesting_is_limited) {
  std::string open;
  std::string close;
  for (int i = 0; i < 31; ++i) {
    open += "<pci busid='0000:01:00.0'>";
    close += "</pci>";
  }
  EXPECT_EQ(parse_error(in_cpu(open + close)), "topo.xml: line 3: more than 32 levels");
}

}  // namespace
}  // namespace railhead::topology
