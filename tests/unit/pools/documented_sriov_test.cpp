// SPDX-License-Identifier: Apache-2.0
//
// The examples in sriov-network-device-plugin's documentation: README.md,
// deployments/configMap.yaml and docs/{config-file,ddp,dpdk,rdma,subfunctions,vdpa}, at 40b6f50.
// Their facts, each with what it must take on one machine.
#include <gmock/gmock.h>

#include "unit/pools/documented_machine.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Members of the only resource that these selectors make.
Texts taken(const std::string& selectors, const std::string& more = "") {
  return Pooled(documented_machine(), sriov(selectors, more)).members();
}

constexpr const char* kIntelKernel =
    R"([{"vendors": ["8086"], "devices": ["154c", "10ed", "1889"],
         "drivers": ["i40evf", "ixgbevf", "iavf"]}])";

TEST(SriovDocumentation, virtual_functions_of_intel_with_kernel_drivers) {
  EXPECT_THAT(taken(kIntelKernel),
              ElementsAre("0000:11:01.0", "0000:11:01.1", "0000:13:01.0", "0000:13:01.1"));
}

TEST(SriovDocumentation, the_same_as_one_object_instead_of_a_list) {
  EXPECT_THAT(taken(R"({"vendors": ["8086"], "devices": ["154c", "10ed", "1889"],
                        "drivers": ["i40evf", "ixgbevf", "iavf"]})"),
              SizeIs(4));
}

TEST(SriovDocumentation, virtual_functions_for_dpdk_of_two_ports_by_name) {
  const std::string selectors = R"([{"vendors": ["8086"], "devices": ["154c", "10ed", "1889"],
      "drivers": ["vfio-pci"], "pfNames": ["enp0s0f0", "enp2s2f1"], "needVhostNet": true}])";
  EXPECT_THAT(taken(selectors),
              ElementsAre("0000:11:01.2", "0000:11:01.3", "0000:12:01.0", "0000:12:01.1"));
  EXPECT_TRUE(specs_of(sriov(selectors)).at(0).include.at(0).vhost_net);
}

TEST(SriovDocumentation, a_driver_that_is_no_pci_driver_matches_nothing_and_says_why) {
  const std::string selectors =
      R"([{"vendors": ["15b3"], "devices": ["1018"], "drivers": ["mlx5_ib"], "isRdma": true}])";
  const Pooled pooled(documented_machine(), sriov(selectors));
  EXPECT_THAT(pooled.members(), IsEmpty());
  EXPECT_EQ(pooled.why("0000:14:01.0"), "drivers: mlx5_core is not mlx5_ib");
}

TEST(SriovDocumentation, virtual_functions_with_rdma_of_two_models) {
  EXPECT_THAT(taken(R"([{"vendors": ["15b3"], "devices": ["1016", "1018"],
                         "drivers": ["mlx5_core"], "isRdma": true}])"),
              SizeIs(20));
  EXPECT_THAT(
      taken(R"({"vendors": ["8086"], "devices": ["1889"], "drivers": ["iavf"], "isRdma": true})"),
      ElementsAre("0000:13:01.0", "0000:13:01.1"));
}

TEST(SriovDocumentation, every_infiniband_port_with_rdma) {
  EXPECT_THAT(
      taken(R"([{"linkTypes": ["infiniband"], "isRdma": true}])"),
      ElementsAre("0000:19:00.0", "0000:1a:00.0", "0000:1b:00.0", "0000:1c:00.0", "0000:1d:00.0"));
}

TEST(SriovDocumentation, functions_with_a_vdpa_device_by_what_it_is_bound_to) {
  const auto of_type = [](const std::string& type) {
    return taken(R"([{"vendors": ["15b3"], "devices": ["101e"], "drivers": ["mlx5_core"],
                      "vdpaType": ")" +
                 type + "\"}]");
  };
  EXPECT_THAT(of_type("virtio"), ElementsAre("0000:16:01.0"));
  EXPECT_THAT(of_type("vhost"), ElementsAre("0000:16:01.1"));
}

/// The machine with a package on its E810, and the members that these packages take.
Texts taken_by_packages(const std::string& packages) {
  auto node = documented_machine();
  for (auto& function : node.pci) {
    if (function.address.bus != 0x13 || function.is_vf() || function.is_bridge()) continue;
    function.ddp_package = "ICE COMMS Package";
  }
  const auto selectors =
      R"([{"vendors": ["8086"], "devices": ["1889", "154c", "1592"], "ddpProfiles": )";
  return Pooled(node, sriov(selectors + packages + "}]")).members();
}

