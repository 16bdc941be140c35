// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railhead::setup {

/// What a step may cost.
enum class Risk : std::uint8_t {
  live,     ///< R1: nothing that runs notices
  restart,  ///< R2: a service is restarted, or systemd reads its files again
  reboot,   ///< R4: takes effect with the next boot
};
std::string_view to_string(Risk risk);  ///< "R1", "R2", "R4"

enum class StepState : std::uint8_t {
  todo,     ///< apply does it
  done,     ///< it is so already
  refused,  ///< riskier than what was consented to, or not ours to change; the reason says it
  parked,   ///< cannot be done now, or waits for something; the reason says it
};
std::string_view to_string(StepState state);

/// One thing that is changed, and can be changed back.
struct Change {
  enum class Kind : std::uint8_t {
    file,       ///< a file's content; its folder is made
    module,     ///< a kernel module is loaded
    attribute,  ///< an attribute of /proc/sys or /sys
    service,    ///< a systemd unit is restarted, after its files were read again
    functions,  ///< a PCI function has so many virtual functions
    identity,   ///< a virtual function has an address of its own, and is bound anew
    unit,       ///< a systemd unit is started, after its files were read again
    pci,        ///< a field of a PCI function
    link,       ///< a setting of a netdev, as setup/link_control.h names it
    driver,     ///< a PCI function is bound to a driver
  };
  Kind kind = Kind::file;
  std::string subject;  ///< path, PCI address, field or setting, or the module's or unit's name
  /// The file's bytes, the attribute's text, the number of functions, why a service is restarted.
  std::string value;
  bool is_optional = false;  ///< where it fails, the step goes on
  /// Of a file: the bytes that the plan goes by; absent: there was none. Others are not changed.
  std::optional<std::string> was{};
  std::string files{};  ///< of a service: a hash of what it is to read anew
};

/// One thing that is wanted, with what there is to do for it.
struct Step {
  std::string id;          ///< "modules.loaded/ib_umad", stable
  std::string title;       ///< "module ib_umad is loaded"
  Risk risk = Risk::live;  ///< at least; what its changes cost comes to it
  StepState state = StepState::done;
  std::string before{};           ///< in a few words
  std::string after{};            ///< likewise
  std::string reason{};           ///< where it is said already, or why it is refused or parked
  std::vector<Change> changes{};  ///< in this order; also of a step that its risk refuses
};

/// What a change costs by the commands and attributes that it takes.
Risk risk_of(const Change& change);

using Plan = std::vector<Step>;

}  // namespace railhead::setup
