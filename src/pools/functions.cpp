// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/contains.h"
#include "base/find.h"
#include "base/sort_unique.h"
#include "node/pci_reader.h"
#include "pools/pools.h"

namespace railhead::pools {
namespace {

class FunctionList {
 public:
  explicit FunctionList(const node::Node& node)
      : node_(node) {
    add_pci_functions();
    for (std::size_t i = 0; i < node.nics.size(); ++i) add_nic(i);
    add_lone_netdevs();
  }

  std::vector<NetFunction> take() && {
    for (auto& [name, function] : scalable_) functions_.push_back(std::move(function));
    for (auto& function : soft_) functions_.push_back(std::move(function));
    for (auto& function : functions_) place(function);
    return std::move(functions_);
  }

 private:
  /// Where its link is; where that of a VF cannot be seen (a virtual machine), where it is itself.
  void place(NetFunction& function) const {
    const node::PciDevice* link = function.link() ? node_.find_pci(*function.link()) : nullptr;
    if (link == nullptr && function.pci) link = node_.find_pci(*function.pci);
    if (link == nullptr) return;
    function.root = link->root;
    function.bridges = link->bridges;
  }

  void add_pci_functions() {
    std::vector<node::PciAddress> with_nic;
    for (const auto& nic : node_.nics) {
      if (nic.pci) with_nic.push_back(*nic.pci);
    }
    sort_unique(with_nic);
    functions_.reserve(with_nic.size());
    for (const auto& device : node_.pci) {
      const bool has_nic = std::ranges::binary_search(with_nic, device.address);
      if (!node::is_network_class(device.class_code) && !has_nic) continue;
      NetFunction function;
      function.id = device.address.str();
      function.pci = device.address;
      function.numa_node = device.numa_node;
      if (device.physfn) {
        function.kind = FunctionKind::virtual_;
        function.parent = device.physfn;
        function.index = device.vf_number;
      }
      functions_.push_back(std::move(function));
    }
  }

  void add_nic(std::size_t index) {
    const node::Nic& nic = node_.nics[index];
    NetFunction* function = place_of(nic);
    function->nics.push_back(index);
    for (const auto& name : nic.netdevs) {
      if (!contains(function->netdevs, name)) {
        function->netdevs.push_back(name);
      }
      claimed_.insert(name);
    }
  }

  NetFunction* place_of(const node::Nic& nic) {
    if (nic.sub_function) {
      NetFunction& function = scalable_[*nic.sub_function];
      function.kind = FunctionKind::scalable;
      function.id = *nic.sub_function;
      function.pci = nic.pci;
      function.parent = nic.pci;
      function.index = nic.sf_number;
      function.numa_node = nic.numa_node;
      return &function;
    }
    if (auto* function = nic.pci ? find(*nic.pci) : nullptr) return function;
    // A soft device, or one whose PCI function cannot be seen.
    NetFunction function;
    function.kind = nic.pci ? FunctionKind::physical : FunctionKind::soft;
    function.id = nic.pci ? nic.pci->str() : nic.name;
    function.pci = nic.pci;
    function.numa_node = nic.numa_node;
    return &soft_.emplace_back(std::move(function));
  }

  /// Network interfaces of functions without an RDMA device.
  void add_lone_netdevs() {
    for (const auto& netdev : node_.netdevs) {
      if (!netdev.pci || claimed_.contains(netdev.name)) continue;
      auto* function = find(*netdev.pci);
      if (function != nullptr && function->nics.empty()) function->netdevs.push_back(netdev.name);
    }
  }

  /// One of the PCI functions, which are in the order of their addresses.
  NetFunction* find(const node::PciAddress& address) {
    return find_sorted(
        functions_, [](const NetFunction& function) { return *function.pci; }, address);
  }

  const node::Node& node_;
  std::vector<NetFunction> functions_;
  std::map<std::string, NetFunction> scalable_;
  std::vector<NetFunction> soft_;
  std::unordered_set<std::string_view> claimed_;
};

}  // namespace

std::vector<NetFunction> functions_of(const node::Node& node) {
  return FunctionList(node).take();
}

}  // namespace railhead::pools
