// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/node.h"

namespace railhead::test {

/// A place in a PCIe tree below which something can be put: a bus with the bridges above it.
struct Slot {
  std::string root;
  std::uint32_t domain = 0;
  std::uint8_t bus = 0;
  std::vector<node::PciAddress> bridges;
  std::optional<int> numa;
};

class NodeBuilder;

/// Changes the NIC that was just added. All functions of one call to nic() change together.
class NicHandle {
 public:
  NicHandle(NodeBuilder& builder, std::vector<std::size_t> nics)
      : builder_(&builder),
        nics_(std::move(nics)) {}

  NicHandle& name(const std::string& text);  ///< several functions: text, text1, text2…
  NicHandle& infiniband(double gbps);        ///< one ACTIVE port
  NicHandle& ethernet(double gbps);
  NicHandle& down();                           ///< port DOWN with the rate of a dead link
  NicHandle& unregistered();                   ///< no RDMA driver: no ports, no nodes
  NicHandle& netdev(const std::string& text);  ///< several functions: text, text1, …
  NicHandle& master(const std::string& bond);  ///< of its netdevs
  NicHandle& default_route();                  ///< on its netdevs
  NicHandle& ids(std::uint16_t vendor, std::uint16_t device, std::uint16_t subsystem = 0);
  NicHandle& pcie(double max_gts, unsigned max_width);  ///< capability and current
  NicHandle& virtual_functions(unsigned count);         ///< of the first function

  [[nodiscard]] std::size_t first() const { return nics_.front(); }

 private:
  node::Nic& nic(std::size_t at);
  node::PciDevice& pci(std::size_t at);
  void port(node::LinkLayer layer, double gbps, const std::string& rate);

  NodeBuilder* builder_;
  std::vector<std::size_t> nics_;
};

/// Builds machines for tests: host bridges, switches, GPUs and NICs at places. Bus numbers and
/// addresses are handed out in the order of the calls, names and indices in PCI order by build().
class NodeBuilder {
 public:
  NodeBuilder& numa(int id, int socket, std::vector<unsigned> cpus = {0},
                    std::vector<unsigned> distances = {}) {
    node_.numa.push_back({id, std::move(cpus), socket, std::move(distances)});
    return *this;
  }

  /// A host bridge "pciDDDD:BB"; devices put here sit on its root bus.
  Slot host_bridge(std::uint8_t bus, std::optional<int> numa, std::uint32_t domain = 0) {
    auto& next = next_bus_[domain];
    next = std::max<unsigned>(next, bus + 1U);
    const std::string address = node::PciAddress{domain, bus, 0, 0}.str();
    return {"pci" + address.substr(0, address.rfind(':')), domain, bus, {}, numa};
  }

  /// A bridge function (root port, upstream or downstream port) on the slot's bus: the bus below
  /// it.
  Slot bridge(const Slot& at) {
    node::PciDevice& port = function(at, 0, 0x060400);
    Slot below = at;
    below.bridges.push_back(port.address);
    below.bus = static_cast<std::uint8_t>(next_bus_[at.domain]++);
    return below;
  }

  /// A bridge of this vendor's.
  Slot bridge(const Slot& at, std::uint16_t vendor) {
    Slot below = bridge(at);
    for (auto& device : node_.pci) {
      if (device.address == below.bridges.back()) device.vendor = vendor;
    }
    return below;
  }

  /// A switch: its upstream port; every bridge() below is a downstream port.
  Slot pcie_switch(const Slot& at) { return bridge(at); }

  /// A GPU on the slot's bus, no bridge of its own added.
  std::size_t gpu(const Slot& at, gpu::GpuVendor vendor = gpu::GpuVendor::nvidia) {
    node::PciDevice& pci = function(at, 0, vendor == gpu::GpuVendor::nvidia ? 0x030200 : 0x038000);
    pci.vendor = gpu::gpu_row(vendor).pci_vendor;
    node::Gpu gpu;
    gpu.pci = pci.address;
    gpu.vendor = vendor;
    gpu.numa_node = at.numa;
    node_.gpus.push_back(gpu);
    return node_.gpus.size() - 1;
  }

