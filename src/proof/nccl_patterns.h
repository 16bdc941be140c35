// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "proof/nccl_line.h"

namespace railhead::proof {

/// error: RDMA that was needed did not work. hint: NCCL's own advice.
enum class NcclSeverity : std::uint8_t { error, warning, hint };

/// A line that tells of a problem, and what it means. Adding one is one row of nccl_patterns.cpp.
struct NcclPattern {
  static constexpr std::size_t kMaxWords = 3;
  /// Texts that stand in the line one behind the other; "" matches anywhere.
  std::array<std::string_view, kMaxWords> words;
  NcclSeverity severity = NcclSeverity::warning;
  std::string_view since;  ///< the first release with this text, and the file that prints it
  std::string_view meaning;
};

/// What a message of NCCL's or RCCL's means for RDMA; nullptr for most.
const NcclPattern* nccl_pattern(NcclLevel level, std::string_view message);

/// The same for a line of UCX, Mooncake or vineyard. The words are theirs: `ulimit -a` also prints
/// "max locked memory".
const NcclPattern* foreign_pattern(std::string_view line);

}  // namespace railhead::proof
