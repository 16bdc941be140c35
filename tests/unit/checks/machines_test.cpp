// SPDX-License-Identifier: Apache-2.0
//
// Machines of the box, most of them healthy: whatever is called wrong stands here, with its reason.
#include <gmock/gmock.h>

#include <map>

#include "unit/checks/patient.h"

namespace railhead::test {
namespace {

using Lines = std::vector<std::string>;

/// A virtual machine that hides its switches, names no file for NCCL, and is not in our table.
const Lines kHidden = {"WARN topo.vm-file node"};

Lines mtus(const Lines& ports) {
  Lines lines;
  for (const auto& port : ports) lines.push_back("WARN roce.mtu " + port);
  return lines;
}

/// Of each machine what is FAIL or WARN; all others have nothing.
const std::map<std::string, Lines>& known_faults() {
  static const std::map<std::string, Lines> kKnown = {
      // Their generator leaves the MTU at 1500.
      {"amd-mi300x", mtus({"mlx5_0/1/enp9s0np0", "mlx5_1/1/enp35s0np0", "mlx5_2/1/enp83s0np0",
                           "mlx5_3/1/enp105s0np0", "mlx5_4/1/enp143s0np0", "mlx5_5/1/enp156s0np0",
                           "mlx5_6/1/enp205s0np0", "mlx5_7/1/enp241s0np0"})},
      {"hgx-h100-roce", mtus({"mlx5_0/1/enp26s0np0", "mlx5_3/1/enp60s0np0", "mlx5_4/1/enp77s0np0",
                              "mlx5_5/1/enp94s0np0", "mlx5_6/1/enp156s0np0", "mlx5_9/1/enp188s0np0",
                              "mlx5_10/1/enp204s0np0", "mlx5_11/1/enp220s0np0"})},
      {"soft-roce", mtus({"rxe0/1/e0"})},
      {"azure-mi300x", kHidden},
      {"h200-flat-kvm", kHidden},
      {"modal-b200", kHidden},
      // What they were made for.
      {"azure-nd-h100-v5-nic-lost",
       {"FAIL pci.nic-present 0103:00:00.0", "WARN topo.missing-nic 0003:00:00.0"}},
      {"broken-host", {"FAIL dev.uverbs mlx5_1"}},
      {"dgx-h100-degraded",
       {"FAIL pci.nic-driver 0000:4f:00.0", "FAIL link.port-state mlx5_3/1",
        "WARN topo.missing-nic 0000:c3:00.0"}},
      {"gpus-only", {"WARN pci.nic-present node"}},
      {"h100-front-end-only", {"WARN net.management-nic mlx5_0", "WARN topo.vm-file node"}},
      {"renamed-devices", {"WARN link.layer rocep93s0f0"}},  // GPU2 has no other as near
      {"xe9680-roce-nic-lost", {"WARN topo.missing-nic 0000:18:00.0"}},
      {"tioga-slingshot", {"WARN pci.nic-present node"}},
  };
  return kKnown;
}

Lines alarms(const Patient& patient) {
  Lines lines = complaints(patient.examine());
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("UNKNOWN"); });
  return lines;
}

TEST(DoctorOnMachines, raises_no_alarm_that_nobody_wrote_down) {
  for (const auto& name : machine_names()) {
    const auto known = known_faults().find(name);
    EXPECT_THAT(alarms(Patient::of(name)),
                testing::ElementsAreArray(known == known_faults().end() ? Lines() : known->second))
        << name;
  }
}

}  // namespace
}  // namespace railhead::test
