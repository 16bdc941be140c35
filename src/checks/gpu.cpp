// SPDX-License-Identifier: Apache-2.0
//
// GPUs, and the two ways of a NIC into their memory: nvidia_peermem with OFED, or DMA-BUF with the
// open kernel module. They are alternatives. What is judged here is what is set up; that bytes
// really move is railhead bench's to prove.
#include <algorithm>
#include <array>
#include <optional>

#include "base/find.h"
#include "base/text.h"
#include "checks/gpu_extra.h"
#include "checks/groups.h"
#include "features/gpu_direct.h"
#include "node/pci_reader.h"
#include "topology/known_machine.h"

namespace railhead::checks {
namespace {

void present(const Machine& machine, Findings& found) {
  if (machine.node.gpus.empty()) return;
  const auto count = machine.node.gpus.size();
  const auto* known = topology::find_known_machine(machine.node, topology::known_machines());
  const Evidence evidence{"/sys/bus/pci/devices", counted(count, "GPU")};
  if (known != nullptr && count < known->gpus && !known->may_have(count)) {
    std::vector<Evidence> all{evidence};
    for (const auto& address :
         topology::missing_functions(*known, machine.node, &topology::KnownSwitch::gpus))
      all.push_back({pci_path(address, ""), "no such PCI function"});
    found.fail(kNode, counted(count, "GPU"), std::to_string(known->gpus) + " of " + known->name,
               std::move(all));
  } else {
    found.pass(kNode, counted(count, "GPU"), {evidence});
  }
}

/// A GPU that no driver knows is no Gpu of the node, but a PCI function.
void driver(const Machine& machine, Findings& found) {
  for (const auto& device : machine.node.pci) {
    if (node::gpu_row_of(device) == nullptr) continue;
    const auto subject = device.address.str();
    const auto evidence = driver_evidence(device.address, device.driver);
    const auto* gpu = find_by(machine.node.gpus, &node::Gpu::pci, device.address);
    if (gpu != nullptr && gpu->excluded) {
      found.skip(subject, "excluded by the driver's configuration", {evidence});
    } else if (device.driver) {
      found.pass(subject, *device.driver, {evidence});
    } else {
      found.warn(subject, "no driver", "the GPU's driver", {evidence});
    }
  }
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

void peermem_module(const Machine& machine, Findings& found) {
  if (!has_nvidia(machine)) return;
  const auto there = machine.has_module("nvidia_peermem");
  if (!there) {
    found.unknown(kNode, machine.system.text("/proc/modules"));
    return;
  }
  const auto name = features::gpu_direct_of(machine.system).peermem;
  const Evidence modules{"/proc/modules", name.empty() ? "no nvidia_peermem" : name};
  if (!name.empty()) {
    found.pass(kNode, name + " is loaded", {modules});
  } else {
    found.skip(kNode, "not loaded; gdr.route says whether it is needed", {modules});
  }
}

void route(const Machine& machine, Findings& found) {
  if (!has_nvidia(machine) || machine.node.nics.empty()) return;
  const auto version = machine.system.text(features::kNvidiaDriverVersion);
  const auto release = machine.system.text(features::kKernelRelease);
  const auto all_modules = machine.system.text("/proc/modules");
  const auto direct = features::gpu_direct_of(machine.system);
  const auto& module = direct.peermem;
  const Evidence driver_line{version.path, first_line(version.value.value_or("")), version.error};
  const Evidence modules{"/proc/modules", module.empty() ? "no nvidia_peermem" : module,
                         all_modules.error};
  const std::vector<Evidence> evidence = {driver_line, evidence_of(release), modules};
  const auto way = direct.route();
  if (way == features::GpuDirectRoute::dma_buf) {
    found.pass(kNode, module.empty() ? "DMA-BUF" : "DMA-BUF, and " + module, evidence);
  } else if (way == features::GpuDirectRoute::peermem) {
    found.pass(kNode, module, evidence);
  } else if (!direct.is_open) {
    found.unknown(kNode, version);
  } else if (way == features::GpuDirectRoute::unknown && !direct.has_peermem) {
    found.unknown(kNode, all_modules);
  } else if (way == features::GpuDirectRoute::unknown && release.known()) {
    found.unknown(kNode,
                  "no nvidia_peermem, and kernel " + *release.value +
                      " has DMA-BUF only if its distribution or OFED brought it: railhead bench "
                      "with GPU memory tells",
                  evidence);
  } else if (way == features::GpuDirectRoute::unknown) {
    found.unknown(kNode, release);
  } else {
    const std::string lacks =
        *direct.is_open ? "kernel " + *release.value : "proprietary kernel module";
    found.fail(kNode, lacks + ", and no nvidia_peermem",
               "the open kernel module and Linux 5.12, or nvidia_peermem", evidence);
  }
}

/// cuFile is not to fall back to reads through host memory, and has no other way past nvidia_fs
/// (use_pci_p2pdma): somebody wants GPUDirect Storage here. Absent where the file is not known.
std::optional<bool> needs_nvidia_fs(const system::Text& cufile) {
  if (cufile.absent()) return false;
  if (!cufile.known()) return std::nullopt;
  const auto has = [&](std::string_view line) {
    return cufile.value->find(line) != std::string::npos;
  };
  return has("\"allow_compat_mode\": false") && !has("\"use_pci_p2pdma\": true");
}

/// nvidia_fs is loaded.
void storage_module(const Machine& machine, bool is_needed, const Evidence& module,
                    Findings& found) {
  const auto version = machine.system.text("/proc/driver/nvidia-fs/version");
  const auto modules = machine.system.text("/proc/driver/nvidia-fs/modules");
  if (version.absent()) {
    const std::string observed = "nvidia_fs is loaded, and " + version.path + " is not there";
    if (is_needed) {
      found.fail(kNode, observed, version.path, {module, evidence_of(version)});
    } else {
      found.warn(kNode, observed, version.path, {module, evidence_of(version)});
    }
  } else if (found.knows(kNode, version) && found.knows(kNode, modules)) {
    std::vector<std::string> names;
    for (const auto line : split(*modules.value, '\n')) {
      if (!line.empty()) names.emplace_back(line.substr(0, line.find(':')));
    }
    if (names.empty()) {
      found.warn(kNode, "nvidia_fs serves no driver of a file system or disk", "nvme, rpcrdma, …",
                 {module, evidence_of(modules)});
    } else {
      found.pass(kNode, "nvidia_fs, which serves " + join(names, ", "),
                 {evidence_of(version), evidence_of(modules)});
    }
  }
}

/// Sources: NVIDIA gds-nvidia-fs src/nvfs-proc.c; GPUDirect Storage configuration guide,
/// cufile.json.
void gpudirect_storage(const Machine& machine, Findings& found) {
  if (!has_nvidia(machine)) return;
  const auto loaded = machine.has_module("nvidia_fs");
  if (!loaded) {
    found.unknown(kNode, machine.system.text("/proc/modules"));
    return;
  }
  const Evidence module{"/proc/modules", *loaded ? "nvidia_fs" : "no nvidia_fs"};
  const auto cufile = machine.system.text("/etc/cufile.json");
  const auto needed = needs_nvidia_fs(cufile);
  if (*loaded) {
    storage_module(machine, needed.value_or(false), module, found);
  } else if (!needed) {
    found.unknown(kNode, cufile);
  } else if (*needed) {
    found.fail(kNode, "no nvidia_fs, and cuFile may not do without it", "nvidia_fs",
               {module, {cufile.path, "allow_compat_mode: false"}});
  } else {
    found.skip(kNode, "nvidia_fs is not loaded; cuFile then reads through host memory", {module});
  }
}

void vm_file(const Machine& machine, Findings& found) {
  if (!topology::hides_switches(machine.node)) return;
  const auto& file = machine.node.nccl_file;
  const auto& wishes = machine.wishes;
  if (file) {
    found.pass(kNode, "NCCL is given " + file->path, {{file->path, "there"}});
  } else if (wishes.nri && wishes.nccl_file && !machine.topology.machine.empty()) {
    found.pass(kNode, "railhead gives containers the file of " + machine.topology.machine,
               {{"injection.ncclTopoFile", "set"}});
  } else {
    found.warn(kNode, "no switch between GPUs and NICs, and no file", "a topology file for NCCL",
               {{"/etc/nccl.conf", "no NCCL_TOPO_FILE"},
                {"/var/run/nvidia-topologyd/virtualTopology.xml", ""}});
  }
}

using system::Part;

constexpr std::array kGpuChecks = {
    Check{
        .id = "gpu.present",
        .what = "The machine has the GPUs that its type has.",
        .source = "/sys/bus/pci/devices, the table of known machines",
        .rule = "FAIL: fewer than the table has, and no smaller size of the type has so few; else "
                "PASS",
        .effect = "a GPU fell off the bus -> jobs that ask for all GPUs do not start",
        .remedy = "The kernel's log has the Xid of a GPU that fell off its bus; start the machine "
                  "anew, and where it does not come back, replace it.",
        .remedy_class = RemedyClass::hardware,
        .about = "GPU",
        .covers = "drv.nvidia L02",
        .look = present},
    Check{.id = "gpu.driver",
          .what = "Each GPU has a driver.",
          .source = "/sys/bus/pci/devices/*/driver",
          .rule = "PASS: one; WARN: none; SKIP: excluded",
          .effect = "no container gets this GPU",
          .remedy = "See the driver's container or package, and the kernel's log.",
          .remedy_class = RemedyClass::cluster,
          .about = "GPU",
          .covers = "drv.nvidia F01",
          .look = driver},
    Check{.id = "gdr.peermem",
          .what = "nvidia_peermem is loaded, where that way is used.",
          .source = "/proc/modules, /sys/module/nvidia_peermem/{initstate,version}",
          .rule = "PASS: loaded; SKIP: not loaded, which gdr.route judges",
          .effect = "",
          .remedy = "modprobe nvidia_peermem, from the driver's container where that has it.",
          .remedy_class = RemedyClass::live,
          .about = "NVIDIA GPU with a driver",
          .covers = "gdr.peermem D30 L05 F09 E02",
          .parts = Part::modules,
          .look = peermem_module},
    Check{
        .id = "gdr.route",
        .what = "NICs have a way into GPU memory: DMA-BUF or nvidia_peermem, one is enough.",
        .source = "/proc/driver/nvidia/version, /proc/sys/kernel/osrelease, /proc/modules",
        .rule = "PASS: open kernel module and Linux 5.12, or nvidia_peermem; FAIL: neither; "
                "UNKNOWN: one of them is not known, or an older kernel is Red Hat's 8 or has OFED, "
                "which may have brought it. What is set up is not yet proved",
        .effect = "no GPUDirect RDMA -> every byte is copied through host memory",
        .remedy = "Use the open kernel module (ClusterPolicy driver.kernelModuleType: open), which "
                  "needs no OFED; or load nvidia_peermem, which needs the peer memory of OFED and "
                  "has to be built against it.",
        .remedy_class = RemedyClass::cluster,
        .about = "NVIDIA GPU with a driver, and RDMA NIC",
        .covers = "gdr.route gdr.dmabuf D28 F05 F06 F31 E03 E14",
        .parts = Part::modules | Part::gpu_driver | Part::kernel,
        .look = route},
    Check{.id = "gdr.storage",
          .what = "GPUDirect Storage is there where cuFile may not do without it.",
          .source = "/proc/modules, /proc/driver/nvidia-fs/{version,modules}, /etc/cufile.json",
          .rule = "PASS: nvidia_fs serves a driver; FAIL: not loaded, or without its files, and "
                  "cufile.json says allow_compat_mode false without use_pci_p2pdma; WARN: loaded, "
                  "and without its files or a driver to serve; SKIP: not loaded, and cuFile may "
                  "read through host memory",
          .effect = "programs of cuFile fail to start, or read through host memory -> slower, and "
                    "with the CPU",
          .remedy = "modprobe nvidia_fs (package nvidia-gds); with the GPU Operator gds.enabled, "
                    "which needs the open kernel module and OFED. nvidia_fs is to be loaded before "
                    "the drivers of the file systems that it serves.",
          .remedy_class = RemedyClass::cluster,
          .about = "NVIDIA GPU with a driver",
          .covers = "gdr.gds F40 E16",
          .parts = Part::modules | Part::gpu_driver,
          .look = gpudirect_storage},
    Check{.id = "topo.vm-file",
          .what = "In a virtual machine that hides its switches NCCL knows of them.",
          .source = "/etc/nccl.conf, /var/run/nvidia-topologyd/virtualTopology.xml, "
                    "injection.ncclTopoFile",
          .rule = "PASS: a file is named, or railhead gives one to containers on a machine that "
                  "it knows; WARN: none; SKIP: the switches are to be seen",
          .effect = "NCCL sees every NIC behind a host bridge -> it switches GPUDirect off without "
                    "a word, and mixes up rails",
          .remedy = "Give NCCL_TOPO_FILE to containers: railhead does so on known machines "
                    "(injection.ncclTopoFile); else name the provider's file in /etc/nccl.conf.",
          .remedy_class = RemedyClass::live,
          .about = "virtual machine that hides its switches",
          .covers = "topo.vm_file N12",
          .look = vm_file},
};

}  // namespace

std::span<const Check> gpu_checks() {
  return kGpuChecks;
}

}  // namespace railhead::checks
