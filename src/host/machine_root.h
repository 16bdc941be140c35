// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "host/host.h"

namespace railhead::host {

/// Whether a tree can be a machine: /sys and /proc are there, and not empty, as the place of a
/// mount that is missing is. Else nothing in it proves that the machine has no NIC. `root` is the
/// directory of the tree, for the error.
Status check_machine(Host& host, const std::string& root);

/// The same for what is not about devices: what the kernel says of itself in /proc is enough.
Status check_part_of_machine(Host& host, const std::string& root);

}  // namespace railhead::host
