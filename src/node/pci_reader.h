// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/vendors.h"
#include "node/again.h"
#include "node/pci.h"
#include "node/reader.h"

namespace railhead::node {

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

/// The row of a function that its vendor and class say is a GPU; nullptr for others, a processor's
/// own graphics among them.
const gpu::GpuRow* gpu_row_of(const PciDevice& function);

bool is_network_class(std::uint32_t class_code);

/// The functions of /sys/bus/pci/devices.
class PciList {
 public:
  /// Reads the list of addresses, and the functions that are new or named, with the physical
  /// functions of virtual ones that came or went.
  void refresh(Reader& reader, const Again& again);

  /// Adds the virtual functions of named physical ones, which take from those what they have in
  /// common, and the other way about, since a physical one counts them.
  void add_relatives(std::set<PciAddress>& named) const;

  /// GPUs, NVSwitches, network functions, the ConnectX-8 data-direct function, the functions of
  /// `also`, and all bridges above them; sorted by address. Link speed and width are read of GPUs
  /// and network functions that are not virtual; of bridges only what both can be. Called once
  /// after each refresh().
  std::vector<PciDevice> kept(Reader& reader, const std::set<PciAddress>& also);

  void report(Reader& reader) const;

 private:
  struct Function {
    PciDevice device;
    std::string path;           ///< canonical folder
    bool found = false;         ///< what it is could be read
    bool asked_physfn = false;  ///< whether it is virtual is known
    bool is_virtual = false;
    bool knows_numa = false;  ///< its node, or that it has none, from its physical function
    bool detailed = false;    ///< read_details() was here
    bool fresh = true;        ///< read at the last refresh()
    std::vector<Problem> problems;
    std::vector<Problem> late_problems;  ///< of details that were read only for what is below
  };

  Function read_function(Reader& reader, const std::string& name, const PciAddress& address);
  void claim_virtual(Reader& reader, const Function& physical);
  static void take_place(const Function& physical, Function& function);
  std::optional<std::string> driver_of_virtual(Reader& reader, const Function& function);
  bool identify_virtual(Reader& reader, Function& function);
  void read_physfn(Reader& reader, Function& function) const;
  void read_details(Reader& reader, Function& function);
  void read_iommu_group(Reader& reader, Function& function);
  void number_virtual(Reader& reader);
  /// What was read before of a function that the same driver has held since.
  [[nodiscard]] const PciDevice* unchanged(const Function& function) const;

  std::map<PciAddress, Function> functions_;
  std::map<PciAddress, Function> before_;                  ///< until kept(): the last reading
  bool all_ = false;                                       ///< until kept(): named by no event
  std::vector<Problem> problems_;                          ///< of the list itself
  std::map<std::string, std::string> not_addresses_;       ///< names in the list, and what is wrong
  std::vector<PciAddress> kept_late_;                      ///< those whose late_problems count
  std::set<std::string, std::less<>> folders_of_virtual_;  ///< of functions that have virtual ones
  std::map<PciAddress, PciDevice> first_virtual_;          ///< by physical function
  std::map<PciAddress, PciAddress> physical_of_;           ///< by virtual function, as it was read
  std::size_t claims_ = 0;                                 ///< on places in it
  std::map<PciAddress, std::string> bound_;                ///< to a driver of listed_drivers_
  std::set<std::string> listed_drivers_;                   ///< those of virtual functions
  std::optional<std::vector<std::string>> vfio_groups_;    ///< as their class names them
};

}  // namespace railhead::node
