// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "container/facts.h"
#include "data/value.h"

namespace railhead::inject {

/// A pod author's YAML is parsed by a root daemon while the runtime waits, which takes a
/// millisecond for 10 KiB: eight of them, eight levels, 1024 values. A list of 25 devices has 2.5
/// KiB.
inline constexpr data::ParseLimits kAnnotationLimits{std::size_t{8} << 10, 8, 1024};

/// The list in a device annotation. Malformed as a whole where an entry has no path or a number is
/// none; too_large beyond the limits. Keys it does not know are passed over, as upstream does.
Result<std::vector<container::AskedDevice>> parse_device_list(std::string_view yaml);

/// A list of {type, hard, soft} as `ulimits.nri.containerd.io` has it.
struct UlimitList {
  std::optional<std::uint64_t> memlock;  ///< the larger of hard and soft; kUnlimited
  std::vector<std::string> others;       ///< types that are not memlock, as written
};

/// Types are case-insensitive and may lack "RLIMIT_"; numbers may also be "unlimited". Malformed
/// where hard is below soft.
Result<UlimitList> parse_ulimit_list(std::string_view yaml);

/// "unlimited" or a decimal number of bytes.
Result<std::uint64_t> parse_memlock(std::string_view text);

}  // namespace railhead::inject