TEST(SriovDocumentation, virtual_functions_go_by_the_package_of_their_physical_one) {
  EXPECT_THAT(taken_by_packages(R"(["ICE COMMS Package"])"),
              ElementsAre("0000:13:01.0", "0000:13:01.1"));
  EXPECT_THAT(taken_by_packages(R"(["GTPv1-C/U IPv4/IPv6 payload", "ICE COMMS Package"])"),
              SizeIs(2));
}

TEST(SriovDocumentation, another_package_or_part_of_its_name_takes_nothing) {
  EXPECT_THAT(taken_by_packages(R"(["ICE OS Default Package", "E710 PPPoE and PPPoL2TPv2"])"),
              IsEmpty());
  EXPECT_THAT(taken_by_packages(R"(["ICE COMMS", "ice comms package"])"), IsEmpty());
}

TEST(SriovDocumentation, a_physical_function_without_vfs_has_its_own_package) {
  NodeBuilder b;
  b.numa(0, 0);
  b.nic(b.bridge(b.host_bridge(0x10, 0))).ethernet(100).ids(0x8086, 0x1592).netdev("ens3f0");
  auto node = b.build();
  for (auto& function : node.pci) {
    if (!function.is_bridge()) function.ddp_package = "ICE OS Default Package";
  }
  EXPECT_THAT(Pooled(node, sriov(R"({"ddpProfiles": ["ICE OS Default Package"]})")).members(),
              SizeIs(1));
}

TEST(SriovDocumentation, a_package_that_is_another_is_said_with_its_name) {
  auto node = documented_machine();
  for (auto& function : node.pci) function.ddp_package = "ICE OS Default Package";
  const Pooled pooled(node, sriov(R"({"ddpProfiles": ["ICE COMMS Package"]})"));
  EXPECT_EQ(pooled.why("0000:13:01.0"),
            "ddpProfiles: ICE OS Default Package is not ICE COMMS Package");
}

TEST(SriovDocumentation, an_accelerator_is_skipped_and_the_rest_of_the_file_read) {
  const auto parsed = parse_text(R"({"resourceList": [
      {"resourceName": "intel_fpga", "deviceType": "accelerator",
       "selectors": [{"vendors": ["8086"], "devices": ["0d90"]}]},
      {"resourceName": "brcm_sriov_bnxt", "resourcePrefix": "broadcom.com",
       "selectors": [{"vendors": ["14e4"], "devices": ["1750"], "drivers": ["bnxt_en"]}]}]})");
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->warnings, ElementsAre(HasSubstr("accelerators")));
  ASSERT_EQ(parsed->specs.size(), 1U);
  EXPECT_EQ(parsed->specs[0].name, "broadcom.com/brcm_sriov_bnxt");
  EXPECT_THAT(Pooled(documented_machine(), parsed->specs).members(), ElementsAre("0000:18:00.0"));
}

TEST(SriovDocumentation, scalable_functions_of_a_bluefield_by_number) {
  const std::string aux = R"(, "resourcePrefix": "nvidia.com", "deviceType": "auxNetDevice")";
  EXPECT_THAT(taken(R"([{"vendors": ["15b3"], "devices": ["a2d6"], "pfNames": ["p0#1-5"],
                         "auxTypes": ["sf"]}])",
                    aux),
              ElementsAre("mlx5_core.sf.2", "mlx5_core.sf.3", "mlx5_core.sf.4", "mlx5_core.sf.5",
                          "mlx5_core.sf.6"));
  EXPECT_THAT(taken(R"([{"vendors": ["15b3"], "devices": ["101e"], "auxTypes": ["sf"]}])", aux),
              IsEmpty());
}

TEST(SriovDocumentation, ranges_that_differ_from_node_to_node) {
  const std::string first = R"({"pfNames": ["ens785f0#0-4", "ens785f1#0-9"], "IsRdma": false,
                                "NeedVhostNet": false})";
  const auto members = taken(first);
  EXPECT_THAT(members, SizeIs(15));
  EXPECT_EQ(members.front(), "0000:14:01.0");
  EXPECT_EQ(members.at(4), "0000:14:01.4");
  EXPECT_EQ(members.at(5), "0000:15:01.0");
  EXPECT_EQ(members.back(), "0000:15:02.1");
}

