// SPDX-License-Identifier: Apache-2.0
#include "topology/nccl_hardware.h"

#include <algorithm>

#include "topology/nccl_cpu.h"

namespace railhead::topology {
namespace {

void forget_process(std::vector<NcclNet>& nets) {
  for (auto& net : nets) {
    net.dev.reset();
    net.gdr.reset();
  }
}

void forget_process(std::vector<NcclPci>& list) {
  for (auto& pci : list) {
    // Where nothing but <gpu> said that this is one.
    if (pci.gpu && !pci.class_code) pci.class_code = node::kPciDisplayClass;
    pci.gpu.reset();
    forget_process(pci.nets);
    forget_process(pci.below);
  }
}

void complete(const node::Node& node, NcclCpu& cpu) {
  if (cpu.affinity.empty()) cpu.affinity = nccl_affinity_of(node, cpu.numa_node);
  const auto known = nccl_cpu_of(node.cpu);
  if (!known || !(cpu.arch.empty() || cpu.arch == known->arch)) return;
  cpu.arch = known->arch;
  if (cpu.vendor.empty()) cpu.vendor = known->vendor;
  if (cpu.family) return;
  cpu.family = known->family;
  cpu.model = known->model;
}

/// An id that sysfs has as 0 stays away: to_xml() writes it as 0.
void complete(std::uint16_t known, std::optional<std::uint16_t>& id) {
  if (!id && known != 0) id = known;
}

void complete(const node::Node& node, std::vector<NcclPci>& list) {
  for (auto& pci : list) {
    complete(node, pci.below);
    const node::PciDevice* known = pci.is_switch() ? node.find_pci(pci.address) : nullptr;
    if (known == nullptr) continue;
    complete(known->vendor, pci.vendor);
    complete(known->device, pci.device);
    complete(known->subsystem_vendor, pci.subsystem_vendor);
    complete(known->subsystem_device, pci.subsystem_device);
  }
}

bool has_gpu_of(const node::Node& node, gpu::GpuLibrary library) {
  return std::ranges::any_of(
      node.gpus, [&](const node::Gpu& gpu) { return gpu::gpu_row(gpu.vendor).library == library; });
}

}  // namespace

unsigned nccl_version_for(const node::Node& node) {
  const bool rccl =
      has_gpu_of(node, gpu::GpuLibrary::rccl) && !has_gpu_of(node, gpu::GpuLibrary::nccl);
  return rccl ? kRcclVersion : kNcclVersion;
}

NcclTopology completed(NcclTopology file, const node::Node& node) {
  for (auto& cpu : file.cpus) {
    complete(node, cpu);
    complete(node, cpu.pci);
  }
  return file;
}

NcclTopology hardware_of(NcclTopology file) {
  for (auto& cpu : file.cpus) {
    forget_process(cpu.nets);
    forget_process(cpu.pci);
  }
  return file;
}

}  // namespace railhead::topology
