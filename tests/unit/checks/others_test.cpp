// SPDX-License-Identifier: Apache-2.0
//
// Faults that a DGX cannot have: RoCE, virtual functions, virtual machines, drivers in containers.
#include <gmock/gmock.h>

#include "unit/checks/patients.h"
#include "unit/devlink_builder.h"
#include "unit/link_builder.h"

namespace railhead::test {
namespace {

using checks::State;
using testing::HasSubstr;

checks::Finding of(const Patient& patient, std::string_view id, std::string_view subject) {
  return finding_of(patient.examine(), id, subject);
}

/// Every finding of a check, with its state.
std::vector<std::string> all_of(const Patient& patient, std::string_view id) {
  std::vector<std::string> lines;
  for (const auto& finding : patient.examine()) {
    if (finding.id == id)
      lines.push_back(std::string(to_string(finding.state)) + " " + finding.subject);
  }
  return lines;
}

std::string port_folder(const Patient& patient) {
  const auto paths = patient.paths("infiniband/mlx5_0/ports/1/state");
  EXPECT_EQ(paths.size(), 1U);
  return paths.at(0).substr(0, paths.at(0).size() - 5);
}

std::string netdev_folder(const Patient& patient, const std::string& netdev) {
  constexpr std::string_view kFile = "operstate";
  const auto paths = patient.paths("net/" + netdev + "/" + std::string(kFile));
  EXPECT_EQ(paths.size(), 1U);
  return paths.at(0).substr(0, paths.at(0).size() - kFile.size());
}

TEST(DoctorOnRoce, finds_nothing_on_a_healthy_machine) {
  EXPECT_THAT(complaints(roce().examine()), testing::IsEmpty());
}

TEST(DoctorOnRoce, a_port_needs_a_gid_of_version_2) {
  auto patient = roce();
  const auto folder = port_folder(patient);
  for (const auto& path : patient.paths("")) {
    if (path.starts_with(folder + "gid_attrs/types/")) patient.text(path, "IB/RoCE v1");
  }
  const auto finding = of(patient, "roce.gid", "mlx5_0/1");
  EXPECT_EQ(finding.state, State::fail);
  EXPECT_THAT(finding.remedy, HasSubstr("set the mode to 2"));
}

/// The table of mlx5_0/1: values and versions from index 0.
Patient with_gids(const std::vector<std::pair<std::string, std::string>>& gids) {
  auto patient = roce();
  const auto folder = port_folder(patient);
  for (const auto& path : patient.paths("")) {
    if (path.starts_with(folder + "gid")) patient.drop(path);
  }
  for (std::size_t index = 0; index < gids.size(); ++index) {
    const auto name = std::to_string(index);
    patient.text(folder + "gids/" + name, gids[index].first);
    patient.text(folder + "gid_attrs/types/" + name, gids[index].second);
    patient.text(folder + "gid_attrs/ndevs/" + name, kRoceNetdev);
  }
  return patient;
}

constexpr const char* kLocalGid = "fe80:0000:0000:0000:a288:c2ff:fe7e:0da5";
constexpr const char* kGidOfIpv6 = "2001:0db8:0000:0000:0000:0000:0000:0001";
constexpr const char* kGidOfIpv4 = "0000:0000:0000:0000:0000:ffff:c000:0201";

TEST(DoctorOnRoce, nccl_has_to_take_a_gid_that_will_do) {
  const auto state = [](const std::vector<std::pair<std::string, std::string>>& gids) {
    return of(with_gids(gids), "roce.gid", "mlx5_0/1").state;
  };
  const std::pair<std::string, std::string> local_v1 = {kLocalGid, "IB/RoCE v1"};
  const std::pair<std::string, std::string> local_v2 = {kLocalGid, "RoCE v2"};
  const std::pair<std::string, std::string> v6_v1 = {kGidOfIpv6, "IB/RoCE v1"};
  const std::pair<std::string, std::string> v6_v2 = {kGidOfIpv6, "RoCE v2"};
  const std::pair<std::string, std::string> v4_v1 = {kGidOfIpv4, "IB/RoCE v1"};
  const std::pair<std::string, std::string> v4_v2 = {kGidOfIpv4, "RoCE v2"};
  EXPECT_EQ(state({local_v1, local_v2, v4_v1, v4_v2}), State::pass);
  EXPECT_EQ(state({local_v1, local_v2, v6_v1, v6_v2, v4_v1, v4_v2}), State::pass);
  EXPECT_EQ(state({local_v1, local_v2, v6_v1, v6_v2}), State::warn);
  EXPECT_EQ(state({local_v1, local_v2, v6_v2, v4_v1}), State::warn);  // it takes version 1
  EXPECT_EQ(state({v6_v2}), State::pass);                             // index 0
  EXPECT_EQ(state({local_v1, local_v2}), State::warn);
  const auto finding = of(with_gids({local_v1, local_v2, v6_v1, v6_v2}), "roce.gid", "mlx5_0/1");
  EXPECT_THAT(finding.remedy, HasSubstr("NCCL_IB_ADDR_FAMILY=AF_INET6"));
}

TEST(DoctorOnRoce, a_port_whose_netdev_is_away_is_not_judged) {
  auto patient = roce();
  const auto folder = port_folder(patient);
  for (const auto& path : patient.paths("")) {
    if (path.starts_with(folder + "gid")) patient.drop(path);
  }
  EXPECT_EQ(of(patient, "roce.gid", "mlx5_0/1").state, State::fail);
  patient.unplug(kRoceNetdev);
  EXPECT_EQ(of(patient, "roce.gid", "mlx5_0/1").state, State::unknown);
}

TEST(DoctorOnRoce, a_link_local_gid_is_a_warning) {
  auto patient = roce();
  const auto folder = port_folder(patient);
  for (const auto& path : patient.paths("")) {
    if (!path.starts_with(folder + "gids/")) continue;
    const auto index = path.substr(folder.size() + 5);
    if (index != "0" && index != "1") {
      patient.text(path, "0000:0000:0000:0000:0000:0000:0000:0000");
    }
  }
  EXPECT_EQ(of(patient, "roce.gid", "mlx5_0/1").state, State::warn);
}

TEST(DoctorOnRoce, an_mtu_of_1500_is_a_warning) {
  auto patient = roce();
  patient.set("/net/" + std::string(kRoceNetdev) + "/mtu", "1500");
  const auto finding = of(patient, "roce.mtu", "mlx5_0/1/" + std::string(kRoceNetdev));
  EXPECT_EQ(finding.state, State::warn);
  EXPECT_EQ(finding.observed, "MTU 1500: path MTU 1024");
  patient.set("/net/" + std::string(kRoceNetdev) + "/mtu", "4192");
  EXPECT_EQ(of(patient, "roce.mtu", "mlx5_0/1/" + std::string(kRoceNetdev)).state, State::pass);
}

TEST(DoctorOnRoce, congestion_control_is_seen_where_ofed_shows_it) {
  auto patient = roce();
  EXPECT_THAT(all_of(patient, "roce.ecn"), testing::ElementsAre("SKIP node"));
  const auto netdev = patient.paths("/net/" + std::string(kRoceNetdev) + "/mtu").at(0);
  const auto folder = netdev.substr(0, netdev.size() - 3) + "ecn/";
  for (const auto* side : {"roce_np", "roce_rp"}) {
    for (int priority = 0; priority < 8; ++priority) {
      patient.text(folder + side + "/enable/" + std::to_string(priority),
                   priority == 3 ? "1" : "0");
    }
  }
  EXPECT_EQ(of(patient, "roce.ecn", "mlx5_0/1").observed, "on for priority 3");
  patient.text(folder + "roce_rp/enable/3", "0");
  EXPECT_EQ(of(patient, "roce.ecn", "mlx5_0/1").state, State::warn);
}

TEST(DoctorOnRoce, flow_control_that_fits_is_told_in_one_line) {
  auto patient = roce();
  EXPECT_THAT(all_of(patient, "roce.flow-control"), testing::ElementsAre("SKIP node"));
  patient.dcb(kRoceNetdev, flow_answer(0x08, {{24, 3}, {25, 3}, {26, 3}, {48, 6}}));
  const auto finding = of(patient, "roce.flow-control", "mlx5_0/1/" + std::string(kRoceNetdev));
  EXPECT_EQ(finding.state, State::pass);
  EXPECT_EQ(finding.observed, "PFC 3, DSCP 24-26>3 48>6");
  EXPECT_THAT(all_of(patient, "roce.traffic-class"), testing::ElementsAre("SKIP node"));
  const auto ports = port_folder(patient);
  patient.text(ports.substr(0, ports.find("ports/")) + "tc/1/traffic_class", "Global tclass=104");
  EXPECT_EQ(of(patient, "roce.traffic-class", "mlx5_0/1/" + std::string(kRoceNetdev)).observed,
            "traffic class 104: DSCP 26, priority 3, which pauses");
}

TEST(DoctorOnRoce, no_flow_control_at_all_is_a_policy) {
  auto patient = roce();
  patient.dcb(kRoceNetdev, flow_answer(0, {}));
  EXPECT_THAT(all_of(patient, "roce.flow-control"), testing::Each(testing::StartsWith("PASS")));
}

TEST(DoctorOnRoce, flow_control_that_may_not_be_asked_for_is_unknown) {
  auto patient = roce();
  patient.unreadable("/.netlink/dcb/" + std::string(kRoceNetdev) + "/0000", "EPERM");
  EXPECT_THAT(all_of(patient, "roce.flow-control"),
              testing::ElementsAre("UNKNOWN mlx5_0/1/" + std::string(kRoceNetdev)));
}

TEST(DoctorOnRoce, rails_in_one_subnet_answer_for_themselves) {
  auto patient = rails_in_one_subnet();
  EXPECT_THAT(all_of(patient, "roce.arp"),
              testing::ElementsAre("WARN enp26s0np0", "WARN enp60s0np0"));
  patient.text("/proc/sys/net/ipv4/conf/all/arp_ignore", "1");
  patient.text("/proc/sys/net/ipv4/conf/all/arp_announce", "2");
  EXPECT_THAT(all_of(patient, "roce.arp"),
              testing::ElementsAre("PASS enp26s0np0", "PASS enp60s0np0"));
}

TEST(DoctorOnRoce, a_module_for_management_is_a_warning_only) {
  auto patient = roce();
  if (!patient.paths("/umad0").empty()) GTEST_SKIP() << "this machine has umad nodes";
  patient.replace("/proc/modules", "ib_umad ", "something_else ").drop("/sys/module/ib_umad");
  EXPECT_EQ(of(patient, "drv.modules", "ib_umad").state, State::warn);
}

TEST(DoctorOnRoce, a_compute_nic_with_the_default_route_is_a_warning) {
  auto patient = roce();
  EXPECT_THAT(all_of(patient, "net.management-nic"), testing::Each(testing::StartsWith("PASS")));
  patient.bytes("/proc/1/net/route",
                "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
                "enp60s0np0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n");
  EXPECT_THAT(all_of(patient, "net.management-nic"), testing::ElementsAre("WARN mlx5_3"));
}

TEST(DoctorOnRoce, a_nic_of_another_link_layer_is_a_warning) {
  auto patient = healthy();
  patient.set("infiniband/mlx5_3/ports/1/link_layer", "Ethernet");
  const auto finding = of(patient, "link.layer", "mlx5_3");
  EXPECT_EQ(finding.state, State::warn);
  EXPECT_EQ(finding.observed, "Ethernet");
}

std::vector<std::string> sriov_lines(const Patient& patient) {
  std::vector<std::string> lines;
  for (const auto* id : {"sriov.vf-count", "sriov.vf-driver", "sriov.vf-rdma"}) {
    for (const auto& line : all_of(patient, id)) {
      if (!line.starts_with("PASS")) lines.push_back(std::string(id) + " " + line);
    }
  }
  return lines;
}

TEST(DoctorOnVfs, finds_nothing_where_all_are_there) {
  EXPECT_THAT(sriov_lines(with_vfs()), testing::IsEmpty());
  EXPECT_EQ(all_of(with_vfs(), "sriov.vf-rdma").size(), 2U);
}

TEST(DoctorOnVfs, one_that_is_missing_is_a_failure) {
  auto patient = with_vfs();
  patient.text(
      "/sys/devices/pci0000:3d/0000:3d:01.0/0000:3e:00.0/0000:3f:00.0/0000:40:00.0/"
      "sriov_numvfs",
      "3");
  EXPECT_THAT(sriov_lines(patient), testing::ElementsAre("sriov.vf-count FAIL 0000:40:00.0"));
}

TEST(DoctorOnVfs, one_without_a_driver_is_a_warning) {
  auto patient = with_vfs();
  patient.unplug("mlx5_21");
  patient.drop(std::string(kVf2) + "/driver");
  patient.bytes(std::string(kVf2) + "/uevent", "PCI_CLASS=20700\nPCI_ID=15B3:101E\n");
  EXPECT_THAT(sriov_lines(patient), testing::ElementsAre("sriov.vf-driver WARN 0000:40:00.2"));
}

TEST(DoctorOnVfs, one_without_an_rdma_device_is_a_failure) {
  auto patient = with_vfs();
  patient.unplug("mlx5_21");
  EXPECT_THAT(sriov_lines(patient), testing::ElementsAre("sriov.vf-rdma FAIL 0000:40:00.2"));
  patient.text("/sys/module/ib_core/parameters/netns_mode", "N").unplug("uverbs21");
  EXPECT_THAT(sriov_lines(patient), testing::ElementsAre("sriov.vf-rdma UNKNOWN 0000:40:00.2"));
}

/// The netdev of the PF that with_vfs() has.
constexpr const char* kPfNetdev = "ibp64s0";

TEST(DoctorOnVfs, what_the_kernel_says_of_them_is_judged) {
  auto patient = with_vfs();
  const auto state = [&](const VfAnswer& answer) {
    patient.vfs(kPfNetdev, vf_answer(answer));
    return of(patient, "sriov.vf-settings", "ibp64s0/vf0");
  };
  EXPECT_EQ(state({.number = 0, .link = 0, .trust = 1, .node_guid = 7}).observed,
            "link follows the port, node GUID set, port GUID set, trusted");
  EXPECT_EQ(state({.number = 0, .link = 2, .node_guid = 7}).state, State::warn);
  EXPECT_EQ(state({.number = 0, .link = 0, .node_guid = 0}).state, State::warn);
  EXPECT_EQ(state({.number = 0, .link = 1}).state, State::pass);
  patient.unreadable("/.netlink/vfs/ibp64s0/0000", "EPERM");
  EXPECT_EQ(of(patient, "sriov.vf-settings", kPfNetdev).state, State::unknown);
}

/// Sixteen VFs of an InfiniBand port do not fit into one answer of the kernel.
/// Source: k8snetworkplumbingwg/sriov-network-operator PR#1026.
TEST(DoctorOnVfs, too_many_for_one_answer_are_not_called_none) {
  auto patient = with_vfs();
  patient.unreadable("/.netlink/vfs/ibp64s0/0000", "EMSGSIZE");
  const auto finding = of(patient, "sriov.vf-settings", kPfNetdev);
  EXPECT_EQ(finding.state, State::unknown);
  EXPECT_THAT(finding.reason, HasSubstr("EMSGSIZE"));
  ASSERT_EQ(finding.evidence.size(), 1U);
  EXPECT_EQ(finding.evidence[0].error, "EMSGSIZE");
}

/// A pod has the function, so nobody will give it a GUID any more.
TEST(DoctorOnVfs, a_zero_guid_in_a_pod_is_a_failure) {
  auto patient = with_vfs();
  patient.text("/sys/module/ib_core/parameters/netns_mode", "N").unplug("mlx5_20");
  patient.vfs(kPfNetdev, vf_answer({.number = 0, .link = 0, .node_guid = 0}));
  EXPECT_EQ(of(patient, "sriov.vf-settings", "ibp64s0/vf0").state, State::fail);
}

TEST(DoctorOnVms, nccl_is_to_be_told_of_switches_that_are_hidden) {
  const auto known = healthy("azure-nd-h100-v5");
  EXPECT_EQ(of(known, "topo.vm-file", "node").observed,
            "railhead gives containers the file of Azure ND H100 v5");
  auto patient = healthy("h200-flat-kvm");
  EXPECT_EQ(of(patient, "topo.vm-file", "node").state, State::warn);
  patient.text("/etc/nccl.conf", "NCCL_TOPO_FILE=/opt/ndv5-topo.xml");
  patient.text("/opt/ndv5-topo.xml", "<system version=\"1\"/>");
  EXPECT_EQ(of(patient, "topo.vm-file", "node").state, State::pass);
}

/// Of a size with one GPU the other three are another customer's.
TEST(DoctorOnVms, a_smaller_size_lacks_nothing) {
  const auto with = [](unsigned gpus) {
    Patient patient("railhead-snapshot 1\n");
    patient.text("/proc/cpuinfo",
                 "processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: hypervisor\n");
    patient.text("/sys/class/dmi/id/sys_vendor", "Microsoft Corporation");
    patient.text("/sys/class/dmi/id/product_name", "Virtual Machine");
    patient.text("/sys/class/dmi/id/chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77");
    for (unsigned n = 1; n <= gpus; ++n) {
      const auto address = "000" + std::to_string(n) + ":00:00.0";
      const auto folder = "/sys/devices/pci000" + std::to_string(n) + ":00/" + address;
      patient.bytes(folder + "/uevent", "DRIVER=nvidia\nPCI_CLASS=30200\nPCI_ID=10DE:20B5\n");
      patient.link("/sys/bus/pci/devices/" + address, "../../../" + folder.substr(5));
    }
    return of(patient, "gpu.present", "node").state;
  };
  EXPECT_EQ(with(1), State::pass);
  EXPECT_EQ(with(2), State::pass);
  EXPECT_EQ(with(3), State::fail);
  EXPECT_EQ(with(4), State::pass);
}

/// "Expected 8 of 400, found 7": the function that is missing is named.
TEST(DoctorOnVms, a_nic_that_is_lost_is_named_with_what_is_expected) {
  const auto finding =
      of(Patient::of("azure-nd-h100-v5-nic-lost"), "pci.nic-present", "0103:00:00.0");
  EXPECT_EQ(finding.state, State::fail);
  EXPECT_EQ(finding.expected, "one of the 8 compute NICs of 400 Gbit/s of Azure ND H100 v5");
}

TEST(DoctorOnVms, a_gpu_that_fell_off_the_bus_is_a_failure) {
  auto patient = healthy("azure-nd-h100-v5");
  patient.unplug("0003:00:00.0");
  EXPECT_EQ(of(patient, "gpu.present", "node").observed, "7 GPUs");
}

TEST(DoctorOnDrivers, a_container_that_is_not_ready_is_a_warning) {
  auto patient = healthy();
  EXPECT_THAT(all_of(patient, "drv.container"), testing::ElementsAre("SKIP node"));
  patient.name("/run/mellanox/drivers/usr");
  EXPECT_EQ(of(patient, "drv.container", "node").state, State::warn);
  patient.name("/run/mellanox/drivers/.driver-ready");
  EXPECT_EQ(of(patient, "drv.container", "node").state, State::pass);
}

TEST(DoctorOnDrivers, storage_is_judged_by_what_cufile_may_do_without) {
  auto patient = healthy();
  EXPECT_THAT(all_of(patient, "gdr.storage"), testing::ElementsAre("SKIP node"));
  for (const auto* said : {"\"allow_compat_mode\": true", "// \"allow_compat_mode\": false",
                           "\"allow_compat_mode\": false,\n\"use_pci_p2pdma\": true",
                           "\"allow_compat_mode\"", "\"allow_compat_mode\": 0"}) {
    patient.text("/etc/cufile.json", said);
    EXPECT_THAT(all_of(patient, "gdr.storage"), testing::ElementsAre("SKIP node")) << said;
  }
  patient.replace("/proc/modules", "nvidia ", "nvidia_fs 32768 0 - Live 0x0\nnvidia ");
  patient.text("/proc/driver/nvidia-fs/version", "version: 2.24");
  patient.text("/proc/driver/nvidia-fs/modules", "nvme: 1.0\nrpcrdma: 24.10");
  EXPECT_EQ(of(patient, "gdr.storage", "node").observed, "nvidia_fs, which serves nvme, rpcrdma");
}

TEST(DoctorOnDrivers, gdrcopy_and_ibgda_are_told_where_they_are_set_up) {
  auto patient = healthy();
  EXPECT_THAT(all_of(patient, "gdr.gdrcopy"), testing::ElementsAre("SKIP node"));
  EXPECT_THAT(all_of(patient, "gpu.driver-owner"), testing::ElementsAre("SKIP node"));
  patient.replace("/proc/modules", "nvidia ", "gdrdrv 32768 0 - Live 0x0\nnvidia ");
  patient.text("/sys/module/gdrdrv/version", "2.4.1").text("/proc/devices", "240 gdrdrv");
  patient.device("/dev/gdrdrv", {'c', 240, 0, 0666, 0, 0});
  EXPECT_EQ(of(patient, "gdr.gdrcopy", "node").observed, "gdrdrv 2.4.1");
  patient.text("/proc/driver/nvidia/params",
               "EnableStreamMemOPs: 1\nRegistryDwords: \"PeerMappingOverride=1;\"");
  EXPECT_EQ(of(patient, "gdr.ibgda", "node").state, State::pass);
  patient.link("/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
               "libnvidia-ml.so.550.54.15");
  EXPECT_EQ(of(patient, "gpu.driver-owner", "node").observed, "550.54.15 in a container");
}

TEST(DoctorOnDrivers, says_whose_driver_it_is) {
  auto patient = healthy();
  EXPECT_THAT(of(patient, "drv.stack", "node").observed, HasSubstr("the kernel's own"));
  patient.text("/sys/module/mlx5_core/version", "24.10-1.1.4");
  EXPECT_THAT(of(patient, "drv.stack", "node").observed, HasSubstr("24.10-1.1.4"));
}

TEST(DoctorOnDrivers, a_gpu_without_a_driver_is_a_warning) {
  auto patient = healthy();
  patient.unbind("0000:df:00.0");
  EXPECT_EQ(of(patient, "gpu.driver", "0000:df:00.0").state, State::warn);
}

TEST(DoctorOnDrivers, an_efa_wants_huge_pages) {
  auto patient = healthy("aws-p5");
  patient.text("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0");
  EXPECT_EQ(of(patient, "host.hugepages", "node").state, State::warn);
  patient.text("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "5128");
  EXPECT_EQ(of(patient, "host.hugepages", "node").state, State::pass);
}

TEST(DoctorOnDrivers, a_container_sees_nodes_of_its_own_only) {
  for (const auto& finding : Patient::of("dgx-h100-from-a-pod").examine()) {
    EXPECT_NE(finding.state, State::fail) << finding.id << " " << finding.subject;
  }
}

TEST(DoctorOnDrivers, the_agent_raises_the_memory_lock) {
  auto patient = healthy();
  patient.text("/proc/811/limits", "Max locked memory         65536                65536 bytes");
  patient.text("/proc/900/comm", "railhead");
  EXPECT_EQ(of(patient, "runtime.memlock", "containerd").state, State::pass);
}

TEST(DoctorOnDrivers, cri_o_has_a_key_of_its_own) {
  auto patient = healthy();
  patient.text("/proc/811/comm", "crio").drop("/run/nri").name("/run/x");
  patient.text("/etc/crio/crio.conf", "[crio.nri]\nenable_nri = true");
  EXPECT_EQ(of(patient, "runtime.nri", "crio").state, State::warn);
  patient.text("/etc/crio/crio.conf.d/99-off.conf", "[crio.nri]\nenable_nri = false");
  EXPECT_EQ(of(patient, "runtime.nri", "crio").state, State::fail);
}

TEST(DoctorOnDrivers, the_file_that_containerd_was_started_with_counts) {
  auto patient = healthy();
  patient.drop("/run/nri").name("/run/x");
  patient.bytes("/proc/811/cmdline", std::string("containerd\0-c\0/opt/c.toml\0", 26));
  patient.text("/opt/c.toml",
               "version = 2\n[plugins.'io.containerd.nri.v1.nri']\ndisable = false\n"
               "socket_path = '/opt/nri.sock'");
  EXPECT_EQ(of(patient, "runtime.nri", "containerd").state, State::warn);
  patient.name("/opt/nri.sock");
  EXPECT_EQ(of(patient, "runtime.nri", "containerd").state, State::pass);
}

TEST(DoctorOnDrivers, a_file_without_a_version_has_nri_s_short_name) {
  auto patient = healthy();
  patient.bytes("/proc/811/cmdline", std::string("containerd\0-c\0/opt/c.toml\0", 26));
  patient.text("/opt/c.toml", "[plugins.nri]\ndisable = true");
  EXPECT_EQ(of(patient, "runtime.nri", "containerd").state, State::pass)
      << "containerd 2 has it on, and the socket is there";
  patient.drop("/run/nri").name("/run/x");
  EXPECT_EQ(of(patient, "runtime.nri", "containerd").state, State::fail);
  patient.text("/opt/c.toml", "version = 2\n[plugins.nri]\ndisable = true");
  EXPECT_EQ(of(patient, "runtime.nri", "containerd").state, State::unknown)
      << "containerd 1.7 does not start with it, 2.0 passes over it";
  patient.text("/opt/c.toml", "version = 2\ndisabled_plugins = ['io.containerd.nri.v1.nri']");
  EXPECT_EQ(of(patient, "runtime.nri", "containerd").state, State::fail);
  patient.text("/opt/c.toml", "version = 2\nimports = ['gone.toml']");
  EXPECT_EQ(of(patient, "runtime.nri", "containerd").state, State::warn);
}

TEST(DoctorOnDrivers, an_agent_without_nri_does_not_ask_for_it) {
  auto patient = healthy();
  patient.drop("/etc/containerd/conf.d").drop("/run/nri");
  checks::Wishes wishes;
  wishes.nri = false;
  EXPECT_EQ(finding_of(patient.examine(wishes), "runtime.nri", "node").state, State::skip);
}

TEST(DoctorOnNames, only_a_selected_netdev_that_the_kernel_counts_is_a_warning) {
  auto patient = healthy();
  const auto name = [&](const std::string& netdev, const std::string& kind) {
    patient.text(netdev_folder(patient, netdev) + "name_assign_type", kind);
  };
  const auto said_with = [&](std::vector<std::string> patterns) {
    checks::Wishes wishes;
    wishes.netdevs = {{"rdma/ib", "ifNames", std::move(patterns)}};
    std::vector<std::string> said;
    for (const auto& finding : patient.examine(wishes)) {
      if (finding.id == "net.stable-names") {
        said.push_back(std::string(to_string(finding.state)) + " " + finding.subject);
      }
    }
    return said;
  };
  EXPECT_THAT(said_with({}), testing::ElementsAre("SKIP node"));
  EXPECT_THAT(said_with({"nothing*"}), testing::ElementsAre("SKIP node"));
  EXPECT_THAT(said_with({"eno3"}), testing::ElementsAre("UNKNOWN eno3"))
      << "the kernel says nothing";
  name("eno3", "1");
  EXPECT_THAT(said_with({"eno3"}), testing::ElementsAre("WARN eno3"));
  name("eno3", "4");
  EXPECT_THAT(said_with({"eno3"}), testing::ElementsAre("PASS eno3")) << "udev named it";
  name("eno3", "2");
  EXPECT_THAT(said_with({"eno3"}), testing::ElementsAre("PASS eno3"))
      << "the driver knows its place";
  name("eno3", "1");
  for (const auto& one : said_with({"eno*"})) EXPECT_TRUE(one.starts_with("PASS eno")) << one;
}

TEST(DoctorOnRoce, a_switch_whose_frames_are_smaller_than_the_mtu_is_a_warning) {
  auto patient = roce();
  EXPECT_THAT(all_of(patient, "roce.switch-port"), testing::ElementsAre("SKIP node"));
  patient.text(netdev_folder(patient, kRoceNetdev) + "ifindex", "7");
  const auto said_with = [&](const std::string& said) {
    patient.bytes("/run/systemd/netif/lldp/7", said);
    return of(patient, "roce.switch-port", kRoceNetdev);
  };
  EXPECT_EQ(said_with("port=Ethernet1/7 vlan=100 frame=9216\n").state, State::pass);
  EXPECT_EQ(said_with("port=Ethernet1/7 vlan=100 frame=9216\n").observed,
            "Ethernet1/7, VLAN 100, frames of 9216");
  EXPECT_EQ(said_with("frame=1518\n").state, State::warn);
  EXPECT_EQ(said_with("vlan=100\n").state, State::pass) << "how large is not said";
  patient.unreadable("/run/systemd/netif/lldp/7", "EACCES");
  EXPECT_EQ(of(patient, "roce.switch-port", kRoceNetdev).state, State::unknown);
}

TEST(DoctorOnFirmware, what_is_set_for_the_next_start_is_held_against_now) {
  const auto said_with = [&](const std::string& parameters) {
    auto patient = healthy();
    patient.text("/.netlink/devlink/pci.0000:18:00.0/0000",
                 snapshot::hex_of_bytes(devlink_message(parameters)));
    return of(patient, "sriov.firmware", "mlx5_0");
  };
  const auto permanent = [](const std::string& name, unsigned type, const std::string& data) {
    return attribute(80, text_attribute(81, name) + u8(83, type) +
                             attribute(84, attribute(85, data + u8(87, 2))));
  };
  const auto on = permanent("enable_sriov", 6, attribute(86, ""));
  EXPECT_EQ(said_with(permanent("enable_sriov", 6, "")).state, State::warn);
  EXPECT_EQ(said_with(on).state, State::pass) << "how many is not said";
  EXPECT_EQ(said_with(on + permanent("total_vfs", 3, u32(86, 16))).state, State::pass);
  EXPECT_EQ(said_with(on + permanent("total_vfs", 3, u32(86, 8))).state, State::warn);
}

TEST(DoctorOnDrivers, an_expected_rate_is_held_against_the_port) {
  checks::Wishes wishes;
  affinity::Expectation rate;
  rate.kind = affinity::Expectation::Kind::rate;
  rate.gbps = 800;
  rate.where = "config.yaml:7:5";
  wishes.rules.expect = {rate};
  const auto finding = finding_of(healthy().examine(wishes), "link.rate", "mlx5_0/1");
  EXPECT_EQ(finding.state, State::fail);
  EXPECT_EQ(finding.expected, "800 Gbit/s (config.yaml:7:5)");
}

}  // namespace
}  // namespace railhead::test
