// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/node.h"
#include "topology/nccl_topology.h"

namespace railhead::topology {

/// PCI domain of bridges that a source implies without naming them. Linux numbers domains from 0,
/// and what it invents itself (VMD, Hyper-V) has at most 20 bits.
inline constexpr std::uint32_t kInventedDomain = 0xffffffff;

/// Whether a bridge with this address was made up: by one of the above, or by the author of a
/// topology file, who writes ffff:ff:01.0 and so on.
bool is_invented(const node::PciAddress& bridge);

/// Where a function hangs, by another source than its own sysfs path.
struct Position {
  node::PciAddress function;
  std::string root;  ///< as PciDevice::root; functions that share a host bridge have the same
  std::vector<node::PciAddress> bridges;  ///< as PciDevice::bridges: a switch is two of them
  std::optional<int> numa_node;

  friend bool operator==(const Position&, const Position&) = default;
};

/// A machine's PCI tree by another source than sysfs: only the functions it knows.
struct Layout {
  std::vector<Position> positions;    ///< by address, each once
  std::vector<std::string> warnings;  ///< contradictions in the source
};

/// The tree of a topology file. A switch of the file is an upstream port and one downstream port
/// for each thing below it, so that relations follow from it as from sysfs (topology.h). Functions
/// that meet only at a <cpu> share a host bridge where they are on one bus (PHB), else none (NODE).
/// A switch that the file names keeps its address; its downstream ports are in kInventedDomain.
Layout layout_of(const NcclTopology& topology);

/// Where the layout puts a function: by its own address, else with its physical function, else with
/// function 0 of its card, which stands for the whole card in a topology file (NCCL
/// src/transport/net_ib merges ports and virtual functions). nullptr: the layout does not say.
const Position* find_position(const Layout& layout, const node::PciDevice& device);

/// Whose NUMA node counts where layout and sysfs both have one.
enum class NumaOf : std::uint8_t { layout, sysfs };

/// The node with the functions of the layout moved to their positions, NUMA nodes of GPUs and NICs
/// with them, and the layout's bridges that sysfs does not have added as PCI-to-PCI bridges.
/// Functions the layout does not know stay where they are.
node::Node moved(node::Node node, const Layout& layout, NumaOf numa = NumaOf::layout);

/// A machine of which nothing but such a file is known (`--nccl-topo`): GPUs numbered by PCI
/// address, a NIC for each distinct <net> name (several ports of a name are ports of one device)
/// or, without <net>s, for each network function, named by its address; ports ACTIVE with the
/// file's speed; NUMA nodes with the CPUs of their masks. NICs of one function, and those of
/// none, are in the file's order. Character devices and drivers are not known. What the file and
/// its layout warn of is not repeated here.
node::Node node_from(const NcclTopology& topology);

/// Functions of such a node of which the file does not say what they are: no class, <gpu>, <net>.
std::vector<node::PciAddress> unclassified_functions(const node::Node& node);

/// The other way: what NCCL should know of this machine. Bridges become one <pci> a switch
/// (two bridges of a path), host bridges vanish, NICs are all RDMA devices that the node has.
NcclTopology nccl_topology_of(const node::Node& node);

}  // namespace railhead::topology
