// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>

#include "base/contains.h"
#include "base/text.h"
#include "base/utf8.h"
#include "node/gpu_reader.h"
#include "node/pci_reader.h"

namespace railhead::node {
namespace {

constexpr std::uint64_t kHighestMinor = 1048575;  // MINORBITS of the kernel is 20
constexpr const gpu::GpuRow& kNvidia = gpu::gpu_row(gpu::GpuVendor::nvidia);
constexpr std::string_view kProcGpus = "/proc/driver/nvidia/gpus/";

std::set<PciAddress> addresses(const std::vector<std::string>& names) {
  std::set<PciAddress> found;
  for (const auto& name : names) {
    const auto address = PciAddress::parse(name);
    if (address) found.insert(*address);
  }
  return found;
}

std::string kept_information(std::string_view content) {
  return host::keep_lines_if(content, [](std::string_view line) {
    constexpr auto kRead =
        std::to_array<std::string_view>({"Model", "GPU UUID", "GPU Excluded", "Device Minor"});
    return contains(kRead, trim(line.substr(0, line.find(':'))));
  });
}

/// One "Key: value" line; false where it is bad. Source: open-gpu-kernel-modules
/// kernel-open/nvidia/nv-procfs.c.
bool take_line(Reader& reader, const std::string& path, std::string_view key,
               std::string_view value, Gpu& gpu) {
  if (!is_plain_text(value)) {
    reader.malformed(path, in_quotes(key) + ": " + in_quotes(value) + " is not text");
    return false;
  }
  if (key == "Model") {
    gpu.model = std::string(value);
  } else if (key == "GPU UUID") {
    if (value.find("????????") == std::string_view::npos) gpu.uuid = std::string(value);
  } else if (key == "GPU Excluded") {
    gpu.excluded = to_lower(value) == "yes";
  } else if (key == "Device Minor") {
    const auto minor = parse_unsigned(value);
    if (minor && *minor <= kHighestMinor) {
      gpu.minor = static_cast<unsigned>(*minor);
    } else {
      reader.malformed(path, "Device Minor: " + in_quotes(value) + " is not a minor number");
      return false;
    }
  }
  return true;
}

/// False where it is not there or not to be used as it is.
bool read_information(Reader& reader, Gpu& gpu) {
  const std::string path = std::string(kProcGpus) + gpu.pci.str() + "/information";
  const auto text = reader.raw(path, kept_information);
  if (!text) return false;
  if (text->size() > Reader::kMaxAttributeBytes) {
    reader.malformed(path, std::to_string(text->size()) + " bytes are too many");
    return false;
  }
  bool sound = true;
  for (const auto line : split(*text, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto value = trim(line.substr(colon + 1));
    if (value.empty()) continue;
    sound = take_line(reader, path, trim(line.substr(0, colon)), value, gpu) && sound;
  }
  return sound;
}

/// /proc/driver/nvidia/capabilities/gpu<minor>/mig/gi<N>/ci<M>, folders that exist for instances
/// that exist. Source: NVIDIA MIG user guide, "Device nodes and capabilities".
std::vector<MigInstance> read_mig(Reader& reader, unsigned minor) {
  std::vector<MigInstance> instances;
  const std::string mig = "/proc/driver/nvidia/capabilities/gpu" + std::to_string(minor) + "/mig";
  std::set<unsigned> gpu_instances;
  for (const auto& name : reader.names(mig)) {
    if (const auto number = trailing_number(name, "gi")) gpu_instances.insert(*number);
  }
  for (const auto gpu_instance : gpu_instances) {
    std::set<unsigned> compute_instances;
    for (const auto& name : reader.names(mig + "/gi" + std::to_string(gpu_instance))) {
      if (const auto number = trailing_number(name, "ci")) compute_instances.insert(*number);
    }
    if (compute_instances.empty()) instances.push_back({gpu_instance, std::nullopt});
    for (const auto instance : compute_instances) instances.push_back({gpu_instance, instance});
  }
  return instances;
}

/// Whether the driver has this function. `function` is nothing when sysfs does not show it.
bool is_driven(const NvidiaDriver& driver, const PciAddress& address, const PciDevice* function) {
  if (!function) return driver.in_proc.contains(address);
  if (!is_gpu_class(function->class_code)) return false;
  if (function->driver && *function->driver != *kNvidia.drivers.begin()) return false;
  if (driver.in_proc.contains(address)) return true;
  if (function->is_vf()) return false;
  return function->driver || driver.bound.contains(address) || !driver.present;
}

void report_shared_uuids(Reader& reader, const std::vector<Gpu>& gpus) {
  std::map<std::string, PciAddress> owners;
  for (const auto& gpu : gpus) {
    if (!gpu.uuid) continue;
    const auto [at, is_new] = owners.emplace(*gpu.uuid, gpu.pci);
    if (is_new) continue;
    reader.malformed(std::string(kProcGpus) + gpu.pci.str() + "/information",
                     *gpu.uuid + " is also the UUID of " + at->second.str());
  }
}

}  // namespace

void NvidiaInformation::read(Reader& reader, Gpu& gpu) {
  const auto known = known_.find(gpu.pci);
  if (known != known_.end()) {
    gpu.model = known->second.model;
    gpu.uuid = known->second.uuid;
    gpu.minor = known->second.minor;
    gpu.excluded = known->second.excluded;
    return;
  }
  const bool sound = read_information(reader, gpu);
  if (sound && gpu.uuid && gpu.minor) known_.emplace(gpu.pci, gpu);
}

void NvidiaInformation::keep_only(const std::set<PciAddress>& driven) {
  std::erase_if(known_, [&](const auto& known) { return !driven.contains(known.first); });
}

NvidiaDriver read_nvidia_driver(Reader& reader) {
  const auto bound = reader.list("/sys/bus/pci/drivers/nvidia");
  const auto in_proc = reader.list(std::string(kProcGpus.substr(0, kProcGpus.size() - 1)));
  const bool present = bound || in_proc || reader.list("/proc/driver/nvidia").has_value();
  return {.present = present,
          .bound = addresses(bound.value_or(std::vector<std::string>{})),
          .in_proc = addresses(in_proc.value_or(std::vector<std::string>{}))};
}

std::vector<Gpu> read_nvidia_gpus(Reader& reader, const NvidiaDriver& driver,
                                  const std::vector<PciDevice>& pci,
                                  NvidiaInformation& information) {
  std::map<PciAddress, const PciDevice*> candidates;
  for (const auto& address : driver.in_proc) candidates.emplace(address, nullptr);
  for (const auto& function : pci) {
    if (function.vendor == kNvidia.pci_vendor || candidates.contains(function.address)) {
      candidates[function.address] = &function;
    }
  }
  std::vector<Gpu> gpus;
  unsigned next_index = 0;
  for (const auto& [address, function] : candidates) {
    if (!is_driven(driver, address, function)) continue;
    Gpu gpu;
    gpu.pci = address;
    gpu.vendor = kNvidia.vendor;
    if (function) {
      gpu.numa_node = function->numa_node;
      gpu.driver = function->driver;
    }
    information.read(reader, gpu);
    if (gpu.minor) gpu.mig = read_mig(reader, *gpu.minor);
    if (!gpu.excluded) gpu.index = next_index++;
    gpus.push_back(std::move(gpu));
  }
  report_shared_uuids(reader, gpus);
  return gpus;
}

}  // namespace railhead::node
