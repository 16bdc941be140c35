// SPDX-License-Identifier: Apache-2.0
//
// What NCCL does with a topology file (src/graph/{xml,topo}.cc), and what is therefore written:
//   - A GPU is looked up by its address and completed from NVML: only its <pci> is written, without
//     <gpu>, whose index would be that of another process, and without its link.
//   - A NIC is looked up by the name of a <net>, else by its address with the function, and for
//     virtual functions the device, set to 0 (NCCL_IB_MERGE_VFS), which on virtual machines with
//     flat buses is the host bridge. So each RDMA device is written as a <net> with its name, below
//     function 0 of its card, as NCCL itself does with ports of a card. dev, port and gdr are left
//     to NCCL; the guid, which NCCL would find as well, tells a reader of the file one card's
//     devices from those of several.
//   - What is above a <net> must be complete, its <cpu> as well: a missing arch, class or
//     link_width fails the communicator. Where the processor is not known, no <net> is written.
//   - A file has at most 256 elements, with those that NCCL adds; a larger one is refused.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "node/pci_reader.h"
#include "topology/layout.h"
#include "topology/nccl_cpu.h"
#include "topology/nccl_guid.h"
#include "topology/nccl_hardware.h"
#include "topology/nccl_name.h"
#include "topology/topology.h"

namespace railhead::topology {
namespace {

constexpr unsigned kLanes = 16;  // that NCCL assumes where the width is not known

/// A PCIe link as a topology file describes it. Ordering: by bandwidth, unknown is least.
struct Link {
  std::optional<double> gts;      ///< GT/s of a lane
  std::optional<unsigned> width;  ///< lanes

  friend bool operator<(const Link& a, const Link& b) { return a.bandwidth() < b.bandwidth(); }

