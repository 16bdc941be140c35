// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <map>

#include "base/text.h"
#include "node/gpu_reader.h"
#include "node/pci_reader.h"
#include "node/sysfs_class.h"

namespace railhead {
namespace {

struct DrmMinors {
  std::optional<unsigned> card;
  std::optional<unsigned> render;
};

std::map<PciAddress, DrmMinors> read_drm(Reader& reader) {
  std::map<PciAddress, DrmMinors> minors;
  for (const auto& entry : class_entries(reader, "/sys/class/drm")) {
    if (!entry.pci) continue;
    if (const auto card = trailing_number(entry.name, "card")) minors[*entry.pci].card = card;
    if (const auto render = trailing_number(entry.name, "renderD")) {
      minors[*entry.pci].render = render;
    }
  }
  return minors;
}

/// Source: Linux drivers/gpu/drm/amd/amdkfd/kfd_topology.c, node_show(): "key value" lines.
std::map<std::string_view, std::uint64_t> parse_properties(std::string_view text) {
  std::map<std::string_view, std::uint64_t> properties;
  for (const auto line : split(text, '\n')) {
    const auto words = split_words(line);
    if (words.size() != 2) continue;
    const auto value = parse_unsigned(words[1]);
    if (value) properties.emplace(words[0], *value);
  }
  return properties;
}

/// A UUID as ROCr prints and accepts it: "GPU-" and sixteen hexadecimal digits of unique_id.
std::string amd_uuid(std::uint64_t unique_id) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "GPU-%016" PRIx64, unique_id);
  return {text.data(), static_cast<std::size_t>(length)};
}

std::map<PciAddress, std::string> read_kfd_uuids(Reader& reader) {
  std::map<PciAddress, std::string> uuids;
  const std::string nodes = "/sys/class/kfd/kfd/topology/nodes";
  for (const auto& name : reader.names(nodes)) {
    const auto text = reader.raw(nodes + "/" + name + "/properties");
    if (!text) continue;
    auto properties = parse_properties(*text);
    const std::uint64_t location = properties["location_id"];  // bus << 8 | device << 3 | function
    const std::uint64_t domain = properties["domain"];
    const std::uint64_t unique_id = properties["unique_id"];
    if (unique_id == 0 || location > 0xffff || domain > 0xffffffff) continue;
    const PciAddress address{
        static_cast<std::uint32_t>(domain), static_cast<std::uint8_t>(location >> 8),
        static_cast<std::uint8_t>((location >> 3) & 0x1f), static_cast<std::uint8_t>(location & 7)};
    uuids.emplace(address, amd_uuid(unique_id));
  }
  return uuids;
}

/// Hygon's module is hycu, hydcu before.
bool is_driver_of(std::uint16_t vendor, std::string_view driver) {
  return vendor == kVendorAmd ? driver == "amdgpu" : driver == "hycu" || driver == "hydcu";
}

bool is_compute_gpu(const PciDevice& function, bool driver_known, bool has_render) {
  if (!is_amd_kind(function.vendor) || !is_gpu_class(function.class_code)) return false;
  if (function.driver && !is_driver_of(function.vendor, *function.driver)) return false;
  if (!function.driver && driver_known) return false;
  const bool vga = function.class_code >> 8 == 0x0300;
  return has_render || !vga;
}

}  // namespace

std::vector<Gpu> read_amd_gpus(Reader& reader, const std::vector<PciDevice>& pci) {
  std::vector<Gpu> gpus;
  const bool any = std::any_of(pci.begin(), pci.end(), [](const PciDevice& function) {
    return is_amd_kind(function.vendor) && is_gpu_class(function.class_code);
  });
  if (!any) return gpus;
  const bool driver_known = reader.list("/sys/bus/pci/drivers/amdgpu").has_value();
  const auto drm = read_drm(reader);
  const auto uuids = read_kfd_uuids(reader);
  for (const auto& function : pci) {
    const auto minors = drm.find(function.address);
    const bool has_render = minors != drm.end() && minors->second.render.has_value();
    if (!is_compute_gpu(function, driver_known, has_render)) continue;
    Gpu gpu;
    gpu.index = static_cast<unsigned>(gpus.size());
    gpu.pci = function.address;
    gpu.vendor = GpuVendor::amd;
    gpu.numa_node = function.numa_node;
    gpu.driver = function.driver;
    const auto uuid = uuids.find(function.address);
    if (uuid != uuids.end()) gpu.uuid = uuid->second;
    if (minors != drm.end()) {
      gpu.drm_card = minors->second.card;
      gpu.drm_render = minors->second.render;
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace railhead
