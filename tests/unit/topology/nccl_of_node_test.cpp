// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "topology/layout.h"
#include "topology/topology.h"
#include "unit/node_builder.h"

namespace railhead::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

const node::Cpu kXeon{"x86_64", "GenuineIntel", 6, 143};

test::NodeBuilder on(const node::Cpu& cpu) {
  test::NodeBuilder b;
  b.numa(0, 0, {0, 1, 2, 3}).numa(1, 1, {32});
  b.raw().cpu = cpu;
  return b;
}

/// A GPU and a NIC below one switch behind a root port.
node::Node one_switch(const node::Cpu& cpu = kXeon, unsigned functions = 1) {
  auto b = on(cpu);
  const auto plx = b.pcie_switch(b.bridge(b.host_bridge(0x10, 0)));
  b.gpu(b.bridge(plx));
  b.nic(b.bridge(plx), functions).name("mlx5_0");
  return b.build();
}

TEST(NcclOfNode, a_switch_is_one_element_and_the_processor_is_described) {
  EXPECT_EQ(to_xml(nccl_topology_of(one_switch())),
            R"(<system version="1">
  <cpu numaid="0" affinity="0000000f" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:11:00.0" class="0x060400" vendor="0x0000" device="0x0000" subsystem_vendor="0x0000" subsystem_device="0x0000" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:13:00.0" class="0x030200" vendor="0x10de"/>
      <pci busid="0000:14:00.0" class="0x020700" vendor="0x15b3" device="0x1021" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_0" speed="400000"/>
        </nic>
      </pci>
    </pci>
  </cpu>
</system>
)");
}

TEST(NcclOfNode, functions_of_a_card_share_the_element_of_function_0) {
  const auto topology = nccl_topology_of(one_switch(kXeon, 2));
  const auto& card = topology.cpus[0].pci[0].below[1];
  EXPECT_EQ(card.address.str(), "0000:14:00.0");
  ASSERT_THAT(card.nets, SizeIs(2));
  EXPECT_EQ(card.nets[1].name, "mlx5_01");
  EXPECT_EQ(card.nets[1].port, std::nullopt);
}

TEST(NcclOfNode, ports_of_one_device_are_told_by_their_numbers) {
  node::Node node = one_switch();
  node.nics[0].ports.push_back(node.nics[0].ports[0]);
  node.nics[0].ports[1].number = 2;
  const auto topology = nccl_topology_of(node);
  const auto& nets = topology.cpus[0].pci[0].below[1].nets;
  ASSERT_THAT(nets, SizeIs(2));
  EXPECT_EQ(nets[0].port, 1U);
  EXPECT_EQ(nets[1].name, "mlx5_0");
  EXPECT_EQ(nets[1].port, 2U);
}

TEST(NcclOfNode, without_a_known_processor_no_net_is_written) {
  for (const auto& cpu : {node::Cpu{}, node::Cpu{"x86_64", "GenuineIntel", {}, {}}}) {
    const auto text = to_xml(nccl_topology_of(one_switch(cpu, 2)));
    EXPECT_THAT(text, Not(HasSubstr("<net")));
    EXPECT_THAT(text, Not(HasSubstr("arch")));
    EXPECT_THAT(text, HasSubstr("busid=\"0000:14:00.1\" class=\"0x020700\""));
  }
}

TEST(NcclOfNode, arm_and_power_need_no_vendor) {
  const auto topology = nccl_topology_of(one_switch(node::Cpu{"arm64", {}, {}, {}}));
  EXPECT_EQ(topology.cpus[0].arch, "arm64");
  EXPECT_EQ(topology.cpus[0].vendor, "");
  EXPECT_THAT(topology.cpus[0].pci[0].below[1].nets, SizeIs(1));
}

TEST(NcclOfNode, families_are_counted_as_nccl_does) {
  EXPECT_EQ(
      nccl_topology_of(one_switch(node::Cpu{"x86_64", "AuthenticAMD", 25, 17})).cpus[0].family,
      175);
}

