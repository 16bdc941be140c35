// SPDX-License-Identifier: Apache-2.0
#include "container/job_size.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/contains.h"
#include "base/text.h"
#include "base/variable.h"
#include "gpu/vendors.h"

namespace railhead::container {
namespace {

/// torchrun's (--nnodes, as its PET_ variable), launchers' scripts, Slurm's, LeaderWorkerSet's.
constexpr std::array<std::string_view, 5> kNodeVariables = {
    "NNODES", "PET_NNODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES", "LWS_GROUP_SIZE"};

/// PyTorch's, Open MPI's, those of PMI (MPICH, Intel MPI) and of MVAPICH, Slurm's.
constexpr std::array<std::string_view, 5> kRankVariables = {
    "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS"};
constexpr std::string_view kWorldSize = "WORLD_SIZE";
constexpr std::string_view kRank = "RANK";

std::optional<std::uint64_t> positive(std::string_view text) {
  const auto number = parse_unsigned(text);
  if (!number || *number == 0) return std::nullopt;
  return *number;
}

std::optional<std::uint64_t> count_of(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return positive(text);
  const auto least = positive(text.substr(0, colon));
  const auto most = positive(text.substr(colon + 1));
  if (!least || !most || (*least == 1 && *most != 1)) return std::nullopt;
  return least;
}

template <typename Names>
std::optional<std::uint64_t> largest(const std::vector<std::string_view>& env, const Names& names) {
  std::optional<std::uint64_t> found;
  for (const auto name : names) {
    const auto value = variable_in(env, name);
    const auto count = value ? count_of(*value) : std::nullopt;
    if (count) found = std::max(found.value_or(0), *count);
  }
  return found;
}

template <typename Names>
bool is_any(std::string_view name, const Names& names) {
  return contains(names, name);
}

constexpr std::size_t longest_name() {
  std::size_t longest = kRank.size();
  for (const auto name : kNodeVariables) longest = std::max(longest, name.size());
  for (const auto name : kRankVariables) longest = std::max(longest, name.size());
  return longest;
}

/// By first character: whether a variable can be one of the job's.
constexpr std::array<bool, 256> first_characters() {
  std::array<bool, 256> out{};
  out[static_cast<unsigned char>(kRank.front())] = true;
  for (const auto name : kNodeVariables) out[static_cast<unsigned char>(name.front())] = true;
  for (const auto name : kRankVariables) out[static_cast<unsigned char>(name.front())] = true;
  return out;
}

constexpr auto kFirstCharacters = first_characters();

}  // namespace

bool is_job_variable(std::string_view variable) {
  if (variable.empty() || !kFirstCharacters[static_cast<unsigned char>(variable.front())]) {
    return false;
  }
  const auto equals = variable.substr(0, longest_name() + 1).find('=');
  if (equals == std::string_view::npos) return false;
  const auto name = variable.substr(0, equals);
  return is_any(name, kNodeVariables) || is_any(name, kRankVariables) || name == kRank;
}

JobSize job_size(const std::vector<std::string_view>& all) {
  // Few containers have any of these, and each name below is looked for by itself.
  std::vector<std::string_view> env;
  std::copy_if(all.begin(), all.end(), std::back_inserter(env), is_job_variable);
  if (env.empty()) return {};
  JobSize size{largest(env, kNodeVariables), largest(env, kRankVariables)};
  const auto world = variable_in(env, kWorldSize);
  if (!size.nodes && world && variable_in(env, kRank)) size.nodes = positive(*world);
  return size;
}

bool asks_for_all_gpus(const std::vector<std::string_view>& env) {
  return std::any_of(gpu::kGpuRows.begin(), gpu::kGpuRows.end(), [&](const gpu::GpuRow& row) {
    return !row.variable.empty() && variable_in(env, row.variable) == "all";
  });
}

}  // namespace railhead::container
