// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/find.h"
#include "base/text.h"
#include "topology/cpu_mask.h"
#include "topology/layout.h"
#include "topology/nccl_cpu.h"
#include "topology/nccl_guid.h"

namespace railhead::topology {
namespace {

class Builder {
 public:
  explicit Builder(const NcclTopology& topology)
      : topology_(topology),
        layout_(layout_of(topology)) {}

  node::Node build() {
    node_.devices_known = false;
    add_numa();
    if (!topology_.cpus.empty()) node_.cpu = cpu_from(topology_.cpus.front());
    for (const auto& cpu : topology_.cpus) {
      for (const auto& pci : cpu.pci) add(pci);
      add_nics(nullptr, cpu.nets, cpu.numa_node);
    }
    for (auto& [address, bridge] : bridges_) node_.pci.push_back(std::move(bridge));
    sort();
    std::map<gpu::GpuVendor, unsigned> next;
    for (auto& gpu : node_.gpus) gpu.index = next[gpu.vendor]++;
    return std::move(node_);
  }

 private:
  void warn(const std::string& what) {
    node_.problems.push_back({node::Problem::Kind::malformed, topology_.origin, what});
  }

  void add_numa() {
    std::map<int, std::set<unsigned>> nodes;
    for (const auto& cpu : topology_.cpus) {
      if (!cpu.numa_node) continue;
      auto& cpus = nodes[*cpu.numa_node];
      for (const auto number : cpus_of_mask(cpu.affinity)) cpus.insert(number);
    }
    for (const auto& [id, cpus] : nodes) {
      node::NumaNode numa;
      numa.id = id;
      numa.cpus.assign(cpus.begin(), cpus.end());
      node_.numa.push_back(std::move(numa));
    }
  }

  /// The position of this element; nullptr for a switch, and for one of several with its address.
  const Position* take_position(const NcclPci& pci) {
    const auto* at = find_sorted(layout_.positions, &Position::function, pci.address);
    const bool plain_switch = pci.is_switch() && !pci.gpu && pci.nets.empty();
    if (at == nullptr || plain_switch) return nullptr;
    return placed_.insert(pci.address).second ? at : nullptr;
  }

  void add(const NcclPci& pci) {
    if (const Position* position = take_position(pci)) add_function(pci, *position);
    for (const auto& below : pci.below) add(below);
    if (!pci.below.empty()) describe_bridge(pci);
  }

  static node::PciDevice described(const NcclPci& pci) {
    node::PciDevice device;
    device.address = pci.address;
    device.class_code = pci.class_code.value_or(0);
    device.vendor = pci.vendor.value_or(0);
    device.device = pci.device.value_or(0);
    device.subsystem_vendor = pci.subsystem_vendor.value_or(0);
    device.subsystem_device = pci.subsystem_device.value_or(0);
    // The file gives one link, the slower of both ends' capabilities (NCCL src/graph/xml.cc).
    device.link_gts = device.max_link_gts = pci.link_gts;
    device.link_width = device.max_link_width = pci.link_width;
    return device;
  }

  /// Once what is below it is there, and if its address is not a device's.
  void describe_bridge(const NcclPci& pci) {
    const auto at = bridges_.find(pci.address);
    if (at == bridges_.end()) return;
    const node::PciDevice known = described(pci);
    node::PciDevice& bridge = at->second;
    bridge.vendor = known.vendor;
    bridge.device = known.device;
    bridge.subsystem_vendor = known.subsystem_vendor;
    bridge.subsystem_device = known.subsystem_device;
    bridge.link_gts = bridge.max_link_gts = known.link_gts;
    bridge.link_width = bridge.max_link_width = known.link_width;
  }

  void add_bridges(const Position& below) {
    for (std::size_t depth = 0; depth < below.bridges.size(); ++depth) {
      node::PciDevice& bridge = bridges_[below.bridges[depth]];
      bridge.address = below.bridges[depth];
      bridge.class_code = node::kPciBridgeClass;
      bridge.root = below.root;
      bridge.bridges.assign(below.bridges.begin(),
                            below.bridges.begin() + static_cast<std::ptrdiff_t>(depth));
      bridge.numa_node = below.numa_node;
    }
  }

  void add_function(const NcclPci& pci, const Position& position) {
    add_bridges(position);
    node::PciDevice device = described(pci);
    device.root = position.root;
    device.bridges = position.bridges;
    device.numa_node = position.numa_node;
    node_.pci.push_back(std::move(device));
    if (pci.is_gpu()) {
      add_gpu(pci, position);
    } else if (pci.is_nic()) {
      add_nics(&pci, pci.nets, position.numa_node);
    } else if (!pci.class_code && pci.nets.empty()) {
      warn(line_text(pci) + pci.address.str() +
           " has no class, <gpu> or <net>: not known what it is");
    }
  }

