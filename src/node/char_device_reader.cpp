// SPDX-License-Identifier: Apache-2.0
#include "node/char_device_reader.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "node/kept_files.h"
#include "node/name_walk.h"

namespace railhead::node {
namespace {

struct Numbers {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
};

constexpr std::uint32_t kModeOfVerbs = 0666;    // ib_uverbs and rdma_ucm: their devnode() callbacks
constexpr std::uint32_t kModeOfMad = 0600;      // ib_umad: the driver core's default
constexpr std::uint32_t kModeOfVfio = 0666;     // vfio_dev in drivers/vfio/container.c
constexpr std::uint32_t kModeOfGroup = 0600;    // drivers/vfio/group.c: the driver core's default
constexpr std::uint32_t kModeOfGdrcopy = 0666;  // gdrcopy insmod.sh
constexpr std::uint32_t kModeOfVhost = 0600;    // drivers/vhost/vdpa.c: the same

std::string rdma_path(const std::string& name) {
  return "/dev/infiniband/" + name;
}

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
  reader.malformed(path, in_quotes(*text) + " is not MAJOR:MINOR");
  return std::nullopt;
}

/// Numbers from sysfs, mode and owner from the node in /dev if it is that device. Without a
/// readable number in sysfs the node alone counts; without either there is no device.
std::optional<CharDevice> make_device(Reader& reader, std::string path, const std::string& sysfs,
                                      std::uint32_t default_mode) {
  CharDevice device;
  device.path = std::move(path);
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

constexpr std::string_view kUverbs = "uverbs";
constexpr std::string_view kUmad = "umad";
constexpr std::string_view kIssm = "issm";

/// The number of a node of the class; nothing for the other files of its folder.
std::optional<unsigned> number_of(std::string_view name, std::uint32_t default_mode) {
  if (default_mode == kModeOfVerbs) return trailing_number(name, kUverbs);
  const auto number = trailing_number(name, kUmad);
  return number ? number : trailing_number(name, kIssm);
}

}  // namespace

CharDeviceList::Item CharDeviceList::read_item(Reader& reader, const ClassEntry& entry,
                                               std::uint32_t default_mode) {
  Item item;
  item.number = number_of(entry.name, default_mode).value_or(0);
  if (auto ibdev = reader.text(entry.path + "/ibdev")) {
    item.ibdev = *std::move(ibdev);
    const bool mad = default_mode == kModeOfMad;
    const auto port = mad ? reader.number(entry.path + "/port", 255) : std::nullopt;
    item.port = port.value_or(0);
    item.device = make_device(reader, rdma_path(entry.name), entry.path, default_mode);
  }
  item.problems = reader.take_problems();
  return item;
}

void CharDeviceList::refresh(Reader& reader, const std::string& folder, std::uint32_t default_mode,
                             const Again& again, Class& all) {
  all.entries.refresh(reader, folder, again.nodes, again);
  NameWalk<Item> walk(all.items);
  for (const auto& [name, listed] : all.entries.items) {
    if (!number_of(name, default_mode)) continue;
    const auto [item, is_new] = walk.next(name);
    if (!is_new && !listed.fresh && !again.rdma.contains(item.ibdev)) continue;
    item = read_item(reader, listed.entry, default_mode);
  }
  walk.end();
}

void CharDeviceList::refresh(Reader& reader, const Again& again) {
  refresh(reader, "/sys/class/infiniband_verbs", kModeOfVerbs, again, verbs_);
  refresh(reader, "/sys/class/infiniband_mad", kModeOfMad, again, mads_);
}

std::vector<CharDeviceList::Ordered> CharDeviceList::ordered(const Class& all,
                                                             std::string_view prefix) {
  std::vector<Ordered> found;
  auto listed = all.entries.items.begin();  // has all names of the items, in the same order
  for (const auto& [name, item] : all.items) {
    while (listed->first != name) ++listed;
    if (item.device && name.starts_with(prefix)) found.push_back({&item, &listed->second.entry});
  }
  std::ranges::sort(found, [](const Ordered& a, const Ordered& b) {
    return std::pair(a.item->port, a.item->number) < std::pair(b.item->port, b.item->number);
  });
  return found;
}

std::map<std::string, RdmaCharDevices> CharDeviceList::by_device() const {
  std::map<std::string, RdmaCharDevices> devices;
  for (const auto& [item, entry] : ordered(verbs_, kUverbs)) {
    auto& own = devices[item->ibdev];
    own.uverbs.push_back(*item->device);
    own.parent = entry->parent;
    own.pci = entry->pci;
  }
  for (const auto& [item, entry] : ordered(mads_, kUmad)) {
    devices[item->ibdev].umads.push_back(*item->device);
  }
  for (const auto& [item, entry] : ordered(mads_, kIssm)) {
    devices[item->ibdev].issms.push_back(*item->device);
  }
  return devices;
}

void CharDeviceList::report(const Class& all, std::string_view prefix, Reader& reader) {
  for (const auto& [name, item] : all.items) {
    if (name.starts_with(prefix)) reader.report(item.problems);
  }
}

void CharDeviceList::report(Reader& reader) const {
  verbs_.entries.report(reader);
  report(verbs_, kUverbs, reader);
  mads_.entries.report(reader);
  report(mads_, kUmad, reader);
  report(mads_, kIssm, reader);
}

std::optional<CharDevice> read_rdma_cm(Reader& reader) {
  const std::string path = "/sys/class/misc/rdma_cm";
  return make_device(reader, rdma_path("rdma_cm"), reader.link(path).value_or(path), kModeOfVerbs);
}

std::optional<CharDevice> read_gdrdrv(Reader& reader) {
  const auto devices = reader.raw("/proc/devices", kept_device_numbers);
  if (!devices) return std::nullopt;
  for (const auto line : split(*devices, '\n')) {
    const auto words = split_words(line);
    if (words.size() != 2 || words[1] != "gdrdrv") continue;
    const auto major = parse_unsigned(words[0]);
    if (!major || *major >= (1U << 12U)) continue;
    CharDevice device;
    device.path = "/dev/gdrdrv";
    device.major = static_cast<std::uint32_t>(*major);
    device.mode = kModeOfGdrcopy;
    const auto node = reader.device(device.path);
    device.on_host =
        node && node->type == 'c' && node->major == device.major && node->minor == device.minor;
    return device;
  }
  return std::nullopt;
}

std::vector<FunctionDevice> read_function_devices(Reader& reader,
                                                  const std::vector<PciDevice>& functions) {
  std::vector<FunctionDevice> found;
  std::set<std::string> asked;
  const auto add = [&](const std::string& path, std::string sysfs, std::uint32_t mode) {
    if (!asked.insert(path).second) return;
    sysfs = reader.link(sysfs).value_or(sysfs);
    if (auto device = make_device(reader, path, sysfs, mode)) found.push_back({*device, sysfs});
  };
  for (const auto& function : functions) {
    if (const auto group = function.vfio_group_name()) {
      add("/dev/vfio/vfio", "/sys/class/misc/vfio", kModeOfVfio);
      add("/dev/vfio/" + *group, "/sys/class/vfio/" + *group, kModeOfGroup);
    }
    for (const auto& vdpa : function.vdpa) {
      const auto path = reader.link("/sys/bus/vdpa/devices/" + vdpa.name);
      if (!path || !vdpa.vhost_number) continue;
      const auto name = "vhost-vdpa-" + std::to_string(*vdpa.vhost_number);
      add("/dev/" + name, *path + "/" + name, kModeOfVhost);
    }
  }
  return found;
}

}  // namespace railhead::node
