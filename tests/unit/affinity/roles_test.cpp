// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "affinity/affinity.h"
#include "unit/machines.h"

namespace railhead::affinity {
namespace {

using test::NicHandle;
using test::NodeBuilder;
using test::Slot;
using testing::HasSubstr;

std::vector<RoleDecision> roles_of(const node::Node& node,
                                   const std::vector<RoleOverride>& overrides = {}) {
  return decide_roles(node, topology::make_topology(node), {overrides, {}});
}

/// Four GPUs, each with a 400 Gb/s InfiniBand NIC on its own switch (NICs 0 to 3 by address).
struct FourRails {
  NodeBuilder b;
  std::vector<Slot> switches;

  FourRails() {
    b.numa(0, 0);
    for (int i = 0; i < 4; ++i) {
      const auto bus = static_cast<std::uint8_t>(0x10 + 0x10 * i);
      switches.push_back(b.pcie_switch(b.bridge(b.host_bridge(bus, 0))));
      b.nic(b.bridge(switches.back()));
      b.gpu(b.bridge(switches.back()));
    }
  }

  /// A card on a host bridge of its own, after the others.
  NicHandle extra(unsigned functions = 1) {
    return b.nic(b.bridge(b.host_bridge(0x80, 0)), functions);
  }

  RoleDecision last() const { return roles_of(b.build()).back(); }

  void expect_rails_are_compute() const {
    const auto roles = roles_of(b.build());
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(roles[i].role, Role::compute) << roles[i].reason;
  }
};

TEST(Roles, cards_of_the_fabric_are_compute) {
  FourRails m;
  EXPECT_EQ(m.last().role, Role::compute);
  EXPECT_EQ(m.last().reason, "InfiniBand 400 Gb/s, as 4 of 4 cards");
}

TEST(Roles, default_route_makes_management) {
  FourRails m;
  m.extra().ethernet(400).netdev("eth0").default_route();
  EXPECT_EQ(m.last().role, Role::management);
  EXPECT_THAT(m.last().reason, HasSubstr("eth0"));
  m.expect_rails_are_compute();
}

TEST(Roles, default_route_through_a_bond_and_a_vlan_makes_management) {
  FourRails m;
  m.extra(2).netdev("eth0").master("bond0");
  m.b.netdev("bond0").lower = {"eth0", "eth01"};
  m.b.netdev("vlan7").lower = {"bond0"};
  m.b.netdev("vlan7").main_route = true;
  EXPECT_EQ(m.last().role, Role::management);
}

TEST(Roles, other_link_layer_is_not_the_fabric) {
  FourRails m;
  m.extra().ethernet(400);
  EXPECT_EQ(m.last().role, Role::front_end);
  EXPECT_THAT(m.last().reason, HasSubstr("Ethernet 400 Gb/s beside 4 cards of InfiniBand"));
}

TEST(Roles, infiniband_card_in_a_roce_machine_is_storage) {
  NodeBuilder b;
  for (int i = 0; i < 3; ++i)
    b.nic(b.bridge(b.host_bridge(static_cast<std::uint8_t>(16 * i), 0))).ethernet(400);
  b.nic(b.bridge(b.host_bridge(0x80, 0))).infiniband(400);
  EXPECT_EQ(roles_of(b.build())[3].role, Role::storage);
}

TEST(Roles, slow_card_on_the_switch_of_a_gpu_is_not_compute) {
  FourRails m;
  m.b.nic(m.b.bridge(m.switches[3])).infiniband(25).ids(0x15b3, 0x101f).pcie(8, 8);
  EXPECT_EQ(m.last().role, Role::storage);
  EXPECT_THAT(m.last().reason, HasSubstr("25 Gb/s"));
}

TEST(Roles, few_fast_cards_do_not_outvote_many) {
  FourRails m;
  m.extra().ids(0x15b3, 0x1023).pcie(64, 16);
  EXPECT_EQ(m.last().role, Role::storage) << m.last().reason;
  m.expect_rails_are_compute();
}

TEST(Roles, one_fast_card_outvotes_on_board_ports) {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0)), 2).ethernet(25).ids(0x15b3, 0x1015).pcie(8, 8);
  b.nic(b.bridge(b.host_bridge(0x20, 0)), 2).ethernet(25).ids(0x15b3, 0x1015).pcie(8, 8);
  b.nic(b.bridge(b.host_bridge(0x30, 0))).ethernet(400);
  const auto roles = roles_of(b.build());
  EXPECT_EQ(roles[0].role, Role::front_end);
  EXPECT_EQ(roles[4].role, Role::compute);
}

