// SPDX-License-Identifier: Apache-2.0
//
// What a resource of sriov-network-device-plugin takes.
#include <gmock/gmock.h>

#include "unit/pools/pools_of.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SriovPluginSelection, a_physical_function_with_virtual_ones_is_never_handed_out) {
  const Pooled pooled(vf_server(), sriov(R"({"vendors": ["15b3"], "isRdma": true})"));
  EXPECT_EQ(pooled.members().size(), 9U);
  EXPECT_EQ(pooled.why("0000:11:00.0"), "it has 8 virtual functions enabled");
  EXPECT_EQ(pooled.why("0000:12:00.0"), "");
}

TEST(SriovPluginSelection, an_interface_with_the_default_route_is_never_handed_out) {
  const Pooled pooled(small_server(), sriov(R"({"vendors": ["15b3"]})"));
  EXPECT_THAT(pooled.members(), ElementsAre("0000:11:00.0", "0000:12:00.0"));
  EXPECT_EQ(pooled.why("0000:82:00.0"), "its netdev eno1 carries the default route");
}

TEST(SriovPluginSelection, nor_is_one_below_a_bond_that_carries_it) {
  auto node = small_server();
  for (auto& netdev : node.netdevs) {
    netdev.default_route = false;
    if (netdev.name == "ens2") netdev.master = "team0";
  }
  node::Netdev bond;
  bond.name = "team0";
  bond.default_route = true;
  node.netdevs.push_back(bond);
  const Pooled pooled(node, sriov(R"({"vendors": ["15b3"]})"));
  EXPECT_THAT(pooled.members(), ElementsAre("0000:11:00.0", "0000:82:00.0"));
  EXPECT_EQ(pooled.why("0000:12:00.0"), "its netdev ens2 carries the default route");
}

TEST(SriovPluginSelection, an_empty_selector_takes_every_network_device) {
  EXPECT_EQ(Pooled(small_server(), sriov("{}")).members().size(), 3U);
  EXPECT_THAT(Pooled(small_server(), sriov("[]")).members(), IsEmpty());
}

TEST(SriovPluginSelection, all_virtual_functions_of_a_physical_one_by_its_name) {
  const Pooled pooled(vf_server(), sriov(R"({"pfNames": ["ens1f0"]})"));
  EXPECT_EQ(pooled.members().size(), 8U);
  EXPECT_EQ(pooled.why("0000:11:00.0"), "pfNames: it is neither a VF nor an SF");
  EXPECT_EQ(pooled.why("0000:12:00.0"), "pfNames: it is neither a VF nor an SF");
}

