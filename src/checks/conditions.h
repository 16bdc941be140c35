// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checks/report.h"

namespace railhead::checks {

/// A condition of a Node object. It says a problem, so False is good.
struct NodeCondition {
  std::string_view type;
  std::string_view good_reason;
  std::string_view good_message;
  std::string_view bad_reason;
  std::array<std::string_view, 3> checks;  ///< whose FAIL makes it; "" for none
};

/// The same as in deploy/node-problem-detector/railhead-doctor.json, so that it does not matter who
/// sets them.
inline constexpr std::array kNodeConditions = {
    NodeCondition{"RDMADeviceMissing",
                  "RDMADevicesAreThere",
                  "every RDMA device is there, with driver and node",
                  "RDMADeviceIsMissing",
                  {"pci.nic-present", "pci.nic-driver", "dev.uverbs"}},
    NodeCondition{"RDMALinkUnhealthy",
                  "RDMALinksAreUp",
                  "every RDMA link is up, and its fabric answers",
                  "RDMALinkIsDown",
                  {"link.port-state", "link.sm", ""}},
    NodeCondition{"RDMADriverUnhealthy",
                  "RDMADriversWork",
                  "modules are loaded, and no firmware has died",
                  "RDMADriverIsBroken",
                  {"drv.modules", "log.firmware", ""}},
    NodeCondition{"RDMAMemoryLockTooLow",
                  "RDMAMemoryLockIsEnough",
                  "containers may pin the memory that they register",
                  "RDMAMemoryLockIsTooLow",
                  {"runtime.memlock", "", ""}},
    NodeCondition{"GPUDirectRDMAUnusable",
                  "GPUDirectRDMAIsUsable",
                  "NICs have a way into GPU memory",
                  "NoWayIntoGPUMemory",
                  {"gdr.route", "", ""}},
};

/// What a run says of a condition.
struct ConditionState {
  const NodeCondition* condition = nullptr;
  Outcome outcome = Outcome::unknown;  ///< of its checks
  std::string message;                 ///< the worst finding, or that all is well
};

/// Of each row of kNodeConditions.
std::vector<ConditionState> conditions_of(const Diagnosis& diagnosis);

}  // namespace railhead::checks