TEST(Roles, two_lanes_are_nvlink_management_even_near_a_gpu) {
  FourRails m;
  m.b.nic(m.b.bridge(m.switches[3])).pcie(32, 2);
  EXPECT_EQ(m.last().role, Role::nvlink_management);
  EXPECT_EQ(m.last().reason, "PCIe x2 where others have x16");
}

TEST(Roles, four_functions_of_an_infiniband_connectx7_manage_nvlink) {
  FourRails m;
  m.extra(4);
  EXPECT_EQ(m.last().role, Role::nvlink_management);
}

TEST(Roles, machine_that_has_only_narrow_links_keeps_its_nics) {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0))).pcie(32, 1);
  EXPECT_EQ(roles_of(b.build())[0].role, Role::compute);
}

TEST(Roles, two_port_cards_beside_one_port_cards_are_storage) {
  FourRails m;
  m.extra(2);
  EXPECT_EQ(m.last().role, Role::storage);
  EXPECT_EQ(m.last().reason, "a card of 2 functions, most have 1");
}

TEST(Roles, two_port_cards_are_compute_where_all_are) {
  NodeBuilder b;
  for (int i = 0; i < 4; ++i) {
    const Slot sw = b.pcie_switch(b.bridge(b.host_bridge(static_cast<std::uint8_t>(32 * i), 0)));
    b.gpu(b.bridge(sw));
    b.nic(b.bridge(sw), 2);
  }
  for (const auto& role : roles_of(b.build())) EXPECT_EQ(role.role, Role::compute);
}

TEST(Roles, weak_evidence_yields_where_the_card_alone_is_near_a_gpu) {
  NodeBuilder b;
  const Slot sw = b.pcie_switch(b.bridge(b.host_bridge(0x10, 0)));
  b.gpu(b.bridge(sw));
  b.nic(b.bridge(sw), 2);
  for (int i = 2; i < 5; ++i) {
    b.nic(b.bridge(b.host_bridge(static_cast<std::uint8_t>(0x10 * i), 0)));
  }
  const auto roles = roles_of(b.build());
  EXPECT_EQ(roles[0].role, Role::compute);
  EXPECT_THAT(roles[0].reason, HasSubstr("but no other NIC is near GPU 0000:13:00.0"));
}

TEST(Roles, weak_evidence_stands_where_other_gpus_have_one_card_as_near) {
  FourRails m;
  const Slot sw = m.b.pcie_switch(m.b.bridge(m.b.host_bridge(0x70, 0)));
  m.b.gpu(m.b.bridge(sw));
  m.b.nic(m.b.bridge(sw), 2);
  EXPECT_EQ(m.last().role, Role::storage) << "the NIC that was beside it is missing";
  m.expect_rails_are_compute();
}

TEST(Roles, weak_evidence_yields_where_other_gpus_have_several_as_near) {
  FourRails m;
  for (const auto& sw : m.switches) m.b.nic(m.b.bridge(sw));
  const Slot sw = m.b.pcie_switch(m.b.bridge(m.b.host_bridge(0x70, 0)));
  m.b.gpu(m.b.bridge(sw));
  m.b.nic(m.b.bridge(sw), 2);
  EXPECT_EQ(m.last().role, Role::compute)
      << "a single loss would have left a NIC: " << m.last().reason;
}

