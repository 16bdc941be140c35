// SPDX-License-Identifier: Apache-2.0
//
// Libraries of a container: do they find each other, the kernel's devices, and the drivers that
// they ask for.
#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "checks/gpu_extra.h"
#include "checks/groups.h"
#include "checks/pod.h"

namespace railhead::checks {
namespace {

using system::Container;

/// The provider of libibverbs for the driver of a PCI function. Source: rdma-core providers/, the
/// match tables of each.
constexpr std::array kProviders = {
    std::pair{std::string_view("mlx5_core"), std::string_view("mlx5")},
    std::pair{std::string_view("mlx4_core"), std::string_view("mlx4")},
    std::pair{std::string_view("bnxt_en"), std::string_view("bnxt_re")},
    std::pair{std::string_view("efa"), std::string_view("efa")},
    std::pair{std::string_view("ice"), std::string_view("irdma")},
    std::pair{std::string_view("i40e"), std::string_view("irdma")},
    std::pair{std::string_view("erdma"), std::string_view("erdma")},
    std::pair{std::string_view("hns3"), std::string_view("hns")},
    std::pair{std::string_view("cxgb4"), std::string_view("cxgb4")},
    std::pair{std::string_view("ionic"), std::string_view("ionic")},
};

/// "" where it is not known.
std::string_view provider_of(const node::Nic& nic) {
  const auto* row =
      find_where(kProviders, [&](const auto& one) { return one.first == nic.driver; });
  return row == nullptr ? std::string_view() : row->second;
}

/// "/usr/lib64/libibverbs/libmlx5-rdmav34.so" is of mlx5; so is libmlx5.so.1, into which it leads.
bool is_of_provider(std::string_view path, std::string_view provider) {
  const auto name = path.substr(path.rfind('/') + 1);
  return name.starts_with("lib" + std::string(provider) + "-rdmav");
}

const std::string* find_library(const std::vector<std::string>& paths, std::string_view beginning) {
  return find_where(paths,
                    [&](const auto& path) { return host::base_name(path).starts_with(beginning); });
}

const std::string* find_provider(const std::vector<std::string>& paths, std::string_view provider) {
  return find_where(paths, [&](const auto& path) { return is_of_provider(path, provider); });
}

/// The drivers of its NICs whose provider is known, each once.
std::vector<std::string_view> providers_of(const Machine& machine, const Container& container) {
  std::vector<std::string_view> providers;
  for (const auto nic : given_nics(machine, container)) {
    const auto provider = provider_of(machine.node.nics[nic]);
    if (!provider.empty() && !contains(providers, provider)) providers.push_back(provider);
  }
  return providers;
}

void judge_libraries(const Container& container, std::string_view provider, Findings& found) {
  const auto subject = container.name + "/" + std::string(provider);
  const auto none = std::vector<std::string>();
  const auto& mapped = container.mapped.value ? *container.mapped.value : none;
  const auto* taken = find_provider(mapped, provider);
  if (taken != nullptr) {
    found.pass(subject, *taken, {{container.mapped.path, *taken}});
    return;
  }
  if (!found.knows(subject, container.libraries)) return;
  const auto& there = *container.libraries.value;
  const auto* verbs = find_library(there.found, "libibverbs.so");
  const auto* plugin = find_provider(there.found, provider);
  const Evidence searched{container.root, join(there.searched, ", ")};
  if (verbs != nullptr && plugin != nullptr) {
    found.pass(subject, *verbs + ", " + *plugin, {{container.root + *plugin, "there"}});
  } else if (!there.unreadable.empty()) {
    found.unknown(subject, there.unreadable.front(), {searched});
  } else if (verbs != nullptr) {
    found.fail(subject, *verbs + " without a provider",
               "lib" + std::string(provider) + "-rdmav*.so",
               {searched, {container.root + *verbs, "there"}});
  } else {
    auto& finding =
        found.warn(subject, "no libibverbs.so.1", "one that the loader finds", {searched});
    finding.effect =
        "NCCL, UCX and perftest find no verbs -> TCP; a program that is linked statically does";
  }
}

/// Which kernel interface of a driver rdma-core's own provider supports. A vendor's differs:
/// Broadcom's library has been seen with 6 and 7, and which of the two an image has does not show
/// in the provider's name. Source: rdma-core providers/mlx5/mlx5-abi.h
/// (MLX5_UVERBS_MIN_ABI_VERSION), mlx4/mlx4-abi.h, bnxt_re/bnxt_re-abi.h (BNXT_RE_ABI_VERSION);
/// k8snetworkplumbingwg/sriov-cni#348.
struct AbiRange {
  std::string_view provider;
  std::uint64_t least;
  std::uint64_t most;
};

constexpr std::array kAbiRanges = {AbiRange{"mlx5", 1, 1}, AbiRange{"mlx4", 2, 4},
                                   AbiRange{"bnxt_re", 1, 1}};

/// Providers that are there for the loader, by the ends of their names: "-rdmav34.so".
std::vector<std::string> suffixes_of(const Container& container, std::string_view provider) {
  std::vector<std::string> suffixes;
  if (!container.libraries.value) return suffixes;
  for (const auto& path : container.libraries.value->found) {
    const auto at = path.rfind("-rdmav");
    if (!is_of_provider(path, provider) || at == std::string::npos) continue;
    if (!contains(suffixes, path.substr(at))) suffixes.push_back(path.substr(at));
  }
  return suffixes;
}

void judge_suffix(const Container& container, std::string_view provider, Findings& found) {
  const auto& wanted = container.provider_suffix;
  const auto there = suffixes_of(container, provider);
  if (wanted.path.empty() || there.empty()) return;  // pod.libraries
  const auto subject = container.name + "/" + std::string(provider);
  if (!wanted.value) {
    found.unknown(subject, wanted);
  } else if (contains(there, *wanted.value)) {
    found.pass(subject, "lib" + std::string(provider) + *wanted.value,
               {{wanted.path, *wanted.value}});
  } else {
    found.fail(subject,
               "providers " + join(there, ", ") + ", and libibverbs loads " + *wanted.value,
               "lib" + std::string(provider) + *wanted.value, {{wanted.path, *wanted.value}});
  }
}

void judge_abi(const Container& container, const node::Nic& nic, const system::Text& abi,
               Findings& found) {
  const auto* range = find_by(kAbiRanges, &AbiRange::provider, provider_of(nic));
  if (range == nullptr || abi.absent()) return;
  const auto subject = container.name + "/" + nic.name;
  const auto number = abi.known() ? parse_unsigned(*abi.value) : Result<std::uint64_t>(0);
  const auto supported = range->least == range->most
                             ? std::to_string(range->least)
                             : std::to_string(range->least) + " to " + std::to_string(range->most);
  if (!abi.known()) {
    found.unknown(subject, abi);
  } else if (!number) {
    found.unknown(subject, abi.path + " is " + in_quotes(*abi.value), {evidence_of(abi)});
  } else if (*number < range->least || *number > range->most) {
    found.unknown(subject,
                  "kernel interface " + *abi.value + " is of a vendor's driver, and rdma-core's " +
                      "provider supports " + supported +
                      ": the image needs the provider of the same vendor and release",
                  {evidence_of(abi)});
  } else {
    found.pass(subject, "kernel interface " + *abi.value, {evidence_of(abi)});
  }
}

/// What a process has open works.
bool holds_a_device(const Container& container) {
  return container.held.value &&
         std::ranges::any_of(*container.held.value, [](const std::string& path) {
           return path.find("uverbs") != path.npos;
         });
}

void library_abi(const Machine& machine, Findings& found) {
  for (const auto& container : machine.containers) {
    const auto providers = providers_of(machine, container);
    if (!providers.empty() && holds_a_device(container)) {
      found.pass(container.name, "a process has a device open",
                 {{container.held.path, join(*container.held.value, ", ")}});
      continue;
    }
    for (const auto provider : providers) judge_suffix(container, provider, found);
    for (const auto nic : given_nics(machine, container)) {
      const auto at = container.abi.find(machine.node.nics[nic].name);
      if (at != container.abi.end()) {
        judge_abi(container, machine.node.nics[nic], at->second, found);
      }
    }
  }
}

void ucx(const Machine& machine, Findings& found) {
  for (const auto& container : machine.containers) {
    if (given_nics(machine, container).empty()) continue;
    const auto& mapped = container.mapped.value;
    const auto* taken = mapped ? find_library(*mapped, "libuct_ib") : nullptr;
    if (taken != nullptr) {
      found.pass(container.name, "a process has taken " + *taken,
                 {{container.mapped.path, *taken}});
      continue;
    }
    for (const auto& one : container.ucx) {
      const auto subject = container.name + one.path;
      const Evidence folder{container.root + one.modules, one.has_verbs ? "libuct_ib" : "",
                            one.unreadable};
      const Evidence library{container.root + one.path, one.mapped ? "mapped" : "there"};
      if (!one.unreadable.empty()) {
        found.unknown(subject, one.modules + ": " + one.unreadable, {folder});
      } else if (one.has_verbs) {
        found.pass(subject, "libuct_ib is among its modules", {folder, library});
      } else {
        found.warn(subject, "no libuct_ib in " + one.modules, "libuct_ib.so, its module for verbs",
                   {folder, library});
      }
    }
  }
}

void judge_gdrcopy(const Machine& machine, const Container& container, const std::string& library,
                   Findings& found) {
  const auto& node = container.gdrdrv;
  const auto major = gdrdrv_major(machine);
  const Evidence asks{container.root + library, "there"};
  if (!node.value && !node.absent()) {
    found.unknown(container.name, node);
  } else if (node.absent()) {
    found.warn(container.name, library + ", and no /dev/gdrdrv", "/dev/gdrdrv",
               {asks, {node.path, ""}});
  } else if (major && node.value->major != *major) {
    found.fail(container.name,
               "/dev/gdrdrv has the major number " + std::to_string(node.value->major),
               std::to_string(*major),
               {{node.path, std::to_string(node.value->major)},
                {"/proc/devices", std::to_string(*major) + " gdrdrv"}});
  } else if (container.device_rules.value &&
             !may_open(*container.device_rules.value, *node.value)) {
    found.fail(
        container.name, "no rule of the device cgroup allows /dev/gdrdrv", "c MAJOR:0 rw",
        {{node.path, std::to_string(node.value->major)},
         {container.device_rules.path, counted(container.device_rules.value->size(), "rule")}});
  } else {
    found.pass(container.name, "/dev/gdrdrv is there",
               {{node.path, std::to_string(node.value->major)}});
  }
}

void gdrcopy_in_pod(const Machine& machine, Findings& found) {
  for (const auto& container : machine.containers) {
    const auto& mapped = container.mapped.value;
    const auto& there = container.libraries.value;
    const auto* library = mapped ? find_library(*mapped, "libgdrapi") : nullptr;
    if (library == nullptr && there) library = find_library(there->found, "libgdrapi");
    if (library == nullptr || !container.gpu_nodes.value || container.gpu_nodes.value->empty()) {
      continue;
    }
    judge_gdrcopy(machine, container, *library, found);
  }
}

/// What says that a container goes by IBGDA; nothing where it does not, as far as can be seen.
std::optional<Evidence> asks_for_ibgda(const Container& container) {
  constexpr std::string_view kVariable = "NVSHMEM_IB_ENABLE_IBGDA=";
  for (const auto& entry : container.environment.value.value_or(std::vector<std::string>())) {
    const auto value = std::string_view(entry).substr(std::min(entry.size(), kVariable.size()));
    const bool on = !value.empty() && contains(std::string_view("1tTyY"), value.front());
    if (entry.starts_with(kVariable) && on) return Evidence{container.environment.path, entry};
  }
  const auto& mapped = container.mapped.value;
  const auto* library = mapped ? find_library(*mapped, "nvshmem_transport_ibgda") : nullptr;
  if (library == nullptr) return std::nullopt;
  return Evidence{container.mapped.path, *library};
}

bool lets_the_cpu_ring(const Container& container) {
  const auto& variables = container.environment.value;
  return variables && contains(*variables, std::string("NVSHMEM_IBGDA_NIC_HANDLER=cpu"));
}

void ibgda_in_pod(const Machine& machine, Findings& found) {
  for (const auto& container : machine.containers) {
    const auto asks = asks_for_ibgda(container);
    if (!asks) continue;
    const auto parameters = machine.system.text("/proc/driver/nvidia/params");
    const auto lacks = lacks_for_ibgda(machine);
    if (lets_the_cpu_ring(container)) {
      found.pass(container.name, "the CPU rings the NIC for it", {*asks});
    } else if (!lacks) {
      found.unknown(container.name, parameters);
    } else if (lacks->empty()) {
      found.pass(container.name, "the driver lets GPUs ring the NIC",
                 {*asks, {parameters.path, "EnableStreamMemOPs, PeerMappingOverride"}});
    } else if (container.gdrdrv.value) {
      found.pass(container.name, "by GDRCopy", {*asks, {container.gdrdrv.path, "there"}});
    } else {
      found.warn(container.name, *lacks + " not set, and no GDRCopy",
                 "EnableStreamMemOPs=1 and PeerMappingOverride=1, or /dev/gdrdrv",
                 {*asks, {parameters.path, *lacks + " not set"}});
    }
  }
}

void libraries(const Machine& machine, Findings& found) {
  for (const auto& container : machine.containers) {
    for (const auto provider : providers_of(machine, container)) {
      judge_libraries(container, provider, found);
    }
  }
}

using system::Part;

constexpr std::array kPodLibraryChecks = {
    Check{.id = "pod.libraries",
          .what = "A container has libibverbs and the provider of its NICs.",
          .source = "/proc/PID/maps; folders that the loader searches below /proc/PID/root "
                    "(LD_LIBRARY_PATH, ld.so.conf, the built-in ones)",
          .rule =
              "PASS: a process has both mapped, or both are there; FAIL: libibverbs without the "
              "provider; WARN: no libibverbs; UNKNOWN: a folder could not be read",
          .effect = "libibverbs finds no device, or NCCL does not find libibverbs.so.1 -> TCP",
          .remedy = "Install ibverbs-providers, libibverbs1 and librdmacm1 (or rdma-core) in the "
                    "image.",
          .remedy_class = RemedyClass::cluster,
          .about = "container with uverbs nodes",
          .covers = "pod.libs C15",
          .after = "pod.devices",
          .look = libraries,
          .scope = Scope::pod},
    Check{.id = "pod.library-abi",
          .what = "libibverbs, its providers and the kernel's driver fit each other.",
          .source = "libibverbs.so.1 below /proc/PID/root (the ending of providers that it loads), "
                    "/sys/class/infiniband_verbs/*/abi_version, /proc/PID/fd",
          .rule =
              "PASS: a process has a device open, or they fit; FAIL: libibverbs loads providers "
              "of another ending than those that are there; UNKNOWN: the driver's interface is "
              "outside of what rdma-core's provider supports, so the image needs the vendor's, "
              "which cannot be seen; or a file could not be read",
          .effect = "libibverbs loads no provider -> ibv_devices is empty although all nodes and "
                    "libraries are there",
          .remedy = "Take libibverbs1 and ibverbs-providers of one release: a copy in "
                    "LD_LIBRARY_PATH, or of another package, stands in front. With a vendor's "
                    "driver on the node take its provider of the same release.",
          .remedy_class = RemedyClass::cluster,
          .about = "container with uverbs nodes and libibverbs",
          .covers = "pod.libs C15",
          .after = "pod.devices",
          .look = library_abi,
          .scope = Scope::pod},
    Check{
        .id = "pod.ucx",
        .what = "UCX in a container has its module for verbs.",
        .source = "/proc/PID/maps; the folder ucx beside libucp below /proc/PID/root, or "
                  "UCX_MODULE_DIR",
        .rule = "PASS: a process has libuct_ib mapped, or it is among the modules; WARN: libucp "
                "without it; UNKNOWN: the folder could not be read; SKIP: no libucp",
        .effect = "UCX says: network device is not available, or takes TCP -> NIXL and MPI with it",
        .remedy = "Use a build of UCX with verbs (configure --with-verbs, package ucx-ib), or one "
                  "that is linked to the NIC's library in the image.",
        .remedy_class = RemedyClass::cluster,
        .about = "UCX in a container with uverbs nodes",
        .covers = "pod.libs",
        .after = "pod.devices",
        .look = ucx,
        .scope = Scope::pod},
    Check{.id = "pod.gdrcopy",
          .what = "A container with GDRCopy's library has its device.",
          .source = "/proc/PID/maps, folders of libraries and /dev/gdrdrv below /proc/PID/root; "
                    "/proc/devices; config.json of its bundle",
          .rule = "PASS: there, with the module's number, and allowed; FAIL: a stale number, or no "
                  "rule allows it; WARN: libgdrapi and no node; SKIP: no libgdrapi, or no GPU",
          .effect = "NCCL GIN is unavailable; NVSHMEM and UCX copy small messages more slowly",
          .remedy = "Load gdrdrv on the node (GPU Operator: gdrcopy.enabled=true), and give the "
                    "container /dev/gdrdrv (a CDI device, or a device plugin).",
          .remedy_class = RemedyClass::cluster,
          .about = "container with GPUs and libgdrapi",
          .covers = "gdr.gdrcopy F40",
          .parts = Part::gpu_driver,
          .look = gdrcopy_in_pod,
          .scope = Scope::pod},
    Check{.id = "pod.ibgda",
          .what = "A container that goes by NVSHMEM's IBGDA has a driver that allows it.",
          .source = "/proc/PID/{environ,maps}, /proc/driver/nvidia/params",
          .rule =
              "PASS: EnableStreamMemOPs and PeerMappingOverride are set, or GDRCopy is there, or "
              "the CPU is to do it; WARN: none of them; SKIP: nothing says that it goes by "
              "IBGDA (DeepEP sets the variable in the program, where only its library shows it)",
          .effect = "cannot allocate a doorbell (mlx5dv_devx_uar) -> the job aborts; NVSHMEM 3.4.5 "
                    "and later let the CPU do it, which is slower",
          .remedy = "options nvidia NVreg_EnableStreamMemOPs=1 "
                    "NVreg_RegistryDwords=\"PeerMappingOverride=1;\" in /etc/modprobe.d of the "
                    "driver (GPU Operator: driver.kernelModuleConfig), then load it anew.",
          .remedy_class = RemedyClass::reboot,
          .about = "container that goes by IBGDA",
          .covers = "pod.env",
          .parts = Part::gpu_driver,
          .look = ibgda_in_pod,
          .scope = Scope::pod},
};

}  // namespace

std::span<const Check> pod_library_checks() {
  return kPodLibraryChecks;
}

}  // namespace railhead::checks
