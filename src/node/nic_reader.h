// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/again.h"
#include "node/char_device_reader.h"
#include "node/node.h"
#include "node/reader.h"
#include "node/sysfs_class.h"

namespace railhead::node {

/// RDMA devices of /sys/class/infiniband, and PCI functions that would be RDMA devices if their
/// driver had registered them. These are, among functions without one:
///   - physical functions of class 0207 (InfiniBand controller), whatever drives them;
///   - physical network functions of vendor 15b3 that are bound to mlx5_core or mlx4_core, or
///   unbound;
///   - virtual functions of those kinds that are bound to mlx5_core or mlx4_core (in the exclusive
///     mode of RDMA namespaces without ib_uverbs, such as were moved into a pod). Unbound ones are
///     nobody's loss.
/// In the exclusive mode a device that was moved into another network namespace is not in
/// /sys/class/infiniband (Linux drivers/infiniband/core/device.c: ib_class has a ns_type), and its
/// nodes stay in /sys/class/infiniband_verbs below its function, under the numbers that they have
/// now (uverbs_main.c: that class has none): it is a NIC that is `elsewhere`.
class NicList {
 public:
  /// Reads the attributes and ports of devices that are new, named, or of a named function. `rdma`
  /// are the entries of /sys/class/infiniband.
  void refresh(Reader& reader, const ClassList& rdma, const Again& again);

  /// Adds the devices whose ports follow these interfaces. `net` are the entries of /sys/class/net.
  void add_relatives(const ClassList& rdma, const ClassList& net,
                     const host::MachineChanges::Names& netdevs,
                     host::MachineChanges::Names& named) const;

  /// Netdevs below soft devices.
  [[nodiscard]] std::set<std::string> parents() const;

  /// Their position and netdevs come from `pci` and `net`. Sorted by PCI address, then name; soft
  /// devices last. Reads the numbers of scalable functions that are elsewhere.
  std::vector<Nic> nics(Reader& reader, RdmaNetns netns, const ClassList& rdma,
                        const ClassList& net, const std::vector<PciDevice>& pci,
                        std::map<std::string, RdmaCharDevices> nodes);

  void report(Reader& reader) const;

 private:
  struct Item {
    std::optional<Nic> nic;  ///< absent: it has gone meanwhile
    std::vector<Problem> problems;
  };

  std::map<std::string, Item, std::less<>> items_;
  std::vector<Problem> elsewhere_problems_;
};

/// Takes away functions that have no RDMA device by design: in a link aggregation mlx5 registers
/// one device for both ports of a card, with its first function. Told by the bond: the netdev of
/// the function has the same master as that of an RDMA device in its slot. Source: Linux
/// drivers/net/ethernet/mellanox/mlx5/core/lag.
void drop_bond_members(std::vector<Nic>& nics, const std::vector<Netdev>& netdevs);

}  // namespace railhead::node