  /// A ConnectX-7 like card with `functions` PCI functions, each an ACTIVE 400 Gb/s InfiniBand
  /// device.
  NicHandle nic(const Slot& at, unsigned functions = 1) {
    const auto device = next_device(at);
    std::vector<std::size_t> added;
    const std::string guid = "image:" + std::to_string(node_.nics.size());
    for (unsigned f = 0; f < functions; ++f) {
      node::PciDevice& pci = function_at(at, device, static_cast<std::uint8_t>(f), 0x020700);
      pci.vendor = 0x15b3;
      pci.device = 0x1021;
      node::Nic nic;
      nic.pci = pci.address;
      nic.numa_node = at.numa;
      nic.sys_image_guid = guid;
      added.push_back(node_.nics.size());
      node_.nics.push_back(nic);
    }
    return NicHandle(*this, added).infiniband(400).pcie(32, 16);
  }

  /// A soft device (rxe, siw) above a netdev.
  NicHandle soft_nic(const std::string& name, const std::string& parent) {
    node::Nic nic;
    nic.name = name;
    nic.parent = parent;
    nic.netdevs = {parent};
    node_.nics.push_back(nic);
    return NicHandle(*this, {node_.nics.size() - 1}).ethernet(100);
  }

  /// A netdev without an RDMA device: a bond, a vlan, an on-board port.
  NodeBuilder& plain_netdev(const std::string& name, bool default_route) {
    netdev(name).default_route = netdev(name).main_route = default_route;
    return *this;
  }

  node::Node& raw() { return node_; }  ///< for what the builder has no word for

  node::Netdev& netdev(const std::string& name);

  /// The node with sorted lists, GPU indices, default names and char devices.
  [[nodiscard]] node::Node build() const;

 private:
  friend class NicHandle;

  std::uint8_t next_device(const Slot& at) { return next_device_[{at.domain, at.bus}]++; }

  node::PciDevice& function(const Slot& at, std::uint8_t f, std::uint32_t class_code) {
    return function_at(at, next_device(at), f, class_code);
  }

  node::PciDevice& function_at(const Slot& at, std::uint8_t device, std::uint8_t f,
                               std::uint32_t class_code) {
    node::PciDevice pci;
    pci.address = {at.domain, at.bus, device, f};
    pci.root = at.root;
    pci.bridges = at.bridges;
    pci.class_code = class_code;
    pci.numa_node = at.numa;
    pci.max_link_width = 16;
    pci.max_link_gts = 32;
    node_.pci.push_back(pci);
    return node_.pci.back();
  }

