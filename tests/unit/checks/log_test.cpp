// SPDX-License-Identifier: Apache-2.0
//
// The kernel's log: a line counts by who wrote it and whom it names, and each cause is a finding.
#include <gmock/gmock.h>

#include "checks/log_causes.h"
#include "unit/checks/patients.h"

namespace railhead::test {
namespace {

using checks::RemedyClass;
using checks::State;
using testing::ElementsAre;
using testing::IsEmpty;

/// What a check says of these lines: state, subject and what was seen, one line a finding.
std::vector<std::string> said(Patient patient, std::string_view id, const std::string& lines) {
  patient.bytes("/dev/kmsg", lines);
  std::vector<std::string> all;
  for (const auto& one : patient.examine()) {
    if (one.id != id) continue;
    const auto& what = one.observed.empty() ? one.reason : one.observed;
    all.push_back(std::string(to_string(one.state)) + " " + one.subject + ": " + what);
  }
  return all;
}

State state_of(Patient patient, std::string_view id, const std::string& line) {
  patient.bytes("/dev/kmsg", "3,1,1,-;" + line + "\n");
  return finding_of(patient.examine(), id, "node").state;
}

/// A machine whose NICs have another driver.
Patient driven_by(const std::string& driver) {
  auto patient = healthy();
  for (const auto& path : patient.paths("/uevent")) {
    const auto* file = std::get_if<snapshot::SnapshotFile>(&patient.snapshot().entries.at(path));
    if (file == nullptr || !file->content.starts_with("DRIVER=mlx5_core\n")) continue;
    patient.bytes(path, "DRIVER=" + driver + file->content.substr(file->content.find('\n')));
  }
  return patient;
}

TEST(DoctorLog, every_cause_has_a_row_that_says_what_it_means) {
  for (const auto& pattern : system::log_patterns()) {
    const auto& row = checks::row_of(pattern.cause);
    ASSERT_EQ(row.cause, pattern.cause) << pattern.first;
    const bool complains = row.state == State::fail || row.state == State::warn;
    EXPECT_FALSE(row.name.empty());
    EXPECT_EQ(complains, !row.remedy.empty()) << row.name;
    EXPECT_EQ(complains, row.remedy_class != RemedyClass::none) << row.name;
    EXPECT_EQ(row.effect.empty(), row.state == State::unknown) << row.name;
  }
}

TEST(DoctorLog, two_causes_are_two_findings_and_each_counts_its_own_lines) {
  EXPECT_THAT(
      said(healthy(), "log.refused",
           "3,1,1,-;mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 1): CREATE_MKEY(0x200) "
           "op_mod(0x0) failed, status no resources(0xf), syndrome (0x2aac7c), err(-11)\n"
           "3,2,2,-;mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 1): CREATE_QP(0x500) "
           "op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x1), err(-12)\n"
           "3,3,3,-;mlx5_core 0000:18:00.0: mlx5_cmd_out_err:829:(pid 1): CREATE_MKEY(0x200) "
           "op_mod(0x0) failed, status no resources(0xf), syndrome (0x2aac7c), err(-11)\n"
           "4,4,4,-;infiniband mlx5_1: create_mkey_callback:131:(pid 1): async reg mr failed. "
           "status -12\n"),
      ElementsAre("WARN node: 2 lines: memory keys are used up (CREATE_MKEY: no resources)",
                  "WARN node: 1 line: a limit of the device is reached (CREATE_QP: limits "
                  "exceeded)",
                  "WARN node: 1 line: memory keys are used up"));
}

TEST(DoctorLog, the_worst_cause_comes_first) {
  EXPECT_THAT(said(healthy(), "log.firmware",
                   "3,1,1,-;mlx5_core 0000:18:00.0: cmd_work_handler:1010:(pid 9): failed to "
                   "allocate command entry\n"
                   "3,2,2,-;mlx5_core 0000:18:00.0: device's health compromised - reached miss "
                   "count\n"),
              ElementsAre("FAIL node: 1 line: the firmware died",
                          "WARN node: 1 line: the firmware's command queue is full"));
}

TEST(DoctorLog, a_log_with_another_command_in_each_line_makes_few_findings) {
  std::string lines;
  for (int n = 0; n < 1000; ++n) {
    lines += "3,1,1,-;mlx5_core 0000:18:00.0: CREATE_" + std::to_string(n) +
             "(0x200) op_mod(0x0) failed, status no resources(0xf), syndrome (0x1)\n";
  }
  const auto findings = said(healthy(), "log.refused", lines);
  ASSERT_EQ(findings.size(), 17U);
  EXPECT_EQ(findings.back(), "WARN node: 984 lines: a limit of the device is reached");
}

TEST(DoctorLog, a_line_that_tells_of_nothing_wrong_is_shown_and_passes) {
  auto patient = healthy();
  patient.bytes("/dev/kmsg",
                "3,1,1,-;nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid "
                "context, skipping further processing\n");
  const auto finding = finding_of(patient.examine(), "log.peermem", "node");
  EXPECT_EQ(finding.state, State::pass);
  EXPECT_TRUE(finding.remedy.empty());
  EXPECT_EQ(finding.evidence.size(), 2U);
}

TEST(DoctorLog, the_memory_lock_is_raised_for_ENOMEM_alone) {
  for (const auto& [error, has_lock] : {std::pair{"-12", true}, std::pair{"-14", false}}) {
    auto patient = healthy();
    patient.bytes("/dev/kmsg", std::string("3,1,1,-;infiniband mlx5_0: mr_umem_get:712:(pid 1): "
                                           "umem get failed (") +
                                   error + ")\n");
    const auto finding = finding_of(patient.examine(), "log.pinning", "node");
    EXPECT_EQ(finding.state, State::warn);
    EXPECT_EQ(finding.remedy.find("runtime.memlock") != std::string::npos, has_lock) << error;
  }
}

TEST(DoctorLog, the_iommu_counts_for_functions_of_nics_and_gpus_alone) {
  const auto stopped = [](const std::string& address) {
    return "DMAR: [DMA Read NO_PASID] Request device [" + address +
           "] fault addr 0x104ead000 [fault reason 0x06] PTE Read access is not set";
  };
  const auto patient = with_vfs();
  EXPECT_EQ(state_of(patient, "log.iommu", stopped("40:00.0")), State::warn);
  EXPECT_EQ(state_of(patient, "log.iommu", stopped("40:00.2")), State::warn);  // a VF of it
  EXPECT_EQ(state_of(patient, "log.iommu", stopped("1b:00.0")), State::warn);  // a GPU
  EXPECT_EQ(state_of(patient, "log.iommu", stopped("00:1f.2")), State::pass);
  EXPECT_EQ(state_of(patient, "log.iommu",
                     "xhci_hcd 0000:00:14.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0011 "
                     "address=0xf0000 flags=0x0000]"),
            State::pass);
  EXPECT_EQ(state_of(patient, "log.iommu",
                     "ahci 0000:00:1f.2: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0011 "
                     "address=0xf0000 flags=0x0000]"),
            State::pass);
  EXPECT_EQ(state_of(patient, "log.iommu",
                     "arm-smmu-v3 arm-smmu-v3.9.auto: event: F_TRANSLATION client: 0000:40:00.0 "
                     "sid: 0x4000"),
            State::warn);
  EXPECT_EQ(state_of(patient, "log.iommu", "arm-smmu-v3 arm-smmu-v3.9.auto: event 0x10 received:"),
            State::unknown);
}

TEST(DoctorLog, pcie_counts_for_the_function_that_sent_the_error) {
  const auto received = [](const std::string& address) {
    return "pcieport 0000:3d:01.0: AER: Uncorrected (Fatal) error received: " + address;
  };
  EXPECT_EQ(state_of(healthy(), "log.aer", received("0000:40:00.0")), State::warn);
  EXPECT_EQ(state_of(healthy(), "log.aer", received("0000:3d:01.0")), State::warn);  // a bridge
  EXPECT_EQ(state_of(healthy(), "log.aer", received("0000:ff:00.0")), State::pass);
  EXPECT_EQ(state_of(healthy(), "log.aer", received("id=4000")), State::warn);  // by its port
}

constexpr const char* kNothingWrong = "6,1,1,-;Linux version 6.8.0\n";

TEST(DoctorLog, a_driver_without_a_row_is_not_called_healthy) {
  const auto patient = driven_by("cxgb4");
  for (const auto* id :
       {"log.firmware", "log.optics", "log.power", "log.driver", "log.pinning", "log.refused"}) {
    EXPECT_THAT(said(patient, id, kNothingWrong),
                ElementsAre("UNKNOWN cxgb4: no row for this driver: what it writes is not known"))
        << id;
  }
  EXPECT_THAT(said(patient, "log.gpu", kNothingWrong),
              ElementsAre("PASS node: no such line among 1"));
}

TEST(DoctorLog, a_driver_that_writes_no_such_line_is_skipped) {
  EXPECT_THAT(said(efa(), "log.power", kNothingWrong),
              ElementsAre("SKIP node: no row for this driver: efa writes no such line"));
  EXPECT_THAT(said(efa(), "log.firmware", kNothingWrong),
              ElementsAre("PASS node: no such line among 1"));
  EXPECT_THAT(said(driven_by("bnxt_en"), "log.optics", kNothingWrong),
              ElementsAre("PASS node: no such line among 1"));
}

TEST(DoctorLog, modules_of_others_may_miss_symbols) {
  for (const auto* module : {"ksmbd", "drbd_transport_rdma", "ib_srpt", "ko2iblnd", "beegfs"}) {
    EXPECT_EQ(state_of(healthy(), "log.driver",
                       std::string(module) + ": Unknown symbol rdma_create_id (err -2)"),
              State::pass)
        << module;
  }
}

}  // namespace
}  // namespace railhead::test
