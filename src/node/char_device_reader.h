// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/again.h"
#include "node/node.h"
#include "node/reader.h"
#include "node/sysfs_class.h"

namespace railhead::node {

/// Character devices of one RDMA device.
struct RdmaCharDevices {
  std::vector<CharDevice> uverbs;
  std::vector<CharDevice> umads;  ///< by port
  std::vector<CharDevice> issms;  ///< by port
  std::string parent{};           ///< folder of the device that carries them; "" when not known
  std::optional<PciAddress> pci{};
};

/// The nodes of RDMA devices. The number in uverbsN is not the number in mlx5_N: what belongs
/// together is said by the attribute `ibdev`. Source: Linux
/// Documentation/ABI/stable/sysfs-class-infiniband.
class CharDeviceList {
 public:
  /// Reads the lists of names, and the nodes that are new, named, or of a named device.
  void refresh(Reader& reader, const Again& again);

  /// By RDMA device name.
  [[nodiscard]] std::map<std::string, RdmaCharDevices> by_device() const;

  void report(Reader& reader) const;

 private:
  struct Item {
    std::uint64_t port = 0;
    unsigned number = 0;
    std::string ibdev;
    std::optional<CharDevice> device;
    std::vector<Problem> problems;
  };

  /// A class folder, and what each entry of it says.
  struct Class {
    ClassList entries;
    std::map<std::string, Item, std::less<>> items;
  };

  /// Items of one kind, by port and number.
  struct Ordered {
    const Item* item = nullptr;
    const ClassEntry* entry = nullptr;
  };

  static void refresh(Reader& reader, const std::string& folder, std::uint32_t default_mode,
                      const Again& again, Class& all);
  static Item read_item(Reader& reader, const ClassEntry& entry, std::uint32_t default_mode);
  static std::vector<Ordered> ordered(const Class& all, std::string_view prefix);
  static void report(const Class& all, std::string_view prefix, Reader& reader);

  Class verbs_;
  Class mads_;
};

/// /dev/infiniband/rdma_cm; absent where neither sysfs nor /dev has it.
std::optional<CharDevice> read_rdma_cm(Reader& reader);

/// /dev/gdrdrv by the number that GDRCopy's module has now; absent where it is not loaded. The node
/// itself may be stale: a script makes it. Source: NVIDIA gdrcopy src/gdrdrv/gdrdrv.c
/// (register_chrdev), insmod.sh.
std::optional<CharDevice> read_gdrdrv(Reader& reader);

/// What functions without RDMA bring along. One whose number nobody says is not in it.
/// Source: Linux drivers/vfio/group.c (class "vfio", named by vfio_create_group()),
/// drivers/vfio/container.c (misc device "vfio"), drivers/vhost/vdpa.c (below its vDPA device).
std::vector<FunctionDevice> read_function_devices(Reader& reader,
                                                  const std::vector<PciDevice>& functions);

}  // namespace railhead::node
