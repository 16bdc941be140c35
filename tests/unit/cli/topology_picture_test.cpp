// SPDX-License-Identifier: Apache-2.0
#include "cli/topology_picture.h"

#include <gmock/gmock.h>

#include "unit/cli/program.h"
#include "unit/node_builder.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

report::Diagram picture_of(const node::Node& node) {
  return cli::topology_picture(inject::DecisionTable(node, {}, {}));
}

const report::DiagramDevice& device(const report::Diagram& diagram, const std::string& title) {
  for (const auto& candidate : diagram.devices) {
    if (candidate.title == title) return candidate;
  }
  throw std::runtime_error("no device " + title);
}

/// "socket/bridge/switch" of the boxes that hold the device.
std::string path_to(const std::vector<report::DiagramBox>& boxes, std::size_t wanted) {
  for (const auto& box : boxes) {
    if (std::ranges::find(box.devices, wanted) != box.devices.end()) return box.titles.back();
    const auto inner = path_to(box.boxes, wanted);
    if (!inner.empty()) return box.titles.front() + " / " + inner;
  }
  return "";
}

/// Two switches with a GPU and a NIC each, and a card for storage beside them.
NodeBuilder two_rails() {
  NodeBuilder b;
  b.numa(0, 0, {0, 1, 2, 3, 8}).numa(1, 1, {4, 5, 6, 7});
  for (int i = 0; i < 2; ++i) {
    const auto hub =
        b.pcie_switch(b.bridge(b.host_bridge(static_cast<std::uint8_t>(0x10 + 0x40 * i), i)));
    b.gpu(b.bridge(hub));
    b.nic(b.bridge(hub));
  }
  return b;
}

TEST(TopologyPicture, a_gpu_and_its_nic_share_a_colour_and_a_link_that_says_pix) {
  const auto picture = picture_of(two_rails().build());
  EXPECT_THAT(picture.marks, ElementsAre("0", "1"));
  EXPECT_THAT(device(picture, "GPU 1").groups, ElementsAre(1));
  EXPECT_THAT(device(picture, "mlx5_1").groups, ElementsAre(1));
  EXPECT_EQ(device(picture, "GPU 1").tag, "PIX");
  EXPECT_THAT(device(picture, "mlx5_1").tooltip, HasSubstr("GPU1: PIX below"));
  ASSERT_EQ(picture.links.size(), 2U);
  EXPECT_EQ(picture.links[1].label, "PIX");
  EXPECT_EQ(picture.links[1].kind, report::DiagramLink::Kind::solid);
  EXPECT_THAT(picture.description, HasSubstr("GPU1: mlx5_1 (PIX)."));
}

TEST(TopologyPicture, boxes_are_sockets_host_bridges_and_switches) {
  const auto picture = picture_of(two_rails().build());
  ASSERT_EQ(picture.boxes.size(), 2U);
  EXPECT_THAT(picture.boxes[0].titles, ElementsAre("Socket 0 · NUMA node 0", "CPUs 0-3,8"));
  ASSERT_EQ(picture.boxes[0].boxes.size(), 1U);
  EXPECT_THAT(picture.boxes[0].boxes[0].titles,
              ElementsAre("host bridge 0000:10", "switch 0000:11:00.0"));
}

TEST(TopologyPicture, numa_nodes_of_one_socket_are_boxes_in_it) {
  NodeBuilder b;
  b.numa(0, 0, {0}).numa(1, 0, {1});
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  b.gpu(b.bridge(b.host_bridge(0x50, 1)));
  const auto picture = picture_of(b.build());
  ASSERT_EQ(picture.boxes.size(), 1U);
  EXPECT_THAT(picture.boxes[0].titles, ElementsAre("Socket 0"));
  EXPECT_EQ(picture.boxes[0].boxes.size(), 2U);
  EXPECT_EQ(path_to(picture.boxes, 1), "Socket 0 / NUMA node 1 / host bridge 0000:50");
}

