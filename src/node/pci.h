// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace railhead::node {

/// Where a PCI function is: domain:bus:device.function. Domains may have more than four hexadecimal
/// digits (Intel VMD, Hyper-V); ordering is that of lspci.
struct PciAddress {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0;
  std::uint8_t device = 0;
  std::uint8_t function = 0;

  /// "0000:18:00.0", also "18:00.0" (domain 0) and the eight-digit domain of NVML
  /// ("00000000:18:00.0"); either case.
  static Result<PciAddress> parse(std::string_view text);

  /// As the kernel prints it: at least four digits of domain, lower case.
  [[nodiscard]] std::string str() const;

  friend auto operator<=>(const PciAddress&, const PciAddress&) = default;
};

/// PciAddress::parse() for texts that are often none, such as the components of a path.
std::optional<PciAddress> pci_address_of(std::string_view text);

/// A device on the bus "vdpa": a function that speaks virtio, its rings in hardware.
/// Source: Linux drivers/vdpa/vdpa.c; the node: vhost_vdpa_probe() in drivers/vhost/vdpa.c.
struct VdpaDevice {
  std::string name;                      ///< "vdpa0", or what its maker called it
  std::optional<std::string> driver;     ///< absent where none is bound
  std::optional<unsigned> vhost_number;  ///< of vhost_vdpa: the node is /dev/vhost-vdpa-<number>

  /// "vhost", "virtio" as the bound driver makes it; "" with any other driver, and without one.
  [[nodiscard]] std::string_view type() const {
    if (driver == "vhost_vdpa") return "vhost";
    return driver == "virtio_vdpa" ? "virtio" : "";
  }

  friend bool operator==(const VdpaDevice&, const VdpaDevice&) = default;
};

inline constexpr std::uint16_t kVendorMellanox = 0x15b3;
inline constexpr std::uint16_t kVendorAmazon = 0x1d0f;
inline constexpr std::uint32_t kPciDisplayClass = 0x030000;  ///< VGA compatible controller
inline constexpr std::uint32_t kPciBridgeClass = 0x060400;   ///< PCI to PCI bridge

/// vfio-pci, or mlx5_vfio_pci and others that do the same for one vendor's functions.
inline bool is_vfio_driver(std::string_view driver) {
  return driver.ends_with("vfio-pci") || driver.ends_with("vfio_pci");
}

/// One function or bridge of the PCI tree, with what sysfs says of it.
/// Source: Linux Documentation/ABI/testing/sysfs-bus-pci.
struct PciDevice {
  PciAddress address;
  std::string root;                 ///< host bridge ("pci0000:00"), "" when the path is not known
  std::vector<PciAddress> bridges;  ///< from the root port down to the direct parent; may be empty
  std::uint32_t class_code = 0;     ///< 24 bits, such as 0x020700
  std::uint16_t vendor = 0;
  std::uint16_t device = 0;
  std::uint16_t subsystem_vendor = 0;
  std::uint16_t subsystem_device = 0;
  std::optional<int> numa_node;       ///< absent when the file is absent or says -1
  std::optional<std::string> driver;  ///< bound kernel driver
  std::optional<PciAddress> physfn;   ///< a virtual function's physical function
  std::optional<unsigned> vf_number;  ///< of a virtual function: its place among its siblings
  /// The number that the firmware gives an onboard device (PCI firmware specification, _DSM).
  std::optional<unsigned> acpi_index;
  /// IOMMU group, whose node is /dev/vfio/<group>; set only while a vfio driver is bound.
  std::optional<unsigned> iommu_group;
  /// The running Dynamic Device Personalization package of an Intel physical function, "ICE OS
  /// Default Package". Absent also where the driver does not name it (i40e).
  std::optional<std::string> ddp_package;
  bool no_iommu = false;  ///< vfio does without an IOMMU: the node is /dev/vfio/noiommu-<group>
  std::vector<VdpaDevice> vdpa;  ///< its own, by name; those of its scalable functions are not
  std::optional<unsigned> sriov_totalvfs;
  std::optional<unsigned> sriov_numvfs;
  std::optional<double> link_gts;      ///< current_link_speed in GT/s
  std::optional<double> max_link_gts;  ///< max_link_speed in GT/s
  std::optional<unsigned> link_width;  ///< lanes now
  std::optional<unsigned> max_link_width;

  [[nodiscard]] bool is_bridge() const { return (class_code >> 8) == 0x0604; }

  [[nodiscard]] bool is_vf() const { return physfn.has_value(); }

  /// The second function of a ConnectX-8, which moves the data of GPUs.
  /// Source: NCCL src/graph/topo.cc; rdma-core kernel-boot/rdma_topo.
  [[nodiscard]] bool is_data_direct() const {
    return vendor == kVendorMellanox && device == 0x2100;
  }

  [[nodiscard]] bool held_by_vfio() const { return driver && is_vfio_driver(*driver); }

  /// "26", "noiommu-26": the node of its IOMMU group in /dev/vfio; absent where it has none.
  [[nodiscard]] std::optional<std::string> vfio_group_name() const {
    if (!held_by_vfio() || !iommu_group) return std::nullopt;
    return (no_iommu ? "noiommu-" : "") + std::to_string(*iommu_group);
  }

  friend bool operator==(const PciDevice&, const PciDevice&) = default;
};

}  // namespace railhead::node
