// SPDX-License-Identifier: Apache-2.0
#include "node/char_device_reader.h"

#include <algorithm>

#include "base/text.h"
#include "node/sysfs_class.h"

namespace railhead {
namespace {

struct Numbers {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
};

constexpr std::uint32_t kModeOfVerbs = 0666;  // ib_uverbs and rdma_ucm: their devnode() callbacks
constexpr std::uint32_t kModeOfMad = 0600;    // ib_umad: the driver core's default

std::optional<Numbers> read_dev(Reader& reader, const std::string& path) {
  const auto text = reader.text(path);
  if (!text) return std::nullopt;
  const auto colon = text->find(':');
  if (colon != std::string::npos) {
    const auto major = parse_unsigned(std::string_view(*text).substr(0, colon));
    const auto minor = parse_unsigned(std::string_view(*text).substr(colon + 1));
    if (major && minor && *major < (1U << 12U) && *minor < (1U << 20U)) {
      return Numbers{static_cast<std::uint32_t>(*major), static_cast<std::uint32_t>(*minor)};
    }
  }
  reader.malformed(path, quoted(*text) + " is not MAJOR:MINOR");
  return std::nullopt;
}

/// Numbers from sysfs, mode and owner from the node in /dev if it is that device. Without a
/// readable number in sysfs the node alone counts; without either there is no device.
std::optional<CharDevice> make_device(Reader& reader, const std::string& name,
                                      const std::string& sysfs, std::uint32_t default_mode) {
  CharDevice device;
  device.path = "/dev/infiniband/" + name;
  device.mode = default_mode;
  const auto numbers = read_dev(reader, sysfs + "/dev");
  const auto node = reader.device(device.path);
  const bool is_char = node && node->type == 'c';
  if (node && !is_char) reader.malformed(device.path, "is not a character device");
  if (!numbers && !is_char) return std::nullopt;
  device.major = numbers ? numbers->major : node->major;
  device.minor = numbers ? numbers->minor : node->minor;
  if (!is_char) return device;
  if (node->major != device.major || node->minor != device.minor) {
    reader.malformed(device.path, "is " + std::to_string(node->major) + ":" +
                                      std::to_string(node->minor) + ", sysfs says " +
                                      std::to_string(device.major) + ":" +
                                      std::to_string(device.minor));
    return device;
  }
  device.on_host = true;
  device.mode = node->mode;
  device.uid = node->uid;
  device.gid = node->gid;
  return device;
}

struct Numbered {
  std::uint64_t port = 0;
  unsigned number = 0;
  std::string ibdev;
  CharDevice device;
  const ClassEntry* entry = nullptr;
};

/// Entries of a class folder whose names are `prefix` and a number, by port and number.
std::vector<Numbered> read_class(Reader& reader, const std::vector<ClassEntry>& entries,
                                 std::string_view prefix, std::uint32_t default_mode) {
  std::vector<Numbered> found;
  for (const auto& entry : entries) {
    const auto number = trailing_number(entry.name, prefix);
    if (!number) continue;
    auto ibdev = reader.text(entry.path + "/ibdev");
    if (!ibdev) continue;
    const bool mad = default_mode == kModeOfMad;
    const auto port = mad ? reader.number(entry.path + "/port", 255) : std::nullopt;
    auto device = make_device(reader, entry.name, entry.path, default_mode);
    if (device) {
      found.push_back({port.value_or(0), *number, *std::move(ibdev), *std::move(device), &entry});
    }
  }
  std::sort(found.begin(), found.end(), [](const Numbered& a, const Numbered& b) {
    return std::pair(a.port, a.number) < std::pair(b.port, b.number);
  });
  return found;
}

}  // namespace

std::map<std::string, RdmaCharDevices> read_char_devices(Reader& reader) {
  std::map<std::string, RdmaCharDevices> devices;
  const auto verbs = class_entries(reader, "/sys/class/infiniband_verbs");
  for (auto& found : read_class(reader, verbs, "uverbs", kModeOfVerbs)) {
    auto& of = devices[found.ibdev];
    of.uverbs.push_back(std::move(found.device));
    of.parent = found.entry->parent;
    of.pci = found.entry->pci;
  }
  const auto mads = class_entries(reader, "/sys/class/infiniband_mad");
  for (auto& found : read_class(reader, mads, "umad", kModeOfMad)) {
    devices[found.ibdev].umads.push_back(std::move(found.device));
  }
  for (auto& found : read_class(reader, mads, "issm", kModeOfMad)) {
    devices[found.ibdev].issms.push_back(std::move(found.device));
  }
  return devices;
}

std::optional<CharDevice> read_rdma_cm(Reader& reader) {
  const std::string path = "/sys/class/misc/rdma_cm";
  return make_device(reader, "rdma_cm", reader.link(path).value_or(path), kModeOfVerbs);
}

}  // namespace railhead