TEST(Roles, rails_of_two_speeds_are_all_compute) {
  FourRails m;
  for (int i = 0; i < 3; ++i) {
    const auto bus = static_cast<std::uint8_t>(0x80 + 0x10 * i);
    const Slot sw = m.b.pcie_switch(m.b.bridge(m.b.host_bridge(bus, 0)));
    m.b.gpu(m.b.bridge(sw));
    m.b.nic(m.b.bridge(sw)).ids(0x15b3, 0x101b).pcie(16, 16).infiniband(200);
  }
  EXPECT_EQ(m.last().role, Role::compute) << m.last().reason;
  m.expect_rails_are_compute();
}

TEST(Roles, the_only_rail_near_a_gpu_stays_compute_with_a_default_route) {
  FourRails m;
  const Slot sw = m.b.pcie_switch(m.b.bridge(m.b.host_bridge(0x70, 0)));
  m.b.gpu(m.b.bridge(sw));
  m.b.nic(m.b.bridge(sw)).netdev("ib4").default_route();
  EXPECT_EQ(m.last().role, Role::compute);
  EXPECT_EQ(
      m.last().reason,
      "InfiniBand 400 Gb/s, as 5 of 5 cards, though its netdev ib4 carries the default route");
}

TEST(Roles, fabric_card_with_the_default_route_is_management_in_doubt) {
  FourRails m;
  m.extra().netdev("ib4").default_route();
  EXPECT_EQ(m.last().role, Role::management);
  EXPECT_EQ(m.last().doubt, "InfiniBand 400 Gb/s, as the compute NICs");
  EXPECT_EQ(roles_of(m.b.build())[0].reason, "InfiniBand 400 Gb/s, as 4 of 4 cards");
}

TEST(Roles, card_of_another_fabric_with_a_default_route_is_not_in_doubt) {
  FourRails m;
  m.extra().ethernet(400).netdev("eth0").default_route();
  EXPECT_EQ(m.last().doubt, "");
}

TEST(Roles, the_only_infiniband_card_stays_compute_with_a_default_route) {
  NodeBuilder b;
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  b.nic(b.bridge(b.host_bridge(0x20, 0))).netdev("ib0").default_route();
  EXPECT_EQ(roles_of(b.build())[0].role, Role::compute);
  b.raw().hypervisor = true;
  EXPECT_EQ(roles_of(b.build())[0].role, Role::compute);
  b.nic(b.bridge(b.host_bridge(0x30, 0))).ethernet(25).ids(0x15b3, 0x1015).pcie(8, 8);
  const auto roles = roles_of(b.build());
  EXPECT_EQ(roles[0].role, Role::compute) << "IP runs beside RDMA: " << roles[0].reason;
  EXPECT_EQ(roles[1].role, Role::front_end);
}

TEST(Roles, default_route_on_a_sole_ethernet_card_counts_in_guests_only) {
  NodeBuilder b;
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  b.nic(b.bridge(b.host_bridge(0x20, 0))).ethernet(100).netdev("eth0").default_route();
  EXPECT_EQ(roles_of(b.build())[0].role, Role::compute);
  b.raw().hypervisor = true;
  EXPECT_EQ(roles_of(b.build())[0].role, Role::management);
}

TEST(Roles, converged_ethernet_card_is_compute_beside_a_slow_port) {
  NodeBuilder b;
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  b.nic(b.bridge(b.host_bridge(0x20, 0))).ethernet(400).netdev("eth0").default_route();
  b.nic(b.bridge(b.host_bridge(0x30, 0))).ethernet(25).ids(0x15b3, 0x1015).pcie(8, 8);
  const auto roles = roles_of(b.build());
  EXPECT_EQ(roles[0].role, Role::compute) << roles[0].reason;
  EXPECT_EQ(roles[1].role, Role::front_end);
}

