// SPDX-License-Identifier: Apache-2.0
//
// The kernel's devlink: what the driver of a device says of its firmware. Invariants (Linux
// include/uapi/linux/{genetlink,devlink}.h, net/netlink/genetlink.c, net/devlink):
//   * devlink is a family of generic netlink: its message type is asked for by name, once a socket;
//   * behind the header of a message is one of four bytes (command, version), then attributes;
//   * a question for one device has one message for an answer, or NLMSG_ERROR with an errno:
//     ENOENT for a family, ENODEV for a device that are not there, EOPNOTSUPP where the driver says
//     nothing. No capability is needed; a device is seen in its own network namespace only;
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

/// The question for the number of the family "devlink".
std::string devlink_family_request(std::uint32_t sequence);

/// The question for what the driver of a PCI function says of it.
std::string devlink_info_request(std::uint16_t family, std::string_view pci_address,
                                 std::uint32_t sequence);

/// What a datagram of an answer says. `none`: something else was sent, the answer is to come.
enum class DevlinkDatagram : std::uint8_t { none, answer, absent, failed };

/// Takes the message that answers the question of this number. `failed` leaves the errno in
/// `error_number`.
DevlinkDatagram take_devlink_datagram(std::string_view datagram, std::uint32_t sequence,
                                      std::string& answer, int& error_number);

/// The number in the answer to devlink_family_request(); nothing where it has none.
std::optional<std::uint16_t> devlink_family(std::string_view message);

/// Zeroes all that nobody here reads: serial numbers above all.
void blank_unread_info(std::string& messages);

/// The package that the device runs, from the answer to devlink_info_request(); nothing where the
/// driver names none. Malformed: bytes that are no such messages.
Result<std::optional<std::string>> running_package(std::string_view messages);

}  // namespace railhead::host
