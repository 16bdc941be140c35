// SPDX-License-Identifier: Apache-2.0
//
// A topology file of any bytes on a small virtual machine: no GPU and no NIC is lost, the PCI list
// stays in order, and every pair has a relation, whatever the file says.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "topology/arrange.h"

namespace {

using railhead::node::Node;
using railhead::node::PciAddress;
using railhead::node::PciDevice;

void require(bool condition) {
  if (!condition) std::abort();
}

railhead::node::PciDevice function(std::uint32_t domain, std::uint32_t class_code) {
  railhead::node::PciDevice device;
  device.address = {domain, 0, 0, 0};
  device.root = "pci" + device.address.str().substr(0, 7);
  device.class_code = class_code;
  return device;
}

/// Two GPUs and two NICs on PCI domains of their own.
railhead::node::Node machine() {
  railhead::node::Node node;
  node.hypervisor = true;
  node.numa = {{0, {0}, 0, {}}, {1, {1}, 1, {}}};
  for (const std::uint32_t domain : {1U, 2U}) {
    node.pci.push_back(function(domain, 0x030200));
    railhead::node::Gpu gpu;
    gpu.pci = node.pci.back().address;
    node.gpus.push_back(gpu);
  }
  for (const std::uint32_t domain : {0x101U, 0x102U}) {
    node.pci.push_back(function(domain, 0x020700));
    railhead::node::Nic nic;
    nic.name = node.pci.back().address.str();
    nic.pci = node.pci.back().address;
    node.nics.push_back(nic);
  }
  return node;
}

void check(const railhead::topology::Arrangement& arrangement) {
  const railhead::node::Node& node = arrangement.node;
  require(node.gpus.size() == 2 && node.nics.size() == 2);
  require(std::ranges::is_sorted(
      node.pci, [](const railhead::node::PciDevice& a, const railhead::node::PciDevice& b) {
        return a.address < b.address;
      }));
  for (const auto& gpu : node.gpus) require(node.find_pci(gpu.pci) != nullptr);
  for (const auto& nic : node.nics) require(node.find_pci(*nic.pci) != nullptr);
  const auto topology = railhead::topology::make_topology(arrangement);
  require(topology.gpu_nic.size() == 2 && topology.gpu_nic[1].size() == 2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const railhead::node::Node plain = machine();
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto file = railhead::topology::parse_nccl_topology(text, "fuzz.xml");
  if (file) check(railhead::topology::arrange(plain, *file));
  railhead::node::Node node = plain;
  node.nccl_file = railhead::node::TextFile{"fuzz.xml", text};
  check(railhead::topology::arrange(node));
  return 0;
}
