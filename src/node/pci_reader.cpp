// SPDX-License-Identifier: Apache-2.0
#include "node/pci_reader.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/text.h"

namespace railhead {
namespace {

constexpr std::string_view kPciDevices = "/sys/bus/pci/devices";
constexpr int kHighestNumaNode = 4095;  // four times MAX_NUMNODES of any architecture
constexpr std::uint64_t kMostVfs = 65535;
constexpr std::uint64_t kMostLanes = 32;

struct Function {
  PciDevice device;
  std::string path;       ///< canonical folder
  bool detailed = false;  ///< read_details() was here
};

bool parse_ids(std::string_view text, std::uint16_t& vendor, std::uint16_t& device) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const auto first = parse_hex(text.substr(0, colon));
  const auto second = parse_hex(text.substr(colon + 1));
  if (!first || !second || *first > 0xffff || *second > 0xffff) return false;
  vendor = static_cast<std::uint16_t>(*first);
  device = static_cast<std::uint16_t>(*second);
  return true;
}

/// What a uevent file gave; the rest is asked of the single attributes.
struct Found {
  bool anything = false;
  bool class_code = false;
  bool ids = false;
};

/// One read in place of five. Source: pci_uevent() in Linux drivers/pci/pci-driver.c.
Found read_uevent(Reader& reader, Function& function) {
  Found found;
  const std::string path = function.path + "/uevent";
  const auto uevent = reader.raw(path);
  if (!uevent) return found;
  found.anything = true;
  PciDevice& device = function.device;
  for (const auto line : split(*uevent, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const auto key = line.substr(0, equals);
    const auto value = trim(line.substr(equals + 1));
    if (key == "DRIVER" && !value.empty() && is_plain_text(value)) {
      device.driver = std::string(value);
    } else if (key == "PCI_CLASS") {
      const auto code = parse_hex(value);
      found.class_code = code && *code <= 0xffffff;
      if (found.class_code) device.class_code = static_cast<std::uint32_t>(*code);
    } else if (key == "PCI_ID") {
      found.ids = parse_ids(value, device.vendor, device.device);
    } else if (key == "PCI_SUBSYS_ID") {
      parse_ids(value, device.subsystem_vendor, device.subsystem_device);
    }
  }
  return found;
}

template <typename Number>
bool read_number(Reader& reader, const std::string& path, std::uint64_t limit, Number& into) {
  const auto number = reader.number(path, limit);
  if (number) into = static_cast<Number>(*number);
  return number.has_value();
}

/// Class, ids and driver. False when the function has gone or cannot be told from anything else.
bool identify(Reader& reader, Function& function) {
  const Found found = read_uevent(reader, function);
  PciDevice& device = function.device;
  const std::string& path = function.path;
  if (!found.class_code && !read_number(reader, path + "/class", 0xffffff, device.class_code)) {
    if (found.anything) reader.malformed(path + "/uevent", "no PCI_CLASS, and no file class");
    return false;
  }
  if (!found.ids) {
    read_number(reader, path + "/vendor", 0xffff, device.vendor);
    read_number(reader, path + "/device", 0xffff, device.device);
  }
  return true;
}

std::optional<double> read_gigatransfers(Reader& reader, const std::string& path) {
  const auto text = reader.text(path);
  if (!text || text->starts_with("Unknown")) return std::nullopt;
  double speed = 0;
  const char* end = text->data() + text->size();
  const auto [stop, problem] = std::from_chars(text->data(), end, speed);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  if (problem == std::errc{} && speed > 0 && speed < 1000 && unit.starts_with(" GT/s")) {
    return speed;
  }
  reader.malformed(path, quoted(*text) + " is not a link speed");
  return std::nullopt;
}

/// 0, 63 and 255 are what the kernel prints when it does not know (PCIE_LNK_WIDTH_UNKNOWN is 0xff,
/// a link register of all ones gives 63).
std::optional<unsigned> read_lanes(Reader& reader, const std::string& path) {
  const auto lanes = reader.number(path, 255);
  if (!lanes || *lanes == 0 || *lanes > kMostLanes) return std::nullopt;
  return static_cast<unsigned>(*lanes);
}

void read_link(Reader& reader, Function& function) {
  PciDevice& device = function.device;
  device.link_gts = read_gigatransfers(reader, function.path + "/current_link_speed");
  device.max_link_gts = read_gigatransfers(reader, function.path + "/max_link_speed");
  device.link_width = read_lanes(reader, function.path + "/current_link_width");
  device.max_link_width = read_lanes(reader, function.path + "/max_link_width");
}

void read_sriov(Reader& reader, Function& function) {
  unsigned number = 0;
  if (read_number(reader, function.path + "/sriov_totalvfs", kMostVfs, number)) {
    function.device.sriov_totalvfs = number;
    if (read_number(reader, function.path + "/sriov_numvfs", kMostVfs, number)) {
      function.device.sriov_numvfs = number;
    }
  }
}

/// Firmware that gives no number makes the kernel answer with an error: EPERM from
/// acpi_index_show() in drivers/pci/pci-label.c.
void read_acpi_index(Reader& reader, Function& function) {
  const auto index = parse_unsigned(trim(reader.quiet(function.path + "/acpi_index").value_or("")));
  if (index && *index <= 0xffffffffU) function.device.acpi_index = static_cast<unsigned>(*index);
}

/// Source: Linux Documentation/driver-api/vfio.rst; the group's name: vfio_noiommu_group_alloc() in
/// drivers/vfio/group.c.
void read_iommu_group(Reader& reader, Function& function) {
  const auto group = reader.link(function.path + "/iommu_group");
  if (!group) return;
  const auto number = parse_unsigned(base_name(*group));
  if (!number || *number > 0xffffffffU) {
    return reader.malformed(function.path + "/iommu_group", "links to " + quoted(*group));
  }
  function.device.iommu_group = static_cast<unsigned>(*number);
  const auto name = reader.text(function.path + "/iommu_group/name");
  function.device.no_iommu = name == "vfio-noiommu";
}

/// Whether it is a virtual function, and of which one. It lies on the bus of its physical function
/// or on one below, and the kernel gives every function the NUMA node of its bus (pci_device_add()
/// in drivers/pci/probe.c), so that it need not be read again.
bool read_physfn(Reader& reader, Function& function, const std::map<PciAddress, Function>& before) {
  const auto physfn = reader.link(function.path + "/physfn");
  if (!physfn) return false;
  const auto address = PciAddress::parse(base_name(*physfn));
  if (!address) return true;
  function.device.physfn = *address;
  const auto at = before.find(*address);
  if (at != before.end() && at->second.detailed) {
    function.device.numa_node = at->second.device.numa_node;
  }
  return true;
}

/// All that is wanted of a function which is kept.
void read_details(Reader& reader, Function& function,
                  const std::map<PciAddress, Function>& before) {
  if (std::exchange(function.detailed, true)) return;
  PciDevice& device = function.device;
  const std::string& path = function.path;
  const bool network = is_network_class(device.class_code);
  const bool endpoint = network || is_gpu_class(device.class_code);
  const bool virtual_function = endpoint && read_physfn(reader, function, before);
  if (!device.numa_node) {
    device.numa_node = reader.number_or_minus_one(path + "/numa_node", kHighestNumaNode);
  }
  if (!device.driver) {
    if (const auto driver = reader.link(path + "/driver")) device.driver = base_name(*driver);
  }
  if (device.subsystem_vendor == 0 && device.subsystem_device == 0 && !device.is_bridge()) {
    read_number(reader, path + "/subsystem_vendor", 0xffff, device.subsystem_vendor);
    read_number(reader, path + "/subsystem_device", 0xffff, device.subsystem_device);
  }
  if (network && device.held_by_vfio()) read_iommu_group(reader, function);
  if (!endpoint || virtual_function) return;
  if (network) {
    read_sriov(reader, function);
    read_acpi_index(reader, function);
  }
  read_link(reader, function);
}

bool is_interesting(const PciDevice& device) {
  const std::uint32_t code = device.class_code >> 8;
  if (is_network_class(device.class_code)) return true;
  if (is_gpu_class(device.class_code)) {
    return device.vendor == kVendorNvidia || is_amd_kind(device.vendor);
  }
  const bool nv_switch = code == 0x0680 && device.vendor == kVendorNvidia;
  // The second function that a ConnectX-8 shows for data-direct (GPUDirect over its own switch).
  const bool data_direct = code == 0x0801 && device.vendor == kVendorMellanox;
  return nv_switch || data_direct;
}

std::map<PciAddress, Function> identify_all(Reader& reader) {
  std::map<PciAddress, Function> functions;
  const std::string folder(kPciDevices);
  for (const auto& name : reader.names(folder)) {
    const std::string bus_path = folder + "/" + name;
    const auto address = PciAddress::parse(name);
    if (!address) {
      reader.malformed(bus_path, address.error().message);
      continue;
    }
    Function function;
    function.device.address = *address;
    const auto target = reader.link(bus_path);
    function.path = target.value_or(bus_path);
    if (target && base_name(*target) != name) {
      reader.malformed(bus_path, "links to " + quoted(*target));
    } else if (target) {
      auto path = parse_pci_path(*target);
      function.device.root = std::move(path.root);
      function.device.bridges = std::move(path.bridges);
    }
    if (!identify(reader, function)) continue;
    // Now, while its folder is at hand; bridges when it is known what hangs below them.
    if (is_interesting(function.device)) read_details(reader, function, functions);
    functions.emplace(*address, std::move(function));
  }
  return functions;
}

}  // namespace

bool is_gpu_class(std::uint32_t class_code) {
  const std::uint32_t code = class_code >> 8;
  return code == 0x0300 || code == 0x0302 || code == 0x0380 || code == 0x1200;
}

bool is_amd_kind(std::uint16_t vendor) {
  return vendor == kVendorAmd || vendor == kVendorHygon;
}

bool is_network_class(std::uint32_t class_code) {
  return class_code >> 16 == 0x02;
}

PciPath parse_pci_path(std::string_view path) {
  PciPath result;
  bool ends_in_function = false;
  for (const auto part : split(path, '/')) {
    const auto address = PciAddress::parse(part);
    ends_in_function = address.has_value();
    if (address) {
      result.bridges.push_back(*address);
    } else if (part.starts_with("pci") && part.find(':') != std::string_view::npos) {
      result = {std::string(part), {}};
    }
  }
  if (result.root.empty() || !ends_in_function) return {};
  result.bridges.pop_back();
  return result;
}

std::vector<PciDevice> read_pci(Reader& reader, const std::set<PciAddress>& also) {
  auto functions = identify_all(reader);
  std::set<PciAddress> kept;
  for (const auto& [address, function] : functions) {
    if (!is_interesting(function.device) && !also.contains(address)) continue;
    kept.insert(address);
    kept.insert(function.device.bridges.begin(), function.device.bridges.end());
  }
  std::vector<PciDevice> devices;
  for (const auto& address : kept) {
    const auto at = functions.find(address);
    if (at == functions.end()) continue;
    read_details(reader, at->second, functions);
    devices.push_back(std::move(at->second.device));
  }
  return devices;
}

}  // namespace railhead
