// SPDX-License-Identifier: Apache-2.0
#include "host/devlink.h"

#include <linux/devlink.h>

#include "base/contains.h"
#include "base/find.h"
#include "host/generic_netlink.h"
#include "host/host.h"
#include "host/host_error.h"
#include "host/netlink.h"

namespace railhead::host {
namespace {

constexpr std::string_view kPackage = "fw.app.name";

std::string text_attribute(std::uint16_t type, std::string_view text) {
  return netlink_attribute(type, std::string(text) + '\0');
}

std::string text_of(std::string_view payload) {
  return std::string(payload.substr(0, payload.find('\0')));
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

/// One value of a parameter, by its mode.
void take_value(std::string_view attributes, std::uint8_t type, DevlinkParameter& parameter) {
  // NLA_FLAG of include/net/netlink.h: the type of a switch. Those of numbers have their size.
  constexpr std::uint8_t kSwitch = 6;
  std::optional<std::uint64_t> value;
  std::optional<std::uint8_t> mode;
  if (type == kSwitch) value = 0;
  while (const auto attribute = take_netlink_attribute(attributes)) {
    const auto& payload = attribute->payload;
    if (attribute->type == DEVLINK_ATTR_PARAM_VALUE_CMODE) {
      mode = netlink_number<std::uint8_t>(payload);
    } else if (attribute->type == DEVLINK_ATTR_PARAM_VALUE_DATA && type == kSwitch) {
      value = 1;
    } else if (attribute->type == DEVLINK_ATTR_PARAM_VALUE_DATA) {
      switch (payload.size()) {
        case sizeof(std::uint8_t): value = netlink_number<std::uint8_t>(payload); break;
        case sizeof(std::uint16_t): value = netlink_number<std::uint16_t>(payload); break;
        case sizeof(std::uint32_t): value = netlink_number<std::uint32_t>(payload); break;
        default: break;
      }
    }
  }
  if (!mode || !value) return;
  if (*mode == DEVLINK_PARAM_CMODE_PERMANENT) {
    parameter.next_start = value;
  } else if (*mode == DEVLINK_PARAM_CMODE_RUNTIME ||
             (*mode == DEVLINK_PARAM_CMODE_DRIVERINIT && !parameter.now)) {
    parameter.now = value;
  }
}

/// Nothing of one that is not asked for.
std::optional<DevlinkParameter> parameter_of(std::string_view attributes) {
  DevlinkParameter parameter;
  std::uint8_t type = 0;
  auto rest = attributes;
  while (const auto attribute = take_netlink_attribute(rest)) {
    if (attribute->type == DEVLINK_ATTR_PARAM_NAME) parameter.name = text_of(attribute->payload);
    if (attribute->type == DEVLINK_ATTR_PARAM_TYPE) {
      type = netlink_number<std::uint8_t>(attribute->payload).value_or(0);
    }
  }
  if (!contains(kDevlinkParameters, std::string_view(parameter.name))) return std::nullopt;
  while (const auto attribute = take_netlink_attribute(attributes)) {
    if (attribute->type != DEVLINK_ATTR_PARAM_VALUES_LIST) continue;
    auto values = attribute->payload;
    while (const auto value = take_netlink_attribute(values)) {
      if (value->type == DEVLINK_ATTR_PARAM_VALUE) take_value(value->payload, type, parameter);
    }
  }
  return parameter;
}

void blank_attributes(std::string& whole, std::string_view attributes) {
  auto rest = attributes;
  while (const auto attribute = take_netlink_attribute(rest)) {
    switch (attribute->type) {
      case DEVLINK_ATTR_BUS_NAME:
      case DEVLINK_ATTR_DEV_NAME: break;
      case DEVLINK_ATTR_PARAM:
        if (!parameter_of(attribute->payload)) blank_netlink(whole, attribute->payload);
        break;
      case DEVLINK_ATTR_INFO_VERSION_RUNNING: blank_version(whole, attribute->payload); break;
      default: blank_netlink(whole, attribute->payload); break;
    }
  }
  blank_netlink(whole, rest);
}

}  // namespace

std::string devlink_info_request(std::uint16_t family, std::string_view pci_address,
                                 std::uint32_t sequence) {
  return generic_request({family, DEVLINK_CMD_INFO_GET, DEVLINK_GENL_VERSION, false}, sequence,
                         text_attribute(DEVLINK_ATTR_BUS_NAME, "pci") +
                             text_attribute(DEVLINK_ATTR_DEV_NAME, pci_address));
}

std::string devlink_parameter_request(std::uint16_t family, std::string_view pci_address,
                                      std::string_view name, std::uint32_t sequence) {
  return generic_request({family, DEVLINK_CMD_PARAM_GET, DEVLINK_GENL_VERSION, false}, sequence,
                         text_attribute(DEVLINK_ATTR_BUS_NAME, "pci") +
                             text_attribute(DEVLINK_ATTR_DEV_NAME, pci_address) +
                             text_attribute(DEVLINK_ATTR_PARAM_NAME, name));
}

void blank_unread_info(std::string& messages) {
  std::string_view rest = messages;
  while (const auto message = take_netlink_message(rest)) {
    if (const auto attributes = generic_attributes(*message)) {
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
    auto attributes = message ? generic_attributes(*message) : std::nullopt;
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

Result<std::vector<DevlinkParameter>> devlink_parameters(std::string_view messages) {
  std::vector<DevlinkParameter> all;
  while (!messages.empty()) {
    const auto message = take_netlink_message(messages);
    auto attributes = message ? generic_attributes(*message) : std::nullopt;
    if (!attributes) return Error{ErrorCode::malformed, "not a message of devlink"};
    while (const auto attribute = take_netlink_attribute(*attributes)) {
      if (attribute->type != DEVLINK_ATTR_PARAM) continue;
      auto parameter = parameter_of(attribute->payload);
      if (!parameter || find_by(all, &DevlinkParameter::name, parameter->name) != nullptr) continue;
      all.push_back(*std::move(parameter));
    }
  }
  return all;
}

Result<std::optional<std::string>> ask_devlink_info(const std::string& pci_address) {
  std::string answer;
  std::string parameters;
  int error_number = 0;
  for (const auto name : kDevlinkParameters) {
    const auto question = [&](std::uint16_t family, std::uint32_t sequence) {
      return devlink_parameter_request(family, pci_address, name, sequence);
    };
    std::string one;
    // A refusal hides nothing of what the driver says of the device itself.
    if (ask_generic(DEVLINK_GENL_NAME, question, one, error_number) == GenericDatagram::answer) {
      parameters += one;
    }
  }
  const auto question = [&](std::uint16_t family, std::uint32_t sequence) {
    return devlink_info_request(family, pci_address, sequence);
  };
  switch (ask_generic(DEVLINK_GENL_NAME, question, answer, error_number)) {
    case GenericDatagram::absent:
      if (parameters.empty()) return kAbsent;
      [[fallthrough]];
    case GenericDatagram::answer:
      answer += parameters;
      blank_unread_info(answer);
      return std::optional(answer);
    default: return host_error(devlink_path(pci_address), error_number);
  }
}

}  // namespace railhead::host
