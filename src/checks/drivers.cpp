// SPDX-License-Identifier: Apache-2.0
//
// Kernel modules of RDMA: which are there, whose they are, and whether they come back after a
// start of the machine.
#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/find.h"
#include "checks/groups.h"
#include "node/pci_reader.h"

namespace railhead::checks {
namespace {

constexpr unsigned kAmazonVendor = 0x1d0f;

template <typename Predicate>
bool any_nic(const Machine& machine, Predicate predicate) {
  return std::ranges::any_of(machine.node.nics, predicate);
}

bool uses_mlx5(const Machine& machine) {
  for (std::size_t n = 0; n < machine.node.nics.size(); ++n) {
    const auto* function = machine.function(n);
    const auto driver = machine.node.nics[n].driver.value_or("");
    // ConnectX-3 and before have mlx4.
    if (driver == "mlx5_core") return true;
    if (function != nullptr && driver.empty() && function->vendor == node::kVendorMellanox &&
        function->device > 0x1010) {
      return true;
    }
  }
  return false;
}

/// EFA has no connection manager.
bool uses_rdma_cm(const Machine& machine) {
  for (std::size_t n = 0; n < machine.node.nics.size(); ++n) {
    const auto* function = machine.function(n);
    if (function == nullptr || function->vendor != kAmazonVendor) return true;
  }
  return false;
}

/// A module that is needed, and what shows that it is at work, however it came into the kernel.
struct NeededModule {
  const char* name;
  bool (*needed)(const Machine& machine);
  bool (*at_work)(const Machine& machine);
  const char* shown_at;
  const char* effect;
};

bool always(const Machine&) {
  return true;
}

bool has_registered(const Machine& machine) {
  return any_nic(machine, [](const node::Nic& nic) { return nic.registered; });
}

bool has_uverbs(const Machine& machine) {
  return any_nic(machine, [](const node::Nic& nic) { return !nic.uverbs.empty(); });
}

bool has_umads(const Machine& machine) {
  return any_nic(machine, [](const node::Nic& nic) { return !nic.umads.empty(); });
}

bool has_mlx5_driver(const Machine& machine) {
  return any_nic(machine, [](const node::Nic& nic) { return nic.driver == "mlx5_core"; });
}

bool has_mlx5_device(const Machine& machine) {
  return any_nic(machine,
                 [](const node::Nic& nic) { return nic.registered && nic.driver == "mlx5_core"; });
}

bool has_rdma_cm(const Machine& machine) {
  return machine.node.rdma_cm.has_value();
}

constexpr std::array kNeeded = {
    NeededModule{"mlx5_core", uses_mlx5, has_mlx5_driver, "/sys/bus/pci/devices",
                 "no driver for the NICs -> no RDMA device"},
    NeededModule{"ib_core", always, has_registered, "/sys/class/infiniband",
                 "no RDMA in this kernel -> no RDMA device"},
    NeededModule{"mlx5_ib", uses_mlx5, has_mlx5_device, "/sys/class/infiniband",
                 "NICs are netdevs only -> no RDMA device"},
    NeededModule{"ib_uverbs", always, has_uverbs, "/sys/class/infiniband_verbs",
                 "no /dev/infiniband/uverbs* -> ibv_devices lists nothing -> NCCL and UCX use TCP"},
    NeededModule{"rdma_cm", uses_rdma_cm, has_rdma_cm, "/sys/class/misc/rdma_cm",
                 "no connection manager -> rdma_ucm does not load"},
    NeededModule{"rdma_ucm", uses_rdma_cm, has_rdma_cm, "/sys/class/misc/rdma_cm",
                 "no /dev/infiniband/rdma_cm -> the shared device plugin leaves every NIC out and "
                 "reports 0 -> pods stay Pending"},
    NeededModule{"ib_umad", always, has_umads, "/sys/class/infiniband_mad",
                 "no /dev/infiniband/umad* -> the shared device plugin leaves every NIC out and "
                 "reports 0 -> pods stay Pending; ibstat and perfquery fail"},
};

void judge_missing(const Machine& machine, const NeededModule& module, Findings& found) {
  const std::vector<Evidence> evidence = {{"/proc/modules", "no " + std::string(module.name)},
                                          {module.shown_at, ""}};
  const bool mad_of_roce =
      std::string_view(module.name) == "ib_umad" && !machine.has_layer(node::LinkLayer::infiniband);
  auto& finding = mad_of_roce ? found.warn(module.name, "not loaded", "loaded", evidence)
                              : found.fail(module.name, "not loaded", "loaded", evidence);
  finding.effect = module.effect;
  if (mad_of_roce) finding.effect = "only with the shared device plugin: " + finding.effect;
  finding.remedy = "modprobe " + std::string(module.name) + ", and add the line " + module.name +
                   " to /etc/modules-load.d/rdma.conf.";
}

void modules(const Machine& machine, Findings& found) {
  if (machine.node.nics.empty()) return;
  for (const auto& module : kNeeded) {
    if (!module.needed(machine)) continue;
    const auto there = machine.has_module(module.name);
    if (module.at_work(machine)) {
      found.pass(module.name, "at work", {{module.shown_at, "there"}});
    } else if (there == std::optional(true)) {
      found.pass(module.name, "loaded", {{"/proc/modules", module.name}});
    } else if (!there) {
      found.unknown(module.name, machine.system.text("/proc/modules"));
    } else {
      judge_missing(machine, module, found);
    }
  }
}

const system::BootModule* at_boot(const Machine& machine, std::string_view module) {
  return find_by(machine.system.boot_modules, &system::BootModule::name, module);
}

/// A list of modules to load, or a folder of such lists, that could not be read.
std::optional<Evidence> unread_list(const Machine& machine) {
  const auto is_list = [](std::string_view path) {
    return path == "/etc/modules" || path.find("modules-load.d") != std::string_view::npos ||
           path.starts_with("/etc/rdma/modules");
  };
  for (const auto& [path, text] : machine.system.texts) {
    if (is_list(path) && !text.error.empty()) return Evidence{path, "", text.error};
  }
  for (const auto& [path, names] : machine.system.folders) {
    if (is_list(path) && !names.error.empty()) return Evidence{path, "", names.error};
  }
  return std::nullopt;
}

void persist(const Machine& machine, Findings& found) {
  if (machine.node.nics.empty()) return;
  const auto openib = machine.system.text("/etc/infiniband/openib.conf");
  for (const char* module : {"rdma_ucm", "ib_umad"}) {
    const bool of_umad = std::string_view(module) == "ib_umad";
    if (of_umad ? !machine.has_layer(node::LinkLayer::infiniband) : !uses_rdma_cm(machine)) {
      continue;
    }
    if (machine.has_module(module) != std::optional(true)) continue;
    if (const auto* file = at_boot(machine, module)) {
      found.pass(module, "in " + file->path, {{file->path, module}});
    } else if (openib.known()) {
      found.pass(module, "OFED's openibd loads it", {{openib.path, "there"}});
    } else if (!machine.system.folder("/etc/modules-load.d").known() &&
               machine.system.boot_modules.empty()) {
      found.unknown(module, machine.system.folder("/etc/modules-load.d"));
    } else if (const auto unread = unread_list(machine)) {
      found.unknown(module, unread->path + ": " + unread->error, {*unread});
    } else {
      found.warn(module, "loaded, and in no list", "in a list of modules to load",
                 {{"/etc/modules-load.d", "no file with " + std::string(module)},
                  {"/etc/rdma/modules", "no file with " + std::string(module)}});
    }
  }
}

void stack(const Machine& machine, Findings& found) {
  if (!uses_mlx5(machine)) return;
  const auto version = machine.system.text("/sys/module/mlx5_core/version");
  const auto compat = machine.has_module("mlx_compat");
  if (version.known()) {
    found.pass(kNode, "a driver of its own, version " + *version.value, {evidence_of(version)});
  } else if (!compat) {
    found.unknown(kNode, machine.system.text("/proc/modules"));
  } else {
    found.pass(kNode, *compat ? "OFED" : "the kernel's own driver; DMA-BUF needs no other",
               {{"/proc/modules", *compat ? "mlx_compat" : "no mlx_compat"}});
  }
}

void container(const Machine& machine, Findings& found) {
  const auto folder = machine.system.folder("/run/mellanox/drivers");
  if (!folder.known()) return;
  const auto& names = *folder.value;
  const bool ready = contains(names, ".driver-ready");
  if (ready) {
    found.pass(kNode, "ready", {{folder.path + "/.driver-ready", "there"}});
  } else {
    found.warn(kNode, "not ready", "ready", {{folder.path + "/.driver-ready", ""}});
  }
}

using system::Part;

constexpr std::array kDriverChecks = {
    Check{.id = "drv.modules",
          .what = "The modules that verbs need are in the kernel.",
          .source = "/proc/modules, /sys/module, and the class that each module makes",
          .rule =
              "PASS: loaded, built in, or its class is there; FAIL: neither; ib_umad without an "
              "InfiniBand port: WARN",
          .effect = "",
          .remedy = "modprobe it, and add it to /etc/modules-load.d/rdma.conf.",
          .remedy_class = RemedyClass::live,
          .about = "RDMA NIC",
          .covers = "drv.modules D13 D14 D15 F07 D26 E07",
          .parts = Part::modules,
          .look = modules},
    Check{.id = "drv.persist",
          .what = "Modules that somebody loaded are loaded again when the machine starts.",
          .source =
              "/etc/modules-load.d, /usr/lib/modules-load.d, /etc/modules, /etc/rdma/modules, "
              "/etc/infiniband/openib.conf",
          .rule = "PASS: a list has it, or openibd loads it; WARN: loaded and in no list",
          .effect = "after the next start rdma_cm or umad nodes are missing",
          .remedy = "Add its name to /etc/modules-load.d/rdma.conf.",
          .remedy_class = RemedyClass::live,
          .about = "loaded module rdma_ucm or ib_umad",
          .covers = "drv.persist D17",
          .after = "drv.modules",
          .parts = Part::modules,
          .look = persist},
    Check{.id = "drv.stack",
          .what = "Whose driver it is: the kernel's own, or that of OFED.",
          .source = "/sys/module/mlx5_core/version, /sys/module/mlx_compat",
          .rule = "always PASS: other checks go by it. The kernel's own is enough for DMA-BUF",
          .effect = "",
          .remedy = "",
          .remedy_class = RemedyClass::none,
          .about = "NIC of mlx5",
          .covers = "drv.stack L04 E14",
          .parts = Part::modules,
          .look = stack},
    Check{.id = "drv.container",
          .what = "A driver that comes in a container is ready.",
          .source = "/run/mellanox/drivers/.driver-ready",
          .rule = "PASS: there; WARN: the folder without it; SKIP: no such folder",
          .effect = "the GPU Operator's driver container waits for this file, unless useHostMofed "
                    "is true: then it starts with any mlx5_core, and nvidia_peermem may be built "
                    "against the wrong one",
          .remedy = "Read the log of the pod with the label nvidia.com/ofed-driver on this node; "
                    "with a driver in a container set driver.rdma.useHostMofed=false.",
          .remedy_class = RemedyClass::cluster,
          .about = "driver in a container",
          .covers = "D11 D29 E04 E12",
          .parts = Part::modules,
          .look = container},
};

}  // namespace

std::span<const Check> driver_checks() {
  return kDriverChecks;
}

}  // namespace railhead::checks