TEST(NcclOfNode, root_ports_and_host_bridges_vanish) {
  auto b = on(kXeon);
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  b.nic(b.bridge(b.host_bridge(0x20, 1)));
  const auto topology = nccl_topology_of(b.build());
  ASSERT_THAT(topology.cpus, SizeIs(2));
  EXPECT_EQ(topology.cpus[0].pci[0].address.str(), "0000:11:00.0");
  EXPECT_EQ(topology.cpus[1].numa_node, 1);
}

TEST(NcclOfNode, a_switch_directly_on_a_root_bus_is_one_as_well) {
  auto b = on(kXeon);
  const auto plx = b.pcie_switch(b.host_bridge(0x10, 0));
  b.gpu(b.bridge(plx));
  b.nic(b.bridge(plx));
  const auto topology = nccl_topology_of(b.build());
  EXPECT_EQ(topology.cpus[0].pci[0].address.str(), "0000:10:00.0");
  EXPECT_THAT(topology.cpus[0].pci[0].below, SizeIs(2));
}

TEST(NcclOfNode, switches_without_an_address_get_one_as_vendors_write_them) {
  auto b = on(kXeon);
  b.gpu(b.host_bridge(0, 0, 1));
  b.gpu(b.host_bridge(0, 0, 2));
  node::Node node = b.build();
  Layout layout;
  for (std::uint8_t at = 0; at < 2; ++at) {
    const node::PciAddress up{kInventedDomain, at, 0, 0};
    const node::PciAddress down{kInventedDomain, at, 1, 0};
    layout.positions.push_back({node.gpus[at].pci, "pci" + up.str(), {up, down}, 0});
  }
  const auto topology = nccl_topology_of(moved(node, layout));
  ASSERT_THAT(topology.cpus[0].pci, SizeIs(2));
  EXPECT_EQ(topology.cpus[0].pci[0].address.str(), "ffff:ff:01.0");
  EXPECT_EQ(topology.cpus[0].pci[1].address.str(), "ffff:ff:02.0");
  EXPECT_THAT(to_xml(topology),
              HasSubstr("<pci busid=\"ffff:ff:02.0\" class=\"0x060400\" link_speed="));
}

TEST(NcclOfNode, a_node_without_a_number_is_minus_one_and_last) {
  auto b = on(kXeon);
  b.gpu(b.bridge(b.host_bridge(0x10, {})));
  b.nic(b.bridge(b.host_bridge(0x20, 1)));
  const auto topology = nccl_topology_of(b.build());
  ASSERT_THAT(topology.cpus, SizeIs(2));
  EXPECT_EQ(topology.cpus[0].numa_node, 1);
  EXPECT_THAT(to_xml(topology), HasSubstr("<cpu numaid=\"-1\" affinity=\"\" arch"));
}

TEST(NcclOfNode, an_unknown_link_carries_at_least_the_rate) {
  auto b = on(kXeon);
  const auto plx = b.pcie_switch(b.bridge(b.host_bridge(0x10, 0)));
  b.nic(b.bridge(plx)).infiniband(200);
  node::Node node = b.build();
  for (auto& device : node.pci) {
    device.link_gts = device.max_link_gts = std::nullopt;
    device.link_width = device.max_link_width = std::nullopt;
  }
  const auto topology = nccl_topology_of(node);
  EXPECT_EQ(topology.cpus[0].pci[0].below[0].link_gts, 16.0);
  EXPECT_EQ(topology.cpus[0].pci[0].link_gts, 16.0);
  EXPECT_EQ(topology.cpus[0].pci[0].link_width, 16U);
}

TEST(NcclOfNode, what_nccl_must_find_is_there_even_if_nothing_is_known) {
  auto b = on(kXeon);
  const auto plx = b.pcie_switch(b.bridge(b.host_bridge(0x10, 0)));
  b.nic(b.bridge(plx)).down();
  node::Node node = b.build();
  for (auto& device : node.pci) {
    device.link_gts = device.max_link_gts = std::nullopt;
    device.link_width = device.max_link_width = std::nullopt;
  }
  const auto text = to_xml(nccl_topology_of(node));
  EXPECT_THAT(text, HasSubstr("subsystem_device=\"0x0000\" link_speed=\"\" link_width=\"0\""));
  EXPECT_THAT(text, HasSubstr("device=\"0x1021\" link_speed=\"\" link_width=\"0\""));
}

