// SPDX-License-Identifier: Apache-2.0
//
// What the environment that a container was started with says of the job that it is part of. The
// signs are in job_signs.h. Invariants:
//   * nodes and ranks are counted apart: four nodes are more than one whatever GPUs each has, eight
//     ranks are one node's where it has eight GPUs;
//   * WORLD_SIZE is PyTorch's number of ranks. Where RANK stands beside it, the whole container is
//     one rank (Kubeflow's training operator before it knew of ranks within a pod), so it counts
//     containers, unless another variable says how many those are;
//   * of one variable the last occurrence counts, as for the program; of several the largest.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace railhead::container {

struct JobSize {
  std::optional<std::uint64_t> nodes;  ///< or pods; at least 1
  std::optional<std::uint64_t> ranks;  ///< at least 1
  /// The sign, of job_signs.h, that it hands data to peers by RDMA where it can; "": none.
  std::string_view asks{};

  friend bool operator==(const JobSize&, const JobSize&) = default;
};

/// "NAME=value" of a name that job_size() reads: no secret.
bool is_job_variable(std::string_view variable);

/// Absent what the environment does not say. An elastic range ("1:4") says the least, unless that
/// is one node, which it may be or not.
JobSize job_size(const std::vector<std::string_view>& env);

/// The larger of both, number by number.
JobSize larger(const JobSize& a, const JobSize& b);

/// A count, at least 1, or an elastic range; nothing for anything else.
std::optional<std::uint64_t> count_of(std::string_view text);

/// A variable that a hook of the runtime reads (GpuRow::variable) is "all": images say so, and
/// monitors are given every GPU by it without having been allocated one.
bool asks_for_all_gpus(const std::vector<std::string_view>& env);

}  // namespace railhead::container