TEST(SriovPluginSelection, what_stands_before_a_part_that_cannot_be_read_counts) {
  const auto taken = [](const std::string& range, const std::string& warning) {
    const auto parsed = parse_text(sriov(R"({"pfNames": ["ens1f0#)" + range + R"("]})"));
    EXPECT_THAT(parsed->warnings, ElementsAre(HasSubstr(warning)));
    return Pooled(vf_server(), parsed->specs).members();
  };
  EXPECT_THAT(taken("1-2,", "\"\" is neither a number nor a range such as 2-7; only what stands"),
              ElementsAre("0000:11:01.1", "0000:11:01.2"));
  EXPECT_THAT(taken("1,x,3", "\"x\" is neither"), ElementsAre("0000:11:01.1"));
  EXPECT_THAT(taken("7-2,3", "\"7-2\" ends before it begins; it is passed over"),
              ElementsAre("0000:11:01.3"));
}

TEST(SriovPluginSelection, some_of_them_by_number_with_both_ends) {
  const Pooled pooled(vf_server(), sriov(R"({"pfNames": ["ens9", "ens1f0#0,2-3,7"]})"));
  EXPECT_THAT(pooled.members(),
              ElementsAre("0000:11:01.0", "0000:11:01.2", "0000:11:01.3", "0000:11:01.7"));
  EXPECT_EQ(pooled.why("0000:11:01.1"), "pfNames: ens1f0#1 is none of ens9, ens1f0#0,2-3,7");
}

TEST(SriovPluginSelection, by_the_address_of_the_physical_function) {
  const Pooled pooled(vf_server(), sriov(R"({"rootDevices": ["0000:11:00.0#4-5"]})"));
  EXPECT_THAT(pooled.members(), ElementsAre("0000:11:01.4", "0000:11:01.5"));
  EXPECT_EQ(pooled.why("0000:11:01.6"), "rootDevices: 0000:11:00.0#6 is not 0000:11:00.0#4-5");
}

TEST(SriovPluginSelection, names_and_addresses_of_physical_functions_count_in_any_case) {
  EXPECT_EQ(Pooled(vf_server(), sriov(R"({"pfNames": ["ENS1F0#1"]})")).members().size(), 1U);
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x5d, 0))).netdev("ens1").virtual_functions(2);
  EXPECT_EQ(Pooled(b.build(), sriov(R"({"rootDevices": ["0000:5E:00.0"]})")).members().size(), 2U);
}

TEST(SriovPluginSelection, other_values_are_compared_letter_by_letter) {
  EXPECT_THAT(Pooled(vf_server(), sriov(R"({"vendors": ["15B3"]})")).members(), IsEmpty());
  EXPECT_THAT(Pooled(vf_server(), sriov(R"({"pciAddresses": ["11:01.0"]})")).members(), IsEmpty());
  EXPECT_THAT(Pooled(vf_server(), sriov(R"({"pciAddresses": ["0000:11:01.0"]})")).members(),
              ElementsAre("0000:11:01.0"));
}

TEST(SriovPluginSelection, a_range_that_cannot_be_read_matches_nothing) {
  const auto parsed = parse_text(sriov(R"({"pfNames": ["ens1f0#7-2"]})"));
  ASSERT_TRUE(parsed);
  EXPECT_THAT(Pooled(vf_server(), parsed->specs).members(), IsEmpty());
}

TEST(SriovPluginSelection, a_package_that_nobody_names_takes_nothing) {
  const Pooled pooled(vf_server(),
                      sriov(R"({"vendors": ["15b3"], "ddpProfiles": ["GTPv1-C/U IPv4"]})"));
  EXPECT_THAT(pooled.members(), IsEmpty());
  EXPECT_EQ(pooled.why("0000:12:00.0"),
            "ddpProfiles: no driver names its package (devlink, fw.app.name)");
}

/// vf_server() with vDPA devices: vhost on VF 0, virtio on 1, of no driver on 2, two on 3.
node::Node vdpa_server() {
  auto node = vf_server();
  for (auto& device : node.pci) {
    if (!device.is_vf()) continue;
    if (device.address.function == 0) device.vdpa = {{"vdpa0", "vhost_vdpa", 7U}};
    if (device.address.function == 1) device.vdpa = {{"vdpa1", "virtio_vdpa", {}}};
    if (device.address.function == 2) device.vdpa = {{"vdpa2", {}, {}}};
    if (device.address.function == 3) {
      device.vdpa = {{"vdpa3", "virtio_vdpa", {}}, {"vdpa4", "vhost_vdpa", 8U}};
    }
  }
  return node;
}

TEST(SriovPluginSelection, by_what_the_vdpa_device_of_a_function_is_bound_to) {
  const Pooled vhost(vdpa_server(), sriov(R"({"vdpaType": "vhost"})"));
  EXPECT_THAT(vhost.members(), ElementsAre("0000:11:01.0"));
  EXPECT_EQ(vhost.why("0000:11:01.1"), "vdpaType: virtio is not vhost");
  EXPECT_EQ(vhost.why("0000:11:01.2"),
            "vdpaType: it has no vDPA device of vhost_vdpa or virtio_vdpa");
  EXPECT_EQ(vhost.why("0000:11:01.4"),
            "vdpaType: it has no vDPA device of vhost_vdpa or virtio_vdpa");
  EXPECT_THAT(Pooled(vdpa_server(), sriov(R"({"vdpaType": "virtio"})")).members(),
              ElementsAre("0000:11:01.1", "0000:11:01.3"));
}

TEST(SriovPluginSelection, of_several_vdpa_devices_the_first_by_name_counts) {
  const Pooled pooled(vdpa_server(), sriov(R"({"vdpaType": "vhost"})"));
  EXPECT_EQ(pooled.why("0000:11:01.3"),
            "vdpaType: virtio is not vhost (vdpa3 counts, the first of its 2 vDPA devices)");
}

TEST(SriovPluginSelection, a_vdpa_type_that_does_not_exist_takes_nothing) {
  const auto parsed = parse_text(sriov(R"({"vdpaType": "VHOST"})"));
  ASSERT_TRUE(parsed);
  EXPECT_THAT(Pooled(vdpa_server(), parsed->specs).members(), IsEmpty());
}

TEST(SriovPluginSelection, is_rdma_takes_only_what_has_an_rdma_device) {
  auto node = vf_server();
  std::erase_if(node.nics,
                [](const node::Nic& nic) { return nic.pci->device == 1 && nic.pci->function > 1; });
  for (auto& device : node.pci) {
    if (device.is_vf() && device.address.function > 1) device.driver = "vfio-pci";
  }
  EXPECT_EQ(Pooled(node, sriov(R"({"pfNames": ["ens1f0"]})")).members().size(), 8U);
  EXPECT_THAT(Pooled(node, sriov(R"({"pfNames": ["ens1f0"], "isRdma": true})")).members(),
              ElementsAre("0000:11:01.0", "0000:11:01.1"));
  EXPECT_EQ(Pooled(node, sriov(R"({"drivers": ["vfio-pci"]})")).members().size(), 6U);
}

TEST(SriovPluginSelection, by_the_number_that_the_firmware_gives) {
  auto node = small_server();
  for (auto& device : node.pci) {
    if (device.address.bus == 0x11) device.acpi_index = 101;
    if (device.address.bus == 0x12) device.acpi_index = 1;
  }
  const Pooled pooled(node, sriov(R"({"acpiIndexes": ["101", "102"]})"));
  EXPECT_THAT(pooled.members(), ElementsAre("0000:11:00.0"));
  EXPECT_EQ(pooled.why("0000:12:00.0"), "acpiIndexes: 1 is none of 101, 102");
  EXPECT_EQ(pooled.why("0000:81:00.0"), "acpiIndexes: the firmware gives it no number");
}

/// Bonds, teams and whatever else has ports: a folder in sysfs tells bridges alone.
TEST(SriovPluginSelection, a_master_keeps_its_ports_unless_it_is_a_bridge) {
  auto node = vf_server();
  for (auto& netdev : node.netdevs) {
    if (netdev.name == "ens2f0") netdev.master = "team0";
  }
  node::Netdev master;
  master.name = "team0";
  const auto text = sriov(R"({"pciAddresses": ["0000:12:00.0"]})");
  node.netdevs.push_back(master);
  EXPECT_THAT(Pooled(node, text).members(), IsEmpty());
  EXPECT_EQ(Pooled(node, text).why("0000:12:00.0"), "its netdev ens2f0 is a port of team0");
  const auto shared_pool = shared(R"({"ifNames": ["ens2f0"]})");
  EXPECT_EQ(Pooled(node, shared_pool).members().size(), 1U);
  node.netdevs.back().is_bridge = true;
  EXPECT_EQ(Pooled(node, text).members().size(), 1U);
}

/// Source: NewHostDeviceImpl() in pkg/devices/host.go of that plugin: a function without a driver
/// is no device.
TEST(SriovPluginSelection, what_no_driver_holds_is_not_handed_out) {
  auto node = vf_server();
  node.nics.clear();
  for (auto& device : node.pci) {
    if (device.address.str() == "0000:11:01.3") device.driver.reset();
  }
  const Pooled pooled(node, sriov(R"({"rootDevices": ["0000:11:00.0"]})"));
  EXPECT_EQ(pooled.members().size(), 7U);
  EXPECT_EQ(pooled.why("0000:11:01.3"), "no driver is bound");
  const Pooled ours(node,
                    "pools: [{name: a.io/vf, mode: exclusive, isRdma: false, "
                    "include: {rootDevices: '11:00.0'}}]");
  EXPECT_EQ(ours.members().size(), 7U);
}

TEST(SriovPluginSelection, without_is_rdma_a_function_needs_no_rdma_driver_to_be_well) {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x5d, 0))).unregistered();
  auto node = b.build();
  for (auto& device : node.pci) device.driver = "mlx5_core";
  const std::vector<pools::NicStatus> statuses{{"unknown", "no RDMA driver is bound"}};
  const auto specs = specs_of(sriov(R"({"vendors": ["15b3"]})"));
  const auto table = pools::make_pools(specs, node, statuses);
  ASSERT_EQ(table.pools[0].members.size(), 1U);
  EXPECT_EQ(table.pools[0].members[0].state, pools::MemberState::ready);
}

TEST(SriovPluginSelection, the_link_type_of_a_function_under_vfio_is_known) {
  auto node = vf_server();
  std::erase_if(node.nics, [](const node::Nic& nic) { return nic.pci->device == 1; });
  EXPECT_EQ(
      Pooled(node, sriov(R"({"pfNames": ["ens1f0"], "linkTypes": ["ether"]})")).members().size(),
      8U);
  EXPECT_THAT(
      Pooled(node, sriov(R"({"pfNames": ["ens1f0"], "linkTypes": ["infiniband"]})")).members(),
      IsEmpty());
}

TEST(SriovPluginSelection, pkeys_are_those_of_entry_zero_of_infiniband) {
  auto node = small_server();
  node.nics[0].ports[0].pkeys = {0x8001, 0xffff};
  node.nics[1].ports[0].pkeys = {0x8001};
  EXPECT_THAT(Pooled(node, sriov(R"({"pKeys": ["0x8001"]})")).members(),
              ElementsAre("0000:11:00.0"));
  EXPECT_THAT(Pooled(node, sriov(R"({"pKeys": ["0xffff"]})")).members(), IsEmpty());
}

TEST(SriovPluginSelection, selectors_are_a_union_and_the_first_that_holds_counts) {
  const Pooled pooled(vf_server(), sriov(R"([{"pfNames": ["ens1f0#0-1"], "isRdma": true},
                                             {"rootDevices": ["0000:11:00.0#1-2"]}])"));
  EXPECT_THAT(pooled.members(), ElementsAre("0000:11:01.0", "0000:11:01.1", "0000:11:01.2"));
  EXPECT_EQ(pooled.table.pools[0].members[1].selector, 0U);
  EXPECT_EQ(pooled.table.pools[0].members[2].selector, 1U);
  EXPECT_EQ(pooled.why("0000:11:01.3"),
            "pfNames: ens1f0#3 is not ens1f0#0-1; or rootDevices: 0000:11:00.0#3 is not "
            "0000:11:00.0#1-2");
}

TEST(SriovPluginSelection, a_later_resource_gets_the_rest_and_that_is_no_conflict) {
  const Pooled pooled(vf_server(), R"({"resourceList": [
      {"resourceName": "a", "selectors": {"pfNames": ["ens1f0#0-1"]}},
      {"resourceName": "b", "selectors": {"vendors": ["15b3"]}}]})");
  EXPECT_THAT(pooled.members(0), ElementsAre("0000:11:01.0", "0000:11:01.1"));
  EXPECT_EQ(pooled.members(1).size(), 7U);
  EXPECT_EQ(pooled.why("0000:11:01.0", 1), "is in the exclusive pool intel.com/a");
  EXPECT_THAT(pooled.table.conflicts, IsEmpty());
}

TEST(SriovPluginSelection, scalable_functions_by_name_and_number) {
  auto node = vf_server();
  for (unsigned i = 0; i < 4; ++i) {
    node::Nic scalable = node.nics.back();
    scalable.name = "mlx5_1" + std::to_string(i);
    scalable.sub_function = "mlx5_core.sf." + std::to_string(2 + i);
    scalable.sf_number = 10 + i;
    scalable.netdevs = {"ens2f0s" + std::to_string(10 + i)};
    node.nics.push_back(scalable);
  }
  const auto select = [&](const std::string& selectors) {
    return Pooled(node, sriov(selectors, R"(, "deviceType": "auxNetDevice")")).members();
  };
  EXPECT_EQ(select(R"({"auxTypes": ["sf"]})").size(), 4U);
  EXPECT_THAT(select(R"({"auxTypes": ["eth"]})"), IsEmpty());
  EXPECT_THAT(select(R"({"pfNames": ["ens2f0#11-12"], "isRdma": true})"),
              ElementsAre("mlx5_core.sf.3", "mlx5_core.sf.4"));
  EXPECT_THAT(select(R"({"rootDevices": ["0000:12:00.0#13"]})"), ElementsAre("mlx5_core.sf.5"));
  EXPECT_EQ(select(R"({"vendors": ["15b3"], "drivers": ["mlx5_core.sf"]})").size(), 4U);
  EXPECT_THAT(Pooled(node, sriov(R"({"pfNames": ["ens2f0"]})")).members(), IsEmpty());
}

TEST(SriovPluginSelection, of_a_pool_that_selects_nothing_every_function_has_a_reason) {
  const Pooled pooled(vf_server(), sriov(R"({"vendors": ["8086"], "drivers": ["iavf"]})"));
  for (const auto& function : pooled.table.functions) {
    EXPECT_THAT(pooled.why(function.id), HasSubstr("vendors: 15b3 is not 8086")) << function.id;
  }
}

}  // namespace
}  // namespace railhead::test