 private:
  [[nodiscard]] double bandwidth() const { return gts ? *gts * width.value_or(kLanes) : 0; }
};

constexpr std::array kGenerations = {8.0, 16.0, 32.0, 64.0};  // GT/s of PCIe 3.0 to 6.0

/// The link of a function as it is, else as it could be.
Link link_of(const node::PciDevice& device) {
  return {device.link_gts ? device.link_gts : device.max_link_gts,
          device.link_width ? device.link_width : device.max_link_width};
}

template <typename Number>
std::optional<Number> lower(const std::optional<Number>& a, const std::optional<Number>& b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

/// The link between a bridge and the port above it, as NCCL takes it: the lower of what both can
/// be (src/graph/xml.cc: ncclTopoGetXmlFromSys()). The trained link is none to go by: at rest some
/// GPUs lower that of the bridges in their package.
Link link_above(const node::PciDevice& bridge, const node::PciDevice* port) {
  if (port == nullptr) return {bridge.max_link_gts, bridge.max_link_width};
  return {lower(bridge.max_link_gts, port->max_link_gts),
          lower(bridge.max_link_width, port->max_link_width)};
}

/// The link, where its speed is known. Virtual machines do not show it, NCCL takes it for PCIe 3.0
/// then, and too few channels follow: so it is what carries at least the rate of the device's
/// ports.
Link at_least(const Link& link, const node::Nic& nic) {
  if (link.gts) return link;
  const unsigned lanes = link.width.value_or(kLanes);
  double gbps = 0;
  for (const auto& port : nic.ports) {
    if (port.state == node::PortState::active) gbps += port.rate_gbps.value_or(0);
  }
  const auto* const enough =
      std::ranges::find_if(kGenerations, [&](double gts) { return gts * lanes >= gbps; });
  if (gbps == 0 || enough == kGenerations.end()) return link;
  return {*enough, lanes};
}

constexpr std::size_t kMostElements = 256;
constexpr std::size_t kElementsOfGpu = 2;  // that NCCL adds: <gpu> and an <nvlink>

/// An element that is being put together.
struct Branch {
  NcclPci pci;
  Link link;  ///< also where it is not written
  std::map<node::PciAddress, Branch> below;
};

using Branches = std::map<node::PciAddress, Branch>;

std::optional<std::uint16_t> id(std::uint16_t value) {
  return value != 0 ? std::optional(value) : std::nullopt;
}

void describe(const node::PciDevice& device, std::uint32_t class_code, Branch& branch) {
  branch.pci.class_code = class_code;
  branch.pci.vendor = id(device.vendor);
  branch.pci.device = id(device.device);
  branch.pci.subsystem_vendor = id(device.subsystem_vendor);
  branch.pci.subsystem_device = id(device.subsystem_device);
  branch.link = link_of(device);
}

/// Whether a root port or an upstream port comes first below the host bridge: every other bridge of
/// a path is a switch's upstream port, and NCCL's climb in steps of two meets those, from the
/// function up. Where the paths of one root disagree, a root port is first, as in hardware.
class SwitchFinder {
 public:
  void learn(const node::PciDevice& function) {
    if (function.bridges.empty()) return;
    auto& root = roots_[function.root];
    root.even = root.even && function.bridges.size() % 2 == 0;
  }

  std::vector<node::PciAddress> switches_above(const node::PciDevice& function) const {
    std::vector<node::PciAddress> switches;
    const auto at = roots_.find(function.root);
    const bool even = at != roots_.end() && at->second.even;
    for (std::size_t depth = even ? 0 : 1; depth < function.bridges.size(); depth += 2) {
      switches.push_back(function.bridges[depth]);
    }
    return switches;
  }

 private:
  struct Root {
    bool even = true;  ///< all paths so far have an even number of bridges
  };

  std::map<std::string, Root> roots_;
};

class Writer {
 public:
  explicit Writer(const node::Node& node, bool with_vfs)
      : node_(node),
        cpu_(nccl_cpu_of(node.cpu)),
        with_vfs_(with_vfs) {
    for (const auto& gpu : node.gpus) learn(gpu.pci);
    for (const auto& nic : node.nics) {
      if (nic.pci) learn(*nic.pci);
    }
    for (const auto& gpu : node.gpus) add_gpu(gpu);
    for (const auto& nic : node.nics) add_nic(nic);
  }

  NcclTopology take() {
    topology_.version = nccl_version_for(node_);
    for (auto& [numa, branches] : numas_) {
      NcclCpu cpu = cpu_of_numa(numa);
      for (auto& [address, branch] : branches) {
        finish(branch);
        cpu.pci.push_back(std::move(branch.pci));
      }
      topology_.cpus.push_back(std::move(cpu));
    }
    // NCCL attaches what has no place to the first <cpu>.
    if (!soft_.empty()) {
      if (topology_.cpus.empty()) topology_.cpus.push_back(cpu_of_numa(Numa{}));
      topology_.cpus.front().nets = std::move(soft_);
    }
    return std::move(topology_);
  }

 private:
  /// Nodes without a number come last.
  struct Numa {
    std::optional<int> id;

    friend bool operator<(const Numa& a, const Numa& b) {
      if (a.id.has_value() != b.id.has_value()) return a.id.has_value();
      return a.id < b.id;
    }
  };

  void learn(const node::PciAddress& address) {
    const node::PciDevice* function = node_.find_pci(address);
    if (function != nullptr) finder_.learn(*function);
  }

  /// The function, if its place is known.
  const node::PciDevice* placed(const node::PciAddress& address) {
    const node::PciDevice* function = node_.find_pci(address);
    if (function != nullptr && !function->root.empty()) return function;
    topology_.warnings.push_back(address.str() + ": its place is not known, left out");
    return nullptr;
  }

  void add_gpu(const node::Gpu& gpu) {
    const node::PciDevice* function = placed(gpu.pci);
    if (function == nullptr) return;
    Branch& branch = branch_at(*function, gpu.pci);
    const bool known = node::is_gpu_class(function->class_code);
    describe(*function, known ? function->class_code : node::kPciDisplayClass, branch);
  }

  void add_nic(const node::Nic& nic) {
    if (!nic.registered) return;
    const bool named = cpu_ && is_nccl_name(nic.name);
    if (!nic.pci) {
      if (named) add_nets(nic, soft_);
      return;
    }
    const node::PciDevice* function = placed(*nic.pci);
    if (function == nullptr || (function->is_vf() && !with_vfs_)) return;
    const node::PciDevice& card = named ? card_of(*function) : *function;
    Branch& branch = branch_at(card, card.address);
    if (!branch.pci.class_code) describe(card, function->class_code, branch);
    if (named) {
      add_nets(nic, branch.pci.nets);
      branch.link = at_least(branch.link, nic);
    }
  }

  /// The function by which a card is named. A virtual function is replaced by its physical one, and
  /// that by function 0 where both are below the same bridge.
  const node::PciDevice& card_of(const node::PciDevice& function) const {
    const node::PciDevice* physical = function.physfn ? node_.find_pci(*function.physfn) : nullptr;
    const node::PciDevice& own = physical != nullptr ? *physical : function;
    node::PciAddress zero = own.address;
    zero.function = 0;
    const node::PciDevice* first = node_.find_pci(zero);
    const bool together = first != nullptr && first->root == own.root &&
                          first->bridges == own.bridges && !first->is_bridge();
    return together ? *first : own;
  }

  static std::optional<std::string> guid_for_nccl(const node::Nic& nic) {
    return nic.sys_image_guid ? nccl_guid(*nic.sys_image_guid) : std::nullopt;
  }

  static void add_nets(const node::Nic& nic, std::vector<NcclNet>& nets) {
    for (const auto& port : nic.ports) {
      NcclNet net;
      net.name = nic.name;
      net.guid = guid_for_nccl(nic);
      const bool active = port.state == node::PortState::active;
      if (active && port.rate_gbps) {
        net.speed_mbps = static_cast<unsigned>(*port.rate_gbps * 1000);
      }
      if (nic.ports.size() > 1) net.port = port.number;
      nets.push_back(std::move(net));
    }
    if (nic.ports.empty()) nets.push_back({nic.name, {}, {}, {}, guid_for_nccl(nic), {}});
  }

  /// The element of a function, below the elements of its switches.
  Branch& branch_at(const node::PciDevice& function, const node::PciAddress& address) {
    const auto switches = finder_.switches_above(function);
    const node::PciAddress top = switches.empty() ? address : switches.front();
    // A switch is one element, whatever the NUMA nodes of what is below it.
    const auto numa = tops_.emplace(top, Numa{cpu_numa_node(node_, function)}).first->second;
    Branches* level = &numas_[numa];
    for (const auto& bridge : switches) level = &switch_at(*level, bridge).below;
    Branch& branch = (*level)[address];
    branch.pci.address = address;
    return branch;
  }

  Branch& switch_at(Branches& level, const node::PciAddress& address) {
    Branch& branch = level[address];
    if (branch.pci.class_code) return branch;
    branch.pci.address = address;
    branch.pci.class_code = node::kPciBridgeClass;
    const node::PciDevice* bridge = node_.find_pci(address);
    if (bridge == nullptr) return branch;
    describe(*bridge, bridge->is_bridge() ? bridge->class_code : node::kPciBridgeClass, branch);
    const bool top = bridge->bridges.empty();
    branch.link = link_above(*bridge, top ? nullptr : node_.find_pci(bridge->bridges.back()));
    return branch;
  }

  /// The next address for a switch that no machine has, as vendors write them: ffff:ff:01.0, …
  node::PciAddress invented() {
    for (;;) {
      ++invented_;
      const node::PciAddress address{0xffff, 0xff, static_cast<std::uint8_t>(invented_ & 0x1f),
                                     static_cast<std::uint8_t>(invented_ >> 5 & 7)};
      if (invented_ > kMostElements || node_.find_pci(address) == nullptr) return address;
    }
  }

  /// A switch has the speed of the fastest thing below it where its own is not known.
  void finish(Branch& branch) {
    if (branch.pci.address.domain == kInventedDomain) branch.pci.address = invented();
    Link fastest;
    for (auto& [address, below] : branch.below) {
      finish(below);
      fastest = std::max(fastest, below.link);
      branch.pci.below.push_back(std::move(below.pci));
    }
    if (!branch.link.gts) {
      branch.link = {fastest.gts, branch.link.width ? branch.link.width : fastest.width};
    }
    const bool looked_up = branch.below.empty() && branch.pci.nets.empty();
    if (!looked_up) {
      branch.pci.link_gts = branch.link.gts;
      branch.pci.link_width = branch.link.width;
    }
  }

  NcclCpu cpu_of_numa(const Numa& numa) const {
    NcclCpu cpu = cpu_.value_or(NcclCpu{});
    cpu.numa_node = numa.id;
    cpu.affinity = nccl_affinity_of(node_, numa.id);
    return cpu;
  }

  const node::Node& node_;
  const std::optional<NcclCpu> cpu_;
  const bool with_vfs_;
  SwitchFinder finder_;
  std::map<node::PciAddress, Numa> tops_;
  std::map<Numa, Branches> numas_;
  std::vector<NcclNet> soft_;
  unsigned invented_ = 0;
  NcclTopology topology_;
};

std::size_t elements(const std::vector<NcclPci>& list) {
  std::size_t count = list.size();
  for (const auto& pci : list) {
    count += elements(pci.below) + pci.nets.size() + (pci.nets.empty() ? 0 : 1);
  }
  return count;
}

std::size_t elements(const NcclTopology& topology) {
  std::size_t count = 1;
  for (const auto& cpu : topology.cpus) {
    count += 1 + elements(cpu.pci) + cpu.nets.size() + (cpu.nets.empty() ? 0 : 1);
  }
  return count;
}

}  // namespace

NcclTopology nccl_topology_of(const node::Node& node) {
  const auto fits = [&](const NcclTopology& topology) {
    return elements(topology) + kElementsOfGpu * node.gpus.size() <= kMostElements;
  };
  const std::string most = "NCCL reads no more than " + std::to_string(kMostElements) + " elements";
  auto topology = Writer(node, true).take();
  if (fits(topology)) return topology;
  topology = Writer(node, false).take();
  topology.warnings.push_back(fits(topology) ? most + ": virtual functions are left out"
                                             : most + " and these are more");
  return topology;
}

}  // namespace railhead::topology