TEST(Roles, front_end_with_the_default_route_outvotes_no_slower_fabric) {
  NodeBuilder b;
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  b.nic(b.bridge(b.host_bridge(0x20, 0))).ethernet(400).netdev("eth0").default_route();
  b.nic(b.bridge(b.host_bridge(0x30, 0))).infiniband(200).ids(0x15b3, 0x101b).pcie(16, 16);
  const auto roles = roles_of(b.build());
  EXPECT_EQ(roles[0].role, Role::management);
  EXPECT_EQ(roles[1].role, Role::compute);
}

TEST(Roles, default_route_that_is_on_most_cards_tells_nothing) {
  NodeBuilder b;
  for (int i = 0; i < 4; ++i) {
    const Slot sw = b.pcie_switch(b.bridge(b.host_bridge(static_cast<std::uint8_t>(0x10 * i), 0)));
    b.gpu(b.bridge(sw));
    b.nic(b.bridge(sw)).ethernet(400).netdev("eth" + std::to_string(i)).default_route();
  }
  for (int i = 8; i < 10; ++i) {
    b.nic(b.bridge(b.host_bridge(static_cast<std::uint8_t>(0x10 * i), 0)), 2).ethernet(400);
  }
  const auto roles = roles_of(b.build());
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(roles[i].role, Role::compute) << roles[i].reason;
  EXPECT_EQ(roles[4].role, Role::front_end);
}

TEST(Roles, operator_s_compute_card_may_have_the_default_route) {
  FourRails m;
  m.extra().netdev("ib4").default_route();
  const auto roles = roles_of(m.b.build(), {{{"mlx5_4"}, Role::compute}});
  EXPECT_EQ(roles[4].role, Role::compute);
  EXPECT_EQ(roles[4].doubt, "");
}

TEST(Roles, bluefield_beside_plain_cards_is_front_end) {
  FourRails m;
  m.extra().ids(0x15b3, 0xa2dc);
  EXPECT_EQ(m.last().role, Role::front_end);
  EXPECT_THAT(m.last().reason, HasSubstr("BlueField"));
}

TEST(Roles, bluefields_are_compute_where_there_is_nothing_else) {
  NodeBuilder b;
  for (int i = 0; i < 4; ++i) {
    b.nic(b.bridge(b.host_bridge(static_cast<std::uint8_t>(16 * i), 0))).ids(0x15b3, 0xa2dc);
  }
  for (const auto& role : roles_of(b.build())) EXPECT_EQ(role.role, Role::compute);
}

TEST(Roles, bonded_card_beside_cards_that_are_not_is_front_end) {
  NodeBuilder b;
  for (int i = 0; i < 4; ++i) {
    b.nic(b.bridge(b.host_bridge(static_cast<std::uint8_t>(16 * i), 0))).ethernet(400);
  }
  b.nic(b.bridge(b.host_bridge(0x80, 0))).ethernet(400).netdev("eth0").master("bond0");
  const auto roles = roles_of(b.build());
  EXPECT_EQ(roles[0].role, Role::compute);
  EXPECT_EQ(roles[4].role, Role::front_end);
}

TEST(Roles, bonds_are_compute_where_most_cards_are_bonded) {
  NodeBuilder b;
  for (int i = 0; i < 4; ++i) {
    const auto number = std::to_string(i);
    b.nic(b.bridge(b.host_bridge(static_cast<std::uint8_t>(16 * i), 0)))
        .ethernet(400)
        .netdev("eth" + number)
        .master("bond" + number);
  }
  for (const auto& role : roles_of(b.build())) EXPECT_EQ(role.role, Role::compute);
}

TEST(Roles, virtual_function_is_one_whatever_it_is_called) {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0))).virtual_functions(2);
  const auto roles = roles_of(b.build());
  EXPECT_EQ(roles[0].role, Role::compute);
  EXPECT_EQ(roles[1].role, Role::virtual_function);
  EXPECT_EQ(roles[2].reason, "a virtual function of 0000:11:00.0");
}

