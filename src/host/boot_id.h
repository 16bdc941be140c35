// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "host/host.h"

namespace railhead::host {

/// Where the kernel says what tells one start of the machine from another, and from another
/// machine's (random(4)).
inline constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";

/// "": no kernel says it, or it cannot be read.
std::string boot_id(Host& host);

}  // namespace railhead::host
