// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/node.h"

namespace railhead::topology {

/// How two PCI functions are connected, in the words of `nvidia-smi topo -m`, nearest first.
///   pix   at most one PCIe switch between them
///   pxb   several switches, no host bridge
///   phb   the host bridge
///   node  several host bridges of one NUMA node
///   sys   the interconnect between NUMA nodes (also where nothing is known)
///
/// Counting bridges. In sysfs a root port is one bridge function, and a switch is two on every
/// path: its upstream port and one downstream port. The lowest bridge above both functions is
/// therefore the upstream port of the switch where their paths part (or the root port, for
/// functions of one card), and a path that enters no further switch has one bridge below it, that
/// switch's downstream port. So it is PIX when neither path has more than one bridge below the
/// common one, else PXB.
///   DGX H100: two switches deep, three bridges below on both sides: PXB
///   HGX H100: one switch, one bridge below: PIX; both functions of a card, none below: PIX
///   MI300X:   the GPU package has a switch of its own, three below: PXB even on the NIC's switch
///   Intel:    a card's switch is not counted (no tool prints these words for them): PIX there
/// A common root port with nothing in common below it is the same bridge count, not a host bridge;
/// PHB is a common "pciDDDD:BB" and no common bridge at all (devices on root ports of their own).
/// Checked against machines that published `lspci -tv` or `lspci -PP` beside `topo -m`.
enum class Relation : std::uint8_t { pix, pxb, phb, node, sys };
std::string_view to_string(Relation relation);  ///< "PIX"

/// A relation with what breaks ties between equal ones. Ordering: nearer is less.
struct Nearness {
  Relation relation = Relation::sys;
  bool same_socket = false;  ///< counts within SYS only: the same socket first
  int common_depth =
      0;  ///< bridges above the lowest common bridge, itself included; deeper is nearer

  friend bool operator==(const Nearness&, const Nearness&) = default;
  friend std::strong_ordering operator<=>(const Nearness& a, const Nearness& b);
};

/// Where a topology came from, and how far to trust it (virtual machines lie).
enum class TopologySource : std::uint8_t { pci_tree, topology_file, machine_table, numa };
enum class Confidence : std::uint8_t { high, medium, low };
std::string_view to_string(TopologySource source);
std::string_view to_string(Confidence confidence);

/// Relations of the GPUs of a node to each other and to its NICs. Rows and columns are in the
/// node's order.
struct Topology {
  std::vector<std::vector<Nearness>> gpu_nic;  ///< [gpu][nic]
  std::vector<std::vector<Nearness>> gpu_gpu;  ///< diagonal: pix
  TopologySource source = TopologySource::pci_tree;
  Confidence confidence = Confidence::high;
  std::string origin;  ///< file or type of machine that it is from; "" for sysfs alone
  /// The type that the table of known machines has for this one, and how many compute NICs such a
  /// machine has; "" where it has none.
  std::string machine;
  std::size_t machine_nics = 0;
  std::vector<std::string> warnings;
};

/// The lowest bridge above both functions, absent where there is none.
std::optional<node::PciAddress> common_bridge(const node::PciDevice& a, const node::PciDevice& b);

/// The bridges of both below the lowest one that they share; none where they share none.
std::vector<node::PciAddress> bridges_between(const node::PciDevice& a, const node::PciDevice& b);

/// The NUMA node with CPUs that a function belongs to: for a node without CPUs (a GPU's own memory,
/// CXL) the nearest one that has some, by its row of distances; absent where nothing says. It
/// orders equal relations and changes none: nvidia-smi compares the nodes that sysfs names.
std::optional<int> cpu_numa_node(const node::Node& node, const node::PciDevice& function);

/// The relations of a node's GPUs as it is; whether its PCI tree can be believed is not asked here
/// (arrange.h). Functions at one place (same bridges, same NUMA node: the ports and VFs
/// of a card) are compared once, so hundreds of VFs cost nothing.
Topology make_topology(const node::Node& node);

/// Relations of the NICs of a node to each other, in its order; diagonal: pix. For people: no
/// decision asks for them, and a thousand VFs have a million.
std::vector<std::vector<Nearness>> nic_relations(const node::Node& node);

}  // namespace railhead::topology