TEST(TopologyPicture, switches_that_lead_to_one_card_are_one_box_that_names_them) {
  auto b = two_rails();
  const auto nested = b.pcie_switch(b.bridge(b.pcie_switch(b.bridge(b.host_bridge(0xa0, 1)))));
  b.nic(b.bridge(nested), 2);
  const auto picture = picture_of(b.build());
  const auto& box = picture.boxes[1].boxes[1];
  EXPECT_THAT(box.titles,
              ElementsAre("host bridge 0000:a0", "switch 0000:a1:00.0", "switch 0000:a3:00.0"));
  EXPECT_THAT(box.devices, ElementsAre(4, 5));
}

TEST(TopologyPicture, both_levels_of_switches_are_drawn_where_both_count) {
  NodeBuilder b;
  b.numa(0, 0);
  const auto hub = b.pcie_switch(b.bridge(b.host_bridge(0x10, 0)));
  b.gpu(b.bridge(b.pcie_switch(b.bridge(hub))));
  b.nic(b.bridge(hub));
  const auto picture = picture_of(b.build());
  EXPECT_EQ(device(picture, "GPU 0").tag, "PXB");
  const auto& outer = picture.boxes[0].boxes[0];
  EXPECT_THAT(outer.titles, ElementsAre("host bridge 0000:10", "switch 0000:11:00.0"));
  EXPECT_THAT(outer.devices, ElementsAre(1)) << "the NIC hangs on the outer switch itself";
  ASSERT_EQ(outer.boxes.size(), 1U);
  EXPECT_THAT(outer.boxes[0].titles, ElementsAre("switch 0000:13:00.0"));
  EXPECT_THAT(outer.boxes[0].devices, ElementsAre(0));
}

TEST(TopologyPicture, a_bridge_that_is_no_switch_is_not_drawn) {
  NodeBuilder b;
  b.numa(0, 0);
  b.gpu(b.bridge(b.bridge(b.host_bridge(0x10, 0))));
  const auto picture = picture_of(b.build());
  EXPECT_EQ(path_to(picture.boxes, 0), "Socket 0 · NUMA node 0 / host bridge 0000:10");
}

TEST(TopologyPicture, a_switch_without_an_address_is_named_by_its_source) {
  NodeBuilder b;
  b.numa(0, 0);
  Slot hub = b.host_bridge(0x10, 0);
  hub.bridges.push_back({0xffff, 0xff, 1, 0});
  b.gpu(b.bridge(hub));
  b.nic(b.bridge(hub));
  const auto picture = picture_of(b.build());
  EXPECT_EQ(path_to(picture.boxes, 0), "Socket 0 · NUMA node 0 / switch (from file)");
  const auto known = run_on("azure-nd-h100-v5", "topology", {"-o", "svg"}).out;
  EXPECT_THAT(known, HasSubstr(">switch (from table)</text>"));
  EXPECT_THAT(known, HasSubstr("table of known machines (Azure ND H100 v5),"));
  EXPECT_THAT(known, HasSubstr(">confidence high</text>"));
  EXPECT_THAT(known, Not(HasSubstr(">host bridge ffff")));
  hub.root = "pci0000:16:00.0";
  b.gpu(b.bridge(hub));
  EXPECT_EQ(path_to(picture_of(b.build()).boxes, 1),
            "Socket 0 · NUMA node 0 / host bridge (from file)");
}

TEST(TopologyPicture, virtual_functions_are_one_device) {
  NodeBuilder b;
  b.numa(0, 0);
  const auto hub = b.pcie_switch(b.bridge(b.host_bridge(0x10, 0)));
  b.gpu(b.bridge(hub));
  b.nic(b.bridge(hub)).virtual_functions(32);
  const auto picture = picture_of(b.build());
  ASSERT_EQ(picture.devices.size(), 3U);
  const auto& pack = device(picture, "32 VFs");
  EXPECT_THAT(pack.lines, ElementsAre("mlx5_1 …", "… mlx5_32"));
  EXPECT_EQ(pack.footer, "virtual-function");
  EXPECT_EQ(pack.look, report::DiagramLook::aside);
  EXPECT_EQ(pack.stack, device(picture, "mlx5_0").stack);
}

