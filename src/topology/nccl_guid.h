// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace railhead::topology {

/// NCCL prints a device's system image GUID as the number that its bytes, in the order of the wire,
/// make on a little-endian machine (src/transport/net_ib: ibv_device_attr.sys_image_guid, __be64).
/// This is the GUID as sysfs prints it; absent for zero and for what is no number.
std::optional<std::string> guid_from_nccl(std::string_view text);

/// The other way: what NCCL prints for a GUID of sysfs.
std::optional<std::string> nccl_guid(std::string_view sysfs);

}  // namespace railhead::topology
