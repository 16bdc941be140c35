// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usage/nfs_declarations.h"
#include "usage/nfs_mounts.h"

namespace railhead::proof {

enum class NfsVerdict : std::uint8_t {
  rdma,      ///< every connection is RDMA
  tcp,       ///< another transport, and nobody asked for RDMA
  fallback,  ///< RDMA was asked for, and a connection is something else
  absent,    ///< RDMA was asked for, and nothing is mounted
  unknown,   ///< the kernel names no connection
};

/// As users see it: "RDMA", "TCP", "fallback", "absent", "unknown".
std::string_view to_string(NfsVerdict verdict);

struct NfsUse {
  NfsVerdict verdict = NfsVerdict::unknown;
  std::string why;
  std::string transport;              ///< of its connections: "rdma", or "rdma,tcp"
  std::optional<std::uint16_t> port;  ///< of the server, where it is stated or fixed
  std::optional<unsigned> nconnect;   ///< asked for, by whoever declared it or by the mount
  std::string fewer;  ///< "nconnect=16 in /etc/fstab, 1 connection made"; empty: none is missing
};

/// `declared`: what is written down of this mount, null where nothing is. `wanted`: patterns (glob)
/// of mount points that have to be on RDMA, whoever mounted them. Slashes that mean nothing do not
/// count.
NfsUse judge_nfs(const usage::NfsMount& mount, const usage::NfsDeclaration* declared,
                 const std::vector<std::string>& wanted);

struct JudgedNfs {
  usage::NfsMount mount;  ///< of one that is absent: what is known of it
  NfsUse use;
};

/// Every mount; and, where `mounts` are those of the machine, those that are declared, to be
/// mounted when the machine starts, with RDMA or wanted, and are not mounted; then each pattern
/// that nothing of all these matches. The first declaration of a mount point counts; one without a
/// mount point is of the mounts with its source.
std::vector<JudgedNfs> judge_all_nfs(const usage::NfsMounts& mounts,
                                     const std::vector<usage::NfsDeclaration>& declarations,
                                     const std::vector<std::string>& wanted);

}  // namespace railhead::proof
