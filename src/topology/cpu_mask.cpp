// SPDX-License-Identifier: Apache-2.0
#include "topology/cpu_mask.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "base/text.h"

namespace railhead::topology {
namespace {

constexpr unsigned kWordBits = 32;

}  // namespace

std::vector<unsigned> cpus_of_mask(std::string_view mask) {
  std::vector<unsigned> cpus;
  if (mask.empty()) return cpus;
  auto words = split(mask, ',');
  std::ranges::reverse(words);
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto word = parse_hex(words[at]);
    if (!word || *word > 0xffffffffU) return {};
    for (unsigned bit = 0; bit < kWordBits; ++bit) {
      if ((*word >> bit & 1U) != 0) cpus.push_back(static_cast<unsigned>(at) * kWordBits + bit);
    }
  }
  return cpus;
}

std::string mask_of_cpus(const std::vector<unsigned>& cpus) {
  std::vector<std::uint32_t> words;
  for (const auto cpu : cpus) {
    words.resize(std::max<std::size_t>(words.size(), cpu / kWordBits + 1));
    words[cpu / kWordBits] |= 1U << cpu % kWordBits;
  }
  std::string mask;
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%08x", *word);
    mask += (mask.empty() ? "" : ",") + std::string(text.data());
  }
  return mask;
}

}  // namespace railhead::topology
