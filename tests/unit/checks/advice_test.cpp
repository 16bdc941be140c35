// SPDX-License-Identifier: Apache-2.0
//
// Published instructions have errors (E01 to E19 of our notes; E20 to E26 are rules of lint). Our
// advice is the corrected one.
#include <set>

#include <gmock/gmock.h>

#include "unit/checks/patient.h"

namespace railhead::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string remedy(std::string_view id) {
  const auto* check = checks::find_check(id);
  EXPECT_NE(check, nullptr) << id;
  return check != nullptr ? std::string(check->remedy) : "";
}

/// All that a check says of itself.
std::string words(std::string_view id) {
  const auto* check = checks::find_check(id);
  EXPECT_NE(check, nullptr) << id;
  if (check == nullptr) return "";
  std::string text;
  for (const auto part : {check->what, check->source, check->rule, check->effect, check->remedy}) {
    text.append(part).append("\n");
  }
  return text;
}

std::string remedy_by(void (*make)(Patient&), std::string_view id, std::string_view subject) {
  auto patient = healthy();
  make(patient);
  return finding_of(patient.examine(), id, subject).remedy;
}

constexpr const char* kConfig3 =
    "/sys/devices/pci0000:3d/0000:3d:01.0/0000:3e:00.0/0000:3f:00.0/0000:40:00.0/config";

TEST(Advice, e01_relaxed_ordering_is_a_bit_of_device_control) {
  const auto text = remedy_by([](Patient& p) { p.bytes(kConfig3, config_space(0x5920)); },
                              "pci.relaxed-ordering", "mlx5_3");
  EXPECT_THAT(text, HasSubstr("setpci -s 0000:40:00.0 CAP_EXP+8.w=0010:0010"));
  EXPECT_THAT(text, Not(HasSubstr("CAP_EXP+10.w=")));
}

/// Bit 15 of Device Control resets the function.
TEST(Advice, e01_the_size_of_reads_is_set_without_a_reset) {
  const auto text = remedy_by([](Patient& p) { p.bytes(kConfig3, config_space(0x2930)); },
                              "pci.max-read-request", "mlx5_3");
  EXPECT_THAT(text, HasSubstr("setpci -s 0000:40:00.0 CAP_EXP+8.w=5000:7000"));
}

TEST(Advice, e02_peermem_is_known_by_its_module) {
  EXPECT_THAT(words("gdr.peermem"), AllOf(HasSubstr("initstate"), Not(HasSubstr("peermem_enabled")),
                                          Not(HasSubstr("/proc/driver/nvidia-peermem"))));
}

TEST(Advice, e03_dma_buf_is_not_looked_for_among_modules) {
  auto patient = healthy();
  EXPECT_EQ(finding_of(patient.examine(), "gdr.route", "node").observed,
            "DMA-BUF, and nvidia_peermem");
  EXPECT_THAT(words("gdr.route"), Not(HasSubstr("/sys/kernel/dmabuf")));
}

TEST(Advice, e04_with_ofed_in_a_container_host_mofed_is_false) {
  EXPECT_THAT(remedy("drv.container"), HasSubstr("driver.rdma.useHostMofed=false"));
  EXPECT_THAT(words("drv.container"), HasSubstr("starts with any mlx5_core"));
}

TEST(Advice, e05_ulimit_adjuster_needs_an_annotation) {
  EXPECT_THAT(
      remedy("runtime.memlock"),
      HasSubstr("only on pods with the annotation ulimits.noderesource.dev/container.NAME"));
}

TEST(Advice, e06_numbers_of_nodes_are_those_of_the_kernel) {
  EXPECT_THAT(remedy("dev.uverbs"), HasSubstr("231:0 is umad0, uverbs0 is 231:192"));
  auto patient = healthy();
  patient.device("/dev/infiniband/uverbs0", {'c', 231, 0, 0666, 0, 0});
  const auto finding = finding_of(patient.examine(), "dev.uverbs", "mlx5_0");
  EXPECT_EQ(finding.state, checks::State::fail);
  EXPECT_EQ(finding.expected, "231:192");
}

/// udev passes over a node that the kernel has not made, so a trigger brings none back.
TEST(Advice, a_node_that_is_gone_is_made_anew_with_the_kernels_numbers) {
  const auto gone =
      remedy_by([](Patient& p) { p.drop("/dev/infiniband/uverbs3"); }, "dev.uverbs", "mlx5_3");
  EXPECT_THAT(gone, HasSubstr("mknod -m 0666 /dev/infiniband/uverbs3 c 231 195"));
  const auto stale = remedy_by(
      [](Patient& p) {
        p.device("/dev/infiniband/uverbs3", {'c', 231, 0, 0666, 0, 0});
      },
      "dev.uverbs", "mlx5_3");
  EXPECT_THAT(stale, AllOf(HasSubstr("rm /dev/infiniband/uverbs3 && "), HasSubstr("c 231 195")));
  for (const auto* id : {"dev.uverbs", "dev.rdma-cm"}) {
    EXPECT_THAT(remedy(id), Not(HasSubstr("udevadm")));
  }
}

