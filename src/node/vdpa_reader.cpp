// SPDX-License-Identifier: Apache-2.0
#include "node/vdpa_reader.h"

#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"

namespace railhead::node {
namespace {

constexpr const char* kDevices = "/sys/bus/vdpa/devices";

/// The function whose driver made a device: the nearest above it, past the auxiliary devices that
/// drivers put between (pds_core.vDPA.2), but not past a scalable function: that one made it.
std::optional<PciAddress> maker_of(std::string_view path) {
  const auto parts = split(path, '/');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (const auto address = PciAddress::parse(*part)) return *address;
    if (glob_match("*.sf.*", *part)) return std::nullopt;
  }
  return std::nullopt;
}

/// The character device is a folder in that of the vDPA device.
std::optional<unsigned> vhost_number(Reader& reader, const std::string& path) {
  for (const auto& name : reader.names(path)) {
    if (const auto number = trailing_number(name, "vhost-vdpa-")) return number;
  }
  return std::nullopt;
}

}  // namespace

std::map<PciAddress, std::vector<VdpaDevice>> read_vdpa(Reader& reader) {
  std::map<PciAddress, std::vector<VdpaDevice>> devices;
  const std::string folder(kDevices);
  for (const auto& name : reader.names(folder)) {
    const auto path = reader.link(folder + "/" + name);
    const auto maker = path ? maker_of(*path) : std::nullopt;
    if (!maker) continue;
    VdpaDevice device;
    device.name = name;
    if (const auto driver = reader.link(*path + "/driver"))
      device.driver = host::base_name(*driver);
    if (device.type() == "vhost") device.vhost_number = vhost_number(reader, *path);
    devices[*maker].push_back(std::move(device));
  }
  return devices;
}

}  // namespace railhead::node
