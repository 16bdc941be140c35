// SPDX-License-Identifier: Apache-2.0
#include "setup/pci_control.h"

#include <bit>

#include "base/text.h"
#include "setup/functions.h"

namespace railhead::setup {
namespace {

constexpr std::uint16_t kReset = 0x8000;            // PCI_EXP_DEVCTL_BCR_FLR
constexpr std::uint16_t kRelaxedOrdering = 0x0010;  // PCI_EXP_DEVCTL_RELAX_EN
constexpr std::uint16_t kReadRequest = 0x7000;      // PCI_EXP_DEVCTL_READRQ
constexpr unsigned kReadRequestShift = 12;
constexpr unsigned kSmallestRead = 128;
constexpr unsigned kLargestRead = 4096;

constexpr std::string_view kFieldNames[] = {"max-read-request", "relaxed-ordering"};

std::string config_path(const std::string& subject) {
  return function_path(subject.substr(0, subject.find('/')), "config");
}

PciField field_of(const std::string& subject) {
  return subject.ends_with(kFieldNames[0]) ? PciField::max_read_request
                                           : PciField::relaxed_ordering;
}

Result<node::PciConfig> config_of(host::Host& host, const std::string& path) {
  const auto bytes = TRY(host.read(path));
  if (!bytes) return Error{ErrorCode::unavailable, path + " is not there"};
  return node::parse_pci_config(*bytes);
}

Result<std::uint16_t> with_field(std::uint16_t control, PciField field, const std::string& value) {
  const auto number = TRY(parse_unsigned(value));
  const auto kept = static_cast<std::uint16_t>(control & ~kReset);
  if (field == PciField::relaxed_ordering && number <= 1) {
    const auto without = static_cast<std::uint16_t>(kept & ~kRelaxedOrdering);
    return static_cast<std::uint16_t>(number == 1 ? without | kRelaxedOrdering : without);
  }
  if (field == PciField::max_read_request && std::has_single_bit(number) &&
      number >= kSmallestRead && number <= kLargestRead) {
    const auto code = static_cast<unsigned>(std::countr_zero(number / kSmallestRead));
    return static_cast<std::uint16_t>((kept & ~kReadRequest) | (code << kReadRequestShift));
  }
  return Error{ErrorCode::malformed, in_quotes(value) + " is no value of this field"};
}

}  // namespace

std::string pci_subject(const std::string& address, PciField field) {
  return address + "/" + std::string(kFieldNames[static_cast<std::size_t>(field)]);
}

std::string text_of_field(const node::PciConfig& config, PciField field) {
  if (!config.device_control) return "";
  return field == PciField::relaxed_ordering ? (*config.relaxed_ordering() ? "1" : "0")
                                             : std::to_string(*config.max_read_request_bytes());
}

std::string read_pci_field(host::Host& host, const std::string& subject) {
  const auto config = config_of(host, config_path(subject));
  return config ? text_of_field(*config, field_of(subject)) : "";
}

Result<PciWrite> pci_write(host::Host& host, const std::string& subject, const std::string& value) {
  const std::string path = config_path(subject);
  const auto config = TRY(config_of(host, path));
  if (!config.device_control) {
    return Error{ErrorCode::denied, path + ": without CAP_SYS_ADMIN only 64 bytes can be read"};
  }
  const auto control = TRY(with_field(*config.device_control, field_of(subject), value));
  return PciWrite{path, config.device_control_at, control};
}

}  // namespace railhead::setup
