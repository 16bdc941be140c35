// SPDX-License-Identifier: Apache-2.0
#include "node/pci_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/contains.h"
#include "base/sort_unique.h"
#include "base/text.h"
#include "base/utf8.h"
#include "node/sysfs_class.h"

namespace railhead::node {
namespace {

constexpr std::string_view kPciDevices = "/sys/bus/pci/devices";
constexpr int kHighestNumaNode = 4095;  // four times MAX_NUMNODES of any architecture
constexpr std::uint64_t kMostVfs = 65535;
constexpr std::uint64_t kMostLanes = 32;

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

std::string kept_uevent(std::string_view content) {
  return host::keep_lines_if(content, [](std::string_view line) {
    constexpr auto kRead = std::to_array<std::string_view>(
        {"DRIVER", "PCI_CLASS", "PCI_ID", "PCI_SUBSYS_ID", "PCI_SLOT_NAME"});
    const auto equals = std::min(line.find('='), line.size());
    return contains(kRead, line.substr(0, equals)) &&
           (equals == line.size() || host::is_made_of(line.substr(equals + 1), "_-.:"));
  });
}

/// One read in place of five. Source: pci_uevent() in Linux drivers/pci/pci-driver.c.
Found read_uevent(Reader& reader, const std::string& folder, PciDevice& device) {
  Found found;
  const std::string path = folder + "/uevent";
  const auto uevent = reader.raw(path, kept_uevent);
  if (!uevent) return found;
  found.anything = true;
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
bool read_pci_number(Reader& reader, const std::string& path, std::uint64_t limit, Number& into) {
  const auto number = reader.number(path, limit);
  if (number) into = static_cast<Number>(*number);
  return number.has_value();
}

/// Class, ids and driver. False when the function has gone or nothing says what it is.
bool identify(Reader& reader, const std::string& path, PciDevice& device) {
  const Found found = read_uevent(reader, path, device);
  if (!found.class_code && !read_pci_number(reader, path + "/class", 0xffffff, device.class_code)) {
    if (found.anything) reader.malformed(path + "/uevent", "no PCI_CLASS, and no file class");
    return false;
  }
  if (!found.ids) {
    read_pci_number(reader, path + "/vendor", 0xffff, device.vendor);
    read_pci_number(reader, path + "/device", 0xffff, device.device);
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
  reader.malformed(path, in_quotes(*text) + " is not a link speed");
  return std::nullopt;
}

/// 0, 63 and 255 are what the kernel prints when it does not know (PCIE_LNK_WIDTH_UNKNOWN is 0xff,
/// a link register of all ones gives 63).
std::optional<unsigned> read_lanes(Reader& reader, const std::string& path) {
  const auto lanes = reader.number(path, 255);
  if (!lanes || *lanes == 0 || *lanes > kMostLanes) return std::nullopt;
  return static_cast<unsigned>(*lanes);
}

void read_link_now(Reader& reader, const std::string& path, PciDevice& device) {
  device.link_gts = read_gigatransfers(reader, path + "/current_link_speed");
  device.link_width = read_lanes(reader, path + "/current_link_width");
}

void read_link_capability(Reader& reader, const std::string& path, const PciDevice* known,
                          PciDevice& device) {
  device.max_link_gts =
      known != nullptr ? known->max_link_gts : read_gigatransfers(reader, path + "/max_link_speed");
  device.max_link_width =
      known != nullptr ? known->max_link_width : read_lanes(reader, path + "/max_link_width");
}

/// Source: Linux drivers/pci/iov.c; the number of functions that can be is a capability.
void read_sriov(Reader& reader, const std::string& path, const PciDevice* known,
                PciDevice& device) {
  unsigned number = 0;
  if (known != nullptr) {
    device.sriov_totalvfs = known->sriov_totalvfs;
  } else if (read_pci_number(reader, path + "/sriov_totalvfs", kMostVfs, number)) {
    device.sriov_totalvfs = number;
  }
  if (device.sriov_totalvfs && read_pci_number(reader, path + "/sriov_numvfs", kMostVfs, number)) {
    device.sriov_numvfs = number;
  }
}

bool is_interesting(const PciDevice& device) {
  const std::uint32_t code = device.class_code >> 8;
  if (is_network_class(device.class_code)) return true;
  if (gpu_row_of(device) != nullptr) return true;
  const gpu::GpuRow* maker = gpu::gpu_row_of_pci(device.vendor);
  const bool joins_gpus = maker != nullptr && maker->fabric_class == code && code != 0;
  // The second function that a ConnectX-8 shows for data-direct (GPUDirect over its own switch).
  const bool data_direct = code == 0x0801 && device.vendor == kVendorMellanox;
  return joins_gpus || data_direct;
}

}  // namespace

bool is_gpu_class(std::uint32_t class_code) {
  return contains(gpu::kAnyGpuClass, class_code >> 8);
}

const gpu::GpuRow* gpu_row_of(const PciDevice& function) {
  const gpu::GpuRow* row = gpu::gpu_row_of_pci(function.vendor);
  if (row == nullptr || function.class_code >> 8 == 0) return nullptr;
  const auto& classes = row->classes;
  const bool is_one = contains(classes, function.class_code >> 8);
  const bool integrated =
      row->integrated && function.address.bus == 0 && function.address.device == *row->integrated;
  return is_one && !integrated ? row : nullptr;
}

bool is_network_class(std::uint32_t class_code) {
  return class_code >> 16 == 0x02;
}

PciPath parse_pci_path(std::string_view path) {
  PciPath result;
  bool ends_in_function = false;
  for (const auto part : split(path, '/')) {
    const auto address = pci_address_of(part);
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

void PciList::refresh(Reader& reader, const Again& again) {
  before_ = std::exchange(functions_, {});
  all_ = again.everything;
  folders_of_virtual_.clear();
  first_virtual_.clear();
  physical_of_.clear();
  claims_ = 0;
  bound_.clear();
  listed_drivers_.clear();
  vfio_groups_.reset();
  const std::string folder(kPciDevices);
  const auto names = reader.names(folder);
  std::set<PciAddress> physical;  // of virtual ones that came or went
  problems_ = reader.take_problems();
  not_addresses_.clear();
  for (const auto& name : names) {
    const auto address = pci_address_of(name);
    if (!address) {
      not_addresses_.emplace(name, in_quotes(name) + " is not a PCI address");
      continue;
    }
    const auto known = before_.find(*address);
    const bool keep = known != before_.end() && known->second.found && !again.everything &&
                      !again.pci.contains(*address);
    auto at = functions_.end();
    if (keep) {
      at = functions_.insert(at, before_.extract(known));
      at->second.fresh = false;
    } else {
      at = functions_.emplace_hint(at, *address, read_function(reader, name, *address));
      if (at->second.device.physfn) physical.insert(*at->second.device.physfn);
    }
    const PciDevice& device = at->second.device;
    if (device.sriov_numvfs.value_or(0) > 0) {
      folders_of_virtual_.insert(parent_path(at->second.path));
    }
    if (at->second.found && device.physfn) first_virtual_.try_emplace(*device.physfn, device);
  }
  for (const auto& [address, gone] : before_) {
    if (gone.device.physfn) physical.insert(*gone.device.physfn);
  }
  for (const auto& address : physical) {
    const auto at = functions_.find(address);
    if (at == functions_.end() || at->second.fresh) continue;
    at->second = read_function(reader, address.str(), address);
  }
  number_virtual(reader);
}

void PciList::add_relatives(std::set<PciAddress>& named) const {
  std::set<PciAddress> relatives;
  for (const auto& [address, function] : functions_) {
    const auto& physfn = function.device.physfn;
    if (!physfn) continue;
    if (named.contains(*physfn)) relatives.insert(address);
    if (named.contains(address)) relatives.insert(*physfn);
  }
  named.insert(relatives.begin(), relatives.end());
}

PciList::Function PciList::read_function(Reader& reader, const std::string& name,
                                         const PciAddress& address) {
  const std::string bus_path = std::string(kPciDevices) + "/" + name;
  Function function;
  function.device.address = address;
  const auto physical = physical_of_.find(address);
  if (physical != physical_of_.end()) {
    take_place(functions_.at(physical->second), function);
  } else {
    const auto target = reader.link(bus_path);
    function.path = target.value_or(bus_path);
    if (target && host::base_name(*target) != name) {
      reader.malformed(bus_path, "links to " + in_quotes(*target));
    } else if (target) {
      auto path = parse_pci_path(*target);
      function.device.root = std::move(path.root);
      function.device.bridges = std::move(path.bridges);
    }
  }
  function.found =
      identify_virtual(reader, function) || identify(reader, function.path, function.device);
  // Now, while its folder is at hand; bridges when it is known what hangs below them.
  if (function.found && is_interesting(function.device)) read_details(reader, function);
  if (!function.found && !reader.list(function.path)) reader.unseen(bus_path, function.path);
  function.problems = reader.take_problems();
  return function;
}

/// Source: Linux Documentation/driver-api/vfio.rst. A group without an IOMMU has another name
/// (vfio_noiommu_group_alloc() in drivers/vfio/group.c), and in the class, too
/// (vfio_create_group() there), whose one list says it of all.
void PciList::read_iommu_group(Reader& reader, Function& function) {
  PciDevice& device = function.device;
  const std::string path = function.path + "/iommu_group";
  const auto group = reader.link(path);
  if (!group) return;
  const auto name = host::base_name(*group);
  const auto number = parse_unsigned(name);
  if (!number || *number > 0xffffffffU) {
    return reader.malformed(path, "links to " + in_quotes(*group));
  }
  device.iommu_group = static_cast<unsigned>(*number);
  if (!vfio_groups_) vfio_groups_ = reader.names("/sys/class/vfio");
  if (std::ranges::binary_search(*vfio_groups_, name)) return;
  device.no_iommu = std::ranges::binary_search(*vfio_groups_, "noiommu-" + name) ||
                    reader.text(path + "/name") == "vfio-noiommu";
}

const PciDevice* PciList::unchanged(const Function& function) const {
  const auto at = before_.find(function.device.address);
  if (!all_ || at == before_.end()) return nullptr;
  const Function& known = at->second;
  const PciDevice& was = known.device;
  const PciDevice& is = function.device;
  const bool same = known.detailed && known.problems.empty() && known.path == function.path &&
                    was.driver == is.driver && was.class_code == is.class_code &&
                    was.vendor == is.vendor && was.device == is.device;
  return same ? &was : nullptr;
}

/// All that is wanted of a function which is kept. What its capabilities and its firmware say is
/// taken from before.
void PciList::read_details(Reader& reader, Function& function) {
  if (std::exchange(function.detailed, true)) return;
  PciDevice& device = function.device;
  const std::string& path = function.path;
  const bool network = is_network_class(device.class_code);
  const bool endpoint = network || is_gpu_class(device.class_code);
  if (endpoint) read_physfn(reader, function);
  // Of a bridge nobody asks it: what hangs below it has its own.
  if (!function.knows_numa && !device.is_bridge()) {
    device.numa_node = reader.number_or_minus_one(path + "/numa_node", kHighestNumaNode);
  }
  if (!device.driver) {
    if (const auto driver = reader.link(path + "/driver")) device.driver = host::base_name(*driver);
  }
  if (device.subsystem_vendor == 0 && device.subsystem_device == 0) {
    read_pci_number(reader, path + "/subsystem_vendor", 0xffff, device.subsystem_vendor);
    read_pci_number(reader, path + "/subsystem_device", 0xffff, device.subsystem_device);
  }
  if (network && device.held_by_vfio()) read_iommu_group(reader, function);
  if (function.is_virtual || !(endpoint || device.is_bridge())) return;
  const PciDevice* known = unchanged(function);
  if (network) {
    read_sriov(reader, path, known, device);
    claim_virtual(reader, function);
    if (known != nullptr) {
      device.acpi_index = known->acpi_index;
    } else {
      // Firmware that gives no number makes the kernel answer with an error: EPERM from
      // acpi_index_show() in drivers/pci/pci-label.c.
      const auto index =
          parse_unsigned(trim(reader.quiet(path + "/acpi_index", host::keep_numbers).value_or("")));
      if (index && *index <= 0xffffffffU) device.acpi_index = static_cast<unsigned>(*index);
    }
  }
  // How a bridge is trained nobody asks.
  if (endpoint) read_link_now(reader, path, device);
  read_link_capability(reader, path, known, device);
}

std::vector<PciDevice> PciList::kept(Reader& reader, const std::set<PciAddress>& also) {
  std::vector<PciAddress> kept;
  const std::vector<PciAddress>* bridges = nullptr;
  for (const auto& [address, function] : functions_) {
    if (!function.found) continue;
    if (!is_interesting(function.device) && !also.contains(address)) continue;
    kept.push_back(address);
    const auto& above = function.device.bridges;
    if (bridges != nullptr && *bridges == above) continue;
    bridges = &above;
    kept.insert(kept.end(), above.begin(), above.end());
  }
  sort_unique(kept);
  kept_late_.clear();
  std::vector<PciDevice> devices;
  devices.reserve(kept.size());
  for (const auto& address : kept) {
    const auto at = functions_.find(address);
    if (at == functions_.end() || !at->second.found) continue;
    if (!at->second.detailed) {
      read_details(reader, at->second);
      at->second.late_problems = reader.take_problems();
    }
    if (!at->second.late_problems.empty()) kept_late_.push_back(address);
    devices.push_back(at->second.device);
  }
  before_.clear();
  return devices;
}

void PciList::report(Reader& reader) const {
  reader.report(problems_);
  // In the order of the list.
  auto bad = not_addresses_.begin();
  const auto report_names_before = [&](const std::string& end) {
    for (; bad != not_addresses_.end() && (end.empty() || bad->first < end); ++bad) {
      reader.malformed(std::string(kPciDevices) + "/" + bad->first, bad->second);
    }
  };
  for (const auto& [address, function] : functions_) {
    if (!function.problems.empty()) report_names_before(address.str());
    reader.report(function.problems);
  }
  report_names_before("");
  for (const auto& address : kept_late_) reader.report(functions_.at(address).late_problems);
}

}  // namespace railhead::node
