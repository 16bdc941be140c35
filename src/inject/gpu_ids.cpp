// SPDX-License-Identifier: Apache-2.0
#include "inject/gpu_ids.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "base/sort_unique.h"
#include "base/text.h"

namespace railhead::inject {
namespace {

constexpr std::size_t kMaxUnknownIds = 64;  // pod authors write these lists

std::optional<unsigned> small_number(std::string_view text) {
  const auto number = parse_unsigned(text);
  if (!number || *number > std::numeric_limits<unsigned>::max()) return std::nullopt;
  return static_cast<unsigned>(*number);
}

bool has_nvidia_ids(const node::Gpu& gpu) {
  return gpu::gpu_row(gpu.vendor).ids == gpu::GpuIds::nvidia;
}

void add_unknown(std::string_view id, GpuEvidence& evidence) {
  if (evidence.unknown.size() < kMaxUnknownIds) evidence.unknown.emplace_back(id.substr(0, 128));
}

void add_uuid(std::string_view uuid, const DecisionTable& table, GpuEvidence& evidence) {
  if (const auto gpu = table.gpu_by_uuid(uuid)) {
    evidence.gpus.push_back(*gpu);
  } else if (table.is_ambiguous(uuid)) {
    evidence.ambiguous.emplace_back(uuid);
  } else {
    add_unknown(uuid, evidence);
  }
}

void add_index(std::string_view id, std::string_view number, const DecisionTable& table,
               GpuEvidence& evidence) {
  const auto index = small_number(number);
  const auto gpu = index ? table.gpu_by_index(*index) : std::nullopt;
  if (gpu && has_nvidia_ids(table.node().gpus[*gpu])) {
    evidence.gpus.push_back(*gpu);
  } else {
    add_unknown(id, evidence);
  }
}

std::optional<std::size_t> gpu_of_path(std::string_view path, const DecisionTable& table) {
  const auto node = gpu::gpu_node(path);
  return node ? table.gpu_by_node(*node) : std::nullopt;
}

/// True if a spec of the node defines the name and a GPU stands behind it.
bool add_from_spec(std::string_view name, const DecisionTable& table, GpuEvidence& evidence) {
  const auto* paths = table.cdi().device_paths(name);
  if (paths == nullptr) return false;
  const auto before = evidence.gpus.size();
  for (const auto& path : *paths) {
    if (const auto gpu = gpu_of_path(path, table)) evidence.gpus.push_back(*gpu);
  }
  return evidence.gpus.size() > before;
}

/// procfs has no UUIDs of MIG devices; the specs that the toolkit and the device plugin write do.
bool add_mig_from_specs(std::string_view id, const DecisionTable& table, GpuEvidence& evidence) {
  for (const std::string_view kind : {"nvidia.com/gpu=", "k8s.device-plugin.nvidia.com/gpu="}) {
    if (add_from_spec(std::string(kind) + std::string(id), table, evidence)) return true;
  }
  return false;
}

/// The kernel counts instances of a GPU and knows no UUID of theirs (/proc/driver/nvidia/
/// capabilities); on a node with one GPU of NVIDIA every MIG device is a part of it.
bool add_the_only_gpu(const DecisionTable& table, GpuEvidence& evidence) {
  const auto& gpus = table.node().gpus;
  const auto is_one = [](const node::Gpu& gpu) { return has_nvidia_ids(gpu) && !gpu.excluded; };
  const auto first = std::find_if(gpus.begin(), gpus.end(), is_one);
  if (first == gpus.end() || std::find_if(first + 1, gpus.end(), is_one) != gpus.end())
    return false;
  evidence.gpus.push_back(static_cast<std::size_t>(first - gpus.begin()));
  return true;
}

void add_all(const DecisionTable& table, GpuEvidence& evidence) {
  const auto& gpus = table.node().gpus;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (has_nvidia_ids(gpus[i]) && !gpus[i].excluded) evidence.gpus.push_back(i);
  }
}

/// "<claim uid>-gpu-<minor>" of the DRA driver's claim specs.
bool add_claim_device(std::string_view name, const DecisionTable& table, GpuEvidence& evidence) {
  constexpr std::string_view kInfix = "-gpu-";
  const auto at = name.rfind(kInfix);
  const auto minor =
      at == std::string_view::npos ? std::nullopt : small_number(name.substr(at + kInfix.size()));
  const auto gpu = minor ? table.gpu_by_node({gpu::gpu_row(gpu::GpuVendor::nvidia).major, *minor})
                         : std::nullopt;
  if (gpu) evidence.gpus.push_back(*gpu);
  return gpu.has_value();
}

std::string_view without_replica(std::string_view id) {
  return id.substr(0, id.find("::"));
}

std::optional<std::size_t> gpu_at(std::string_view id, const node::Node& node) {
  const auto address = node::PciAddress::parse(id);
  if (!address) return std::nullopt;
  const auto at = std::find_if(node.gpus.begin(), node.gpus.end(),
                               [&](const node::Gpu& gpu) { return gpu.pci == *address; });
  if (at == node.gpus.end()) return std::nullopt;
  return static_cast<std::size_t>(at - node.gpus.begin());
}

/// "GPU-<uuid>-<share>" of a plugin that shares GPUs.
std::optional<std::size_t> gpu_of_share(std::string_view id, const DecisionTable& table) {
  const auto dash = id.rfind('-');
  if (!id.starts_with("GPU-") || dash == std::string_view::npos) return std::nullopt;
  if (!parse_unsigned(id.substr(dash + 1))) return std::nullopt;
  return table.gpu_by_uuid(id.substr(0, dash));
}

void add_allocated_id(std::string_view id, const DecisionTable& table, GpuEvidence& evidence) {
  if (const auto gpu = gpu_at(id, table.node())) {
    evidence.gpus.push_back(*gpu);
  } else if (const auto shared = gpu_of_share(without_replica(id), table)) {
    evidence.gpus.push_back(*shared);
  } else if (const auto card =  // "card<minor>-<share>" of Intel's plugin
             gpu_of_path("/dev/dri/" + std::string(id.substr(0, id.find('-'))), table)) {
    evidence.gpus.push_back(*card);
  } else {
    add_gpu_id(id, table, evidence);
  }
}

bool is_gpu_resource(const std::string& name, const DecisionTable& table) {
  const auto& patterns = table.policy().gpu_resources;
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const auto& pattern) { return glob_match(pattern, name); });
}

