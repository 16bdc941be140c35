// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace railhead::usage {

/// One connection to an NFS server, as it is. A mount with nconnect=N has several.
struct NfsTransport {
  std::string protocol;  ///< rdma, tcp, udp, local
  std::optional<std::uint64_t> connects;
  std::optional<std::uint64_t> sends;
  std::optional<std::uint64_t> receives;

  friend bool operator==(const NfsTransport&, const NfsTransport&) = default;
};

/// An NFS mount of the client. What was asked for and what is used differ: the kernel lets mounts
/// of one server share a connection that is there already.
struct NfsMount {
  std::string server;  ///< as it was mounted: a name or an address
  std::string path;    ///< of the export
  std::string mount_point;
  std::string version;                 ///< "4.1"; empty where the kernel does not say
  std::string protocol;                ///< asked for: proto= of the mount; empty likewise
  std::optional<std::uint16_t> port;   ///< port= of the mount, unless 0
  std::optional<std::string> address;  ///< of the server, from mountinfo
  std::vector<NfsTransport> transports;
  std::optional<std::string> declared;  ///< options in /etc/fstab for this mount point

  friend bool operator==(const NfsMount&, const NfsMount&) = default;
};

/// /proc/PID/mountstats: the mounts of type nfs and nfs4, the others left out. malformed where a
/// line that is needed is not as the kernel writes it (fs/nfs/super.c, nfs_show_stats;
/// net/sunrpc/xprtrdma/transport.c and xprtsock.c, print_stats); the error names the line.
Result<std::vector<NfsMount>> parse_mountstats(std::string_view text);

/// Adds to each mount what /proc/PID/mountinfo has of it: addr=. Lines of another shape are not
/// ours.
void add_addresses(std::vector<NfsMount>& mounts, std::string_view mountinfo);

/// A mount of type nfs or nfs4 that /etc/fstab declares.
struct NfsDeclaration {
  std::string server;
  std::string path;         ///< of the export
  std::string mount_point;  ///< as the kernel would write it, links not followed
  std::string options;

  friend bool operator==(const NfsDeclaration&, const NfsDeclaration&) = default;
};

/// Lines of another shape or type are not ours.
std::vector<NfsDeclaration> parse_fstab(std::string_view fstab);

/// Absent where there is no /etc/fstab.
Result<std::optional<std::vector<NfsDeclaration>>> read_nfs_declarations(host::Host& host);

/// A path without the slashes that mean nothing: "/data/b" for "//data/b/".
std::string plain_place(std::string_view path);

/// Adds what /etc/fstab says of a mount's place.
void add_declarations(std::vector<NfsMount>& mounts, std::string_view fstab);

/// The machine's NFS mounts: those of process 1, else (not permitted to look) of this process.
/// Absent where the kernel keeps no such statistics.
Result<std::optional<std::vector<NfsMount>>> read_nfs_mounts(host::Host& host);

/// Whether read_nfs_mounts answers for process 1, and not only for the mount namespace of this
/// process.
bool sees_mounts_of_machine(host::Host& host);

/// The value of `key` in "a,key=value,b": empty for a plain word, absent where it is not there.
std::optional<std::string_view> mount_option(std::string_view options, std::string_view key);

}  // namespace railhead::usage
