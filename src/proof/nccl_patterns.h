// SPDX-License-Identifier: Apache-2.0
//
// All lines that Railhead knows, with their versions and the file of the library that prints them:
// what proves a transport (nccl_formats), and what tells of a problem (nccl_pattern,
// foreign_pattern). Adding one is one row of nccl_patterns.cpp or, if it is not of NCCL or its
// plugins, of transport_patterns.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "proof/nccl_line.h"
#include "proof/verb_errors.h"

namespace railhead::proof {

/// error: RDMA that was needed did not work. hint: NCCL's own advice.
enum class NcclSeverity : std::uint8_t { error, warning, hint };

/// What a line proves beside the problem it tells of.
enum class NcclShows : std::uint8_t {
  nothing,
  rdma,       ///< verbs carried data
  tcp,        ///< a socket carried data
  network,    ///< the chosen network carried data, whatever it is
  no_device,  ///< no device for RDMA could be used
};

/// A line that tells of a problem, and what it means.
struct NcclPattern {
  static constexpr std::size_t kMaxWords = 3;
  /// Texts that stand in the line one behind the other; "" matches anywhere.
  std::array<std::string_view, kMaxWords> words;
  NcclSeverity severity = NcclSeverity::warning;
  std::string_view source;   ///< the releases with this text, and the file that prints it
  std::string_view meaning;  ///< of a call of verbs only whose it is: "UCX: "
  NcclShows shows = NcclShows::nothing;
  Verb verb = Verb::none;  ///< the line tells of this call, and verb_errors.h what it means
};

/// What a line that matches the pattern means, with its code; most have none ("").
VerbFailure nccl_meaning(const NcclPattern& pattern, std::string_view line);

/// What a message of NCCL's, RCCL's or a plugin's means for RDMA; nullptr for most.
const NcclPattern* nccl_pattern(NcclLevel level, std::string_view message);

/// The same for a line of UCX, NIXL, Mooncake or vineyard. The words are theirs: `ulimit -a` also
/// prints "max locked memory".
const NcclPattern* foreign_pattern(std::string_view line);

/// A line that says which transport is used, or chosen, as its library prints it.
struct NcclFormat {
  std::string_view example;
  std::string_view source;  ///< the releases with this text, and the file that prints it
};

/// In the order of their weight: a connection, a choice, a list, a reason for TCP.
std::span<const NcclFormat> nccl_formats();

}  // namespace railhead::proof
