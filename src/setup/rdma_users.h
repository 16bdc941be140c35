// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "host/host.h"

namespace railhead::setup {

/// Who has an RDMA device open, or a queue pair on it, as the kernel's RDMA netlink says:
/// "mlx5_0 is used by process 4711 (ib_write_bw)". "": nobody is seen. The kernel shows what
/// belongs to processes of the PID namespace that asks, and of those below it.
std::string rdma_user(host::Host& host, const std::string& device);

}  // namespace railhead::setup
