// SPDX-License-Identifier: Apache-2.0
#include "affinity/wording.h"

#include "topology/layout.h"

namespace railhead {
namespace {

std::string below(const PciAddress& bridge) {
  return is_invented(bridge) ? " below one switch" : " below " + bridge.str();
}

/// What follows the relation's name; empty where there is nothing to say.
std::string junction(const Node& node, const Gpu& gpu, const Nic& nic, const Nearness& near) {
  const PciDevice* one = node.find_pci(gpu.pci);
  const PciDevice* other = nic.pci ? node.find_pci(*nic.pci) : nullptr;
  if (one == nullptr || other == nullptr) return "";
  switch (near.relation) {
    case Relation::pix:
    case Relation::pxb: {
      const auto bridge = common_bridge(*one, *other);
      return bridge ? below(*bridge) : "";
    }
    case Relation::phb: return " at " + one->root;
    case Relation::node: {
      const auto numa = cpu_numa_node(node, *one);
      return numa ? " on NUMA node " + std::to_string(*numa) : "";
    }
    case Relation::sys: return near.same_socket ? " on the same socket" : "";
  }
  return "";
}

}  // namespace

std::string gpu_text(const Gpu& gpu) {
  if (!gpu.index) return "GPU " + gpu.pci.str();
  return "GPU " + std::to_string(*gpu.index) + " (" + gpu.pci.str() + ")";
}

std::string nearness_text(const Node& node, const Gpu& gpu, const Nic& nic, const Nearness& near) {
  return std::string(to_string(near.relation)) + junction(node, gpu, nic, near);
}

std::string counted(std::size_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

}  // namespace railhead
