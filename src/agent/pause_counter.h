// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace railhead::agent {

/// A counter of pause frames among those of `ethtool -S`.
struct PauseCounter {
  std::string_view direction;  ///< "received", "transmitted"
  std::string_view priority;   ///< "0" to "7"; "all": of the whole link (802.3x)

  friend bool operator==(const PauseCounter&, const PauseCounter&) = default;
};

/// Absent for every other counter, so that labels are bounded: 18 at most a port.
std::optional<PauseCounter> pause_counter(std::string_view name);

}  // namespace railhead::agent
