// SPDX-License-Identifier: Apache-2.0
#include "inject/gpus_of.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/variable.h"
#include "container/job_size.h"
#include "inject/codes.h"
#include "inject/copied_annotations.h"
#include "inject/gpu_ids.h"
#include "inject/level_zero_mask.h"

namespace railhead::inject {
namespace {

constexpr const gpu::GpuRow& kNvidia = gpu::gpu_row(gpu::GpuVendor::nvidia);
constexpr std::string_view kMountFolder = *kNvidia.mounts.begin();
constexpr std::string_view kCdiAnnotation = "cdi.k8s.io/";

constexpr std::int64_t kMaxMinor = 1 << 20;

constexpr std::size_t kMaxUnresolved = 64;

std::optional<gpu::GpuNode> node_of(const container::PresentDevice& device) {
  const bool sound = device.type == 'c' && device.major >= 0 && device.major < kMaxMinor &&
                     device.minor >= 0 && device.minor < kMaxMinor;
  if (!sound) return std::nullopt;
  return gpu::GpuNode{static_cast<std::uint32_t>(device.major),
                      static_cast<std::uint32_t>(device.minor)};
}

/// Whether or not this node shows it.
bool is_gpu(gpu::GpuNode node) {
  return std::any_of(gpu::kGpuRows.begin(), gpu::kGpuRows.end(), [&](const gpu::GpuRow& row) {
    return row.major == node.major && node.minor < row.gpus_below;
  });
}

GpuEvidence from_device_nodes(const container::Request& request, const DecisionTable& table) {
  GpuEvidence out;
  for (const container::PresentDevice& device : request.devices) {
    const auto node = node_of(device);
    if (!node) continue;
    if (const auto gpu = table.gpu_by_node(*node)) {
      out.gpus.push_back(*gpu);
    } else if (is_gpu(*node) && out.unknown.size() < kMaxUnresolved) {
      out.unknown.emplace_back(device.path.substr(0, 128));
    }
  }
  return out;
}

GpuEvidence from_cdi_names(const container::Request& request, const DecisionTable& table,
                           container::Remarks& remarks) {
  GpuEvidence out;
  CopiedAnnotations copied(request, kCdiAnnotation);
  for (const std::string_view name : request.cdi_devices) add_cdi_name(name, table, out);
  for (const auto& [key, value] : request.annotations) {
    if (!key.starts_with(kCdiAnnotation)) continue;
    if (copied.stands_on_pod(key)) {
      add_copied_remark(key, remarks);
    } else {
      for (const std::string_view name : split(value, ',')) add_cdi_name(trim(name), table, out);
    }
  }
  return out;
}

GpuEvidence from_mounts(const container::Request& request, const DecisionTable& table) {
  GpuEvidence out;
  for (const container::PresentMount& mount : request.mounts) {
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

GpuEvidence from_environment(const container::Request& request, const DecisionTable& table) {
  GpuEvidence out;
  const std::string_view value = variable_in(request.env, kNvidia.variable).value_or("");
  // A path is the device plugin's marker for "look at the mounts".
  if (value.empty() || value == "all" || value == "void" || value == "none" || value[0] == '/') {
    return out;
  }
  std::size_t left = kMaxGpuIds;
  for (std::size_t at = 0; at <= value.size() && left > 0; --left) {
    const auto comma = std::min(value.find(',', at), value.size());
    const std::string_view id = trim(value.substr(at, comma - at));
    at = comma + 1;
    if (id.empty() || id == "all" || id == "void" || id == "none") continue;
    if (id.find('=') != std::string_view::npos) {
      add_cdi_name(id, table, out);
    } else {
      add_gpu_id(id, table, out);
    }
  }
  return out;
}

/// By whom: "(device nodes)".
void report_unresolved(const GpuEvidence& evidence, container::GpuSource source,
                       container::GpuFacts& facts) {
  const std::string from = " (" + std::string(to_string(source)) + ")";
  if (!evidence.unknown.empty()) {
    facts.remarks.add(warn::kGpuUnresolved, in_quotes(join(evidence.unknown, ", "), 256) +
                                                " is not a GPU that this node shows" + from);
    for (const auto& id : evidence.unknown) {
      if (facts.unresolved.size() < kMaxUnresolved) facts.unresolved.push_back(id);
    }
  }
  if (!evidence.ambiguous.empty()) {
    facts.remarks.add(warn::kGpuAmbiguous, in_quotes(join(evidence.ambiguous, ", "), 256) +
                                               " is the UUID of several GPUs of this node" + from);
  }
}

/// Notes what somebody names who is believed; true if a GPU of this node is among it.
bool take(GpuEvidence evidence, container::GpuSource source, container::GpuFacts& facts) {
  if (evidence.empty()) return false;
  facts.named = true;
  if (!evidence.complete()) report_unresolved(evidence, source, facts);
  if (evidence.gpus.empty()) return false;
  evidence.finish();
  facts.indices = std::move(evidence.gpus);
  facts.source = source;
  return true;
}

/// What no pod author can write.
bool take_allocated(const container::Request& request, const DecisionTable& table, bool privileged,
                    container::GpuFacts& facts) {
  // A privileged container has every node of the host; that is no allocation.
  if (!privileged && !request.devices.empty() &&
      take(from_device_nodes(request, table), container::GpuSource::device_nodes, facts)) {
    return true;
  }
  GpuEvidence named = from_cdi_names(request, table, facts.remarks);
  facts.names_cdi_devices = named.names_cdi_devices;
  return take(std::move(named), container::GpuSource::cdi_names, facts);
}

/// Keeps of the GPUs that are held those that a weaker source names, too.
void narrow(const GpuEvidence& by, container::GpuSource source, const node::Node& node,
            container::GpuFacts& facts) {
  if (by.gpus.empty() || !by.complete() || by.gpus == facts.indices) return;
  std::vector<std::size_t> both;
  std::set_intersection(by.gpus.begin(), by.gpus.end(), facts.indices.begin(), facts.indices.end(),
                        std::back_inserter(both));
  if (both != by.gpus) {
    facts.remarks.add(warn::kGpuEnvDiffers, "the " + std::string(to_string(source)) + " names " +
                                                gpu_names(node, by.gpus) + ", and allocated (" +
                                                std::string(to_string(facts.source)) + ") are " +
                                                gpu_names(node, facts.indices) +
                                                ": only what is allocated counts");
  }
  if (!both.empty()) facts.indices = std::move(both);
}

/// Every graphics adapter has such nodes, a processor's own included.
bool has_unknown_drm_node(const container::Request& request, const DecisionTable& table) {
  return std::any_of(request.devices.begin(), request.devices.end(), [&](const auto& device) {
    const auto node = node_of(device);
    return node && node->major == gpu::kDrmMajor && !table.gpu_by_node(*node);
  });
}

/// Keeps of the GPUs that are held those that the program is left by a mask. The mask counts what
/// the container has, so an adapter that is no GPU of this node makes it mean something else.
void narrow_by_mask(const container::Request& request, const DecisionTable& table,
                    container::GpuFacts& facts) {
  const auto is_masked = [&](std::size_t gpu) {
    return gpu::gpu_row(table.node().gpus[gpu].vendor).mask == gpu::GpuMask::level_zero;
  };
  std::vector<std::size_t> masked;
  std::copy_if(facts.indices.begin(), facts.indices.end(), std::back_inserter(masked), is_masked);
  if (masked.empty()) return;
  const auto left = level_zero_mask(request, masked.size());
  if (!left || (left->size() < masked.size() && has_unknown_drm_node(request, table))) {
    facts.remarks.add(warn::kGpuMaskUnknown,
                      "which of " + gpu_names(table.node(), masked) +
                          " ZE_AFFINITY_MASK leaves is not known: all of them count");
    return;
  }
  std::erase_if(facts.indices, is_masked);
  for (const std::size_t position : *left) facts.indices.push_back(masked[position]);
  std::sort(facts.indices.begin(), facts.indices.end());
}

/// What a pod author can write: the mounts of NVIDIA's volume list, else the environment.
struct Claim {
  GpuEvidence evidence;
  container::GpuSource source = container::GpuSource::none;
};

std::string who_names(const Claim& claim) {
  return "the " + std::string(to_string(claim.source)) + " names GPUs";
}

void deny(const Claim& claim, const KubeletAnswer& answer, container::GpuFacts& facts) {
  facts.remarks.add(warn::kGpuClaimDenied,
                    who_names(claim) + ", and the kubelet says that the container holds none" +
                        (answer.others_hold_gpus ? " (another one of its pod does)" : ""));
}

/// The kubelet's ids are the truth; the claim narrows.
void settle(Claim claim, const KubeletAnswer& answer, const DecisionTable& table,
            container::GpuFacts& facts) {
  facts.claim = container::GpuClaim::answered;
  AllocatedGpus allocated = gpus_in(answer.devices, table);
  if (!allocated.holds) return deny(claim, answer, facts);
  facts.named = true;
  const std::size_t fractions = allocated.fractions;
  const bool by_fractions = allocated.evidence.gpus.empty() && claim.evidence.complete() &&
                            claim.evidence.gpus.size() <= fractions;
  if (by_fractions) {
    take(std::move(claim.evidence), claim.source, facts);
  } else if (take(std::move(allocated.evidence), container::GpuSource::kubelet, facts)) {
    narrow(claim.evidence, claim.source, table.node(), facts);
  } else if (fractions > 0 && claim.evidence.complete()) {
    facts.remarks.add(warn::kGpuEnvDiffers,
                      "the " + std::string(to_string(claim.source)) + " names " +
                          gpu_names(table.node(), claim.evidence.gpus) +
                          ", and the container holds " + std::to_string(fractions) +
                          " shares of GPUs: they cannot be of that many");
  }
}

void take_claim(Claim claim, const KubeletAnswer& answer, const DecisionTable& table,
                container::GpuFacts& facts) {
  facts.claim = container::GpuClaim::unchecked;
  switch (answer.state) {
    case KubeletAnswer::State::answered: return settle(std::move(claim), answer, table, facts);
    case KubeletAnswer::State::no_kubelet:
      take(std::move(claim.evidence), claim.source, facts);
      return;
    case KubeletAnswer::State::unanswered:
      facts.claim = container::GpuClaim::unanswered;
      facts.named = true;
      facts.remarks.add(warn::kGpuClaimUnanswered,
                        who_names(claim) +
                            ", and the kubelet did not say in time which the "
                            "container holds");
      return;
  }
}

}  // namespace

container::GpuFacts gpus_of(const container::Request& request, const DecisionTable& table,
                            bool privileged, const KubeletAnswer& answer) {
  container::GpuFacts facts;
  facts.asks_for_all = container::asks_for_all_gpus(request.env);
  GpuEvidence environment = from_environment(request, table);
  environment.finish();
  if (take_allocated(request, table, privileged, facts)) {
    narrow(environment, container::GpuSource::environment, table.node(), facts);
    narrow_by_mask(request, table, facts);
    return facts;
  }
  GpuEvidence mounts = from_mounts(request, table);
  facts.names_cdi_devices |= environment.names_cdi_devices || mounts.names_cdi_devices;
  if (mounts.empty() && environment.empty()) return facts;
  if (mounts.empty()) {
    take_claim({std::move(environment), container::GpuSource::environment}, answer, table, facts);
  } else {
    mounts.finish();
    take_claim({std::move(mounts), container::GpuSource::mounts}, answer, table, facts);
    if (!facts.indices.empty())
      narrow(environment, container::GpuSource::environment, table.node(), facts);
  }
  return facts;
}

std::string gpu_name(const node::Node& node, std::size_t gpu) {
  const auto& index = node.gpus[gpu].index;
  return "GPU " + (index ? std::to_string(*index) : node.gpus[gpu].pci.str());
}

std::string gpu_names(const node::Node& node, const std::vector<std::size_t>& gpus) {
  if (gpus.size() == 1) return gpu_name(node, gpus[0]);
  std::vector<std::string> names;
  for (const std::size_t gpu : gpus) names.push_back(gpu_name(node, gpu).substr(4));
  return "GPUs " + join(names, ", ");
}

}  // namespace railhead::inject
