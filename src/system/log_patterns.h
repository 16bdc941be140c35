// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace railhead::system {

/// What a line of the kernel's log is about. A line has one at most.
enum class LogTopic : std::uint8_t {
  none,
  firmware,    ///< a NIC's firmware died, or a command of it
  optics,      ///< a transceiver or a cable
  power,       ///< the slot gives too little
  restricted,  ///< a register was read that this function may not read
  peermem,     ///< nvidia_peermem and the driver stack
  dmabuf,      ///< a GPU's driver refused a NIC its memory
  iommu,       ///< a transfer was stopped
  aer,         ///< PCIe says that an error was not corrected
  driver,      ///< a driver did not come up, or a queue of it stands still
  pinning,     ///< memory could not be pinned
  gpu,         ///< a GPU, its NVLink or its way to the CPU
};

/// Lines in which all these words stand.
struct LogPattern {
  LogTopic topic;
  std::array<std::string_view, 2> words;
  /// Other devices say it, too: a line counts where it names a NIC or GPU of this machine, their
  /// driver, or a bridge above them.
  bool names_device = false;
};

/// The first that fits counts.
std::span<const LogPattern> log_patterns();

/// The pattern that a line fits; nullptr: none.
const LogPattern* pattern_of(std::string_view line);

/// "mlx5_core 0000:18:00.0 ens1: Link down", "ice 0000:18:00.0 ens1: NIC Link is Down".
bool says_link_down(std::string_view line);
/// The same, of the function at this address.
bool says_link_down(std::string_view line, const std::string& address);

}  // namespace railhead::system
