// SPDX-License-Identifier: Apache-2.0
#include "inject/topology_file.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "inject/environment.h"

namespace railhead::inject {
namespace {

constexpr std::string_view kTopoFileVariable = "NCCL_TOPO_FILE";

/// Where NCCL finds a topology file, or the variable's value, by itself.
constexpr std::array<std::string_view, 3> kOwnPlaces{
    "/etc/nccl.conf", "/var/run/nvidia-topologyd/virtualTopology.xml",
    "/run/nvidia-topologyd/virtualTopology.xml"};

/// The place itself, or a folder above it; a mount on / or /etc brings no such file on purpose.
bool covers(std::string_view destination, std::string_view place) {
  if (destination == place) return true;
  return place.starts_with(destination) && place.substr(destination.size()).starts_with('/') &&
         destination.ends_with("/nvidia-topologyd");
}

bool brings_its_own(const container::Request& request, std::string_view destination) {
  if (has_variable(request, kTopoFileVariable)) return true;
  return std::any_of(
      request.mounts.begin(), request.mounts.end(), [&](const container::PresentMount& mount) {
        return mount.destination == destination ||
               std::any_of(kOwnPlaces.begin(), kOwnPlaces.end(), [&](std::string_view place) {
                 return covers(mount.destination, place);
               });
      });
}

}  // namespace

void add_topology_file(const container::Request& request, const DecisionTable& table,
                       container::Adjustment& adjustment) {
  const auto& file = table.topology_file();
  if (!file || brings_its_own(request, file->path)) return;
  adjustment.mounts.push_back({file->path, file->path});
  adjustment.env.emplace_back(kTopoFileVariable, file->path);
}

}  // namespace railhead::inject
