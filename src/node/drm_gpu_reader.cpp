// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "base/contains.h"
#include "node/gpu_reader.h"
#include "node/pci_reader.h"
#include "node/sysfs_class.h"

namespace railhead::node {
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

/// A tree that has none of the drivers is a picture of the hardware only.
bool has_driver_of(Reader& reader, const gpu::GpuRow& row) {
  return std::ranges::any_of(row.drivers, [&](std::string_view driver) {
    return reader.list("/sys/bus/pci/drivers/" + std::string(driver)).has_value();
  });
}

bool is_compute_gpu(Reader& reader, const gpu::GpuRow& row, const PciDevice& function,
                    bool has_render) {
  const bool driven =
      function.driver ? contains(row.drivers, *function.driver) : !has_driver_of(reader, row);
  const bool vga = function.class_code >> 8 == 0x0300;
  return driven && (has_render || !vga);
}

}  // namespace

std::vector<Gpu> read_drm_gpus(Reader& reader, const std::vector<PciDevice>& pci) {
  std::vector<std::pair<const PciDevice*, const gpu::GpuRow*>> candidates;
  bool any_kfd = false;
  for (const auto& function : pci) {
    const gpu::GpuRow* row = gpu_row_of(function);
    if (row == nullptr || row->major != gpu::kDrmMajor) continue;
    candidates.emplace_back(&function, row);
    any_kfd = any_kfd || row->kfd;
  }
  std::vector<Gpu> gpus;
  if (candidates.empty()) return gpus;
  const auto drm = read_drm(reader);
  const auto uuids = any_kfd ? read_kfd_uuids(reader) : std::map<PciAddress, std::string>();
  std::map<gpu::GpuVendor, unsigned> next_index;
  for (const auto& [function, row] : candidates) {
    const auto minors = drm.find(function->address);
    const bool has_render = minors != drm.end() && minors->second.render.has_value();
    if (!is_compute_gpu(reader, *row, *function, has_render)) continue;
    Gpu gpu;
    gpu.index = next_index[row->vendor]++;
    gpu.pci = function->address;
    gpu.vendor = row->vendor;
    gpu.numa_node = function->numa_node;
    gpu.driver = function->driver;
    const auto uuid = uuids.find(function->address);
    if (uuid != uuids.end()) gpu.uuid = uuid->second;
    if (minors != drm.end()) {
      gpu.drm_card = minors->second.card;
      gpu.drm_render = minors->second.render;
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace railhead::node
