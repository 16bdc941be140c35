// SPDX-License-Identifier: Apache-2.0
//
// The kernel's devlink: what the driver of a device says of its firmware. Invariants (Linux
// include/uapi/linux/devlink.h, net/devlink):
//   * devlink is a family of generic netlink (host/generic_netlink.h). To ask takes no capability;
//     a device is seen in its own network namespace only;
//   * each version is a nested attribute of its own: a name and a value;
//   * ice calls the package of its Dynamic Device Personalization "fw.app.name"
//     (Documentation/networking/devlink/ice.rst); i40e of the kernel does not name it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace railhead::host {

/// Asks the kernel that we run on; see Host::devlink_info.
Result<std::optional<std::string>> ask_devlink_info(const std::string& pci_address);

/// The question for what the driver of a PCI function says of it.
std::string devlink_info_request(std::uint16_t family, std::string_view pci_address,
                                 std::uint32_t sequence);

/// Zeroes all that nobody here reads: serial numbers above all.
void blank_unread_info(std::string& messages);

/// The package that the device runs, from the answer to devlink_info_request(); nothing where the
/// driver names none. Malformed: bytes that are no such messages.
Result<std::optional<std::string>> running_package(std::string_view messages);

}  // namespace railhead::host
