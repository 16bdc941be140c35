// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <vector>

#include "checks/machine.h"
#include "host/environment.h"

namespace railhead::cli {

/// Measures each compute and storage NIC that is up with itself by railhead-bench, one after the
/// other, a second each at 10 Gbit/s at most. railhead-bench leaves NICs alone that are in use.
/// What it is busy with goes to `progress`.
std::vector<checks::Loopback> run_loopbacks(const checks::Machine& machine,
                                            const host::Environment& environment,
                                            std::ostream& progress);

}  // namespace railhead::cli