TEST(TopologyPicture, many_nics_that_are_alike_and_serve_no_gpu_are_one_device) {
  NodeBuilder b;
  b.numa(0, 0);
  const auto root = b.host_bridge(0x10, 0);
  for (int i = 0; i < 40; ++i) b.nic(b.bridge(root)).name("nic" + std::to_string(i));
  b.nic(b.bridge(root)).name("other").down();
  const auto picture = picture_of(b.build());
  ASSERT_EQ(picture.devices.size(), 2U);
  EXPECT_EQ(picture.devices[0].title, "40 NICs");
  EXPECT_EQ(picture.devices[0].look, report::DiagramLook::normal);
  EXPECT_EQ(picture.devices[1].title, "other");
}

TEST(TopologyPicture, the_same_warning_of_several_gpus_is_one_line) {
  NodeBuilder b;
  for (int i = 0; i < 3; ++i) b.gpu(b.bridge(b.host_bridge(static_cast<std::uint8_t>(16 * i), 0)));
  b.nic(b.bridge(b.host_bridge(0x80, 0))).down();
  const auto picture = picture_of(b.build());
  EXPECT_THAT(picture.notes.back().lines,
              testing::Contains(HasSubstr("GPU 0 (0000:01:00.0), GPU 1 (0000:11:00.0), GPU 2 ")));
}

