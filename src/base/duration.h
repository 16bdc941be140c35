// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string_view>

#include "base/result.h"

namespace railhead {

/// A time as Go and Kubernetes write it, in one unit: "500ms", "30s", "5m", "1h". A number alone
/// counts `unit`s. The longest is 365 days. Fails with ErrorCode::malformed.
Result<std::chrono::milliseconds> parse_duration(std::string_view text,
                                                 std::chrono::milliseconds unit);

}  // namespace railhead
