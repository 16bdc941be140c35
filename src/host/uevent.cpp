// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/text.h"
#include "host/watch.h"

namespace railhead {
namespace {

constexpr std::array<std::string_view, 6> kSubsystems = {
    "infiniband", "infiniband_verbs", "infiniband_mad", "pci", "drm", "vdpa"};

/// The value of "KEY=value" among the fields, empty where there is none.
std::string_view value_of(const std::vector<std::string_view>& fields, std::string_view key) {
  for (const std::string_view field : fields) {
    if (field.size() > key.size() && field.starts_with(key) && field[key.size()] == '=') {
      return field.substr(key.size() + 1);
    }
  }
  return {};
}

}  // namespace

bool is_relevant_uevent(std::string_view message) {
  const auto fields = split(message, '\0');
  const std::string_view subsystem = value_of(fields, "SUBSYSTEM");
  const std::string_view path = value_of(fields, "DEVPATH");
  if (subsystem == "net") return !path.starts_with("/devices/virtual/");
  if (subsystem == "misc") return value_of(fields, "DEVNAME").starts_with("infiniband/");
  if (subsystem == "drivers") return path.starts_with("/bus/pci/drivers/");
  return std::find(kSubsystems.begin(), kSubsystems.end(), subsystem) != kSubsystems.end();
}

}  // namespace railhead