/// The port above a switch, the switch, and the NIC below it.
struct Way {
  node::PciDevice& port;
  node::PciDevice& upstream;
  node::PciDevice& nic;
};

/// What is written of the switch, the NIC below it, once a test has changed them.
NcclPci written(const std::function<void(const Way&)>& change) {
  auto b = on(kXeon);
  const auto port = b.bridge(b.host_bridge(0x10, 0));
  const auto plx = b.pcie_switch(port);
  b.nic(b.bridge(plx)).infiniband(200);
  node::Node node = b.build();
  const auto device = [&](const node::PciAddress& address) -> node::PciDevice& {
    return *std::find_if(node.pci.begin(), node.pci.end(),
                         [&](const node::PciDevice& one) { return one.address == address; });
  };
  change({device(port.bridges.back()), device(plx.bridges.back()), device(*node.nics[0].pci)});
  return nccl_topology_of(node).cpus.at(0).pci.at(0);
}

TEST(NcclOfNode, a_switch_has_its_own_class_and_ids) {
  NcclTopology topology;
  topology.cpus.resize(1);
  topology.cpus[0].pci.push_back(written([](const Way& way) {
    way.upstream.class_code = 0x060401;
    way.upstream.vendor = 0x104c;
    way.upstream.device = 0x8232;
  }));
  EXPECT_THAT(to_xml(topology),
              HasSubstr("class=\"0x060401\" vendor=\"0x104c\" device=\"0x8232\" "
                        "subsystem_vendor=\"0x0000\" subsystem_device=\"0x0000\""));
}

TEST(NcclOfNode, a_switch_has_the_lower_link_of_its_own_and_its_ports) {
  const auto link = [](std::optional<double> own, std::optional<double> port) {
    return written([&](const Way& way) {
      way.upstream.max_link_gts = own;
      way.upstream.max_link_width = 16;
      way.port.max_link_gts = port;
      way.port.max_link_width = 8;
    });
  };
  EXPECT_EQ(link(16, 32).link_gts, 16.0);
  EXPECT_EQ(link(32, 16).link_gts, 16.0);
  EXPECT_EQ(link(64, {}).link_gts, 64.0);
  EXPECT_EQ(link({}, 16).link_gts, 16.0);
  EXPECT_EQ(link({}, {}).link_gts, 32.0) << "of the NIC, the fastest thing below";
  EXPECT_EQ(link(16, 32).link_width, 8U);
}

TEST(NcclOfNode, how_a_switch_is_trained_at_rest_does_not_count) {
  const auto top = written([](const Way& way) {
    way.upstream.link_gts = 2.5;
    way.upstream.max_link_gts = 32;
  });
  EXPECT_EQ(top.link_gts, 32.0);
}

TEST(NcclOfNode, a_speed_is_kept_where_the_width_is_not_known) {
  const auto top = written([](const Way& way) {
    way.upstream.max_link_gts = way.port.max_link_gts = 64;
    way.upstream.max_link_width = way.port.max_link_width = std::nullopt;
    way.nic.link_gts = 32;
    way.nic.link_width = way.nic.max_link_width = std::nullopt;
  });
  EXPECT_EQ(top.below.at(0).link_gts, 32.0) << "16 would do for 200 Gb/s";
  EXPECT_EQ(top.below.at(0).link_width, std::nullopt);
  EXPECT_EQ(top.link_gts, 64.0);
  EXPECT_EQ(top.link_width, std::nullopt);
}

TEST(NcclOfNode, an_unknown_speed_is_that_of_the_lanes_there_are) {
  const auto top = written([](const Way& way) {
    way.nic.link_gts = way.nic.max_link_gts = std::nullopt;
    way.nic.link_width = 8;
  });
  EXPECT_EQ(top.below.at(0).link_gts, 32.0);
  EXPECT_EQ(top.below.at(0).link_width, 8U);
}

