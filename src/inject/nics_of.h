// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/facts.h"
#include "container/request.h"
#include "inject/decide.h"

namespace railhead::inject {

/// Why a container is an RDMA container; the first that holds.
enum class Basis : std::uint8_t { none, resource, gpus, annotation };

/// A container that gets something.
struct Case {
  const container::Request& request;
  const container::Facts& facts;
  const DecisionTable& table;
  Basis basis = Basis::none;
};

/// The NICs of an RDMA container.
struct NicChoice {
  std::vector<std::size_t> nics;             ///< indices into the node, sorted
  std::vector<affinity::GpuChoice> per_gpu;  ///< what the deal says; empty where it was not asked
  std::vector<std::size_t> to_add;           ///< those of `nics` whose nodes it is given; sorted
  std::vector<std::size_t> to_name;          ///< those of `nics` that variables name; sorted
  bool present = false;                      ///< some are in the container already, from elsewhere
  std::optional<std::string> stand_in;       ///< a GPU's own NICs are not usable; which, and why
  std::optional<std::string> slow;           ///< a NIC runs below the rate expected; which, and why
  std::string_view empty_reason;             ///< code, where nothing is given of what is due
  std::string empty_why;                     ///< for people, the same
  container::Remarks remarks;
  std::size_t refusals = 0;  ///< of what annotations name
};

/// Table "Which NICs" of docs/pod-interface.md. `given.basis` is not none.
NicChoice choose_nics(const Case& given);

std::string nic_names(const node::Node& node,
                      const std::vector<std::size_t>& nics);  ///< "mlx5_0, mlx5_1"

/// For people: a device that was allocated and is gone.
std::string gone_text(std::string_view device);

}  // namespace railhead::inject
