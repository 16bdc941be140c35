// SPDX-License-Identifier: Apache-2.0
//
// What stands beside a GPU's driver: who brought it, GDRCopy's module, and the parameters that
// NVSHMEM's IBGDA asks for.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "checks/gpu_extra.h"
#include "checks/groups.h"
#include "features/gpu_direct.h"

namespace railhead::checks {
namespace {

/// A link to a library of NVIDIA, with the version in its target.
struct Library {
  Evidence evidence;
  std::string version;  ///< "550.54.15"
};

/// The first of the usual places below `root`.
std::optional<Library> library_below(const Machine& machine, const std::string& root) {
  constexpr std::string_view kName = "libnvidia-ml.so.";
  for (const auto* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"}) {
    const auto link = machine.system.text(root + folder + "/libnvidia-ml.so.1");
    if (!link.known()) continue;
    const auto at = link.value->rfind(kName);
    if (at == std::string::npos) continue;
    return Library{evidence_of(link), link.value->substr(at + kName.size())};
  }
  return std::nullopt;
}

void owner(const Machine& machine, Findings& found) {
  if (!has_nvidia(machine)) return;
  const auto host = library_below(machine, "");
  const auto container = library_below(machine, "/run/nvidia/driver");
  const auto module = machine.system.text("/sys/module/nvidia/version");
  if (host && container) {
    found.warn(kNode, host->version + " on the host and " + container->version + " in a container",
               "one of them", {host->evidence, container->evidence});
    return;
  }
  if (!host && !container) return;
  const auto& one = host ? *host : *container;
  const std::string where = host ? "on the host" : "in a container";
  if (module.known() && *module.value != one.version) {
    auto& finding = found.warn(kNode, "module " + *module.value + ", libraries " + one.version,
                               "the same version", {one.evidence, evidence_of(module)});
    finding.effect =
        "programs fail (driver/library version mismatch) until the module is loaded "
        "anew";
    finding.remedy = "Restart the machine, or unload the module while no program uses a GPU.";
    finding.remedy_class = RemedyClass::reboot;
  } else {
    found.pass(kNode, one.version + " " + where, {one.evidence});
  }
}

/// "240 gdrdrv" of /proc/devices: the module's number of this start.
std::optional<std::uint64_t> major_in(std::string_view devices) {
  for (const auto line : split(devices, '\n')) {
    const auto words = split_words(line);
    if (words.size() != 2 || words[1] != "gdrdrv") continue;
    if (const auto number = parse_unsigned(words[0])) return *number;
  }
  return std::nullopt;
}

void gdrcopy(const Machine& machine, Findings& found) {
  if (!has_nvidia(machine)) return;
  const auto loaded = machine.has_module("gdrdrv");
  if (!loaded) {
    found.unknown(kNode, machine.system.text("/proc/modules"));
    return;
  }
  const auto version = machine.system.text("/sys/module/gdrdrv/version");
  const Evidence module{"/proc/modules", *loaded ? "gdrdrv" : "no gdrdrv"};
  if (!*loaded) {
    found.skip(kNode, "gdrdrv is not loaded; only a program that uses GDRCopy needs it", {module});
    return;
  }
  const auto& node = machine.system.gdrdrv;
  const auto major = gdrdrv_major(machine);
  if (!node.value && !node.absent()) {
    found.unknown(kNode, node);
  } else if (node.absent()) {
    found.warn(kNode, "gdrdrv is loaded, and /dev/gdrdrv is not there", "/dev/gdrdrv",
               {module, {node.path, ""}});
  } else if (major && node.value->major != *major) {
    found.warn(kNode, "/dev/gdrdrv has the major number " + std::to_string(node.value->major),
               std::to_string(*major),
               {{node.path, std::to_string(node.value->major)},
                {"/proc/devices", std::to_string(*major) + " gdrdrv"}});
  } else {
    const auto text = version.known() ? "gdrdrv " + *version.value : std::string("gdrdrv");
    found.pass(kNode, text, {module, evidence_of(version)});
  }
}

void ibgda(const Machine& machine, Findings& found) {
  if (!has_nvidia(machine)) return;
  const auto parameters = machine.system.text("/proc/driver/nvidia/params");
  const auto lacks = lacks_for_ibgda(machine);
  if (parameters.absent()) {
    found.skip(kNode, parameters.path + " is not there", {evidence_of(parameters)});
  } else if (!lacks) {
    found.unknown(kNode, parameters);
  } else if (lacks->empty()) {
    found.pass(kNode, "EnableStreamMemOPs and PeerMappingOverride are set",
               {{parameters.path, "EnableStreamMemOPs: 1, PeerMappingOverride=1"}});
  } else {
    found.skip(kNode, *lacks + " not set; only NVSHMEM's IBGDA (DeepEP) needs them: pod.ibgda",
               {{parameters.path, *lacks + " not set"}});
  }
}

using system::Part;

constexpr std::array kGpuExtraChecks = {
    Check{.id = "gpu.driver-owner",
          .what = "One installation of NVIDIA's driver is there, and its module is of the same "
                  "version.",
          .source = "links libnvidia-ml.so.1 of the host and below /run/nvidia/driver, "
                    "/sys/module/nvidia/version",
          .rule = "PASS: of the host or of a container; WARN: of both, or another version than "
                  "the module; SKIP: none at the usual places",
          .effect = "two owners of one module: the operator's driver pod crashes or waits, or "
                    "containers get libraries that do not fit the module",
          .remedy = "Have one owner: driver.enabled=false of the GPU Operator where the image "
                    "brings the driver (AKS does so by default), or node pools without it (az aks "
                    "nodepool add --gpu-driver none).",
          .remedy_class = RemedyClass::cluster,
          .about = "library of NVIDIA's driver at the usual places",
          .covers = "drv.nvidia D05 L03",
          .parts = Part::gpu_driver,
          .look = owner},
    Check{.id = "gdr.gdrcopy",
          .what = "GDRCopy's module has its device node, where it is loaded.",
          .source = "/proc/modules, /sys/module/gdrdrv/version, /proc/devices, /dev/gdrdrv",
          .rule = "PASS: loaded, and the node has its number; WARN: no node, or a stale one; SKIP: "
                  "not loaded",
          .effect = "NCCL GIN, NVSHMEM and UCX copy small messages by the GPU, or refuse to start",
          .remedy = "mknod /dev/gdrdrv c MAJOR 0 with the number of /proc/devices, mode 0666; the "
                    "GPU Operator's gdrcopy container does so.",
          .remedy_class = RemedyClass::live,
          .about = "NVIDIA GPU with a driver",
          .covers = "gdr.gdrcopy F40",
          .parts = Part::modules | Part::gpu_driver,
          .look = gdrcopy},
    Check{.id = "gdr.ibgda",
          .what = "Whether the driver lets GPUs ring a NIC's doorbell (NVSHMEM's IBGDA).",
          .source = "/proc/driver/nvidia/params",
          .rule = "PASS: EnableStreamMemOPs and PeerMappingOverride are set; SKIP: not; UNKNOWN: "
                  "not readable. pod.ibgda says who needs it",
          .effect = "",
          .remedy = "",
          .remedy_class = RemedyClass::none,
          .about = "NVIDIA GPU with a driver",
          .covers = "",
          .parts = Part::gpu_driver,
          .look = ibgda},
};

}  // namespace

bool has_nvidia(const Machine& machine) {
  return std::ranges::any_of(machine.node.gpus, features::is_driven_nvidia);
}

std::optional<std::uint64_t> gdrdrv_major(const Machine& machine) {
  const auto devices = machine.system.text("/proc/devices");
  return devices.known() ? major_in(*devices.value) : std::nullopt;
}

std::optional<std::string> lacks_for_ibgda(const Machine& machine) {
  const auto parameters = machine.system.text("/proc/driver/nvidia/params");
  if (!parameters.known()) return std::nullopt;
  std::vector<std::string> lacks;
  if (parameters.value->find("EnableStreamMemOPs: 1") == std::string::npos) {
    lacks.emplace_back("EnableStreamMemOPs");
  }
  if (parameters.value->find("PeerMappingOverride=1") == std::string::npos) {
    lacks.emplace_back("PeerMappingOverride");
  }
  return join(lacks, " and ");
}

std::span<const Check> gpu_extra_checks() {
  return kGpuExtraChecks;
}

}  // namespace railhead::checks
