// SPDX-License-Identifier: Apache-2.0
//
// Virtual functions: whose they are, and what they have in common.
#include <utility>

#include "node/pci_reader.h"
#include "node/sysfs_class.h"

namespace railhead::node {
namespace {

constexpr std::uint64_t kHighestRoutingId = 0xffff;

/// Bus, device and function as PCI Express counts them within a domain.
std::uint64_t routing_id(const PciAddress& address) {
  return std::uint64_t{address.bus} << 8 | unsigned{address.device} << 3 | address.function;
}

PciAddress with_routing_id(PciAddress address, std::uint64_t id) {
  address.bus = static_cast<std::uint8_t>(id >> 8);
  address.device = static_cast<std::uint8_t>(id >> 3 & 0x1f);
  address.function = static_cast<std::uint8_t>(id & 7);
  return address;
}

}  // namespace

/// The addresses of its virtual functions, of which nothing need be read then but what differs:
/// that of VF n is the physical function's plus sriov_offset plus n times sriov_stride
/// (pci_iov_virtfn_bus() in Linux drivers/pci/iov.c, which shows both since 4.14). Without them
/// each VF is asked whose it is.
void PciList::claim_virtual(Reader& reader, const Function& physical) {
  const PciDevice& device = physical.device;
  const unsigned enabled = device.sriov_numvfs.value_or(0);
  if (enabled == 0 || device.root.empty()) return;
  const auto offset = reader.number(physical.path + "/sriov_offset", kHighestRoutingId);
  const auto stride = reader.number(physical.path + "/sriov_stride", kHighestRoutingId);
  if (!offset || !stride || *offset == 0 || (*stride == 0 && enabled > 1)) return;
  std::uint64_t id = routing_id(device.address) + *offset;
  for (unsigned n = 0; n < enabled && id <= kHighestRoutingId; ++n, id += *stride) {
    if (++claims_ > host::Host::kMaxListEntries) return;  // no machine has so many
    physical_of_.emplace(with_routing_id(device.address, id), device.address);
  }
}

/// A virtual function lies beside its physical one (pci_iov_add_virtfn() there), on the same NUMA
/// node.
void PciList::take_place(const Function& physical, Function& function) {
  function.path = parent_path(physical.path) + "/" + function.device.address.str();
  function.asked_physfn = function.is_virtual = function.knows_numa = true;
  PciDevice& device = function.device;
  device.physfn = physical.device.address;
  device.root = physical.device.root;
  device.bridges = physical.device.bridges;
  device.numa_node = physical.device.numa_node;
}

/// A driver holds many virtual functions, and its folder names them all at once.
std::optional<std::string> PciList::driver_of_virtual(Reader& reader, const Function& function) {
  const auto known = bound_.find(function.device.address);
  if (known != bound_.end()) return known->second;
  const auto link = reader.link(function.path + "/driver");
  if (!link) return std::nullopt;
  auto driver = host::base_name(*link);
  if (listed_drivers_.insert(driver).second) {
    for (const auto& name : reader.names("/sys/bus/pci/drivers/" + driver)) {
      if (const auto address = pci_address_of(name)) bound_.emplace(*address, driver);
    }
  }
  return driver;
}

/// Virtual functions of one physical function have the same class and ids: the kernel itself reads
/// them from the first (pci_read_vf_config_common() in drivers/pci/iov.c). So only the driver is
/// asked of the others. False where that cannot be known; a snapshot of before has no link for it.
bool PciList::identify_virtual(Reader& reader, Function& function) {
  if (folders_of_virtual_.contains(parent_path(function.path))) read_physfn(reader, function);
  const auto first =
      function.device.physfn ? first_virtual_.find(*function.device.physfn) : first_virtual_.end();
  if (first == first_virtual_.end()) return false;
  PciDevice& device = function.device;
  device.driver = driver_of_virtual(reader, function);
  if (!device.driver) return false;
  device.class_code = first->second.class_code;
  device.vendor = first->second.vendor;
  device.device = first->second.device;
  device.subsystem_vendor = first->second.subsystem_vendor;
  device.subsystem_device = first->second.subsystem_device;
  return true;
}

/// Whether it is a virtual function, and of which one. It lies on the bus of its physical function
/// or on one below, and the kernel gives every function the NUMA node of its bus (pci_device_add()
/// in drivers/pci/probe.c), so that it need not be read again.
void PciList::read_physfn(Reader& reader, Function& function) const {
  if (std::exchange(function.asked_physfn, true)) return;
  const auto physfn = reader.link(function.path + "/physfn");
  if (!physfn) return;
  function.is_virtual = true;
  PciDevice& device = function.device;
  device.physfn = pci_address_of(host::base_name(*physfn));
  const auto at = device.physfn ? functions_.find(*device.physfn) : functions_.end();
  function.knows_numa = at != functions_.end() && at->second.detailed;
  if (function.knows_numa) device.numa_node = at->second.device.numa_node;
}

/// The address of VF n is that of its physical function plus First VF Offset plus n times VF Stride
/// (PCIe SR-IOV; pci_iov_virtfn_devfn() in Linux drivers/pci/iov.c). So where all are there, they
/// are in the order of their addresses, and no link is read. Where some are missing, the links
/// virtfn<n> of the physical function say which is which (pci_iov_sysfs_link() there); without
/// those nobody knows.
void PciList::number_virtual(Reader& reader) {
  std::map<PciAddress, std::vector<PciDevice*>> by_physical;
  for (auto& [address, function] : functions_) {
    function.device.vf_number.reset();
    if (function.found && function.device.physfn) {
      by_physical[*function.device.physfn].push_back(&function.device);
    }
  }
  for (const auto& [address, children] : by_physical) {
    const auto physical = functions_.find(address);
    if (physical == functions_.end()) continue;
    const unsigned enabled = physical->second.device.sriov_numvfs.value_or(0);
    if (enabled == children.size()) {
      for (unsigned i = 0; i < enabled; ++i) children[i]->vf_number = i;
      continue;
    }
    for (unsigned i = 0; i < enabled; ++i) {
      const auto link = reader.link(physical->second.path + "/virtfn" + std::to_string(i));
      const auto target = link ? pci_address_of(host::base_name(*link)) : std::nullopt;
      const auto child = target ? functions_.find(*target) : functions_.end();
      if (child == functions_.end() || child->second.device.physfn != address) continue;
      child->second.device.vf_number = i;
    }
  }
}

}  // namespace railhead::node
