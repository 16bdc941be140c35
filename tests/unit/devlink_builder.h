// SPDX-License-Identifier: Apache-2.0
//
// What the kernel's devlink says of devices, for tests. The numbers are those of Linux
// include/uapi/linux/{genetlink,devlink}.h.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "host/host.h"
#include "unit/host/empty_host.h"
#include "unit/netlink_builder.h"

namespace railhead::test {

inline std::string generic_header(unsigned command, unsigned version) {
  return raw(static_cast<std::uint8_t>(command)) + raw(static_cast<std::uint8_t>(version)) +
         raw(std::uint16_t{0});
}

/// A message of the family, as an answer to DEVLINK_CMD_INFO_GET.
inline std::string devlink_message(const std::string& attributes, std::uint32_t sequence = 2) {
  return message(0x1a,
                 generic_header(51, 1) + text_attribute(1, "pci") +
                     text_attribute(2, "0000:3b:00.0") + attributes,
                 0, sequence);
}

/// 100 is a fixed version, 101 one that runs, 102 one that is stored.
inline std::string version(unsigned kind, const std::string& name, const std::string& value) {
  return attribute(kind, text_attribute(103, name) + text_attribute(104, value));
}

inline std::string running(const std::string& name, const std::string& value) {
  return version(101, name, value);
}

/// An answer as ice gives it.
inline std::string device_info(const std::string& package) {
  return devlink_message(text_attribute(98, "ice") + version(100, "board.id", "K65390-000") +
                         running("fw.mgmt", "7.5.4") + running("fw.app.name", package) +
                         running("fw.app", "1.3.36.0") + version(102, "fw.mgmt", "7.5.4"));
}

/// A host whose kernel gives these answers, and has nothing else.
class DevlinkHost : public EmptyHost {
 public:
  using Answer = Result<std::optional<std::string>>;

  explicit DevlinkHost(std::map<std::string, Answer> answers)
      : answers_(std::move(answers)) {}

  Answer devlink_info(const std::string& pci_address) override {
    asked_.push_back(pci_address);
    const auto at = answers_.find(pci_address);
    return at != answers_.end() ? at->second : Answer(std::optional<std::string>());
  }

  [[nodiscard]] const std::vector<std::string>& asked() const { return asked_; }

 private:
  std::map<std::string, Answer> answers_;
  std::vector<std::string> asked_;
};

}  // namespace railhead::test