/// A second name is a parameter of the first module.
TEST(Advice, modprobe_has_one_name) {
  const auto text =
      remedy_by([](Patient& p) { p.unplug("mlx5_3").unplug("uverbs3").unbind("0000:40:00.0"); },
                "pci.nic-driver", "0000:40:00.0");
  EXPECT_THAT(text, testing::StartsWith("modprobe mlx5_ib; "));
  for (const auto* check : checks::every_check()) {
    EXPECT_THAT(std::string(check->remedy),
                Not(testing::ContainsRegex("modprobe [a-z0-9_]+ [a-z]")))
        << check->id;
  }
}

/// Nobody reaches the cable of a virtual machine.
TEST(Advice, hardware_of_a_virtual_machine_is_its_providers) {
  auto patient = healthy("azure-nd-h100-v5");
  patient.set("0101:00:00.0/infiniband/mlx5_ib0/ports/1/rate", "200 Gb/sec (2X NDR)");
  const auto finding = finding_of(patient.examine(), "link.rate", "mlx5_ib0/1");
  EXPECT_THAT(finding.remedy, HasSubstr("cable are its provider's to mend. Drain the node"));
  EXPECT_EQ(finding.remedy_class, checks::RemedyClass::hardware);
  const auto bare =
      remedy_by([](Patient& p) { p.set("mlx5_3/ports/1/rate", "200 Gb/sec (2X NDR)"); },
                "link.rate", "mlx5_3/1");
  EXPECT_THAT(bare, Not(HasSubstr("virtual machine")));
}

/// What a machine may come without is looked for in its order first.
TEST(Advice, nics_that_are_ordered_are_not_called_broken) {
  auto patient = healthy("aws-p5");
  patient.unplug("0000:74:00.0");
  const auto finding = finding_of(patient.examine(), "pci.nic-present", "node");
  EXPECT_EQ(finding.observed, "31 compute NICs; 0000:75:00.0 has 3 of 4 below its switch");
  EXPECT_EQ(finding.expected, "32 compute NICs of AWS p5.48xlarge");
  EXPECT_THAT(finding.remedy, HasSubstr("an interface of type EFA on each of its network cards"));
  EXPECT_EQ(finding.remedy_class, checks::RemedyClass::cluster);
}

/// Of a size that has all NICs or none, one that is missing was lost.
TEST(Advice, one_nic_of_many_that_come_together_was_lost) {
  auto patient = healthy("azure-nd-h100-v5");
  patient.unplug("0103:00:00.0");
  const auto finding = finding_of(patient.examine(), "pci.nic-present", "0103:00:00.0");
  EXPECT_EQ(finding.remedy_class, checks::RemedyClass::hardware);
  EXPECT_THAT(finding.remedy, Not(HasSubstr("ordered")));
}

/// Virtual functions that a pod has are not to be taken away under it.
TEST(Advice, virtual_functions_are_made_anew_without_pods_alone) {
  EXPECT_THAT(remedy("sriov.vf-count"), testing::StartsWith("While no pod has one of its VFs"));
  EXPECT_THAT(remedy("sriov.vf-driver"),
              AllOf(HasSubstr("/sys/bus/pci/drivers_probe"), Not(HasSubstr("numvfs anew"))));
}

TEST(Advice, e07_a_missing_umad_explains_a_plugin_without_devices) {
  auto patient = healthy("hgx-h100-roce");
  EXPECT_THAT(words("drv.modules"), HasSubstr("ib_umad"));
  for (const auto& finding : patient.examine()) {
    if (finding.id == "drv.modules" && finding.subject == "ib_umad" &&
        finding.state == checks::State::warn) {
      EXPECT_THAT(finding.effect, HasSubstr("reports 0 -> pods stay Pending"));
    }
  }
}

TEST(Advice, e09_the_limit_is_that_of_the_runtime_not_of_the_kubelet) {
  auto patient = healthy();
  patient.text("/proc/812/limits", "Max locked memory         65536                65536 bytes");
  EXPECT_THAT(complaints(patient.examine()), testing::IsEmpty());
  EXPECT_THAT(remedy("runtime.memlock"), HasSubstr("not of the kubelet"));
}

