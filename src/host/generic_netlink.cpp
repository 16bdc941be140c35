// SPDX-License-Identifier: Apache-2.0
#include "host/generic_netlink.h"

#include <linux/genetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>

#include "host/host_error.h"
#include "host/netlink_socket.h"
#include "host/unique_fd.h"

namespace railhead::host {
namespace {

using Clock = std::chrono::steady_clock;

GenericDatagram ask(int descriptor, const std::string& question, std::uint32_t sequence,
                    Clock::time_point deadline, std::string& answer, int& error_number) {
  if (::send(descriptor, question.data(), question.size(), 0) < 0) {
    error_number = errno;
    return GenericDatagram::failed;
  }
  std::string datagram;
  for (;;) {
    error_number = receive_netlink(descriptor, deadline, datagram);
    if (error_number != 0) return GenericDatagram::failed;
    const auto says = take_generic_datagram(datagram, sequence, answer, error_number);
    if (says != GenericDatagram::none) return says;
  }
}

/// A socket on which the family was asked for, as message 1.
struct FamilySocket {
  UniqueFd descriptor;
  std::uint16_t family = 0;
};

GenericDatagram open_family(std::string_view name, Clock::time_point deadline, FamilySocket& socket,
                            int& error_number) {
  socket.descriptor = UniqueFd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC));
  error_number = errno;
  if (!socket.descriptor) {
    const bool none = error_number == EPROTONOSUPPORT || error_number == EAFNOSUPPORT;
    return none ? GenericDatagram::absent : GenericDatagram::failed;
  }
  std::string answer;
  const auto says =
      ask(socket.descriptor.get(), family_request(name, 1), 1, deadline, answer, error_number);
  if (says != GenericDatagram::answer) return says;
  const auto family = family_number(answer);
  error_number = EPROTO;
  if (!family) return GenericDatagram::failed;
  socket.family = *family;
  return GenericDatagram::answer;
}

}  // namespace

std::string generic_request(const GenericCommand& command, std::uint32_t sequence,
                            std::string_view attributes) {
  const genlmsghdr header{command.command, command.version, 0};
  const auto flags =
      static_cast<std::uint16_t>(NLM_F_REQUEST | (command.acknowledged ? NLM_F_ACK : 0));
  return netlink_message(command.family, flags, sequence,
                         netlink_bytes(header) + std::string(attributes));
}

std::string family_request(std::string_view name, std::uint32_t sequence) {
  constexpr std::uint8_t kControlVersion = 1;
  return generic_request({GENL_ID_CTRL, CTRL_CMD_GETFAMILY, kControlVersion, false}, sequence,
                         netlink_attribute(CTRL_ATTR_FAMILY_NAME, std::string(name) + '\0'));
}

std::optional<std::string_view> generic_attributes(const NetlinkMessage& message) {
  if (message.payload.size() < GENL_HDRLEN) return std::nullopt;
  return message.payload.substr(GENL_HDRLEN);
}

GenericDatagram take_generic_datagram(std::string_view datagram, std::uint32_t sequence,
                                      std::string& answer, int& error_number) {
  while (!datagram.empty()) {
    const auto start = datagram;
    const auto message = take_netlink_message(datagram);
    error_number = EPROTO;
    if (!message) return GenericDatagram::failed;
    if (message->sequence != sequence) continue;
    const auto refused = netlink_error(*message);
    if (!refused) {
      answer = start.substr(0, start.size() - datagram.size());
      return GenericDatagram::answer;
    }
    error_number = *refused;
    if (error_number == 0) continue;  // an acknowledgement
    const bool absent = error_number == EOPNOTSUPP || means_absent(error_number);
    return absent ? GenericDatagram::absent : GenericDatagram::failed;
  }
  return GenericDatagram::none;
}

std::optional<std::uint16_t> family_number(std::string_view message) {
  const auto answer = take_netlink_message(message);
  auto attributes = answer ? generic_attributes(*answer) : std::nullopt;
  if (!attributes) return std::nullopt;
  while (const auto attribute = take_netlink_attribute(*attributes)) {
    if (attribute->type != CTRL_ATTR_FAMILY_ID) continue;
    return netlink_number<std::uint16_t>(attribute->payload);
  }
  return std::nullopt;
}

GenericDatagram ask_generic(std::string_view name, const GenericMessage& message,
                            std::string& answer, int& error_number) {
  const auto deadline = Clock::now() + kNetlinkTimeLimit;
  FamilySocket socket;
  const auto says = open_family(name, deadline, socket, error_number);
  if (says != GenericDatagram::answer) return says;
  return ask(socket.descriptor.get(), message(socket.family, 2), 2, deadline, answer, error_number);
}

int change_generic(std::string_view name, const GenericMessage& message) {
  FamilySocket socket;
  int error_number = 0;
  const auto says = open_family(name, Clock::now() + kNetlinkTimeLimit, socket, error_number);
  if (says == GenericDatagram::absent) return EOPNOTSUPP;
  if (says != GenericDatagram::answer) return error_number;
  const std::string request = message(socket.family, 2);
  if (::send(socket.descriptor.get(), request.data(), request.size(), 0) < 0) return errno;
  return await_acknowledgement(socket.descriptor.get(), 2);
}

}  // namespace railhead::host
