// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/again.h"
#include "node/pci.h"
#include "node/reader.h"

namespace railhead::node {

/// One entry of /sys/class/<class>, such as an RDMA device or a netdev.
struct ClassEntry {
  std::string name;
  std::string path;               ///< its folder, links of the class folder already followed
  std::string parent;             ///< folder of the device that carries it; "" when not known
  std::optional<PciAddress> pci;  ///< nearest PCI function above it; absent for virtual devices
};

/// All entries of a class folder. The link text /sys/class/net/x ->
/// ../../devices/pci0000:15/0000:15:01.0/0000:16:00.0/net/x tells where the device hangs without
/// another read; trees without that link are asked through `device`.
std::vector<ClassEntry> class_entries(Reader& reader, const std::string& folder);

/// A class folder that is read again in parts: entries that are not named keep what was read.
struct ClassList {
  struct Item {
    ClassEntry entry;
    std::vector<Problem> problems;
    bool fresh = true;  ///< read at the last refresh()
  };

  std::map<std::string, Item, std::less<>> items;  ///< by name
  std::vector<Problem> problems;                   ///< of the folder itself

  /// Reads the list of names, and the entries that are new, named, or of a function of `again`.
  void refresh(Reader& reader, const std::string& folder, const host::MachineChanges::Names& named,
               const Again& again);

  void report(Reader& reader) const;
};

/// The last PCI address among the components of a path.
std::optional<PciAddress> last_pci_address(std::string_view path);

/// The folder above, "" for none.
std::string parent_path(const std::string& path);

}  // namespace railhead::node
