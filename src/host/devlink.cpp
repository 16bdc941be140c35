// SPDX-License-Identifier: Apache-2.0
#include "host/devlink.h"

#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>

#include "host/host.h"
#include "host/host_error.h"
#include "host/netlink.h"
#include "host/netlink_socket.h"
#include "host/unique_fd.h"

namespace railhead::host {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kPackage = "fw.app.name";

std::string text_attribute(std::uint16_t type, std::string_view text) {
  return netlink_attribute(type, std::string(text) + '\0');
}

std::string text_of(std::string_view payload) {
  return std::string(payload.substr(0, payload.find('\0')));
}

std::string generic_request(std::uint16_t family, std::uint8_t command, std::uint8_t version,
                            std::uint32_t sequence, const std::string& attributes) {
  const genlmsghdr header{command, version, 0};
  return netlink_message(family, NLM_F_REQUEST, sequence, netlink_bytes(header) + attributes);
}

/// What stands behind the header of generic netlink; nothing where there is none.
std::optional<std::string_view> attributes_of(const NetlinkMessage& message) {
  if (message.payload.size() < GENL_HDRLEN) return std::nullopt;
  return message.payload.substr(GENL_HDRLEN);
}

/// One version of the device: views of the message.
struct Version {
  std::string_view name;
  std::string_view value;
};

Version version_of(std::string_view attributes) {
  Version version;
  while (const auto attribute = take_netlink_attribute(attributes)) {
    if (attribute->type == DEVLINK_ATTR_INFO_VERSION_NAME) version.name = attribute->payload;
    if (attribute->type == DEVLINK_ATTR_INFO_VERSION_VALUE) version.value = attribute->payload;
  }
  return version;
}

void blank_version(std::string& whole, std::string_view attributes) {
  const auto version = version_of(attributes);
  const bool is_read = text_of(version.name) == kPackage;
  auto rest = attributes;
  while (const auto attribute = take_netlink_attribute(rest)) {
    const bool keep = attribute->payload.data() == version.name.data() ||
                      (is_read && attribute->payload.data() == version.value.data());
    if (!keep) blank_netlink(whole, attribute->payload);
  }
  blank_netlink(whole, rest);
}

void blank_attributes(std::string& whole, std::string_view attributes) {
  auto rest = attributes;
  while (const auto attribute = take_netlink_attribute(rest)) {
    switch (attribute->type) {
      case DEVLINK_ATTR_BUS_NAME:
      case DEVLINK_ATTR_DEV_NAME: break;
      case DEVLINK_ATTR_INFO_VERSION_RUNNING: blank_version(whole, attribute->payload); break;
      default: blank_netlink(whole, attribute->payload); break;
    }
  }
  blank_netlink(whole, rest);
}

DevlinkDatagram ask(int descriptor, const std::string& question, std::uint32_t sequence,
                    Clock::time_point deadline, std::string& answer, int& error_number) {
  if (::send(descriptor, question.data(), question.size(), 0) < 0) {
    error_number = errno;
    return DevlinkDatagram::failed;
  }
  std::string datagram;
  for (;;) {
    error_number = receive_netlink(descriptor, deadline, datagram);
    if (error_number != 0) return DevlinkDatagram::failed;
    const auto says = take_devlink_datagram(datagram, sequence, answer, error_number);
    if (says != DevlinkDatagram::none) return says;
  }
}

/// Both questions; `absent` also where there is no generic netlink.
DevlinkDatagram ask_both(std::string_view pci_address, std::string& answer, int& error_number) {
  const auto deadline = Clock::now() + kNetlinkTimeLimit;
  const UniqueFd descriptor(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC));
  error_number = errno;
  if (!descriptor) {
    const bool none = error_number == EPROTONOSUPPORT || error_number == EAFNOSUPPORT;
    return none ? DevlinkDatagram::absent : DevlinkDatagram::failed;
  }
  const auto says =
      ask(descriptor.get(), devlink_family_request(1), 1, deadline, answer, error_number);
  if (says != DevlinkDatagram::answer) return says;
  const auto family = devlink_family(answer);
  error_number = EPROTO;
  if (!family) return DevlinkDatagram::failed;
  return ask(descriptor.get(), devlink_info_request(*family, pci_address, 2), 2, deadline, answer,
             error_number);
}

}  // namespace

