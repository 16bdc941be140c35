// SPDX-License-Identifier: Apache-2.0
#include "topology/nccl_name.h"

#include <algorithm>

namespace railhead::topology {
namespace {

constexpr std::size_t kLongest = 63;
constexpr std::string_view kSeparators = ",:=^";

}  // namespace

bool is_plain_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongest &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

bool is_nccl_name(std::string_view text) {
  return is_plain_name(text) && text.find_first_of(kSeparators) == std::string_view::npos;
}

}  // namespace railhead::topology