TEST(Advice, d18_limits_of_pam_do_not_reach_containers) {
  auto patient = healthy();
  patient.text("/proc/811/limits", "Max locked memory         65536                65536 bytes");
  patient.text("/etc/security/limits.d/99-ib-memlock.conf", "* hard memlock unlimited");
  EXPECT_EQ(finding_of(patient.examine(), "runtime.memlock", "containerd").state,
            checks::State::fail);
  EXPECT_THAT(remedy("runtime.memlock"), HasSubstr("not in limits.d"));
}

TEST(Advice, e10_registration_fails_without_an_effective_ipc_lock) {
  EXPECT_THAT(words("runtime.memlock"),
              AllOf(HasSubstr("effective IPC_LOCK"), Not(HasSubstr("mlock()"))));
}

TEST(Advice, e11_pods_do_not_need_management_nodes) {
  EXPECT_THAT(remedy("dev.umad"), HasSubstr("do not hand umad and issm to pods"));
}

TEST(Advice, e12_the_drivers_pod_is_found_by_its_stable_label) {
  EXPECT_THAT(remedy("drv.container"),
              AllOf(HasSubstr("nvidia.com/ofed-driver"), Not(HasSubstr("app=mofed"))));
}

TEST(Advice, e13_the_variable_for_nfs_is_enable_nfsrdma) {
  EXPECT_THAT(remedy("nfs.module"), HasSubstr("ENABLE_NFSRDMA=true"));
  auto patient = healthy();  // rpcrdma is loaded, and no xprtrdma
  EXPECT_EQ(finding_of(patient.examine(), "nfs.module", "node").observed, "rpcrdma is loaded");
}

TEST(Advice, e14_dma_buf_and_peermem_are_alternatives) {
  auto patient = healthy();
  patient.replace("/proc/modules", "nvidia_peermem ", "something_else ");
  patient.drop("/sys/module/nvidia_peermem");
  EXPECT_EQ(finding_of(patient.examine(), "gdr.route", "node").observed, "DMA-BUF");
  auto other = healthy();
  other.replace("/proc/driver/nvidia/version", "Open Kernel", "Kernel");
  EXPECT_EQ(finding_of(other.examine(), "gdr.route", "node").observed, "nvidia_peermem");
  EXPECT_THAT(remedy("gdr.route"), HasSubstr("needs no OFED"));
}

TEST(Advice, e16_storage_is_no_proof_of_gpudirect) {
  EXPECT_THAT(words("nfs.transport"), HasSubstr("fio --direct=1"));
  EXPECT_THAT(words("gdr.route"), HasSubstr("not yet proved"));
}

TEST(Advice, no_module_that_no_longer_exists_is_asked_for) {
  for (const auto& finding : healthy().examine()) EXPECT_NE(finding.subject, "ib_ucm");
}

TEST(Advice, e08_gpus_are_known_by_uuid_too) {
  EXPECT_THAT(remedy("pod.devices"), HasSubstr("by UUID, index or address"));
}

TEST(Advice, e15_id_101e_is_a_vf_and_no_connectx_7) {
  EXPECT_THAT(words("sriov.vf-rdma"), HasSubstr("101e is every VF of mlx5 (a ConnectX-7 is 1021)"));
}

TEST(Advice, e17_vfs_share_the_link_of_their_pf) {
  EXPECT_THAT(remedy("sriov.vf-rdma"), HasSubstr("share the link of their PF"));
}

/// A quiet network proves nothing: NVLink, or nothing to send.
TEST(Advice, e18_use_is_proved_by_queue_pairs) {
  EXPECT_THAT(words("pod.transport"), AllOf(HasSubstr("PASS: connected queue pairs"),
                                            HasSubstr("SKIP: it has no connection")));
}

TEST(Advice, e19_slots_that_are_nics_are_asked_for_by_gpu) {
  EXPECT_THAT(remedy("pod.affinity"), AllOf(HasSubstr("one NIC or VF ask for one for each GPU"),
                                            HasSubstr("of a shared pool one slot is enough")));
}

/// Each error has its test here, by the beginning of its name.
TEST(Advice, every_error_of_the_guides_has_a_test) {
  const auto* suite = testing::UnitTest::GetInstance();
  std::set<std::string> named;
  for (int s = 0; s < suite->total_test_suite_count(); ++s) {
    const auto* one = suite->GetTestSuite(s);
    if (std::string_view(one->name()) != "Advice") continue;
    for (int t = 0; t < one->total_test_count(); ++t) {
      named.insert(std::string(one->GetTestInfo(t)->name()).substr(0, 3));
    }
  }
  for (int error = 1; error <= 19; ++error) {
    const auto id = std::string(error < 10 ? "e0" : "e") + std::to_string(error);
    EXPECT_TRUE(named.contains(id)) << id;
  }
}

}  // namespace
}  // namespace railhead::test
