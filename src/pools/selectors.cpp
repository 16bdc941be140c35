// SPDX-License-Identifier: Apache-2.0
#include "pools/selectors.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/contains.h"
#include "base/text.h"
#include "pools/address_prefix.h"

namespace railhead::pools {
namespace {

constexpr std::array kLinkLayers{node::LinkLayer::infiniband, node::LinkLayer::ethernet};
constexpr std::array<std::string_view, 2> kLinkTypes{"infiniband", "ether"};
constexpr std::array<std::string_view, 2> kVdpaTypes{"vhost", "virtio"};
constexpr std::array kPortStates{node::PortState::nop,    node::PortState::down,
                                 node::PortState::init,   node::PortState::armed,
                                 node::PortState::active, node::PortState::active_defer};

std::string pci_id_text(std::uint16_t id) {
  return to_hex(id, 4);
}

std::string pkey_text(std::uint16_t pkey) {
  return "0x" + to_hex(pkey, 4);
}

/// Without the bit for full membership: 0x8001 and 0x0001 are one partition.
std::string partition_text(std::uint16_t pkey) {
  return pkey_text(pkey & 0x7fff);
}

/// "b8ce:f603:00ab:1234" and "0xb8cef60300ab1234" as "b8cef60300ab1234"; wildcards stay.
std::string guid_text(std::string_view text) {
  auto lower = to_lower(text);
  if (lower.starts_with("0x")) lower.erase(0, 2);
  lower.erase(std::remove(lower.begin(), lower.end(), ':'), lower.end());
  return lower;
}

Error no(std::string_view text, const std::string& what) {
  return {ErrorCode::malformed, in_quotes(text) + " is no " + what};
}

Result<std::uint16_t> hex16(std::string_view text, const std::string& what) {
  const auto number = parse_hex(text);
  if (!number || *number > 0xffff) return no(text, what);
  return static_cast<std::uint16_t>(*number);
}

/// One of some words, letter by letter.
template <std::size_t count>
Result<std::string> just_one_of(std::string_view text,
                                const std::array<std::string_view, count>& words) {
  if (contains(words, text)) return std::string(text);
  const std::vector<std::string> known(words.begin(), words.end());
  return Error{ErrorCode::malformed, in_quotes(text) + " is none of " + join(known, ", ")};
}

/// One of some words, in any case, as it is spelt there.
template <typename Words>
Result<std::string> one_of(std::string_view text, const Words& words, const std::string& what) {
  for (const auto word : words) {
    if (to_lower(to_string(word)) == to_lower(text)) return std::string(to_string(word));
  }
  return no(text, what);
}

Result<std::string> spelt_name(std::string_view text) {
  if (text.empty()) return no(text, "name");
  return std::string(text);
}

Result<std::string> spelt_address(std::string_view text) {
  return TRY(node::PciAddress::parse(text)).str();
}

Result<std::string> spelt_prefix(std::string_view text) {
  TRY(AddressPrefix::parse(text));
  return std::string(text);
}

Result<std::string> spelt_pkey(std::string_view text) {
  return partition_text(TRY(hex16(text, "partition key")));
}

Result<std::string> spelt_first_pkey(std::string_view text) {
  return pkey_text(TRY(hex16(text, "partition key")));
}

Result<std::string> spelt_link_type(std::string_view text) {
  return just_one_of(text, kLinkTypes);
}

Result<std::string> spelt_vdpa_type(std::string_view text) {
  return just_one_of(text, kVdpaTypes);
}

Result<std::string> spelt_layer(std::string_view text) {
  return one_of(text, kLinkLayers, "link layer (InfiniBand, Ethernet)");
}

Result<std::string> spelt_state(std::string_view text) {
  return one_of(text, kPortStates, "port state (ACTIVE, DOWN, …)");
}

Result<std::string> spelt_pci_id(std::string_view text) {
  return pci_id_text(TRY(hex16(text, "PCI id of four hexadecimal digits")));
}

Result<std::string> spelt_number(std::string_view text) {
  return std::to_string(TRY(parse_unsigned(text)));
}

Result<std::string> spelt_guid(std::string_view text) {
  auto guid = guid_text(text);
  if (guid.empty() || guid.find_first_not_of("0123456789abcdef*?") != std::string::npos) {
    return no(text, "GUID");
  }
  return guid;
}

bool any_name(const std::vector<std::string>& names, const Test& test) {
  return std::ranges::any_of(names, [&](const std::string& name) { return test(name); });
}

bool is_scalable(const Known& known) {
  return known.function.kind == FunctionKind::scalable;
}

bool rdma_name(const Known& known, const Test& test) {
  return known.nic->registered && test(known.nic->name);
}

bool pci_address(const Known& known, const Test& test) {
  return !is_scalable(known) && known.function.pci && test(known.function.pci->str());
}

bool vendor_id(const Known& known, const Test& test) {
  return test(pci_id_text(known.device->vendor));
}

bool device_id(const Known& known, const Test& test) {
  return test(pci_id_text(known.device->device));
}

bool driver(const Known& known, const Test& test) {
  const auto& bound = known.device->driver;
  if (!bound || test(*bound)) return bound.has_value();
  // The auxiliary bus names drivers after module and device: mlx5_core.sf.
  const auto& id = known.function.id;
  return is_scalable(known) && test(id.substr(0, id.rfind('.')));
}

bool netdev(const Known& known, const Test& test) {
  return any_name(known.function.netdevs, test);
}

/// Of a function that a driver for virtual machines holds, its class tells.
bool link_type(const Known& known, const Test& test) {
  bool is_known = false;
  for (const auto nic : known.function.nics) {
    for (const auto& port : known.node.nics[nic].ports) {
      if (port.link_layer == node::LinkLayer::unknown) continue;
      is_known = true;
      if (test(port.link_layer == node::LinkLayer::infiniband ? "infiniband" : "ether")) {
        return true;
      }
    }
  }
  if (is_known || !known.function.pci) return false;
  const auto* device = known.node.find_pci(*known.function.pci);
  return device != nullptr && test(device->class_code >> 8 == 0x0207 ? "infiniband" : "ether");
}

bool pf_name(const Known& known, const Test& test) {
  const auto& parent = known.function.parent;
  const auto* function = parent ? known.by_address.find(*parent) : nullptr;
  return function != nullptr && any_name(function->netdevs, test);
}

bool root_device(const Known& known, const Test& test) {
  return known.function.parent && test(known.function.parent->str());
}

bool link_layer(const Known& known, const Test& test) {
  const auto layer = known.port->link_layer;
  return layer != node::LinkLayer::unknown && test(to_string(layer));
}

bool port_state(const Known& known, const Test& test) {
  return known.port->state && test(to_string(*known.port->state));
}

/// A link that is down shows some rate, too.
bool rate(const Known& known, const Test& test) {
  return known.port->state == node::PortState::active && known.port->rate_gbps &&
         test(decimal_text(*known.port->rate_gbps));
}

bool guid(const Known& known, const Test& test) {
  const auto is = [&](const auto& guid) { return guid && test(guid_text(*guid)); };
  return is(known.nic->node_guid) || is(known.nic->sys_image_guid);
}

bool numa_node(const Known& known, const Test& test) {
  return known.function.numa_node && test(std::to_string(*known.function.numa_node));
}

bool first_pkey(const Known& known, const Test& test) {
  const auto& port = *known.port;
  return port.link_layer == node::LinkLayer::infiniband && !port.pkeys.empty() &&
         test(pkey_text(port.pkeys.front()));
}

bool acpi_index(const Known& known, const Test& test) {
  return known.device->acpi_index && test(std::to_string(*known.device->acpi_index));
}

bool role(const Known& known, const Test& test) {
  return known.status != nullptr && test(known.status->role);
}

bool subnet(const Known& known, const Test& test) {
  return std::ranges::any_of(known.port->gids,
                             [&](const node::Gid& gid) { return test(gid.value); });
}

bool partition(const Known& known, const Test& test) {
  return std::ranges::any_of(known.port->pkeys,
                             [&](auto pkey) { return test(partition_text(pkey)); });
}

bool ddp_package(const Known& known, const Test& test) {
  const auto& physfn = known.device->physfn;
  const auto* physical = physfn ? known.node.find_pci(*physfn) : known.device;
  return physical != nullptr && physical->ddp_package && test(*physical->ddp_package);
}

bool vdpa_type(const Known& known, const Test& test) {
  if (is_scalable(known) || known.device->vdpa.empty()) return false;
  const auto type = known.device->vdpa.front().type();
  return !type.empty() && test(type);
}

/// "sf" of mlx5_core.sf.4
bool auxiliary_type(const Known& known, const Test& test) {
  const auto parts = split(known.function.id, '.');
  return is_scalable(known) && test(parts.size() > 1 ? parts[parts.size() - 2] : parts.front());
}

constexpr const char* kNoChild = "it is neither a VF nor an SF";

constexpr SelectorRow kSelectors[] = {
    {Fact::rdma_name, "names", "", "", Match::glob, spelt_name, AskedOf::nic, rdma_name,
     "it has no RDMA device"},
    {Fact::pci_address, "pciAddresses", "", "pciAddresses", Match::exact, spelt_address,
     AskedOf::function, pci_address, kUnknown, SriovDevices::net},
    {Fact::vendor, "vendors", "vendors", "vendors", Match::exact, spelt_pci_id, AskedOf::device,
     vendor_id},
    {Fact::device, "devices", "deviceIDs", "devices", Match::exact, spelt_pci_id, AskedOf::device,
     device_id},
    {Fact::driver, "drivers", "drivers", "drivers", Match::exact, spelt_name, AskedOf::device,
     driver, "no driver is bound"},
    {Fact::netdev, "interfaces", "ifNames", "", Match::glob, spelt_name, AskedOf::function, netdev,
     "it has no network interface"},
    {Fact::link_type, "linkTypes", "linkTypes", "linkTypes", Match::exact, spelt_link_type,
     AskedOf::function, link_type},
    {Fact::pf_name, "pfNames", "", "pfNames", Match::glob, spelt_name, AskedOf::function, pf_name,
     kNoChild, SriovDevices::all, Comparing::functions},
    {Fact::root_device, "rootDevices", "", "rootDevices", Match::any_case, spelt_name,
     AskedOf::function, root_device, kNoChild, SriovDevices::all, Comparing::functions},
    {Fact::link_layer, "linkLayers", "", "", Match::exact, spelt_layer, AskedOf::port, link_layer},
    {Fact::port_state, "portStates", "", "", Match::exact, spelt_state, AskedOf::port, port_state},
    {Fact::rate_gbps, "minRateGbps", "", "", Match::exact, spelt_number, AskedOf::port, rate,
     "no port is ACTIVE", SriovDevices::all, Comparing::least},
    {Fact::guid, "guids", "", "", Match::glob, spelt_guid, AskedOf::nic, guid},
    {Fact::numa_node, "numaNodes", "", "", Match::exact, spelt_number, AskedOf::function, numa_node,
     "its NUMA node is not known"},
    {Fact::first_pkey, "firstPkeys", "", "pKeys", Match::exact, spelt_first_pkey, AskedOf::port,
     first_pkey, kUnknown, SriovDevices::net},
    {Fact::acpi_index, "acpiIndexes", "", "acpiIndexes", Match::exact, spelt_number,
     AskedOf::device, acpi_index, "the firmware gives it no number", SriovDevices::net},
    {Fact::role, "roles", "", "", Match::exact, spelt_name, AskedOf::nic, role},
    {Fact::subnet, "subnets", "", "", Match::exact, spelt_prefix, AskedOf::port, subnet, kUnknown,
     SriovDevices::all, Comparing::prefixes},
    {Fact::pkey, "pkeys", "", "", Match::exact, spelt_pkey, AskedOf::port, partition},
    {Fact::ddp_package, "ddpProfiles", "", "ddpProfiles", Match::exact, spelt_name, AskedOf::device,
     ddp_package, "no driver names its package (devlink, fw.app.name)", SriovDevices::net},
    {Fact::vdpa_type, "vdpaTypes", "", "vdpaType", Match::exact, spelt_vdpa_type, AskedOf::device,
     vdpa_type, "it has no vDPA device of vhost_vdpa or virtio_vdpa", SriovDevices::net},
    {Fact::auxiliary_type, "auxTypes", "", "auxTypes", Match::exact, spelt_name, AskedOf::function,
     auxiliary_type, "it is not an auxiliary device", SriovDevices::auxiliary},
};

constexpr bool is_complete() {
  for (std::size_t at = 0; at < std::size(kSelectors); ++at) {
    if (static_cast<std::size_t>(kSelectors[at].fact) != at) return false;
  }
  return std::size(kSelectors) == static_cast<std::size_t>(Fact::end);
}

static_assert(is_complete(), "each fact has a row, in the order of Fact");

}  // namespace

std::span<const SelectorRow> selectors() {
  return kSelectors;
}

const SelectorRow& selector_of(Fact fact) {
  return kSelectors[static_cast<std::size_t>(fact)];
}

}  // namespace railhead::pools
