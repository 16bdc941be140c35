// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "node/node.h"
#include "node/reader.h"
#include "node/sysfs_class.h"

namespace railhead {

/// RDMA devices of /sys/class/infiniband (`rdma` are its entries), and PCI functions that would be
/// RDMA devices if their driver had registered them. These are, among functions without one:
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
/// Their position and netdevs come from `pci` and `net` (entries of /sys/class/net). Sorted by PCI
/// address, then name; soft devices last.
std::vector<Nic> read_nics(Reader& reader, RdmaNetns netns, const std::vector<ClassEntry>& rdma,
                           const std::vector<ClassEntry>& net, const std::vector<PciDevice>& pci);

/// Takes away functions that have no RDMA device by design: in a link aggregation mlx5 registers
/// one device for both ports of a card, with its first function. Told by the bond: the netdev of
/// the function has the same master as that of an RDMA device in its slot. Source: Linux
/// drivers/net/ethernet/mellanox/mlx5/core/lag.
void drop_bond_members(std::vector<Nic>& nics, const std::vector<Netdev>& netdevs);

}  // namespace railhead
