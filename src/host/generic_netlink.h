// SPDX-License-Identifier: Apache-2.0
//
// Generic netlink. Invariants (Linux include/uapi/linux/genetlink.h, net/netlink/genetlink.c):
//   * a family is asked for by name, once a socket: its number is the type of its messages;
//   * behind the header of a message is one of four bytes (command, version), then attributes;
//   * a question for one thing has one message for an answer, or NLMSG_ERROR with an errno: ENOENT
//     for a family, ENODEV for a device that are not there, EOPNOTSUPP where the driver says
//     nothing. A change is acknowledged by NLMSG_ERROR with 0.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "host/netlink.h"

namespace railhead::host {

/// What a message of a family begins with, before its attributes.
struct GenericCommand {
  std::uint16_t family = 0;
  std::uint8_t command = 0;
  std::uint8_t version = 0;
  bool acknowledged = false;  ///< NLM_F_ACK: a change
};

std::string generic_request(const GenericCommand& command, std::uint32_t sequence,
                            std::string_view attributes);

/// The question for the number of a family.
std::string family_request(std::string_view name, std::uint32_t sequence);

/// The number in the answer to family_request(); nothing where it has none.
std::optional<std::uint16_t> family_number(std::string_view message);

/// What a datagram of an answer says. `none`: something else was sent, the answer is to come.
enum class GenericDatagram : std::uint8_t { none, answer, absent, failed };

/// Takes the message that answers the question of this number. `failed` leaves the errno in
/// `error_number`.
GenericDatagram take_generic_datagram(std::string_view datagram, std::uint32_t sequence,
                                      std::string& answer, int& error_number);

/// What stands behind the header of generic netlink; nothing where there is none.
std::optional<std::string_view> generic_attributes(const NetlinkMessage& message);

/// Makes the message for a family of this number, as message 2 of a socket.
using GenericMessage = std::function<std::string(std::uint16_t family, std::uint32_t sequence)>;

/// Asks the family of this name; `absent` also where there is no generic netlink.
GenericDatagram ask_generic(std::string_view name, const GenericMessage& message,
                            std::string& answer, int& error_number);

/// Sends a change that asks for an acknowledgement. 0, or an errno.
int change_generic(std::string_view name, const GenericMessage& message);

}  // namespace railhead::host
