// SPDX-License-Identifier: Apache-2.0
#include "topology/nccl_hardware.h"

#include <algorithm>

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

bool has_gpu_of(const node::Node& node, gpu::GpuLibrary library) {
  return std::any_of(node.gpus.begin(), node.gpus.end(), [&](const node::Gpu& gpu) {
    return gpu::gpu_row(gpu.vendor).library == library;
  });
}

}  // namespace

unsigned nccl_version_for(const node::Node& node) {
  const bool rccl =
      has_gpu_of(node, gpu::GpuLibrary::rccl) && !has_gpu_of(node, gpu::GpuLibrary::nccl);
  return rccl ? kRcclVersion : kNcclVersion;
}

NcclTopology hardware_of(NcclTopology file) {
  for (auto& cpu : file.cpus) {
    forget_process(cpu.nets);
    forget_process(cpu.pci);
  }
  return file;
}

}  // namespace railhead::topology
