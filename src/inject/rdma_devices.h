// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "container/adjustment.h"
#include "container/facts.h"
#include "container/request.h"
#include "inject/decide.h"

namespace railhead::inject {

enum class RdmaDeviceKind : std::uint8_t { uverbs, umad, issm, rdma_cm };

/// One character device of this node's RDMA stack.
struct RdmaDevice {
  RdmaDeviceKind kind = RdmaDeviceKind::uverbs;
  const node::CharDevice* device = nullptr;
  std::optional<std::size_t> nic;  ///< index into the node; absent for rdma_cm
};

/// The node's RDMA device with exactly this path. No other spelling of a path is one, so nothing
/// needs to be resolved: "..", double or trailing slashes and other cases name no device.
std::optional<RdmaDevice> find_rdma_device(const DecisionTable& table, std::string_view path);

/// Classes that are given where they are listed: raw management datagrams.
struct DeviceClasses {
  bool umad = false;
  bool issm = false;
};

/// The policy's classes of devices, and more that a pool hands out.
DeviceClasses device_classes(const InjectionPolicy& policy,
                             const std::vector<std::string>& more = {});

/// uverbs and rdma_cm always.
bool is_given(RdmaDeviceKind kind, DeviceClasses classes);

container::PresentRdma present_rdma(const container::Request& request, const DecisionTable& table);

/// The nodes of these NICs, of these classes, and rdma_cm, once, without those whose path the
/// container has.
std::vector<container::NewDevice> devices_to_add(const container::Request& request,
                                                 const DecisionTable& table,
                                                 const std::vector<std::size_t>& nics,
                                                 DeviceClasses classes);

}  // namespace railhead::inject
