// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/node.h"
#include "node/reader.h"

namespace railhead::node {

/// Slots looked at. mlx5 RoCE ports have 256, soft-RoCE 1024 (RXE_PORT_GID_TBL_LEN in the kernel's
/// drivers/infiniband/sw/rxe/rxe_param.h).
inline constexpr std::size_t kMaxGids = 1024;
inline constexpr std::size_t kMaxPkeys = 128;  ///< slots looked at; mlx5 InfiniBand ports have 128
/// After so many empty pkey slots in a row the rest is taken for empty. Subnet managers fill the
/// first free slot, and each read is a command to the firmware: 128 a port would be most of the
/// time that reading a machine takes.
inline constexpr std::size_t kMaxPkeyHole = 8;

/// Ports of an RDMA device, from `device_path`/ports, by number.
/// Source: Linux Documentation/ABI/stable/sysfs-class-infiniband, drivers/infiniband/core/sysfs.c.
std::vector<Port> read_ports(Reader& reader, const std::string& device_path);

/// "4: ACTIVE"; absent where it is no state that we know.
std::optional<PortState> parse_port_state(std::string_view text);

}  // namespace railhead::node
