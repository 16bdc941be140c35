// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/node.h"
#include "topology/nccl_topology.h"
#include "topology/topology.h"

namespace railhead {

/// A node whose PCI tree is the best that is known, and where it is from.
struct Arrangement {
  Node node;
  TopologySource source = TopologySource::pci_tree;
  Confidence confidence = Confidence::high;
  std::string origin;  ///< path of the file, name of the machine type; "" for sysfs
  /// The guest's PCI tree says nothing about switches, so NCCL in a container needs a file, too.
  bool tree_lies = false;
  std::vector<std::string> warnings;
};

/// Whether sysfs hides the switches: a virtual machine with GPUs and NICs of which no pair shares
/// a bridge. (A machine without a hypervisor is believed.)
bool hides_switches(const Node& node);

/// Chooses the source, in this order: the operator's file (always); sysfs where it shows switches
/// or there is no hypervisor; then, where sysfs hides them, the node's own NCCL_TOPO_FILE
/// (Node::nccl_file), the table of known machines, the NUMA nodes; where those are unknown, too, a
/// warning that the deal is even by address. A file that knows not every GPU and no compute NIC of
/// the node is refused with a warning, and the next source is tried. Says how sure it is: a file
/// whose PCI domains are random (they may differ between nodes) is `low`.
Arrangement arrange(Node node, const std::optional<NcclTopology>& from_operator = std::nullopt);

/// Relations of an arranged node, with its source, confidence and warnings.
Topology make_topology(const Arrangement& arrangement);

}  // namespace railhead