TEST(TopologyPicture, hundreds_of_virtual_functions_stay_small) {
  NodeBuilder b;
  b.numa(0, 0);
  for (int i = 0; i < 16; ++i) {
    const auto hub = b.pcie_switch(b.bridge(b.host_bridge(static_cast<std::uint8_t>(15 * i), 0)));
    b.gpu(b.bridge(hub));
    b.nic(b.bridge(hub)).virtual_functions(32);
  }
  const auto picture = picture_of(b.build());
  EXPECT_EQ(picture.devices.size(), 48U);
  EXPECT_LT(report::to_svg(picture).size(), 100'000U);
}

TEST(TopologyPicture, what_does_not_work_is_broken_and_its_replacement_is_named) {
  auto b = two_rails();
  auto node = b.build();
  node.nics[1].ports[0].state = node::PortState::down;
  const auto picture = picture_of(node);
  EXPECT_EQ(device(picture, "mlx5_1").look, report::DiagramLook::broken);
  EXPECT_EQ(device(picture, "mlx5_1").footer, "× DOWN");
  EXPECT_THAT(device(picture, "mlx5_0").guests, ElementsAre(1));
  EXPECT_EQ(device(picture, "GPU 1").tag, "stand-in SYS");
  std::vector<report::DiagramLink::Kind> kinds;
  for (const auto& link : picture.links) kinds.push_back(link.kind);
  EXPECT_THAT(kinds,
              ElementsAre(report::DiagramLink::Kind::solid, report::DiagramLink::Kind::broken,
                          report::DiagramLink::Kind::stand_in));
  EXPECT_THAT(report::to_svg(picture), HasSubstr("mlx5_1: port 1 is DOWN"));
}

TEST(TopologyPicture, a_function_whose_bond_another_one_serves_is_not_broken) {
  auto b = two_rails();
  b.nic(b.bridge(b.host_bridge(0xa0, 1)), 2).ethernet(400).netdev("eth").master("bond0");
  auto node = b.build();
  node.nics[3].registered = false;
  node.nics[3].ports.clear();
  node.nics[3].name = node.nics[3].pci->str();
  EXPECT_NE(device(picture_of(node), node.nics[3].name).look, report::DiagramLook::broken);
  EXPECT_THAT(device(picture_of(node), node.nics[3].name).footer, HasSubstr("in the bond"));
  for (auto& netdev : node.netdevs) netdev.master.reset();
  EXPECT_THAT(device(picture_of(node), node.nics[3].name).footer, HasSubstr("no driver"));
}

TEST(TopologyPicture, what_is_not_for_compute_is_aside_with_its_reason) {
  auto b = two_rails();
  b.nic(b.bridge(b.host_bridge(0xa0, 1))).ethernet(25).netdev("eth0").default_route();
  const auto picture = picture_of(b.build());
  EXPECT_EQ(device(picture, "mlx5_2").look, report::DiagramLook::aside);
  EXPECT_EQ(device(picture, "mlx5_2").footer, "management");
  EXPECT_THAT(report::to_svg(picture), HasSubstr("mlx5_2: management, its netdev eth0 carries"));
}

TEST(TopologyPicture, gpus_without_an_index_of_their_own_get_letters) {
  auto node = two_rails().build();
  node.gpus[1].index.reset();
  EXPECT_THAT(picture_of(node).marks, ElementsAre("A", "B"));
  node.gpus[1].index = 0;
  EXPECT_THAT(picture_of(node).marks, ElementsAre("A", "B"));
}

TEST(TopologyPicture, machines_without_gpus_or_nics_are_drawn) {
  NodeBuilder soft;
  soft.soft_nic("rxe0", "eth0");
  const auto picture = picture_of(soft.build());
  EXPECT_THAT(picture.boxes[0].titles, ElementsAre("Software devices", "no PCI function"));
  EXPECT_EQ(device(picture, "rxe0").look, report::DiagramLook::normal);
  EXPECT_THAT(picture_of({}).boxes, IsEmpty());
  NodeBuilder gpus;
  gpus.gpu(gpus.host_bridge(0x10, std::nullopt));
  EXPECT_EQ(device(picture_of(gpus.build()), "GPU 0").tag, "no NIC");
  EXPECT_EQ(device(picture_of(gpus.build()), "GPU 0").tag_look, report::DiagramLook::broken);
  EXPECT_THAT(picture_of(gpus.build()).boxes[0].titles, ElementsAre("NUMA node unknown"));
}

TEST(TopologyPicture, a_hostile_name_stays_a_name) {
  const std::string hostile = "</text><script>\"&'\x01\xff\n]};";
  auto node = two_rails().build();
  node.name = hostile;
  node.dmi.product_name = node.gpus[0].model = hostile;
  node.nics[0].name = hostile;
  node.nics[0].netdevs = {hostile};
  node.problems.push_back({node::Problem::Kind::malformed, hostile, hostile});
  const auto picture = picture_of(node);
  EXPECT_THAT(report::to_svg(picture), Not(HasSubstr("<script")));
  for (const auto& text : {report::to_svg(picture), report::to_dot(picture)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x01")));
    EXPECT_THAT(text, Not(HasSubstr("\xff")));
  }
}

TEST(TopologyPicture, the_command_prints_it) {
  const auto svg = run_on("dgx-h100", "topology", {"-o", "svg"});
  EXPECT_EQ(svg.code, cli::kExitOk);
  EXPECT_THAT(svg.out, testing::StartsWith("<svg "));
  EXPECT_EQ(svg.out, run_on("dgx-h100", "topology", {"-o", "svg"}).out);
  const auto dot = run_on("dgx-h100", "topology", {"-o", "dot"});
  EXPECT_EQ(dot.code, cli::kExitOk);
  EXPECT_THAT(dot.out, testing::StartsWith("digraph railhead {"));
  EXPECT_EQ(run_on("dgx-h100", "affinity", {"-o", "svg"}).code, cli::kExitUsage);
}

TEST(TopologyPicture, of_a_machine_has_the_time_and_of_a_snapshot_has_none) {
  const testing::Matcher<const std::string&> has_time =
      testing::ContainsRegex("as of 20[0-9-]+[T ][0-9:]+");
  EXPECT_THAT(run({"topology", "-o", "svg", "--host-root", "/"}).out, has_time);
  EXPECT_THAT(run_on("dgx-h100", "topology", {"-o", "svg"}).out, Not(has_time));
  const auto snapshot = source_dir() + "/tests/nodes/dgx-h100.node";
  EXPECT_THAT(run({"topology", "-o", "svg"}, {{"RAILHEAD_SNAPSHOT", snapshot}}).out, Not(has_time));
}

}  // namespace
}  // namespace railhead::test
