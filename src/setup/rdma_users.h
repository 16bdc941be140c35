// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "host/host.h"
#include "node/node.h"

namespace railhead::setup {

/// Who has an RDMA device open, or a queue pair on it, as the kernel's RDMA netlink says:
/// "mlx5_0 is used by process 4711 (ib_write_bw)". "": nobody is seen; who cannot be
/// seen is named with the reason. The kernel shows what belongs to processes of the PID namespace
/// that asks, and of those below it.
std::string rdma_user(host::Host& host, const std::string& device);

/// The same of the RDMA devices of a netdev.
std::string user_of_link(host::Host& host, const node::Node& node, const std::string& netdev);

}  // namespace railhead::setup