TEST(NcclOfNode, a_mask_that_nccl_cannot_read_is_empty) {
  auto b = test::NodeBuilder().numa(0, 0, {1023});
  b.raw().cpu = kXeon;
  b.gpu(b.host_bridge(0x10, 0));
  EXPECT_THAT(to_xml(nccl_topology_of(b.build())), HasSubstr("numaid=\"0\" affinity=\"\""));
}

TEST(NcclOfNode, devices_without_a_function_go_to_the_first_cpu) {
  auto b = on(kXeon);
  b.gpu(b.bridge(b.host_bridge(0x10, 1)));
  b.soft_nic("rxe0", "eth0");
  const auto topology = nccl_topology_of(b.build());
  ASSERT_THAT(topology.cpus, SizeIs(1));
  EXPECT_THAT(topology.cpus[0].nets, ElementsAre(NcclNet{"rxe0", {}, 100000, {}, {}, {}}));
}

TEST(NcclOfNode, functions_without_a_driver_or_a_place_are_left_out) {
  auto b = on(kXeon);
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  b.nic(b.bridge(b.host_bridge(0x20, 0))).unregistered();
  b.nic(b.bridge(b.host_bridge(0x30, 0)));
  node::Node node = b.build();
  const auto lost = *node.nics.back().pci;
  for (auto& device : node.pci) {
    if (device.address == lost) device.root.clear();
  }
  const auto topology = nccl_topology_of(node);
  ASSERT_THAT(topology.cpus, SizeIs(1));
  EXPECT_THAT(topology.cpus[0].pci, SizeIs(1));
  EXPECT_THAT(topology.warnings, ElementsAre(lost.str() + ": its place is not known, left out"));
}

TEST(NcclOfNode, virtual_functions_stand_below_a_card_while_there_is_room) {
  const auto topology_with = [](unsigned functions) {
    auto b = on(kXeon);
    b.gpu(b.bridge(b.host_bridge(0x10, 0)));
    b.nic(b.bridge(b.host_bridge(0x20, 0))).virtual_functions(functions);
    return nccl_topology_of(b.build());
  };
  const auto few = topology_with(20);
  EXPECT_THAT(few.warnings, IsEmpty());
  ASSERT_THAT(few.cpus[0].pci, SizeIs(2));
  EXPECT_THAT(few.cpus[0].pci[1].nets, SizeIs(21));
  const auto many = topology_with(255);
  EXPECT_THAT(many.cpus[0].pci[1].nets, SizeIs(1));
  EXPECT_THAT(many.warnings,
              ElementsAre("NCCL reads no more than 256 elements: virtual functions are left out"));
}

TEST(NcclOfNode, a_guid_that_is_known_is_written) {
  node::Node node = one_switch();
  node.nics[0].sys_image_guid = "946d:ae03:00d6:c9c8";
  EXPECT_THAT(to_xml(nccl_topology_of(node)), HasSubstr("guid=\"0xc8c9d60003ae6d94\""));
}

TEST(NcclOfNode, a_name_that_nccl_cannot_be_told_is_not_written) {
  for (const std::string name : {"a\x1b[31mb", "mlx5_0,mlx5_1", "a@0000:19:00.0"}) {
    node::Node node = one_switch();
    node.nics[0].name = name;
    const auto topology = nccl_topology_of(node);
    const auto& function = topology.cpus[0].pci[0].below[1];
    EXPECT_EQ(function.address.str(), "0000:14:00.0");
    EXPECT_THAT(function.nets, IsEmpty()) << name;
  }
}

TEST(NcclOfNode, amds_library_wants_another_version) {
  node::Node node = one_switch();
  node.gpus[0].vendor = gpu::GpuVendor::amd;
  EXPECT_THAT(to_xml(nccl_topology_of(node)), StartsWith("<system version=\"2\">"));
}

TEST(NcclOfNode, is_read_back_as_the_same_file) {
  const auto text = to_xml(nccl_topology_of(one_switch(kXeon, 2)));
  const auto again = parse_nccl_topology(text, "again");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_THAT(again->warnings, IsEmpty());
  EXPECT_EQ(to_xml(*again), text);
  EXPECT_EQ(to_xml(nccl_topology_of(node_from(*again))), text);
}

}  // namespace
}  // namespace railhead::topology