  node::Node node_;
  std::map<std::uint32_t, unsigned> next_bus_;
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::uint8_t> next_device_;
};

inline node::Netdev& NodeBuilder::netdev(const std::string& name) {
  for (auto& known : node_.netdevs) {
    if (known.name == name) return known;
  }
  node::Netdev fresh;
  fresh.name = name;
  fresh.operstate = "up";
  node_.netdevs.push_back(fresh);
  return node_.netdevs.back();
}

inline node::Node NodeBuilder::build() const {
  node::Node node = node_;
  const auto by_address = [](const auto& a, const auto& b) { return a.address < b.address; };
  std::ranges::sort(node.pci, by_address);
  std::ranges::sort(node.gpus,
                    [](const node::Gpu& a, const node::Gpu& b) { return a.pci < b.pci; });
  std::ranges::sort(node.nics, [](const node::Nic& a, const node::Nic& b) {
    if (a.pci.has_value() != b.pci.has_value()) return a.pci.has_value();
    return a.pci != b.pci ? a.pci < b.pci : a.name < b.name;
  });
  std::ranges::sort(node.netdevs,
                    [](const node::Netdev& a, const node::Netdev& b) { return a.name < b.name; });
  for (unsigned i = 0; i < node.gpus.size(); ++i) {
    node.gpus[i].index = i;
    node.gpus[i].minor = i;
    node.gpus[i].uuid = "GPU-00000000-0000-0000-0000-" + std::to_string(100000000000ULL + i);
  }
  for (unsigned i = 0, minor = 192; i < node.nics.size(); ++i) {
    node::Nic& nic = node.nics[i];
    if (!nic.registered) {
      nic.name = nic.pci->str();
      continue;
    }
    if (nic.name.empty()) nic.name = "mlx5_" + std::to_string(i);
    nic.uverbs = {
        {"/dev/infiniband/uverbs" + std::to_string(minor - 192), 231, minor, 0666, 0, 0, true}};
    ++minor;
  }
  return node;
}

inline node::Nic& NicHandle::nic(std::size_t at) {
  return builder_->node_.nics[at];
}

inline node::PciDevice& NicHandle::pci(std::size_t at) {
  auto& all = builder_->node_.pci;
  return *std::ranges::find_if(all,
                               [&](const node::PciDevice& d) { return d.address == nic(at).pci; });
}

inline void NicHandle::port(node::LinkLayer layer, double gbps, const std::string& rate) {
  for (const auto at : nics_) {
    node::Port port;
    port.state = node::PortState::active;
    port.phys_state = "LinkUp";
    port.link_layer = layer;
    port.rate_gbps = gbps;
    port.rate_text = rate;
    nic(at).ports = {port};
    if (nic(at).pci)
      pci(at).class_code = layer == node::LinkLayer::infiniband ? 0x020700 : 0x020000;
  }
}

inline NicHandle& NicHandle::infiniband(double gbps) {
  const auto whole = std::to_string(static_cast<int>(gbps));
  const char* speed = gbps >= 800 ? "XDR" : gbps >= 400 ? "NDR" : gbps >= 200 ? "HDR" : "EDR";
  port(node::LinkLayer::infiniband, gbps, whole + " Gb/sec (4X " + speed + ")");
  return *this;
}

inline NicHandle& NicHandle::ethernet(double gbps) {
  const auto whole = std::to_string(static_cast<int>(gbps));
  port(node::LinkLayer::ethernet, gbps, whole + " Gb/sec (4X EDR)");
  return *this;
}

inline NicHandle& NicHandle::down() {
  for (const auto at : nics_) {
    for (auto& port : nic(at).ports) {
      port.state = node::PortState::down;
      port.phys_state = "Polling";
      port.rate_gbps = 10;
      port.rate_text = "10 Gb/sec (4X SDR)";
    }
  }
  return *this;
}

inline NicHandle& NicHandle::unregistered() {
  for (const auto at : nics_) {
    nic(at).registered = false;
    nic(at).ports.clear();
    nic(at).sys_image_guid.reset();
  }
  return *this;
}

inline NicHandle& NicHandle::name(const std::string& text) {
  for (std::size_t i = 0; i < nics_.size(); ++i) {
    nic(nics_[i]).name = i == 0 ? text : text + std::to_string(i);
  }
  return *this;
}

inline NicHandle& NicHandle::netdev(const std::string& text) {
  for (std::size_t i = 0; i < nics_.size(); ++i) {
    const auto name = i == 0 ? text : text + std::to_string(i);
    nic(nics_[i]).netdevs.push_back(name);
    builder_->netdev(name).pci = nic(nics_[i]).pci;
  }
  return *this;
}

inline NicHandle& NicHandle::master(const std::string& bond) {
  for (const auto at : nics_) {
    for (const auto& name : nic(at).netdevs) builder_->netdev(name).master = bond;
  }
  return *this;
}

inline NicHandle& NicHandle::default_route() {
  for (const auto at : nics_) {
    for (const auto& name : nic(at).netdevs)
      builder_->netdev(name).default_route = builder_->netdev(name).main_route = true;
  }
  return *this;
}

inline NicHandle& NicHandle::ids(std::uint16_t vendor, std::uint16_t device,
                                 std::uint16_t subsystem) {
  for (const auto at : nics_) {
    pci(at).vendor = vendor;
    pci(at).device = device;
    pci(at).subsystem_device = subsystem;
  }
  return *this;
}

inline NicHandle& NicHandle::pcie(double max_gts, unsigned max_width) {
  for (const auto at : nics_) {
    node::PciDevice& device = pci(at);
    device.link_gts = device.max_link_gts = max_gts;
    device.link_width = device.max_link_width = max_width;
  }
  return *this;
}

inline NicHandle& NicHandle::virtual_functions(unsigned count) {
  const auto pf = pci(nics_.front());
  const auto parent = nic(nics_.front());
  pci(nics_.front()).sriov_totalvfs = pci(nics_.front()).sriov_numvfs = count;
  for (unsigned i = 0; i < count; ++i) {
    node::PciDevice vf = pf;
    const unsigned place = pf.address.device * 8U + pf.address.function + 8U + i;
    vf.address.bus = static_cast<std::uint8_t>(pf.address.bus + place / 256U);
    vf.address.device = static_cast<std::uint8_t>(place % 256U / 8U);
    vf.address.function = static_cast<std::uint8_t>(place % 8U);
    vf.physfn = pf.address;
    vf.vf_number = i;
    vf.device = 0x101e;
    vf.max_link_gts.reset();
    vf.max_link_width.reset();
    builder_->node_.pci.push_back(vf);
    node::Nic nic = parent;
    nic.name.clear();
    nic.pci = vf.address;
    nic.netdevs.clear();
    builder_->node_.nics.push_back(nic);
  }
  return *this;
}

}  // namespace railhead::test
