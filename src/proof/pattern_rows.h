// SPDX-License-Identifier: Apache-2.0
//
// How rows of patterns are checked and looked through.
#pragma once

#include <algorithm>
#include <string_view>

#include "proof/nccl_patterns.h"

namespace railhead::proof {

template <typename Rows>
constexpr bool are_complete(const Rows& rows) {
  return std::none_of(rows.begin(), rows.end(), [](const NcclPattern& row) {
    return row.words[0].empty() || row.source.empty() ||
           (row.meaning.empty() && row.verb == Verb::none);
  });
}

inline bool matches(const NcclPattern& pattern, std::string_view text) {
  for (const auto word : pattern.words) {
    const auto at = text.find(word);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + word.size());
  }
  return true;
}

template <typename Rows>
const NcclPattern* find_in(const Rows& rows, std::string_view text) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const NcclPattern& row) { return matches(row, text); });
  return found == rows.end() ? nullptr : &*found;
}

/// The rows of UCX and NIXL, and those of NVSHMEM.
const NcclPattern* ucx_pattern(std::string_view line);
const NcclPattern* nvshmem_pattern(std::string_view line);

}  // namespace railhead::proof
