// SPDX-License-Identifier: Apache-2.0
//
// The kernel's devlink: what the driver of a device says of its firmware. Invariants (Linux
// include/uapi/linux/devlink.h, net/devlink):
//   * devlink is a family of generic netlink (host/generic_netlink.h). To ask takes no capability;
//     a device is seen in its own network namespace only;
//   * each version is a nested attribute of its own: a name and a value;
//   * a parameter has a value for each of its modes; of a switch that is on an empty attribute, and
//     none of one that is off. A name that the driver has not is answered with EINVAL;
//   * ice calls the package of its Dynamic Device Personalization "fw.app.name"
//     (Documentation/networking/devlink/ice.rst); i40e of the kernel does not name it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace railhead::host {

/// Asks the kernel that we run on; see Host::devlink_info.
Result<std::optional<std::string>> ask_devlink_info(const std::string& pci_address);

/// The question for what the driver of a PCI function says of it.
std::string devlink_info_request(std::uint16_t family, std::string_view pci_address,
                                 std::uint32_t sequence);

/// Settings that are asked for, too. Source: Linux Documentation/networking/devlink/
/// devlink-params.rst; mlx5 has the first two since it keeps them in its firmware, bnxt_en the
/// first.
inline constexpr std::array<std::string_view, 3> kDevlinkParameters = {"enable_sriov", "total_vfs",
                                                                       "enable_roce"};

/// The question for one of them.
std::string devlink_parameter_request(std::uint16_t family, std::string_view pci_address,
                                      std::string_view name, std::uint32_t sequence);

/// Zeroes all that nobody here reads: serial numbers above all.
void blank_unread_info(std::string& messages);

/// A setting of the device's firmware or driver. A switch is 0 or 1. Absent: not said.
struct DevlinkParameter {
  std::string name;                           ///< "total_vfs"
  std::optional<std::uint64_t> now{};         ///< runtime, else what the driver was started with
  std::optional<std::uint64_t> next_start{};  ///< permanent: what the firmware has kept

  friend bool operator==(const DevlinkParameter&, const DevlinkParameter&) = default;
};

/// The settings in these messages, each once. Malformed: bytes that are no such messages.
Result<std::vector<DevlinkParameter>> devlink_parameters(std::string_view messages);

/// The package that the device runs, from the answer to devlink_info_request(); nothing where the
/// driver names none. Malformed: bytes that are no such messages.
Result<std::optional<std::string>> running_package(std::string_view messages);

}  // namespace railhead::host