  static std::string line_text(const NcclPci& pci) {
    return pci.line != 0 ? "line " + std::to_string(pci.line) + ": " : "";
  }

  void add_gpu(const NcclPci& pci, const Position& position) {
    node::Gpu gpu;
    gpu.pci = pci.address;
    gpu.numa_node = position.numa_node;
    const bool accelerator = pci.class_code && *pci.class_code >> 8 == 0x1200;
    const bool rccl = accelerator || topology_.version == kRcclVersion;
    const gpu::GpuRow* row = pci.vendor ? gpu::gpu_row_of_pci(*pci.vendor) : nullptr;
    gpu.vendor = pci.vendor || rccl ? gpu::GpuVendor::amd : gpu::GpuVendor::nvidia;
    if (row != nullptr) gpu.vendor = row->vendor;
    node_.gpus.push_back(std::move(gpu));
  }

  static node::LinkLayer link_layer(const NcclPci* pci) {
    if (pci == nullptr || !pci->class_code) return node::LinkLayer::unknown;
    if (*pci->class_code >> 8 == 0x0207) return node::LinkLayer::infiniband;
    return *pci->class_code >> 8 == 0x0200 ? node::LinkLayer::ethernet : node::LinkLayer::unknown;
  }

  static node::Port port_of(const NcclPci* pci, const NcclNet* net) {
    node::Port port;
    port.state = node::PortState::active;
    port.link_layer = link_layer(pci);
    if (net != nullptr && net->speed_mbps && *net->speed_mbps != 0) {
      port.rate_gbps = *net->speed_mbps / 1000.0;
    }
    return port;
  }

  node::Nic nic_of(const NcclPci* pci, const std::string& name, std::optional<int> numa) {
    node::Nic nic;
    nic.name = name;
    if (pci != nullptr) nic.pci = pci->address;
    nic.numa_node = numa;
    return nic;
  }

  /// `pci` is absent for <net>s that stand below a <cpu>.
  void add_nics(const NcclPci* pci, const std::vector<NcclNet>& nets, std::optional<int> numa) {
    const std::size_t first = node_.nics.size();
    for (const auto& net : nets) {
      if (net.is_socket() && link_layer(pci) != node::LinkLayer::infiniband) continue;
      const auto known =
          std::find_if(node_.nics.begin() + static_cast<std::ptrdiff_t>(first), node_.nics.end(),
                       [&](const node::Nic& nic) { return nic.name == net.name; });
      const bool another_port = known != node_.nics.end();
      if (!another_port) node_.nics.push_back(nic_of(pci, net.name, numa));
      node::Nic& nic = another_port ? *known : node_.nics.back();
      if (net.guid) nic.sys_image_guid = guid_from_nccl(*net.guid);
      nic.ports.push_back(port_of(pci, &net));
      nic.ports.back().number = static_cast<unsigned>(nic.ports.size());
    }
    if (nets.empty() && pci != nullptr) {
      node_.nics.push_back(nic_of(pci, pci->address.str(), numa));
      node_.nics.back().ports.push_back(port_of(pci, nullptr));
    }
    for (auto at = first; at < node_.nics.size(); ++at) make_unique(node_.nics[at]);
  }

  void make_unique(node::Nic& nic) {
    if (names_.insert(nic.name).second) return;
    const std::string other =
        nic.name + "@" + (nic.pci ? nic.pci->str() : std::to_string(names_.size()));
    warn(in_quotes(nic.name) + " is the name of several devices, one is called " + other);
    nic.name = other;
    names_.insert(other);
  }

  void sort() {
    const auto by_address = [](const auto& a, const auto& b) { return a.address < b.address; };
    std::ranges::sort(node_.pci, by_address);
    std::ranges::sort(node_.gpus, {}, &node::Gpu::pci);
    // Those of one function, and those of none, stay in the order of the file.
    std::ranges::stable_sort(node_.nics, [](const node::Nic& a, const node::Nic& b) {
      return a.pci && b.pci ? *a.pci < *b.pci : a.pci && !b.pci;
    });
  }

  const NcclTopology& topology_;
  Layout layout_;
  std::set<node::PciAddress> placed_;
  std::set<std::string> names_;
  std::map<node::PciAddress, node::PciDevice> bridges_;
  node::Node node_;
};

}  // namespace

node::Node node_from(const NcclTopology& topology) {
  return Builder(topology).build();
}

std::vector<node::PciAddress> unclassified_functions(const node::Node& node) {
  std::set<node::PciAddress> known;
  for (const auto& gpu : node.gpus) known.insert(gpu.pci);
  for (const auto& nic : node.nics) {
    if (nic.pci) known.insert(*nic.pci);
  }
  std::vector<node::PciAddress> left;
  for (const auto& function : node.pci) {
    if (function.class_code == 0 && !known.contains(function.address)) {
      left.push_back(function.address);
    }
  }
  return left;
}

}  // namespace railhead::topology
