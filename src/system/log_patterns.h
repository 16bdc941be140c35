// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "node/pci.h"

namespace railhead::system {

/// What a line of the kernel's log tells of. A line has one at most.
enum class LogCause : std::uint8_t {
  none,
  firmware_died,        ///< a NIC's firmware, or the NIC as a whole
  firmware_silent,      ///< it does not answer a command
  command_queue_full,   ///< no place for one more command
  no_fatal_reporter,    ///< the driver will not be told of a fatal error
  bad_module,           ///< a transceiver or a cable reports heat or an error
  refused_module,       ///< a transceiver that the NIC does not take
  hot_device,           ///< a sensor of the NIC itself
  little_power,         ///< the slot gives too little
  restricted_register,  ///< a register was read that this function may not read
  peermem_symbols,      ///< nvidia_peermem and the RDMA stack do not fit
  peermem_driver,       ///< a peermem module and NVIDIA's driver do not fit
  peermem_mitigation,   ///< a line that tells of nothing wrong
  refused_dmabuf,       ///< a GPU's driver refused a NIC its memory
  stopped_transfer,     ///< by the IOMMU, of a function that the line names
  stopped_unnamed,      ///< by the IOMMU, of a function that the line does not name
  uncorrected_error,    ///< on PCIe
  not_recovered,        ///< a PCIe function after such an error
  failed_function,      ///< a driver did not start a function
  safe_mode,            ///< ice runs without its package, and so without RDMA
  mixed_modules,        ///< a module misses a symbol, or has one of another stack
  stuck_queue,          ///< a transmit queue
  failed_port,          ///< the core could not open or register it
  failed_soft_device,   ///< of rxe
  no_memory_to_pin,     ///< ENOMEM
  no_such_memory,       ///< EFAULT: pages that the kernel cannot pin
  not_pinned,           ///< another reason, or none that is said
  no_memory_keys,       ///< of the device, all are in use
  device_full,          ///< of another kind of object
  large_region,         ///< larger than the device takes
  refused_connection,   ///< a queue pair could not be connected
  refused_command,      ///< a device or driver refused to make something
  firmware_fault,       ///< firmware calls an error of its own
  gpu_fault,            ///< of a GPU, its NVLink or its way to the CPU
};

/// Whose function a line has to be about, because other devices say the same.
enum class Named : std::uint8_t {
  anyone,    ///< it is about a NIC or GPU whatever it names
  endpoint,  ///< it names a function of a NIC or GPU of this machine, or such a NIC's driver
  path,      ///< the same, or a bridge above one
};

/// Lines of these writers in which these words stand.
struct LogPattern {
  LogCause cause;
  std::string_view writers;  ///< see writer_of(), globs with blanks between; "": whoever
  std::string_view first;
  std::string_view second{};    ///< "": no second word
  std::string_view commands{};  ///< mlx5's, globs with blanks between; "": no command is asked for
  std::string_view statuses{};  ///< of the command, with commas between; "": any
  Named named = Named::anyone;
  /// Where an address stands behind this word, only that one counts.
  std::string_view names_behind{};
};

/// The first that fits counts.
std::span<const LogPattern> log_patterns();

/// The pattern that a line fits; nullptr: none.
const LogPattern* pattern_of(std::string_view line);

/// What a line begins with: the driver, module, or function of the kernel that wrote it.
/// "mlx5_core 0000:18:00.0: …" is of mlx5_core, "nvidia_peermem: …" of nvidia_peermem,
/// "mlx5_ib.rdma: …" of mlx5_ib. A line "infiniband mlx5_0: …" is of whoever has made that device.
std::string_view writer_of(std::string_view line);

/// Whether this driver or module is among those whose lines a pattern is about.
bool is_of(const LogPattern& pattern, std::string_view writer);

/// Whether it is about what one driver writes, and not what the kernel writes of any.
bool is_of_one_driver(const LogPattern& pattern);

/// A command that mlx5's firmware did not carry out.
struct FailedCommand {
  std::string_view command;  ///< "CREATE_MKEY"
  std::string_view status;   ///< "no resources"
};

/// Source: Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c, mlx5_cmd_out_err(); before 5.18 the
/// same words are mlx5_cmd_check()'s.
std::optional<FailedCommand> failed_command(std::string_view line);

/// The PCI functions that a line names.
std::vector<node::PciAddress> addresses_in(std::string_view line);

/// "mlx5_core 0000:18:00.0 ens1: Link down", "ice 0000:18:00.0 ens1: NIC Link is Down".
bool says_link_down(std::string_view line);
/// The same, of the function at this address.
bool says_link_down(std::string_view line, const std::string& address);

}  // namespace railhead::system
