// SPDX-License-Identifier: Apache-2.0
#include "affinity/wording.h"

#include "topology/layout.h"

namespace railhead::affinity {
namespace {

std::string below(const node::PciAddress& bridge) {
  return topology::is_invented(bridge) ? " below one switch" : " below " + bridge.str();
}

/// What follows the relation's name; empty where there is nothing to say.
std::string junction(const node::Node& node, const node::Gpu& gpu, const node::Nic& nic,
                     const topology::Nearness& near) {
  const node::PciDevice* one = node.find_pci(gpu.pci);
  const node::PciDevice* other = nic.pci ? node.find_pci(*nic.pci) : nullptr;
  if (one == nullptr || other == nullptr) return "";
  switch (near.relation) {
    case topology::Relation::pix:
    case topology::Relation::pxb: {
      const auto bridge = topology::common_bridge(*one, *other);
      return bridge ? below(*bridge) : "";
    }
    case topology::Relation::phb: return " at " + one->root;
    case topology::Relation::node: {
      const auto numa = topology::cpu_numa_node(node, *one);
      return numa ? " on NUMA node " + std::to_string(*numa) : "";
    }
    case topology::Relation::sys: return near.same_socket ? " on the same socket" : "";
  }
  return "";
}

}  // namespace

std::string gpu_text(const node::Gpu& gpu) {
  if (!gpu.index) return "GPU " + gpu.pci.str();
  return "GPU " + std::to_string(*gpu.index) + " (" + gpu.pci.str() + ")";
}

std::string nearness_text(const node::Node& node, const node::Gpu& gpu, const node::Nic& nic,
                          const topology::Nearness& near) {
  return std::string(to_string(near.relation)) + junction(node, gpu, nic, near);
}

}  // namespace railhead::affinity
