// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "node/node.h"
#include "node/reader.h"

namespace railhead {

inline constexpr std::size_t kMaxGids = 256;   ///< slots looked at; mlx5 RoCE ports have 256
inline constexpr std::size_t kMaxPkeys = 128;  ///< slots looked at; mlx5 InfiniBand ports have 128

/// Ports of an RDMA device, from `device_path`/ports, by number.
/// Source: Linux Documentation/ABI/stable/sysfs-class-infiniband, drivers/infiniband/core/sysfs.c.
std::vector<Port> read_ports(Reader& reader, const std::string& device_path);

}  // namespace railhead
