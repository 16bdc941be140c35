// SPDX-License-Identifier: Apache-2.0
#include "node/sysfs_class.h"

#include "base/text.h"
#include "node/name_walk.h"

namespace railhead::node {
namespace {

constexpr std::string_view kSlotKey = "PCI_SLOT_NAME=";

std::string kept_slot(std::string_view content) {
  return host::keep_lines_if(content, [](std::string_view line) {
    return line.starts_with(kSlotKey) &&
           PciAddress::parse(trim(line.substr(kSlotKey.size()))).has_value();
  });
}

/// PCI_SLOT_NAME of a device folder that was copied in place of its link.
std::optional<PciAddress> slot_name(Reader& reader, const std::string& device_folder) {
  const auto uevent = reader.raw(device_folder + "/uevent", kept_slot);
  if (!uevent) return std::nullopt;
  for (const auto line : split(*uevent, '\n')) {
    if (!line.starts_with(kSlotKey)) continue;
    const auto address = PciAddress::parse(trim(line.substr(kSlotKey.size())));
    if (address) return *address;
  }
  return std::nullopt;
}

void ask_device_link(Reader& reader, ClassEntry& entry) {
  const std::string device = entry.path + "/device";
  if (const auto target = reader.link(device)) {
    entry.pci = last_pci_address(*target);
    if (entry.pci) entry.parent = *target;
  } else {
    entry.pci = slot_name(reader, device);
    if (entry.pci) entry.parent = device;
  }
}

ClassEntry read_entry(Reader& reader, const std::string& folder, const std::string& name) {
  const std::string class_path = folder + "/" + name;
  const auto target = reader.link(class_path);
  ClassEntry entry{.name = name, .path = target.value_or(class_path), .parent = "", .pci = {}};
  if (target) {
    entry.parent = parent_path(parent_path(*target));
    entry.pci = last_pci_address(*target);
  }
  if (!entry.pci && !entry.path.starts_with("/sys/devices/virtual/")) {
    ask_device_link(reader, entry);
  }
  return entry;
}

}  // namespace

std::string parent_path(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::optional<PciAddress> last_pci_address(std::string_view path) {
  while (!path.empty()) {
    const auto slash = path.rfind('/');
    const auto last = slash == std::string_view::npos ? path : path.substr(slash + 1);
    if (const auto address = pci_address_of(last)) return *address;
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
  }
  return std::nullopt;
}

std::vector<ClassEntry> class_entries(Reader& reader, const std::string& folder) {
  std::vector<ClassEntry> entries;
  for (const auto& name : reader.names(folder)) {
    entries.push_back(read_entry(reader, folder, name));
  }
  return entries;
}

void ClassList::refresh(Reader& reader, const std::string& folder,
                        const host::MachineChanges::Names& named, const Again& again) {
  const auto names = reader.names(folder);
  problems = reader.take_problems();
  NameWalk<Item> walk(items);
  for (const auto& name : names) {
    const auto [item, is_new] = walk.next(name);
    item.fresh = is_new || again.everything || named.contains(name) || again.has(item.entry.pci);
    if (!item.fresh) continue;
    item.entry = read_entry(reader, folder, name);
    item.problems = reader.take_problems();
  }
  walk.end();
}

void ClassList::report(Reader& reader) const {
  reader.report(problems);
  for (const auto& [name, item] : items) reader.report(item.problems);
}

}  // namespace railhead::node
