// SPDX-License-Identifier: Apache-2.0
//
// The GPU Operator (ClusterPolicy, or its chart's values) and the Network Operator
// (NicClusterPolicy, values). Sources: NVIDIA/gpu-operator api/nvidia/v1/clusterpolicy_types.go and
// cmd/nvidia-validator/main.go, Mellanox/network-operator api/v1alpha1/nicclusterpolicy_types.go,
// Mellanox/doca-driver-build entrypoint.sh.
#include <array>

#include "base/text.h"
#include "lint/nic_policies.h"
#include "lint/rule.h"

namespace railhead::lint {
namespace {

/// A ClusterPolicy's spec, or the values of the chart that makes it: they have the same sections.
struct GpuOperator {
  const Object* object = nullptr;
  const data::Value* spec = nullptr;
  bool is_values = false;
};

bool has_key(const data::Value& map, std::string_view key) {
  return entry_of(&map, key) != nullptr;
}

std::vector<GpuOperator> gpu_operators(const Given& given) {
  std::vector<GpuOperator> all;
  for (const auto& object : given.objects) {
    if (object.kind == "ClusterPolicy") {
      if (const auto* spec = below(object.root, {"spec"})) all.push_back({&object, spec, false});
    } else if (object.kind.empty() && object.root.kind == data::Value::Kind::map) {
      const bool has_driver = below(object.root, {"driver"}) != nullptr;
      const bool is_it = has_key(object.root, "toolkit") || has_key(object.root, "dcgmExporter") ||
                         has_key(object.root, "migManager") ||
                         below(object.root, {"driver", "rdma"}) != nullptr;
      if (has_driver && is_it) all.push_back({&object, &object.root, true});
    }
  }
  return all;
}

/// Values of the network operator's chart.
std::vector<const Object*> network_values(const Given& given) {
  std::vector<const Object*> all;
  for (const auto& object : given.objects) {
    if (!object.kind.empty() || object.root.kind != data::Value::Kind::map) continue;
    const bool is_it = below(object.root, {"nfd", "deployNodeFeatureRules"}) != nullptr ||
                       has_key(object.root, "sriovNetworkOperator") ||
                       has_key(object.root, "nicConfigurationOperator") ||
                       has_key(object.root, "maintenanceOperator");
    if (is_it) all.push_back(&object);
  }
  return all;
}

const Object* ofed_in_container(const Given& given) {
  for (const auto* policy : nic_policies(given)) {
    if (below(policy->root, {"spec", "ofedDriver"}) != nullptr) return policy;
  }
  return nullptr;
}

void host_ofed(const Given& given, Found& found) {
  const auto* policy = ofed_in_container(given);
  if (policy == nullptr) return;
  for (const auto& one : gpu_operators(given)) {
    if (!is_true(*one.spec, {"driver", "rdma", "useHostMofed"})) continue;
    found.add(*one.object, below(*one.spec, {"driver", "rdma", "useHostMofed"}),
              "useHostMofed is true, and " + policy->label() + " runs OFED in a container");
  }
}

/// "nvidia/driver" may stand below a mirror; "nvcr.io/nvidia/driver" begins with a registry.
bool is_whole_image(std::string_view image, std::string_view repository) {
  const auto slash = image.find('/');
  if (slash == std::string_view::npos) return false;
  const auto first = image.substr(0, slash);
  return first.find_first_of(".:") != std::string_view::npos || first == "localhost" ||
         image.starts_with(std::string(repository) + "/");
}

void image_with_repository(const Given& given, Found& found) {
  for (const auto& one : gpu_operators(given)) {
    for (const auto& section : one.spec->entries) {
      const auto image = text_below(section.value, {"image"});
      const auto repository = text_below(section.value, {"repository"});
      if (repository.empty() || !is_whole_image(image, repository)) continue;
      found
          .add(*one.object, below(section.value, {"image"}),
               section.key + " is pulled from " +
                   in_quotes(std::string(repository) + "/" + std::string(image), 128))
          .remedy = "Write image: " + std::string(image.substr(image.rfind('/') + 1)) +
                    "; the repository is said beside it.";
    }
  }
}

void chart_value(const Given& given, Found& found) {
  for (const auto& one : gpu_operators(given)) {
    const auto* entry = one.is_values ? nullptr : entry_of(one.spec, "nfd");
    if (entry != nullptr) found.add(*one.object, entry, "nfd is not a field of a ClusterPolicy");
  }
}

void two_nfd(const Given& given, Found& found) {
  const auto networks = network_values(given);
  for (const auto& one : gpu_operators(given)) {
    if (!one.is_values || is_false(*one.spec, {"nfd", "enabled"})) continue;
    for (const auto* other : networks) {
      if (is_false(other->root, {"nfd", "enabled"})) continue;
      found.add(*one.object, below(*one.spec, {"nfd"}),
                "nfd.enabled is not false here nor in " + other->file());
      break;
    }
  }
}

void no_route(const Given& given, Found& found) {
  for (const auto& one : gpu_operators(given)) {
    if (is_false(*one.spec, {"driver", "enabled"})) continue;
    const bool proprietary = is_false(*one.spec, {"driver", "useOpenKernelModules"}) ||
                             text_below(*one.spec, {"driver", "kernelModuleType"}) == "proprietary";
    if (!proprietary || is_true(*one.spec, {"driver", "rdma", "enabled"})) continue;
    found.add(*one.object, below(*one.spec, {"driver"}),
              "the proprietary driver without driver.rdma.enabled");
  }
}

void deprecated_open(const Given& given, Found& found) {
  for (const auto& one : gpu_operators(given)) {
    const auto* entry = entry_of(below(*one.spec, {"driver"}), "useOpenKernelModules");
    if (entry == nullptr) continue;
    const bool open = is_true(*one.spec, {"driver", "useOpenKernelModules"});
    const auto type = text_below(*one.spec, {"driver", "kernelModuleType"});
    const bool differs = !type.empty() && type != "auto" && (type == "open") != open;
    auto& finding = found.add(*one.object, entry,
                              differs ? "useOpenKernelModules: " + entry->value.scalar +
                                            " beside kernelModuleType: " + std::string(type)
                                      : "useOpenKernelModules is the old name of a setting");
    if (differs) finding.severity = Severity::warn;
  }
}

/// A variable that the driver's container does not read, and the one that it does.
struct OldName {
  std::string_view written;
  std::string_view read;
};

constexpr std::array kOldNames = {OldName{"NFSRDMA_ENABLE", "ENABLE_NFSRDMA"},
                                  OldName{"ENABLE_NFSORDMA", "ENABLE_NFSRDMA"},
                                  OldName{"UNLOAD_STORAGE_MODULE", "UNLOAD_STORAGE_MODULES"}};

void driver_variable(const Given& given, Found& found) {
  for (const auto* policy : nic_policies(given)) {
    for (const char* section : {"ofedDriver", "rdmaSharedDevicePlugin", "sriovDevicePlugin"}) {
      for (const auto& one : items_below(policy->root, {"spec", section, "env"})) {
        const auto name = text_below(one, {"name"});
        for (const auto& old : kOldNames) {
          if (name != old.written) continue;
          found
              .add(*policy, below(one, {"name"}),
                   std::string(name) + " is read by nobody; the driver's container reads " +
                       std::string(old.read))
              .remedy = "Write " + std::string(old.read) + " in ofedDriver.env.";
        }
      }
    }
  }
}

void forced_upgrade(const Given& given, Found& found) {
  for (const auto* policy : nic_policies(given)) {
    const auto* upgrade = below(policy->root, {"spec", "ofedDriver", "upgradePolicy"});
    if (upgrade == nullptr || !is_true(*upgrade, {"autoUpgrade"})) continue;
    if (!is_true(*upgrade, {"drain", "enable"}) || !is_true(*upgrade, {"drain", "force"})) continue;
    found.add(*policy, below(*upgrade, {"drain", "force"}),
              "autoUpgrade with drain.force" +
                  std::string(is_true(*upgrade, {"drain", "deleteEmptyDir"}) ||
                                      is_true(*upgrade, {"drain", "deleteEmptydirData"})
                                  ? " and deleteEmptyDir"
                                  : ""));
  }
}

/// Kinds of which an operator reads one object, and its name.
/// Sources: Mellanox/network-operator controllers/nicclusterpolicy_controller.go;
/// k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go.
struct OnlyName {
  const char* kind;
  std::string_view group;
  std::string_view name;
};

constexpr std::array kOnlyNames = {
    OnlyName{"NicClusterPolicy", "mellanox.com/", "nic-cluster-policy"},
    OnlyName{"SriovOperatorConfig", "sriovnetwork.openshift.io/", "default"}};

void other_name(const Given& given, Found& found) {
  for (const auto& only : kOnlyNames) {
    for (const auto* object : given.of_kind(only.kind)) {
      if (object->name.empty() || object->name == only.name) continue;
      if (!object->api.starts_with(only.group)) continue;
      if (is_template(object->name)) continue;
      found
          .add(*object, below(object->root, {"metadata", "name"}),
               in_quotes(object->name) + " is not " + std::string(only.name))
          .remedy = "Name it " + std::string(only.name) + ", and have one.";
    }
  }
}

constexpr Rule kOperatorRules[] = {
    {"operator.name", "An operator reads one object of a kind, and this has another name.",
     Severity::fail,
     "NicClusterPolicy is ignored (status.state: ignore), and SriovOperatorConfig is refused by "
     "the "
     "webhook.",
     "Give it the name that the operator reads.", "", other_name},
    {"operator.host-ofed", "useHostMofed is true beside an OFED driver in a container.",
     Severity::warn,
     "true only waits for a module mlx5_core, which the kernel's own driver has already, so "
     "nvidia_peermem is loaded before OFED reloads the drivers. false waits for "
     "/run/mellanox/drivers/.driver-ready, which the operator's OFED container makes.",
     "Set driver.rdma.useHostMofed=false; true is for OFED that is installed on the host.",
     "D29 E04", host_ofed},
    {"operator.image", "An image repeats its repository.", Severity::fail,
     "The operator joins repository, image and version, and no such image exists.",
     "Write the image's last name alone.", "E25", image_with_repository},
    {"operator.chart-value", "A ClusterPolicy has a value of the chart.", Severity::warn,
     "The API server drops it: node feature discovery is switched on or off when the chart is "
     "installed.",
     "Say nfd.enabled to helm install.", "E25", chart_value},
    {"operator.two-nfd", "Both operators install node feature discovery.", Severity::warn,
     "Two instances overwrite each other's labels, and operators schedule by these.",
     "Set nfd.enabled=false in one of them.", "D09 C07", two_nfd},
    {"operator.no-gpudirect", "Neither way of GPUDirect RDMA is there.", Severity::warn,
     "The proprietary driver exports no DMA-BUF, and without driver.rdma.enabled nvidia_peermem is "
     "not loaded: data goes through host memory.",
     "Use the open kernel modules (kernelModuleType: open), or set driver.rdma.enabled=true with "
     "OFED. One of them is enough.",
     "D28 F05 F10 E14", no_route},
    {"operator.open-modules", "useOpenKernelModules is deprecated.", Severity::note,
     "kernelModuleType (auto, open, proprietary) takes its place since v24.9 and wins over it.",
     "Write kernelModuleType: open.", "F05", deprecated_open},
    {"operator.driver-variable", "A variable of the OFED container has another name.",
     Severity::warn,
     "It has no effect: rpcrdma is not loaded, and NFS over RDMA falls back to TCP "
     "or does not mount.",
     "Write it as the driver's container reads it.", "F08 E13", driver_variable},
    {"operator.forced-upgrade", "OFED upgrades drain nodes by force.", Severity::warn,
     "A new version of the policy reloads the NIC drivers under running jobs, and deletes pods "
     "that nobody makes again.",
     "Set autoUpgrade to false, or drain.force to false, and upgrade when jobs have ended.", "C09",
     forced_upgrade},
};

}  // namespace

std::span<const Rule> operator_rules() {
  return kOperatorRules;
}

}  // namespace railhead::lint
