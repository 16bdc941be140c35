// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "topology/layout.h"

namespace railhead::topology {
namespace {

/// Hands out addresses for bridges that the file does not name, in a domain that no machine has.
/// One after the other in the order of the file: the same file has the same tree.
class PortAddresses {
 public:
  explicit PortAddresses(std::set<node::PciAddress> taken)
      : taken_(std::move(taken)) {}

  node::PciAddress next() {
    for (;; ++next_) {
      const node::PciAddress address{
          kInventedDomain - (next_ >> 16), static_cast<std::uint8_t>(next_ >> 8),
          static_cast<std::uint8_t>(next_ >> 3 & 0x1f), static_cast<std::uint8_t>(next_ & 7)};
      if (taken_.insert(address).second) return address;
    }
  }

 private:
  std::set<node::PciAddress> taken_;
  unsigned next_ = 0;
};

struct Addresses {
  std::set<node::PciAddress> all;
  std::set<node::PciAddress> devices;
};

bool is_device(const NcclPci& pci) {
  return pci.gpu || !pci.nets.empty() || !pci.is_switch();
}

void collect(const std::vector<NcclPci>& list, Addresses& addresses) {
  for (const auto& pci : list) {
    addresses.all.insert(pci.address);
    if (is_device(pci)) addresses.devices.insert(pci.address);
    collect(pci.below, addresses);
  }
}

Addresses addresses_of(const NcclTopology& topology) {
  Addresses addresses;
  for (const auto& cpu : topology.cpus) collect(cpu.pci, addresses);
  return addresses;
}

class Arranger {
 public:
  explicit Arranger(const NcclTopology& topology)
      : Arranger(topology, addresses_of(topology)) {}

  Layout take() { return std::move(layout_); }

 private:
  Arranger(const NcclTopology& topology, Addresses addresses)
      : ports_(std::move(addresses.all)),
        named_(std::move(addresses.devices)) {
    for (const auto& cpu : topology.cpus) {
      numa_ = cpu.numa_node;
      for (const auto& pci : cpu.pci) {
        root_ = root_of(pci);
        add(pci);
      }
    }
    std::ranges::sort(layout_.positions, {}, &Position::function);
  }

  /// A switch has a host bridge of its own: nobody knows better. Plain functions of one bus and
  /// NUMA node share one. So does all below a <cpu> without a number, as nothing else would say
  /// that it is together.
  std::string root_of(const NcclPci& pci) {
    if (!numa_) return "pci?";
    if (!pci.below.empty()) return "pci" + pci.address.str();
    const std::string address = pci.address.str();
    const std::string bus = "pci" + address.substr(0, address.rfind(':'));
    const int first = bus_numa_.emplace(bus, *numa_).first->second;
    return first == *numa_ ? bus : bus + " of NUMA node " + std::to_string(*numa_);
  }

  void add(const NcclPci& pci) {
    if (pci.below.empty()) {
      if (is_device(pci)) put(pci);
      return;
    }
    path_.push_back(named_.insert(pci.address).second ? pci.address : ports_.next());
    // A device that is a switch as well hangs on a port of its own switch.
    if (is_device(pci)) below_port([&] { put(pci); });
    for (const auto& child : pci.below) {
      below_port([&] { add(child); });
    }
    path_.pop_back();
  }

  template <typename Add>
  void below_port(const Add& add_it) {
    path_.push_back(ports_.next());
    add_it();
    path_.pop_back();
  }

  void put(const NcclPci& pci) {
    if (placed_.insert(pci.address).second) {
      layout_.positions.push_back({pci.address, root_, path_, numa_});
    } else {
      layout_.warnings.push_back(pci.address.str() + " stands at several places, the first counts");
    }
  }

  PortAddresses ports_;
  std::map<std::string, int> bus_numa_;  ///< the first node of functions on this bus
  std::set<node::PciAddress> named_;     ///< of devices, and of switches so far
  std::set<node::PciAddress> placed_;
  std::optional<int> numa_;
  std::string root_;
  std::vector<node::PciAddress> path_;
  Layout layout_;
};

}  // namespace

Layout layout_of(const NcclTopology& topology) {
  return Arranger(topology).take();
}

}  // namespace railhead::topology
