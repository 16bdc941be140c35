// SPDX-License-Identifier: Apache-2.0
//
// How NICs reach GPU memory, and what PCIe does with it. DMA-BUF needs Linux 5.12 and NVIDIA's open
// kernel module; nvidia_peermem needs neither, but peer memory in the RDMA stack, which OFED has
// (NVIDIA/open-gpu-kernel-modules, kernel-open/nvidia-peermem/nvidia-peermem.c).
//
// Of PCIe only two fields of Device Control are written, each alone: Max_Read_Request_Size and
// Enable Relaxed Ordering. They are at offset 8 of the PCI Express capability. A recipe that is
// often copied writes 0x20 at offset 16, which is Link Control, and retrains the link
// (Linux include/uapi/linux/pci_regs.h).
#include <algorithm>
#include <set>
#include <utility>

#include "base/find.h"
#include "base/text.h"
#include "features/gpu_direct.h"
#include "setup/functions.h"
#include "setup/pci_control.h"
#include "setup/plan.h"
#include "topology/topology.h"
#include "usage/unsafe_lists.h"

namespace railhead::setup {
namespace {

/// Why DMA-BUF does not do; "": it does, as far as the node can say.
std::string against_dma_buf(const Situation& situation) {
  const auto& release = situation.modules.release();
  const auto version = usage::parse_kernel_version(release);
  if (!version) return "the release of the kernel is not known";
  if (*version < features::kDmaBufSince) return "kernel " + release + " is older than 5.12";
  const auto is_open = features::gpu_direct_of(situation.system).is_open;
  if (!is_open) {
    return situation.system.text(features::kNvidiaDriverVersion).absent()
               ? "NVIDIA's driver is not loaded"
               : "which of NVIDIA's kernel modules is loaded is not known";
  }
  if (!*is_open)
    return "NVIDIA's driver is the proprietary one: its open kernel module exports DMA-BUF";
  return "";
}

Step route_step(const Situation& situation) {
  Step step{.id = "gpudirect.route", .title = "NICs reach GPU memory"};
  const std::string reason = against_dma_buf(situation);
  const auto peermem = situation.system.text("/sys/module/nvidia_peermem/initstate");
  if (reason.empty()) {
    step.before = "DMA-BUF";
    step.after = step.before;
    step.reason = "kernel " + situation.modules.release() +
                  " and NVIDIA's open module; containers need rdma-core 34 and CUDA 11.7; "
                  "nvidia_peermem is not needed";
  } else if (peermem.value == "live") {
    step.before = "nvidia_peermem";
    step.after = step.before;
    step.reason = "it is loaded; no DMA-BUF: " + reason;
  } else {
    step.before = "neither";
    step.after = "DMA-BUF or nvidia_peermem";
    const bool has_operator = has_gpu_operator_driver(situation);
    return parked(std::move(step),
                  "no DMA-BUF: " + reason + "; and nvidia_peermem is not loaded" +
                      (has_operator ? ": set driver.rdma.enabled=true of the GPU operator" : ""));
  }
  return step;
}

/// The two fields, as they are to be.
void add_field(const Situation& situation, const node::Nic& nic, PciField field, Plan& plan) {
  const auto& address = *nic.pci;
  const auto at = situation.system.pci_config.find(address);
  const bool is_size = field == PciField::max_read_request;
  Step step{
      .id = std::string("gpudirect.") + (is_size ? "max-read-request/" : "relaxed-ordering/") +
            address.str(),
      .title = nic.name + (is_size ? " reads 4096 bytes at once" : " may order writes loosely"),
      .after = is_size ? "4096" : "1"};
  if (at == situation.system.pci_config.end()) return;
  const auto path = "/sys/bus/pci/devices/" + address.str() + "/config";
  if (!at->second.value || !at->second.value->device_control) {
    const std::string& error = at->second.error;
    return plan.push_back(parked(
        std::move(step), error.empty()
                             ? "without CAP_SYS_ADMIN only 64 bytes of " + path + " can be read"
                             : path + ": " + error));
  }
  step.before = text_of_field(*at->second.value, field);
  Change change{Change::Kind::pci, pci_subject(address.str(), field), step.after};
  step = live_step(situation, std::move(step), path, "until the next boot", std::move(change));
  auto users = step.state == StepState::todo ? users_of_all(*situation.machine.host, address.str())
                                             : std::string();
  plan.push_back(users.empty() ? std::move(step) : refused(std::move(step), std::move(users)));
}

/// Whether "no redirect below the switch" is right here: on bare metal with classic PCIe. In a
/// guest the host says it; Grace and data-direct functions need it otherwise (rdma-core,
/// kernel-boot/rdma_topo).
bool is_classic(const node::Node& node) {
  return !node.hypervisor && node.cpu.arch != "arm64" &&
         std::ranges::none_of(
             node.pci, [](const node::PciDevice& device) { return device.is_data_direct(); });
}

/// ACS is said at the boot, and setup writes no boot loader.
void add_acs(const Situation& situation, Plan& plan) {
  if (!is_classic(situation.node)) return;
  std::set<std::string> bridges;
  for (const auto& nic : situation.node.nics) {
    const auto* function = nic.pci ? situation.node.find_pci(*nic.pci) : nullptr;
    for (const auto& gpu : situation.node.gpus) {
      const auto* other = situation.node.find_pci(gpu.pci);
      if (function == nullptr || other == nullptr || function->is_vf()) continue;
      for (const auto& bridge : topology::bridges_between(*function, *other)) {
        const auto at = situation.system.pci_config.find(bridge);
        if (at == situation.system.pci_config.end() || !at->second.value) continue;
        if (at->second.value->redirects_peers()) bridges.insert(bridge.str());
      }
    }
  }
  if (bridges.empty()) return;
  Step step{.id = "gpudirect.acs",
            .title = "switches send peer traffic straight",
            .risk = Risk::reboot,
            .before = counted(bridges.size(), "bridge") + " redirect it",
            .after = "none does"};
  std::string masks;
  for (const auto& bridge : bridges) masks += (masks.empty() ? "" : ";") + ("xx000x0@" + bridge);
  plan.push_back(refused(std::move(step),
                         "setup writes no boot loader: where no guest gets these GPUs, boot with "
                         "pci=config_acs=" +
                             in_quotes(masks)));
}

}  // namespace

void plan_gpudirect(const Situation& situation, Plan& plan) {
  const auto& wish = situation.wanted.gpudirect;
  if (!wish.route && !wish.pcie) return;
  const auto* nvidia = find_by(situation.node.gpus, &node::Gpu::vendor, gpu::GpuVendor::nvidia);
  if (wish.route && nvidia != nullptr) plan.push_back(route_step(situation));
  if (!wish.pcie) return;
  for (const auto& nic : situation.node.nics) {
    const auto* function = nic.pci ? situation.node.find_pci(*nic.pci) : nullptr;
    if (function == nullptr || function->is_vf()) continue;
    for (const auto field : {PciField::max_read_request, PciField::relaxed_ordering})
      add_field(situation, nic, field, plan);
  }
  add_acs(situation, plan);
}

}  // namespace railhead::setup
