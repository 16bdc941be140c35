// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

namespace railhead::host {

/// Opens /dev/null in place of standard input, output and error where they are closed; output so
/// that writing to it fails. Otherwise the first files and sockets of the program would be these,
/// and whoever writes to standard error would write into them. The first thing that main() does; a
/// descriptor that is closed on exec was not inherited, but opened and left by a library before
/// main() (gRPC 1.51 tries out eventfd), and gives way.
void open_standard_descriptors();

/// Fails where this process, or the system, does not have so many descriptors left at this moment.
Status has_descriptors_left(int count);

/// Whether a descriptor is readable now. Does not wait.
bool is_readable(int descriptor);

}  // namespace railhead::host
