// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "inject/decide.h"

namespace railhead::cli {

/// NICs that the picture shows as one: a NIC; all virtual functions of a NIC that have one role; or
/// NICs below one host bridge that differ in nothing but their names, where they are very many.
/// None of several is dealt to a GPU or stands in for another.
struct DrawnNic {
  std::vector<std::size_t> nics;  ///< into Node::nics, at least one
  bool virtual_functions = false;

  [[nodiscard]] bool is_pack() const { return nics.size() > 1; }
};

/// All NICs of the node, in its order.
std::vector<DrawnNic> drawn_nics(const inject::DecisionTable& table,
                                 const affinity::Selection& selection);

/// GPUs that each NIC is dealt to.
std::vector<std::vector<std::size_t>> gpus_by_nic(const inject::DecisionTable& table);

std::string short_link_text(const node::Nic& nic);  ///< "InfiniBand 400G", "2× Ethernet 100G"
std::string state_word(const node::Nic& nic);       ///< "ACTIVE", "no driver"
/// The same of a NIC of several ports: "1 of 2 ACTIVE".
std::string ports_text(const node::Nic& nic);
/// "PCIe 32 GT/s x16", as the link is now; "" where it is not known.
std::string pcie_text(const node::Node& node, const node::Nic& nic);

/// Whether this function has no RDMA device of its own because that of another function of its card
/// serves the bond that both are in (link aggregation of mlx5).
bool is_in_bond(const node::Node& node, std::size_t nic);

/// What is wrong with a NIC that is not usable, in a word or two: "DOWN", "has VFs".
std::string fault_word(const node::Node& node, std::size_t nic);

}  // namespace railhead::cli