TEST(Roles, sub_function_is_like_a_virtual_one) {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0)));
  node::Nic sub_function = b.raw().nics[0];
  sub_function.sub_function = "mlx5_core.sf.2";
  b.raw().nics.push_back(sub_function);
  const auto roles = roles_of(b.build());
  EXPECT_EQ(roles[0].role, Role::compute);
  EXPECT_EQ(roles[1].role, Role::virtual_function);
  EXPECT_EQ(roles[1].reason, "a sub-function of 0000:11:00.0");
}

TEST(Roles, virtual_functions_speak_for_themselves_without_their_card) {
  NodeBuilder b;
  const Slot slot = b.bridge(b.host_bridge(0x10, 0));
  b.nic(slot).virtual_functions(2);
  node::Node node = b.build();
  node.nics.erase(node.nics.begin());  // bound to vfio-pci, say
  for (const auto& role : roles_of(node)) EXPECT_EQ(role.role, Role::compute);
  node.pci.erase(std::ranges::find_if(node.pci, [&](const node::PciDevice& device) {
    return device.address == node.find_pci(*node.nics[0].pci)->physfn;
  }));
  for (const auto& role : roles_of(node)) EXPECT_EQ(role.role, Role::compute);
}

TEST(Roles, virtual_functions_of_a_bonds_second_port_belong_to_its_card) {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0)), 2).virtual_functions(2);
  node::Node node = b.build();
  std::erase_if(node.nics, [](const node::Nic& nic) { return nic.pci->str() == "0000:11:00.1"; });
  for (auto& device : node.pci) {
    if (device.is_vf()) device.physfn->function = 1;
  }
  EXPECT_EQ(roles_of(node)[1].role, Role::virtual_function);
}

TEST(Roles, unknown_speed_does_not_lose_against_a_known_one) {
  NodeBuilder b;
  for (int i = 0; i < 8; ++i) {
    b.nic(b.bridge(b.host_bridge(static_cast<std::uint8_t>(16 * i), 0)))
        .ethernet(400)
        .ids(0x1d0f, 0xefff)
        .down();
  }
  for (auto& device : b.raw().pci) device.max_link_gts.reset();
  b.nic(b.bridge(b.host_bridge(0x80, 0)));
  b.nic(b.bridge(b.host_bridge(0x90, 0)));
  const auto roles = roles_of(b.build());
  EXPECT_EQ(roles[0].role, Role::compute) << roles[0].reason;
  EXPECT_EQ(roles[8].role, Role::storage) << roles[8].reason;
}

TEST(Roles, one_card_of_each_link_layer_proves_nothing_against_nearness) {
  NodeBuilder b;
  for (int i = 0; i < 2; ++i) {
    const Slot sw = b.pcie_switch(b.bridge(b.host_bridge(static_cast<std::uint8_t>(32 * i), i)));
    b.gpu(b.bridge(sw));
    b.nic(b.bridge(sw));
  }
  node::Node node = b.build();
  node.nics[0].ports[0].link_layer = node::LinkLayer::ethernet;
  const auto roles = roles_of(node);
  EXPECT_EQ(roles[0].role, Role::compute);
  EXPECT_THAT(roles[0].reason, HasSubstr("but no other NIC is near GPU 0000:03:00.0"));
  EXPECT_EQ(roles[1].role, Role::compute);
}

TEST(Roles, a_connectx7_of_four_lanes_beside_wide_links_manages_nvlink) {
  NodeBuilder b;
  for (int i = 0; i < 8; ++i) {
    b.nic(b.bridge(b.host_bridge(static_cast<std::uint8_t>(16 * i), 0)))
        .ethernet(400)
        .ids(0x1d0f, 0xefa3);
  }
  b.nic(b.bridge(b.host_bridge(0x90, 0))).pcie(8, 4);
  EXPECT_EQ(roles_of(b.build())[8].role, Role::nvlink_management);
}

TEST(Roles, soft_device_is_compute) {
  FourRails m;
  m.b.soft_nic("rxe0", "eth0");
  EXPECT_EQ(m.last().role, Role::compute);
  m.expect_rails_are_compute();
}

