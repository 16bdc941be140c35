// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "node/pci.h"
#include "node/reader.h"

namespace railhead {

inline constexpr std::uint16_t kVendorNvidia = 0x10de;
inline constexpr std::uint16_t kVendorAmd = 0x1002;
inline constexpr std::uint16_t kVendorHygon = 0x1d94;
inline constexpr std::uint16_t kVendorMellanox = 0x15b3;

/// Host bridge and bridges of a canonical sysfs path:
/// /sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0 has root pci0000:15 and the bridge
/// 0000:15:01.0. What stands before the last host bridge (ACPI and VMBUS folders, the function of
/// an Intel VMD) is not part of it.
struct PciPath {
  std::string root;
  std::vector<PciAddress> bridges;
};

/// The root is "" when the path has no host bridge or does not end in a PCI address.
PciPath parse_pci_path(std::string_view path);

/// VGA, 3D, other display controllers and processing accelerators: what GPUs say they are.
bool is_gpu_class(std::uint32_t class_code);

/// AMD, and Hygon, whose DCU has AMD's kernel interfaces (kfd, drm).
bool is_amd_kind(std::uint16_t vendor);

bool is_network_class(std::uint32_t class_code);

/// GPUs, NVSwitches, network functions, the ConnectX-8 data-direct function, the functions of
/// `also`, and all bridges above them; sorted by address. Link speed and width are read of GPUs and
/// network functions that are not virtual.
std::vector<PciDevice> read_pci(Reader& reader, const std::set<PciAddress>& also);

}  // namespace railhead
