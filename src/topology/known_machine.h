// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "node/node.h"
#include "topology/layout.h"

namespace railhead::topology {

/// GPUs and NICs that hang below one switch of the real machine.
struct KnownSwitch {
  int numa_node = 0;
  std::vector<node::PciAddress> gpus;
  std::vector<node::PciAddress> nics;
};

/// A name under which a machine is sold: "Standard_NC24ads_A100_v4".
struct KnownSize {
  std::string name;
  unsigned gpus = 0;
};

/// A type of machine whose real PCI tree is known, or that is known by the names of its sizes
/// alone. Data: src/topology/known_machines.yaml, each entry with the source of its facts.
struct KnownMachine {
  std::string name;                  ///< "Azure ND A100 v4"
  std::string source;                ///< where its facts come from
  std::string sys_vendor;            ///< DMI, shell patterns; "" matches anything
  std::string product_name;          ///< DMI
  std::string asset_tag;             ///< DMI chassis_asset_tag
  std::vector<std::string> gpu_ids;  ///< "10de:20b0": PCI ids that its GPUs may have
  std::vector<KnownSize> sizes;      ///< all that its vendor sells it as; empty: not told apart
  std::string with_nics;             ///< what has all NICs, where it is sold without any, too
  std::string order;                 ///< how NICs are ordered, where that is done one by one
  unsigned gpus = 0;
  unsigned nics = 0;          ///< compute NICs of the whole machine
  unsigned gbps = 0;          ///< of each of them; 0: not stated
  bool tree_is_real = false;  ///< the guest's sysfs shows the real switches: nothing to correct
  std::vector<KnownSwitch> switches;

  /// Whether a whole machine, or one of its sizes, has so many GPUs.
  [[nodiscard]] bool may_have(std::size_t count) const;

  /// Nothing tells this type on a node: only the cluster's label has the name of its size.
  [[nodiscard]] bool by_name_alone() const { return gpu_ids.empty(); }
};

/// Reads the table's text; fails with line and key. `origin` is for messages.
Result<std::vector<KnownMachine>> parse_known_machines(std::string_view text,
                                                       const std::string& origin);

/// The table in the program.
const std::vector<KnownMachine>& known_machines();

/// What the type has at known addresses and the node lacks: `of` is its switches' gpus or nics.
std::vector<node::PciAddress> missing_functions(const KnownMachine& machine, const node::Node& node,
                                                std::vector<node::PciAddress> KnownSwitch::*of);

/// The first entry that this machine is: DMI matches, its GPUs have the ids, and every GPU stands
/// at an address of the entry. Of an entry with a real tree the count has to be right, or smaller
/// where the type is sold whole alone. GPUs or NICs may be missing (broken, or not passed through)
/// but none may stand where the entry has none, except NICs that are not on the entry's addresses
/// at all (front-end).
const KnownMachine* find_known_machine(const node::Node& node,
                                       const std::vector<KnownMachine>& table);

/// The machine that is sold under this name, and the size; nullptr where the table has no such.
struct SizeInTable {
  const KnownMachine* machine = nullptr;
  const KnownSize* size = nullptr;
};

SizeInTable find_size(std::string_view name, const std::vector<KnownMachine>& table);

Layout layout_of(const KnownMachine& machine);

}  // namespace railhead::topology
