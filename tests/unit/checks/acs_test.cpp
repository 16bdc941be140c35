// SPDX-License-Identifier: Apache-2.0
//
// Access Control Services by the shape of the machine (rdma-core kernel-boot/rdma_topo). Bare metal
// with one switch is among the machines of broken_test.cpp.
#include <gmock/gmock.h>

#include "unit/checks/patient.h"

namespace railhead::test {
namespace {

using checks::State;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> acs_of(const Patient& patient) {
  std::vector<std::string> lines;
  for (const auto& finding : patient.examine()) {
    if (finding.id != "pci.acs") continue;
    lines.push_back(std::string(to_string(finding.state)) + " " + finding.subject);
  }
  return lines;
}

void set_acs(Patient& patient, const std::string& folder, std::uint16_t control) {
  auto space = good_bridge(folder);
  space.acs_control = control;
  patient.bytes(folder + "/config", space.bytes());
}

Patient& make_arm(Patient& patient) {
  return patient.text("/proc/cpuinfo",
                      "processor\t: 0\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\n"
                      "CPU architecture: 8\n");
}

// A host that hands a GPU on.

constexpr const char* kSwitch = "/sys/devices/pci0000:3d/0000:3d:01.0/0000:3e:00.0";
constexpr const char* kNic = "0000:40:00.0";

/// The folder of the GPU that shares a switch with mlx5_3.
std::string gpu_beside_nic3(const Patient& patient) {
  for (const auto& path : patient.paths("/uevent")) {
    const auto* file = std::get_if<snapshot::SnapshotFile>(&patient.snapshot().entries.at(path));
    const bool is_gpu = file != nullptr && file->content.starts_with("DRIVER=nvidia\n");
    if (is_gpu && path.starts_with(kSwitch)) return path.substr(0, path.rfind('/'));
  }
  ADD_FAILURE() << "no GPU below " << kSwitch;
  return "";
}

/// The GPU is vfio's, and the bridges are as guests need them.
Patient passing_on() {
  auto patient = healthy();
  const auto gpu = gpu_beside_nic3(patient);
  patient.replace(gpu + "/uevent", "DRIVER=nvidia\n", "DRIVER=vfio-pci\n");
  patient.link(gpu + "/driver", "../../../../../../../bus/pci/drivers/vfio-pci");
  const std::string nic = std::string(kSwitch) + "/0000:3f:00.0/0000:40:00.0";
  ConfigSpace space;
  space.device_control = kGoodDeviceControl;
  space.has_ats = true;
  patient.bytes(nic + "/config", space.bytes());
  set_acs(patient, nic.substr(0, nic.rfind('/')), 0x5d);
  set_acs(patient, std::string(kSwitch) + "/0000:3f:01.0", 0x1d);
  set_acs(patient, "/sys/devices/pci0000:3d/0000:3d:01.0", 0x1d);
  return patient;
}

TEST(Acs, guests_need_translated_requests_to_go_directly) {
  auto patient = passing_on();
  EXPECT_THAT(acs_of(patient), ElementsAre("PASS 0000:40:00.0"));
  set_acs(patient, std::string(kSwitch) + "/0000:3f:00.0", 0x1d);
  const auto finding = finding_of(patient.examine(), "pci.acs", kNic);
  EXPECT_EQ(finding.state, State::warn);
  EXPECT_THAT(finding.remedy, HasSubstr("pci=config_acs=\"1x111x1@0000:3f:00.0\""));
}

TEST(Acs, guests_need_address_translation_of_the_nic) {
  auto patient = passing_on();
  patient.bytes(std::string(kSwitch) + "/0000:3f:00.0/0000:40:00.0/config",
                config_space(kGoodDeviceControl));
  const auto finding = finding_of(patient.examine(), "pci.acs", kNic);
  EXPECT_EQ(finding.state, State::warn);
  EXPECT_EQ(finding.observed, "no address translation service");
}

TEST(Acs, registers_that_are_hidden_are_unknown) {
  auto patient = passing_on();
  patient.bytes("/sys/devices/pci0000:3d/0000:3d:01.0/config",
                config_space(kGoodDeviceControl).substr(0, 64));
  EXPECT_EQ(finding_of(patient.examine(), "pci.acs", kNic).state, State::unknown);
}

// Data-direct.

constexpr const char* kDma = "0000:1b:00.1";
constexpr const char* kRoot = "/sys/devices/pci0000:15/0000:15:01.0";

/// One GPU with its ConnectX-8 on Grace: the DMA function has a port of the switch to itself.
Patient data_direct() {
  Patient patient("railhead-snapshot 1\nt /sys/module/ib_core/parameters/netns_mode Y\n");
  make_arm(patient);
  const auto add = [&](const std::string& folder, const std::string& ids, const char* code,
                       const std::string& driver) {
    patient.bytes(folder + "/uevent", "DRIVER=" + driver + "\nPCI_CLASS=" + code +
                                          "\nPCI_ID=" + ids + "\nPCI_SUBSYS_ID=15B3:0101\n");
    patient.link("/sys/bus/pci/devices/" + folder.substr(folder.rfind('/') + 1),
                 "../../../" + folder.substr(5));
    patient.text(folder + "/numa_node", "0");
  };
  const std::string root = kRoot;
  const auto up = root + "/0000:16:00.0";
  add(root, "10DE:22B2", "60400", "pcieport");
  add(up, "15B3:197C", "60400", "pcieport");
  add(up + "/0000:17:00.0", "15B3:197C", "60400", "pcieport");
  add(up + "/0000:17:00.0/" + kDma, "15B3:2100", "80100", "mlx5_core");
  add(up + "/0000:17:01.0", "15B3:197C", "60400", "pcieport");
  add(up + "/0000:17:01.0/0000:19:00.0", "10DE:2941", "30200", "nvidia");
  for (const auto& folder : {root, up, up + "/0000:17:00.0", up + "/0000:17:01.0"}) {
    set_acs(patient, folder, 0x1d);
  }
  set_acs(patient, root, 0x1c);
  set_acs(patient, up + "/0000:17:00.0", 0x19);
  set_acs(patient, up + "/0000:17:01.0", 0x15);
  patient.bytes(up + "/0000:17:00.0/" + kDma + "/config", config_space(kGoodDeviceControl));
  for (const auto& folder : {up + "/0000:17:00.0/" + kDma, up + "/0000:17:01.0/0000:19:00.0"}) {
    patient.link(folder + "/iommu_group", "../../../../../../kernel/iommu_groups/7");
  }
  return patient;
}

TEST(Acs, data_direct_needs_the_ports_of_its_switch_as_published) {
  auto patient = data_direct();
  EXPECT_THAT(acs_of(patient), ElementsAre("PASS 0000:1b:00.1"));
  set_acs(patient, std::string(kRoot) + "/0000:16:00.0/0000:17:00.0", 0x1d);
  const auto finding = finding_of(patient.examine(), "pci.acs", kDma);
  EXPECT_EQ(finding.state, State::warn);
  EXPECT_THAT(finding.remedy, HasSubstr("xx110x1@0000:17:00.0"));
  EXPECT_THAT(finding.remedy, HasSubstr("rdma_topo"));
}

TEST(Acs, data_direct_needs_one_iommu_group_with_the_gpu) {
  auto patient = data_direct();
  patient.link(std::string(kRoot) + "/0000:16:00.0/0000:17:01.0/0000:19:00.0/iommu_group",
               "../../../../../../kernel/iommu_groups/8");
  EXPECT_THAT(acs_of(patient), ElementsAre("FAIL 0000:1b:00.1"));
  patient.text("/proc/driver/nvidia/params", "GrdmaPciTopoCheckOverride: 1");
  EXPECT_THAT(acs_of(patient), ElementsAre("PASS 0000:1b:00.1"));
}

TEST(Acs, the_function_that_moves_the_data_is_looked_at_too) {
  auto patient = data_direct();
  patient.bytes(std::string(kRoot) + "/0000:16:00.0/0000:17:00.0/" + kDma + "/config",
                config_space(0x2930));
  EXPECT_EQ(finding_of(patient.examine(), "pci.max-read-request", kDma).state, State::warn);
}

TEST(Acs, of_data_direct_elsewhere_nothing_is_published) {
  EXPECT_THAT(acs_of(healthy("hgx-b300-planes")), ElementsAre("SKIP node"));
}

// Grace without it.

TEST(Acs, grace_is_to_stay_as_the_kernel_sets_it) {
  auto patient = healthy("gb200-tray");
  make_arm(patient);
  std::vector<std::string> roots;
  for (const auto& path : patient.paths("/uevent")) {
    const auto* file = std::get_if<snapshot::SnapshotFile>(&patient.snapshot().entries.at(path));
    if (file == nullptr || file->content.find("PCI_ID=10DE:22B2") == std::string::npos) continue;
    roots.push_back(path.substr(0, path.rfind('/')));
    set_acs(patient, roots.back(), 0x1d);
  }
  ASSERT_FALSE(roots.empty());
  const auto before = acs_of(patient);
  EXPECT_THAT(before, testing::Each(testing::StartsWith("PASS ")));
  EXPECT_GE(before.size(), 2U);
  set_acs(patient, roots.front(), 0);
  const auto address = roots.front().substr(roots.front().rfind('/') + 1);
  EXPECT_EQ(finding_of(patient.examine(), "pci.acs", address).state, State::warn);
}

TEST(Acs, a_guest_is_not_judged_by_what_it_sees) {
  EXPECT_THAT(acs_of(healthy("azure-nd-h100-v5")), ElementsAre("SKIP node"));
}

}  // namespace
}  // namespace railhead::test