void append(GpuEvidence&& from, GpuEvidence& to) {
  to.gpus.insert(to.gpus.end(), from.gpus.begin(), from.gpus.end());
  for (auto& id : from.unknown) add_unknown(id, to);
  std::move(from.ambiguous.begin(), from.ambiguous.end(), std::back_inserter(to.ambiguous));
}

void add_listed(const container::Holding& holding, const DecisionTable& table, AllocatedGpus& out) {
  GpuEvidence evidence;
  std::size_t left = kMaxGpuIds;
  for (const auto& id : holding.ids) {
    if (left-- == 0) break;
    add_allocated_id(id, table, evidence);
  }
  out.holds = true;
  const bool whole = std::any_of(holding.ids.begin(), holding.ids.end(),
                                 [](const auto& id) { return id.starts_with("GPU-"); });
  if (evidence.gpus.empty() && evidence.ambiguous.empty() && !whole) {
    const auto count = holding.ids.size();
    out.fractions = out.fractions == 0 ? count : std::min(out.fractions, count);
  }
  append(std::move(evidence), out.evidence);
}

}  // namespace

AllocatedGpus gpus_in(const std::vector<container::Holding>& devices, const DecisionTable& table) {
  AllocatedGpus out;
  for (const auto& holding : devices) {
    if (holding.ids.empty()) continue;
    if (is_gpu_resource(holding.resource, table)) {
      add_listed(holding, table, out);
      continue;
    }
    for (const auto& id : holding.ids) {
      const auto gpu = table.gpu_by_uuid(without_replica(id));
      if (!gpu) continue;
      out.holds = true;
      out.evidence.gpus.push_back(*gpu);
    }
  }
  out.evidence.finish();
  return out;
}

void GpuEvidence::finish() {
  sort_unique(gpus);
}

void add_gpu_id(std::string_view id, const DecisionTable& table, GpuEvidence& evidence) {
  const std::string_view whole = id;
  id = without_replica(id);
  if (id.starts_with("GPU-")) return add_uuid(id, table, evidence);
  if (id.starts_with("MIG-GPU-")) {
    const std::string_view parent = id.substr(4);
    return add_uuid(parent.substr(0, parent.find('/')), table, evidence);
  }
  if (id.starts_with("MIG-")) {
    if (!add_mig_from_specs(id, table, evidence) && !add_the_only_gpu(table, evidence)) {
      add_unknown(whole, evidence);
    }
    return;
  }
  add_index(whole, id.substr(0, id.find(':')), table, evidence);
}

void add_cdi_name(std::string_view name, const DecisionTable& table, GpuEvidence& evidence) {
  const auto equals = name.find('=');
  if (equals != std::string_view::npos) evidence.names_cdi_devices = true;
  if (add_from_spec(name, table, evidence)) return;
  if (equals == std::string_view::npos) return;
  const std::string_view kind = name.substr(0, equals);
  const gpu::GpuRow* row = gpu::gpu_row_of_cdi(kind);
  if (row == nullptr) return;
  if (row->ids != gpu::GpuIds::nvidia) return add_unknown(name, evidence);
  std::string_view device = name.substr(equals + 1);
  if (kind.ends_with("/claim")) {
    // Claims of other devices of that driver (compute domains) have names of their own.
    const bool gpu = device.find("-gpu-") != std::string_view::npos ||
                     device.find("-mig-") != std::string_view::npos;
    if (gpu && !add_claim_device(device, table, evidence)) add_unknown(name, evidence);
    return;
  }
  if (device == "all") return add_all(table, evidence);
  for (const std::string_view prefix : {"gpu", "mig"}) {
    if (device.starts_with(prefix)) device.remove_prefix(prefix.size());
  }
  add_gpu_id(device, table, evidence);
}

}  // namespace railhead::inject
