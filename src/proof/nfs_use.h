// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usage/nfs_mounts.h"

namespace railhead {

enum class NfsVerdict : std::uint8_t {
  rdma,      ///< every connection is RDMA
  tcp,       ///< another transport, and nobody asked for RDMA
  fallback,  ///< RDMA was asked for, and a connection is something else
  unknown,   ///< the kernel names no connection
};

/// As users see it: "RDMA", "TCP", "fallback", "unknown".
std::string_view to_string(NfsVerdict verdict);

struct NfsUse {
  NfsVerdict verdict = NfsVerdict::unknown;
  std::string why;
  std::string transport;              ///< of its connections: "rdma", or "rdma,tcp"
  std::optional<std::uint16_t> port;  ///< of the server, where it is stated or fixed
};

/// `wanted`: patterns (glob) of mount points that have to be on RDMA, whoever mounted them.
NfsUse judge_nfs(const NfsMount& mount, const std::vector<std::string>& wanted);

}  // namespace railhead
