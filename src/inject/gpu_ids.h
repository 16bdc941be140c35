// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "container/holdings.h"
#include "inject/decide.h"

namespace railhead::inject {

/// GPUs that one source of evidence names, and what it names that is no GPU of this node.
struct GpuEvidence {
  std::vector<std::size_t> gpus;  ///< indices into the node, sorted, unique after `finish`
  std::vector<std::string> unknown;
  std::vector<std::string> ambiguous;
  bool names_cdi_devices = false;  ///< of whatever kind

  /// Everything that it names is a GPU of this node.
  [[nodiscard]] bool complete() const { return unknown.empty() && ambiguous.empty(); }

  [[nodiscard]] bool empty() const { return gpus.empty() && complete(); }

  void finish();  ///< sorts, removes duplicates
};

/// One id as NVIDIA's tools write it: index ("0"), UUID ("GPU-…"), MIG device ("MIG-…" through the
/// CDI specs, "MIG-GPU-<uuid>/<gi>/<ci>", "<gpu>:<mig>"), each also with the "::<n>" of a
/// time-slicing replica. A MIG device or replica stands for its GPU.
/// Source: nvidia-container-toolkit pkg/nvcdi/namer.go, k8s-device-plugin replicas.
void add_gpu_id(std::string_view id, const DecisionTable& table, GpuEvidence& evidence);

/// One fully qualified CDI name. The node's specs decide; where none defines it, its name is parsed
/// as far as it is a GPU's: an id as above, "all", "gpu0", "mig0:1", or the claim form of NVIDIA's
/// DRA driver ("…/claim=<uid>-gpu-<minor>"). Names of other kinds are passed over.
void add_cdi_name(std::string_view name, const DecisionTable& table, GpuEvidence& evidence);

/// What a list is cut to: pod authors write some of them.
inline constexpr std::size_t kMaxGpuIds = 1024;

/// The GPUs among devices that the kubelet has for a container.
struct AllocatedGpus {
  bool holds = false;  ///< it holds some, whether or not it is known which
  GpuEvidence evidence;
  /// Ids of a GPU resource of which none is a GPU of this node, nor has the form of a GPU's UUID:
  /// fractions of GPUs, at most this many of them. Of several such resources the fewest.
  std::size_t fractions = 0;
};

/// A resource is one of GPUs if policy lists it, or if an id is the UUID of a GPU of this node. Ids
/// of a listed resource are those of add_gpu_id(), PCI addresses (AMD's plugin), and UUIDs with a
/// number of a share behind them ("GPU-…-3").
AllocatedGpus gpus_in(const std::vector<container::Holding>& devices, const DecisionTable& table);

}  // namespace railhead::inject
