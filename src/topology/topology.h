// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/node.h"

namespace railhead {

/// How two PCI functions are connected, in the words of `nvidia-smi topo -m`, nearest first.
///   pix   at most one PCIe switch between them
///   pxb   several switches, no host bridge
///   phb   the host bridge
///   node  several host bridges of one NUMA node
///   sys   the interconnect between NUMA nodes (also where nothing is known)
enum class Relation : std::uint8_t { pix, pxb, phb, node, sys };
std::string_view to_string(Relation relation);  ///< "PIX"

/// A relation with what breaks ties between equal ones. Ordering: nearer is less.
struct Nearness {
  Relation relation = Relation::sys;
  bool same_socket = false;  ///< counts within SYS only: the same socket first
  int common_depth = 0;      ///< bridges above the lowest common bridge, itself included; deeper is nearer

  friend bool operator==(const Nearness&, const Nearness&) = default;
  friend std::strong_ordering operator<=>(const Nearness& a, const Nearness& b);
};

/// Where a topology came from, and how far to trust it (virtual machines lie).
enum class TopologySource : std::uint8_t { pci_tree, topology_file, machine_table, numa };
enum class Confidence : std::uint8_t { high, medium, low };
std::string_view to_string(TopologySource source);
std::string_view to_string(Confidence confidence);

/// Relations between all GPUs and NICs of a node. Rows and columns are in the node's order.
struct Topology {
  std::vector<std::vector<Nearness>> gpu_nic;  ///< [gpu][nic]
  std::vector<std::vector<Nearness>> gpu_gpu;  ///< diagonal: pix
  std::vector<std::vector<Nearness>> nic_nic;
  TopologySource source = TopologySource::pci_tree;
  Confidence confidence = Confidence::high;
  std::vector<std::string> warnings;
};

/// Relation of two functions from sysfs alone. A function without a known path, and a soft device,
/// is SYS to everything.
Nearness relation_between(const Node& node, const PciDevice* a, const PciDevice* b);

Topology make_topology(const Node& node);

}  // namespace railhead
