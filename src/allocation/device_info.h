// SPDX-License-Identifier: Apache-2.0
//
// What Multus reads of a function that was handed out: a file that it finds by resource and
// device id and copies into the pod's network status.
// Source: Network Plumbing Working Group, device-info-spec 1.1.0; network-attachment-definition-
// client pkg/apis/k8s.cni.cncf.io/v1/types.go (names), pkg/utils/cniconfig.go (path).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "inject/decide.h"

namespace railhead::allocation {

/// "intel.com-vf-0000:18:00.1-device.json"
std::string device_info_file_name(std::string_view resource, std::string_view id);

/// The device id in a file name of this resource; absent where it is none, or no PCI address.
std::optional<std::string> id_in_device_info_file(std::string_view resource,
                                                  std::string_view file_name);

/// The text for a member of an exclusive pool that is a PCI function; absent for all others.
std::optional<std::string> device_info(const inject::DecisionTable& table, const pools::Pool& pool,
                                       std::size_t member);

}  // namespace railhead::allocation
