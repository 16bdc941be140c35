// SPDX-License-Identifier: Apache-2.0
#include "inject/gpus_of.h"

#include <utility>

#include "base/text.h"
#include "inject/codes.h"
#include "inject/copied_annotations.h"
#include "inject/gpu_ids.h"

namespace railhead {
namespace {

constexpr std::string_view kVariable = "NVIDIA_VISIBLE_DEVICES";
constexpr std::string_view kMountFolder = "/var/run/nvidia-container-devices/";
constexpr std::string_view kCdiAnnotation = "cdi.k8s.io/";

// Linux Documentation/admin-guide/devices.txt: 195 NVIDIA (254 modeset, 255 control), 226 DRM.
constexpr std::int64_t kNvidiaMajor = 195;
constexpr std::int64_t kFirstNvidiaControlMinor = 254;
constexpr std::int64_t kDrmMajor = 226;
constexpr std::int64_t kMaxDrmMinor = 1 << 20;

GpuEvidence from_device_nodes(const ContainerRequest& request, const DecisionTable& table) {
  GpuEvidence out;
  for (const PresentDevice& device : request.devices) {
    if (device.type != 'c' || device.minor < 0) continue;
    if (device.major == kNvidiaMajor && device.minor < kFirstNvidiaControlMinor) {
      const auto gpu = table.gpu_by_minor(static_cast<unsigned>(device.minor));
      if (gpu) {
        out.gpus.push_back(*gpu);
      } else {
        out.unknown.emplace_back(device.path.substr(0, 128));
      }
    } else if (device.major == kDrmMajor && device.minor < kMaxDrmMinor) {
      // Every graphics adapter has such nodes, a server's own included: unknown ones say nothing.
      const auto gpu = table.gpu_by_drm(static_cast<unsigned>(device.minor));
      if (gpu) out.gpus.push_back(*gpu);
    }
  }
  return out;
}

void add_cdi_names(std::string_view list, const DecisionTable& table, GpuEvidence& evidence) {
  for (const std::string_view name : split(list, ',')) {
    add_cdi_name(trim(name), table, evidence);
  }
}

GpuEvidence from_cdi_names(const ContainerRequest& request, const DecisionTable& table,
                           std::vector<Remark>& remarks) {
  GpuEvidence out;
  for (const std::string_view name : request.cdi_devices) add_cdi_name(name, table, out);
  for (const auto& [key, value] : request.annotations) {
    if (!key.starts_with(kCdiAnnotation)) continue;
    if (stands_on_pod(request, key)) {
      remarks.push_back(copied_annotation(key));
    } else {
      add_cdi_names(value, table, out);
    }
  }
  return out;
}

GpuEvidence from_mounts(const ContainerRequest& request, const DecisionTable& table) {
  GpuEvidence out;
  for (const PresentMount& mount : request.mounts) {
    // The source is what NVIDIA's toolkit looks at, too: any pod may mount an empty volume there.
    if (mount.source != "/dev/null" || !mount.destination.starts_with(kMountFolder)) continue;
    const std::string_view id = mount.destination.substr(kMountFolder.size());
    if (id.empty() || id == "all" || id.starts_with("imex/")) continue;
    constexpr std::string_view kCdiFolder = "cdi/";  // cdi/<vendor>/<class>/<name>
    if (id.starts_with(kCdiFolder)) {
      std::string name(id.substr(kCdiFolder.size()));
      if (const auto slash = name.rfind('/'); slash != std::string::npos) name[slash] = '=';
      add_cdi_name(name, table, out);
    } else {
      add_gpu_id(id, table, out);
    }
  }
  return out;
}

/// The last occurrence, as the runtime would use; empty where there is none.
std::string_view variable(const ContainerRequest& request) {
  for (auto at = request.env.rbegin(); at != request.env.rend(); ++at) {
    if (at->size() > kVariable.size() && (*at)[kVariable.size()] == '=' &&
        at->starts_with(kVariable)) {
      return trim(at->substr(kVariable.size() + 1));
    }
  }
  return {};
}

GpuEvidence from_environment(const ContainerRequest& request, const DecisionTable& table) {
  GpuEvidence out;
  const std::string_view value = variable(request);
  // A path is the device plugin's marker for "look at the mounts".
  if (value.empty() || value == "all" || value == "void" || value == "none" || value[0] == '/') {
    return out;
  }
  for (const std::string_view piece : split(value, ',')) {
    const std::string_view id = trim(piece);
    if (id.empty() || id == "all" || id == "void" || id == "none") continue;
    if (id.find('=') != std::string_view::npos) {
      add_cdi_name(id, table, out);
    } else {
      add_gpu_id(id, table, out);
    }
  }
  return out;
}

void report_unresolved(const GpuEvidence& evidence, GpuSource source,
                       std::vector<Remark>& remarks) {
  const std::string from = " (" + std::string(to_string(source)) + ")";
  if (!evidence.unknown.empty()) {
    remarks.push_back(
        {std::string(warn::kGpuUnresolved),
         quoted(join(evidence.unknown, ", "), 256) + " is no GPU that this node shows" + from});
  }
  if (!evidence.ambiguous.empty()) {
    remarks.push_back(
        {std::string(warn::kGpuAmbiguous), quoted(join(evidence.ambiguous, ", "), 256) +
                                               " is the UUID of several GPUs of this node" + from});
  }
}

/// What was allocated: the first of the three sources that names a GPU of this node.
HeldGpus allocated(const ContainerRequest& request, const DecisionTable& table, bool privileged) {
  HeldGpus held;
  for (const GpuSource source :
       {GpuSource::device_nodes, GpuSource::cdi_names, GpuSource::mounts}) {
    GpuEvidence evidence;
    if (source == GpuSource::device_nodes && !privileged) {
      // A privileged container has every node of the host; that is no allocation.
      evidence = from_device_nodes(request, table);
    } else if (source == GpuSource::cdi_names) {
      evidence = from_cdi_names(request, table, held.remarks);
    } else if (source == GpuSource::mounts) {
      evidence = from_mounts(request, table);
    }
    if (!evidence.complete()) report_unresolved(evidence, source, held.remarks);
    if (evidence.gpus.empty()) continue;
    evidence.finish();
    held.gpus = std::move(evidence.gpus);
    held.source = source;
    break;
  }
  return held;
}

void take_environment_over_allocation(GpuEvidence evidence, const Node& node, HeldGpus& held) {
  if (evidence.gpus.empty() || !evidence.complete() || evidence.gpus == held.gpus) return;
  held.remarks.push_back({std::string(warn::kGpuEnvDiffers),
                          std::string(kVariable) + " names " + gpu_labels(node, evidence.gpus) +
                              ", and allocated (" + std::string(to_string(held.source)) + ") are " +
                              gpu_labels(node, held.gpus) + "; the former decides"});
  held.gpus = std::move(evidence.gpus);
  held.source = GpuSource::environment;
}

void take_environment_alone(GpuEvidence evidence, GpuClaim claim, HeldGpus& held) {
  if (claim == GpuClaim::holds_none) {
    held.remarks.push_back(
        {std::string(warn::kGpuClaimDenied),
         std::string(kVariable) + " names GPUs, and the kubelet says that the pod holds none"});
    return;
  }
  if (claim == GpuClaim::unanswered) {
    held.remarks.push_back({std::string(warn::kGpuClaimUnanswered),
                            std::string(kVariable) +
                                " names GPUs, and the kubelet did not say in time that the pod "
                                "holds any"});
    return;
  }
  report_unresolved(evidence, GpuSource::environment, held.remarks);
  if (evidence.gpus.empty()) return;
  held.gpus = std::move(evidence.gpus);
  held.source = GpuSource::environment;
}

}  // namespace

std::string_view to_string(GpuSource source) {
  switch (source) {
    case GpuSource::none: return "none";
    case GpuSource::device_nodes: return "device nodes";
    case GpuSource::cdi_names: return "CDI names";
    case GpuSource::mounts: return "mounts";
    case GpuSource::environment: return "environment";
  }
  return "none";
}

HeldGpus gpus_of(const ContainerRequest& request, const DecisionTable& table, bool privileged,
                 GpuClaim claim) {
  HeldGpus held = allocated(request, table, privileged);
  GpuEvidence environment = from_environment(request, table);
  if (environment.empty()) return held;
  environment.finish();
  if (held.gpus.empty()) {
    take_environment_alone(std::move(environment), claim, held);
  } else {
    take_environment_over_allocation(std::move(environment), table.node(), held);
  }
  return held;
}

bool environment_alone_names_gpus(const ContainerRequest& request, const DecisionTable& table,
                                  bool privileged) {
  return !from_environment(request, table).empty() &&
         allocated(request, table, privileged).gpus.empty();
}

std::string gpu_label(const Node& node, std::size_t gpu) {
  const auto& index = node.gpus[gpu].index;
  return "GPU " + (index ? std::to_string(*index) : node.gpus[gpu].pci.str());
}

std::string gpu_labels(const Node& node, const std::vector<std::size_t>& gpus) {
  if (gpus.size() == 1) return gpu_label(node, gpus[0]);
  std::vector<std::string> names;
  for (const std::size_t gpu : gpus) names.push_back(gpu_label(node, gpu).substr(4));
  return "GPUs " + join(names, ", ");
}

}  // namespace railhead
