// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

namespace railhead::host {

/// Fails where this process, or the system, does not have so many threads left at this moment. For
/// libraries that need theirs and do not say when they lack one: starts them and ends them.
Status has_threads_left(int count);

}  // namespace railhead::host
