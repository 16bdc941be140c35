// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inject/allocations.h"
#include "inject/annotations.h"
#include "inject/decide.h"
#include "inject/gpus_of.h"
#include "inject/surroundings.h"

namespace railhead {

/// Why a container is an RDMA container; the first that holds.
enum class Basis : std::uint8_t { none, resource, gpus, annotation };

/// A container with everything that was found out about it before NICs are chosen.
struct Case {
  const ContainerRequest& request;
  const DecisionTable& table;
  Surroundings surroundings;
  HeldGpus held;
  Allocations allocated;
  Wishes wishes;                   ///< those that reach this container
  std::vector<std::size_t> asked;  ///< NICs that device annotations name, sorted
  Basis basis = Basis::none;
};

/// The NICs of an RDMA container.
struct NicChoice {
  std::vector<std::size_t> nics;        ///< indices into the node, sorted
  std::vector<GpuChoice> per_gpu;       ///< what the deal says; empty where it was not asked
  bool present = false;                 ///< they are in the container already, from elsewhere
  std::optional<std::string> stand_in;  ///< a GPU's own NICs are not usable; which, and why
  std::string_view empty_reason;        ///< code, where `nics` is empty
  std::string empty_why;                ///< for people, where `nics` is empty
  std::vector<Remark> remarks;
};

/// Table "Which NICs" of docs/pod-interface.md. `of.basis` is not none.
NicChoice choose_nics(const Case& of);

std::string nic_names(const Node& node,
                      const std::vector<std::size_t>& nics);  ///< "mlx5_0, mlx5_1"

}  // namespace railhead
