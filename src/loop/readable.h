// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace railhead::loop {

/// Whether a descriptor is readable now. Does not wait.
bool is_readable(int descriptor);

}  // namespace railhead::loop
