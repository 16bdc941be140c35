// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace railhead {

/// When a changed value takes effect in a running agent.
enum class Change : std::uint8_t { restart, live };
std::string_view to_string(Change change);  ///< "restart", "live"

/// One row of the visible list of settings. Flags, environment variables, file keys, `--help`,
/// `railhead config` and docs/configuration.md all come from it; the defaults live here, in the
/// binary.
struct SettingSpec {
  std::string_view key;       ///< path in the file: "nri.socket"
  std::string_view flag;      ///< "--nri-socket"; "" when only a file can say it
  std::string_view variable;  ///< "RAILHEAD_NRI_SOCKET"
  std::string_view fallback;  ///< the default, as text
  std::string_view shape;     ///< "PATH", "true|false", …
  std::string_view help;
  /// Refuses text that is not of this shape; the error says what is allowed.
  Status (*check)(std::string_view text);
  Change change = Change::restart;
};

inline constexpr std::int64_t kMaxRescanSeconds = 86400;

/// What a NIC's device nodes are called in configurations.
inline constexpr std::array<std::string_view, 4> kDeviceClasses{"uverbs", "rdma_cm", "umad",
                                                                "issm"};

/// Every setting, in the order of the documentation.
std::span<const SettingSpec> all_settings();

const SettingSpec* find_setting(std::string_view key);

/// "unlimited" (or "-1") or a number of bytes, with an optional Ki, Mi, Gi, Ti.
Result<std::uint64_t> parse_byte_limit(std::string_view text);

Result<bool> parse_switch(std::string_view text);

}  // namespace railhead