std::string devlink_family_request(std::uint32_t sequence) {
  constexpr std::uint8_t kControlVersion = 1;
  return generic_request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, kControlVersion, sequence,
                         text_attribute(CTRL_ATTR_FAMILY_NAME, DEVLINK_GENL_NAME));
}

std::string devlink_info_request(std::uint16_t family, std::string_view pci_address,
                                 std::uint32_t sequence) {
  return generic_request(family, DEVLINK_CMD_INFO_GET, DEVLINK_GENL_VERSION, sequence,
                         text_attribute(DEVLINK_ATTR_BUS_NAME, "pci") +
                             text_attribute(DEVLINK_ATTR_DEV_NAME, pci_address));
}

DevlinkDatagram take_devlink_datagram(std::string_view datagram, std::uint32_t sequence,
                                      std::string& answer, int& error_number) {
  while (!datagram.empty()) {
    const auto start = datagram;
    const auto message = take_netlink_message(datagram);
    error_number = EPROTO;
    if (!message) return DevlinkDatagram::failed;
    if (message->sequence != sequence) continue;
    if (message->type != NLMSG_ERROR) {
      answer = start.substr(0, start.size() - datagram.size());
      return DevlinkDatagram::answer;
    }
    const auto status = netlink_number<std::uint32_t>(message->payload.substr(0, 4));
    if (!status) return DevlinkDatagram::failed;
    error_number = static_cast<int>(~*status + 1);  // negated there
    if (error_number == 0) continue;                // an acknowledgement
    const bool absent = error_number == EOPNOTSUPP || means_absent(error_number);
    return absent ? DevlinkDatagram::absent : DevlinkDatagram::failed;
  }
  return DevlinkDatagram::none;
}

std::optional<std::uint16_t> devlink_family(std::string_view message) {
  const auto answer = take_netlink_message(message);
  auto attributes = answer ? attributes_of(*answer) : std::nullopt;
  if (!attributes) return std::nullopt;
  while (const auto attribute = take_netlink_attribute(*attributes)) {
    if (attribute->type != CTRL_ATTR_FAMILY_ID) continue;
    return netlink_number<std::uint16_t>(attribute->payload);
  }
  return std::nullopt;
}

void blank_unread_info(std::string& messages) {
  std::string_view rest = messages;
  while (const auto message = take_netlink_message(rest)) {
    if (const auto attributes = attributes_of(*message)) {
      blank_attributes(messages, *attributes);
    } else {
      blank_netlink(messages, message->payload);
    }
  }
  blank_netlink(messages, rest);
}

Result<std::optional<std::string>> running_package(std::string_view messages) {
  while (!messages.empty()) {
    const auto message = take_netlink_message(messages);
    auto attributes = message ? attributes_of(*message) : std::nullopt;
    if (!attributes) return Error{ErrorCode::malformed, "not a message of devlink"};
    while (const auto attribute = take_netlink_attribute(*attributes)) {
      if (attribute->type != DEVLINK_ATTR_INFO_VERSION_RUNNING) continue;
      const auto version = version_of(attribute->payload);
      auto value = text_of(version.value);
      if (text_of(version.name) == kPackage && !value.empty()) {
        return std::optional(std::move(value));
      }
    }
  }
  return std::optional<std::string>();
}

Result<std::optional<std::string>> ask_devlink_info(const std::string& pci_address) {
  std::string answer;
  int error_number = 0;
  switch (ask_both(pci_address, answer, error_number)) {
    case DevlinkDatagram::answer: blank_unread_info(answer); return std::optional(answer);
    case DevlinkDatagram::absent: return kAbsent;
    default: return host_error(devlink_path(pci_address), error_number);
  }
}

}  // namespace railhead::host