TEST(Roles, device_of_which_nothing_can_be_read_is_unknown) {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0))).unregistered();
  node::Node node = b.build();
  node.pci.clear();
  EXPECT_EQ(roles_of(node)[0].role, Role::unknown);
}

TEST(Roles, operator_overrules_by_name_and_address_and_first_match_wins) {
  FourRails m;
  const node::Node node = m.b.build();
  const auto roles = roles_of(node, {{{"", node.nics[2].pci}, Role::management},
                                     {{"mlx5_[0]"}, Role::storage},
                                     {{"mlx5_0"}, Role::storage},
                                     {{"mlx5_*", node.nics[1].pci}, Role::front_end},
                                     {{"mlx5_2"}, Role::storage}});
  EXPECT_EQ(roles[0].role, Role::storage);
  EXPECT_EQ(roles[1].role, Role::front_end);
  EXPECT_EQ(roles[2].role, Role::management);
  EXPECT_EQ(roles[3].role, Role::compute);
  EXPECT_EQ(roles[0].reason, "set by configuration");
}

TEST(Roles, operator_selects_by_ids_link_layer_and_netdev) {
  FourRails m;
  m.extra().ethernet(400).netdev("ens1");
  m.b.nic(m.b.bridge(m.b.host_bridge(0x90, 0))).ids(0x15b3, 0x101d).unregistered();
  const node::Node node = m.b.build();
  const auto roles_with = [&](const RoleOverride& rule) { return roles_of(node, {rule}); };
  RoleOverride rule;
  rule.role = Role::management;
  rule.vendor = 0x15b3;
  rule.device = 0x101d;
  EXPECT_EQ(roles_with(rule)[5].role, Role::management);
  EXPECT_EQ(roles_with(rule)[0].role, Role::compute);
  rule.device.reset();
  EXPECT_EQ(roles_with(rule)[0].role, Role::management) << "any device of this vendor";
  rule.link_layer = node::LinkLayer::ethernet;
  EXPECT_EQ(roles_with(rule)[0].role, Role::compute) << "all selectors have to match";
  EXPECT_EQ(roles_with(rule)[4].role, Role::management);
  rule.netdev_glob = "ib*";
  EXPECT_EQ(roles_with(rule)[4].role, Role::front_end);
  rule.netdev_glob = "ens*";
  EXPECT_EQ(roles_with(rule)[4].role, Role::management);
}

TEST(Roles, soft_device_has_no_ids_to_be_selected_by) {
  NodeBuilder b;
  b.soft_nic("rxe0", "eth0");
  RoleOverride rule;
  rule.role = Role::storage;
  rule.vendor = 0x15b3;
  EXPECT_EQ(roles_of(b.build(), {rule})[0].role, Role::compute);
  rule.vendor.reset();
  rule.netdev_glob = "eth?";
  EXPECT_EQ(roles_of(b.build(), {rule})[0].role, Role::storage);
}

TEST(Roles, overruled_compute_cards_still_say_what_the_fabric_is) {
  FourRails m;
  m.extra().ethernet(400);
  const node::Node node = m.b.build();
  std::vector<RoleOverride> overrides;
  for (std::size_t i = 0; i < 4; ++i) overrides.push_back({{"", node.nics[i].pci}, Role::compute});
  EXPECT_EQ(roles_of(node, overrides).back().role, Role::front_end);
}

TEST(Roles, empty_selector_matches_everything) {
  FourRails m;
  for (const auto& role : roles_of(m.b.build(), {{{}, Role::storage}})) {
    EXPECT_EQ(role.role, Role::storage);
  }
}

TEST(Roles, words_go_there_and_back) {
  for (const auto role :
       {Role::compute, Role::storage, Role::management, Role::front_end, Role::nvlink_management,
        Role::virtual_function, Role::unused, Role::unknown}) {
    EXPECT_EQ(parse_role(to_string(role)), role);
  }
  EXPECT_EQ(to_string(Role::front_end), "front-end");
  EXPECT_EQ(parse_role("frontend"), std::nullopt);
}

}  // namespace
}  // namespace railhead::affinity
