// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/metrics.h"
#include "host/host.h"

namespace railhead::agent {

/// Reads the machine's NFS mounts and what declares them, and counts the verdicts. Where only the
/// mounts of this process can be seen there is nothing to say of the machine, and no sample is
/// there.
void count_nfs(host::Host& host, Metrics& metrics);

}  // namespace railhead::agent
