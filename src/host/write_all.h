// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace railhead::host {

/// Writes all bytes to a descriptor that blocks; `path` is for the message.
Status write_all(int descriptor, std::string_view bytes, const std::string& path);

}  // namespace railhead::host
