// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/node.h"
#include "topology/nccl_topology.h"
#include "topology/topology.h"

namespace railhead::topology {

/// A node whose PCI tree is the best that is known, and where it is from.
struct Arrangement {
  node::Node node;
  TopologySource source = TopologySource::pci_tree;
  Confidence confidence = Confidence::high;
  std::string origin;  ///< path of the file, name of the machine type; "" for sysfs alone
  /// What NCCL in a container has to be given. Present where the guest's PCI tree says nothing
  /// about switches and another source does.
  std::optional<NcclTopology> for_nccl;
  std::string machine;  ///< as in Topology
  std::size_t machine_nics = 0;
  /// What sysfs says of functions whose NUMA node the source has otherwise.
  std::map<node::PciAddress, int> numa_of_sysfs;
  std::vector<std::string> warnings;
};

/// Whether sysfs hides the switches: a virtual machine with GPUs and NICs of which no pair shares
/// a bridge. (A machine without a hypervisor is believed.)
bool hides_switches(const node::Node& node);

/// Chooses the source, in this order: the operator's file (always); sysfs where it shows switches,
/// where there is no hypervisor, or where the table knows that the tree is real; then, where sysfs
/// hides them, the node's own NCCL_TOPO_FILE (Node::nccl_file), the table of known machines, the
/// NUMA nodes; where those are unknown, too, the deal is even by address.
///
/// A file that does not know every GPU, or none of the NICs, is not of this machine: it is refused
/// with a warning and the next source is tried. NICs of the same model that it leaves out stay
/// where sysfs has them, with a warning. Operator's and node's files are compared with what is
/// known better (a real tree, the table): a GPU that they put nearest to other NICs is a warning.
/// NUMA nodes are the file's where sysfs has none; also where sysfs hides the switches, if the file
/// names several, all of which the machine has.
///
/// An entry of the table that knows none of the NICs is not used either; the NUMA nodes are then
/// worth no more than low.
///
/// Confidence:
///   high    bare metal; a real tree of a known machine; a file or an entry of the table that fits
///   medium  a tree in a virtual machine that nobody vouches for; a file or an entry of the table
///           that leaves out NICs; a file that contradicts itself or what is known better; a file
///           alone that does not say what some functions are; NUMA nodes that leave no choice
///   low     such a file that shows no GPU at all; a file whose PCI domains are random (they may
///           differ between nodes); NUMA nodes where
///           several GPUs and several NICs are on one, or that are unknown
Arrangement arrange(node::Node node,
                    const std::optional<NcclTopology>& from_operator = std::nullopt);

/// The arranged node with the NUMA nodes of sysfs, where it has any: those that the kernel and the
/// kubelet count by.
node::Node with_numa_of_sysfs(const Arrangement& arrangement);

/// Relations of an arranged node, with its source, confidence and warnings.
Topology make_topology(const Arrangement& arrangement);

}  // namespace railhead::topology