TEST(SriovDocumentation, numbers_and_ranges_together) {
  EXPECT_THAT(taken(R"({"pfNames": ["ens785f0#0,2-7,9"]})"), SizeIs(8));
  EXPECT_THAT(
      taken(R"({"pfNames": ["ens785f0#0-3,8"]})"),
      ElementsAre("0000:14:01.0", "0000:14:01.1", "0000:14:01.2", "0000:14:01.3", "0000:14:02.0"));
  EXPECT_THAT(taken(R"({"rootDevices": ["0000:15:00.0#0-1,3,4"]})"),
              ElementsAre("0000:15:01.0", "0000:15:01.1", "0000:15:01.3", "0000:15:01.4"));
}

TEST(SriovDocumentation, the_first_selector_that_holds_decides_what_a_device_gets) {
  const auto needs_vhost = [](const std::string& selectors) {
    const Pooled pooled(documented_machine(), sriov(selectors));
    std::map<std::string, bool> needs;
    for (const auto& member : pooled.table.pools.at(0).members) {
      needs[pooled.table.functions[member.function].id] =
          pooled.table.pools[0].spec.include.at(member.selector).vhost_net;
    }
    return needs;
  };
  const auto narrow = needs_vhost(
      R"([{"vendors": ["8086"], "devices": ["154c"]}, {"vendors": ["8086"], "needVhostNet": true}])");
  EXPECT_FALSE(narrow.at("0000:11:01.0"));
  EXPECT_TRUE(narrow.at("0000:13:01.0"));
  const auto wide = needs_vhost(
      R"([{"vendors": ["8086"], "needVhostNet": true}, {"vendors": ["8086"], "devices": ["154c"]}])");
  EXPECT_TRUE(wide.at("0000:11:01.0"));
}

TEST(SriovDocumentation, devices_of_all_vendors_for_dpdk_in_one_resource) {
  EXPECT_THAT(taken(R"([{"vendors": ["15b3"], "devices": ["1016"], "drivers": ["mlx5_core"],
                         "isRdma": true},
                        {"vendors": ["15b3"], "devices": ["1018"], "drivers": ["mlx5_core"],
                         "isRdma": true},
                        {"vendors": ["8086"], "devices": ["154c"], "drivers": ["vfio-pci"]}])",
                    R"(, "resourcePrefix": "dpdk.org")"),
              SizeIs(24));
}

TEST(SriovDocumentation, functions_of_a_virtual_machine_by_address) {
  EXPECT_THAT(taken(R"([{"drivers": ["vfio-pci"],
                         "pciAddresses": ["0000:12:01.0", "0000:11:01.3", "0000:00:07.0"]}])"),
              ElementsAre("0000:11:01.3", "0000:12:01.0"));
}

TEST(SriovDocumentation, information_for_all_devices_and_for_one) {
  const auto spec = specs_of(sriov(kIntelKernel, R"(, "additionalInfo": {
      "*": {"token": "original"}, "0000:11:01.0": {"token": "specific", "more": "x"}})"))
                        .at(0);
  EXPECT_EQ(spec.additional_info.at("*").at("token"), "original");
  EXPECT_EQ(spec.additional_info.at("0000:11:01.0").at("token"), "specific");
}

TEST(SriovDocumentation, pkeys_are_compared_with_the_four_digits_that_sysfs_prints) {
  auto node = documented_machine();
  for (auto& nic : node.nics) {
    if (nic.netdevs == Texts{"ib3"}) nic.ports.at(0).pkeys = {0x8050};
  }
  const auto with = [&](const std::string& keys) {
    return Pooled(node, sriov(R"({"linkTypes": ["infiniband"], "pKeys": )" + keys + "}")).members();
  };
  EXPECT_THAT(with(R"(["0x1", "0xABCD", "0x8050"])"), ElementsAre("0000:1b:00.0"));
  EXPECT_THAT(with(R"(["0x1", "0xABCD", "0x50"])"), IsEmpty());
}

TEST(SriovDocumentation, a_comma_too_many_is_an_error_as_it_is_there) {
  EXPECT_THAT(error_of(R"({"resourceList": [{"resourceName": "a",
      "selectors": [{"pciAddresses": ["0000:00:09.0"],}],}]})"),
              HasSubstr("line 2 column 55: not JSON: a comma before the end of a list"));
}

/// The forms of docs/dpdk/configMap-virt.yaml and docs/vdpa/configMap.yaml, which encoding/json
/// refuses, too.
TEST(SriovDocumentation, two_of_its_config_maps_are_none_and_we_say_where) {
  const std::string head =
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: sriovdp-config\ndata:\n"
      "  config.json: |\n    {\n";
  EXPECT_EQ(error_of(head + "      \"resourceList\": [{\n        \"selectors\": [{\n"
                            "          \"pciAddresses\": [\"0000:00:09.0\"],\n        }]\n"
                            "      }]\n    }\n"),
            "file: line 11 column 9: not JSON: a comma before the end of a list or an object");
  EXPECT_EQ(error_of(head + "        \"resourceList\": [{\n            {\n"
                            "                \"resourceName\": \"a\"\n            }\n"
                            "        ]\n    }\n"),
            "file: line 9 column 13: not JSON: unexpected '{'; expected string literal");
}

}  // namespace
}  // namespace railhead::test
