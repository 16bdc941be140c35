// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "gpu/vendors.h"
#include "host/changes.h"

namespace railhead::host {
namespace {

/// The kernel sends at most 64 of them behind its header.
constexpr std::size_t kMaxFields = 128;

struct Uevent {
  std::string_view subsystem;
  std::string_view path;
  std::string_view old_path;  ///< of one that was renamed
  std::string_view interface;
  std::string_view node;  ///< DEVNAME: below /dev
  bool complete = true;
};

/// The value of "KEY=value" where the field is that, else what was there.
void take(std::string_view field, std::string_view key, std::string_view& value) {
  const bool is_it =
      field.size() > key.size() && field.starts_with(key) && field[key.size()] == '=';
  if (is_it) value = field.substr(key.size() + 1);
}

Uevent parse(std::string_view message) {
  Uevent event;
  for (std::size_t fields = 0; !message.empty(); ++fields) {
    event.complete = fields < kMaxFields;
    if (!event.complete) return event;
    const auto end = std::min(message.find('\0'), message.size());
    const auto field = message.substr(0, end);
    take(field, "SUBSYSTEM", event.subsystem);
    take(field, "DEVPATH", event.path);
    take(field, "DEVPATH_OLD", event.old_path);
    take(field, "INTERFACE", event.interface);
    take(field, "DEVNAME", event.node);
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  return event;
}

std::string_view last_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// With its new name and, where it was renamed, the old one.
void add_renamed(const Uevent& event, std::string_view name, MachineChanges& changes,
                 void (MachineChanges::*add)(std::string_view)) {
  (changes.*add)(name.empty() ? last_of(event.path) : name);
  if (!event.old_path.empty()) (changes.*add)(last_of(event.old_path));
}

}  // namespace

MachineChanges changes_of_uevent(std::string_view message) {
  const auto event = parse(message);
  const auto& subsystem = event.subsystem;
  MachineChanges changes;
  if (!event.complete) {
    changes.everything = true;
  } else if (subsystem == "infiniband") {
    add_renamed(event, "", changes, &MachineChanges::add_rdma);
  } else if (subsystem == "infiniband_verbs" || subsystem == "infiniband_mad") {
    changes.add_node(last_of(event.path));
  } else if (subsystem == "misc") {
    if (event.node.starts_with("infiniband/")) changes.add_node(last_of(event.node));
  } else if (subsystem == "net") {
    if (event.path.starts_with("/devices/virtual/")) return changes;
    add_renamed(event, event.interface, changes, &MachineChanges::add_netdev);
  } else if (subsystem == "pci") {
    changes.add_pci(last_of(event.path));
  } else if (subsystem == "vdpa") {
    // One that no function made is nobody's.
    if (const auto maker = pci_address_in(event.path); !maker.empty()) changes.add_pci(maker);
  } else if (subsystem == "drm") {
    changes.gpus = true;
  } else if (subsystem == "module") {
    changes.gpus = event.path == "/module/gdrdrv";
  } else if (subsystem == "drivers") {
    changes.gpus =
        gpu::is_gpu_driver(last_of(event.path)) && event.path.starts_with("/bus/pci/drivers/");
  }
  return changes;
}

}  // namespace railhead::host
