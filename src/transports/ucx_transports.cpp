// SPDX-License-Identifier: Apache-2.0
#include "transports/ucx_transports.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/find.h"

namespace railhead::transports {
namespace {

using Transports = std::uint8_t;  ///< a bit for each transport over RDMA

constexpr Transports kRcVerbs = 1;
constexpr Transports kRcMlx5 = 2;
constexpr Transports kUdVerbs = 4;
constexpr Transports kUdMlx5 = 8;
constexpr Transports kDcMlx5 = 16;
constexpr Transports kSrd = 32;
constexpr Transports kRcGda = 64;
constexpr Transports kAll = 127;
constexpr Transports kNone = 0;

struct Word {
  std::string_view word;
  Transports rdma;
};

/// Transports and aliases of UCX 1.22.0 (src/ucp/core/ucp_context.c, ucp_tl_aliases), and words
/// that older releases had for what is no transport over RDMA. gga_mlx5 copies within a machine.
constexpr auto kWords = std::to_array<Word>({
    {"ib", kAll},         {"rc", kRcVerbs | kRcMlx5},
    {"rc_v", kRcVerbs},   {"rc_verbs", kRcVerbs},
    {"rc_x", kRcMlx5},    {"rc_mlx5", kRcMlx5},
    {"rc_gda", kRcGda},   {"ud", kUdVerbs | kUdMlx5},
    {"ud_v", kUdVerbs},   {"ud_verbs", kUdVerbs},
    {"ud_x", kUdMlx5},    {"ud_mlx5", kUdMlx5},
    {"dc", kDcMlx5},      {"dc_x", kDcMlx5},
    {"dc_mlx5", kDcMlx5}, {"srd", kSrd},
    {"tcp", kNone},       {"self", kNone},
    {"sm", kNone},        {"shm", kNone},
    {"mm", kNone},        {"posix", kNone},
    {"sysv", kNone},      {"xpmem", kNone},
    {"knem", kNone},      {"cma", kNone},
    {"cuda", kNone},      {"cuda_copy", kNone},
    {"cuda_ipc", kNone},  {"gdr_copy", kNone},
    {"rocm", kNone},      {"rocm_copy", kNone},
    {"rocm_ipc", kNone},  {"rocm_gdr", kNone},
    {"ze", kNone},        {"ze_copy", kNone},
    {"ze_ipc", kNone},    {"ze_gdr", kNone},
    {"gaudi", kNone},     {"gaudi_gdr", kNone},
    {"gga", kNone},       {"gga_mlx5", kNone},
    {"sockcm", kNone},    {"tcp_sockcm", kNone},
    {"rdmacm", kNone},
});

constexpr std::size_t kMostWords = 128;  ///< UCS_CONFIG_ARRAY_MAX; UCX passes over the others
constexpr std::string_view kAuxiliary = ":aux";  ///< only to set up connections of another

const Word* find_word(std::string_view word) {
  if (word.starts_with('\\')) word.remove_prefix(1);  // the transport, and not the alias
  return find_by(kWords, &Word::word, word);
}

}  // namespace

bool has_rdma_transport(std::string_view value) {
  const bool excludes = value.starts_with('^');
  Transports named = kNone;
  if (excludes) value.remove_prefix(1);
  std::size_t words = 0;
  while (!value.empty() && words < kMostWords) {
    const auto word = value.substr(0, value.find(','));
    value.remove_prefix(std::min(value.size(), word.size() + 1));
    if (word.empty()) continue;
    if (word == "all") return true;
    ++words;
    if (word.ends_with(kAuxiliary)) continue;
    const Word* known = find_word(word);
    if (known == nullptr && !excludes) return true;
    if (known != nullptr) named |= known->rdma;
  }
  if (words == 0) return true;
  return (excludes ? kAll & ~named : named) != 0;
}

}  // namespace railhead::transports
