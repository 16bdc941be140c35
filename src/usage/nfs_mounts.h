// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
  std::optional<unsigned> nconnect;    ///< nconnect= of the mount, shown where it is above 1
  std::optional<std::string> address;  ///< of the server, from mountinfo
  std::vector<NfsTransport> transports;
  std::string problem;  ///< why its connections are not known; empty: they are

  friend bool operator==(const NfsMount&, const NfsMount&) = default;
};

/// /proc/PID/mountstats: the mounts of type nfs and nfs4, the others left out (fs/nfs/super.c,
/// nfs_show_stats; net/sunrpc/xprtrdma/transport.c and xprtsock.c, print_stats). Of a mount with a
/// line that is not as the kernel writes it, or that ends before its time, `problem` names the line
/// and no connection is kept. Of more than 4096 mounts the others are one without a place, whose
/// problem says so.
std::vector<NfsMount> parse_mountstats(std::string_view text);

/// Adds to each mount what /proc/PID/mountinfo has of it: addr=. A mount that is only there is
/// added with `problem`, unless that is empty. Lines of another shape are not ours.
void add_mountinfo(std::vector<NfsMount>& mounts, std::string_view mountinfo,
                   const std::string& problem);

/// Where the mounts of a machine were looked for, and what was found.
struct NfsMounts {
  std::vector<NfsMount> mounts;
  bool of_machine = false;  ///< of process 1, and not only of the mount namespace of this process
};

/// The machine's NFS mounts: those of process 1, else (not permitted to look) of this process.
/// Where mountstats cannot be read (refused, above the limit of a file), those of mountinfo, each
/// with that as its problem. Absent where the kernel has neither; an Error where neither can be
/// read.
Result<std::optional<NfsMounts>> read_nfs_mounts(host::Host& host);

/// "SERVER:PATH" in two; an IPv6 address stands in brackets and has colons of its own. Without a
/// path the second is empty.
std::pair<std::string, std::string> split_nfs_source(std::string_view source);

bool is_nfs_type(std::string_view type);  ///< "nfs", "nfs4"

/// A path without the slashes that mean nothing: "/data/b" for "//data/b/".
std::string plain_place(std::string_view path);

/// Whether it is SERVER:/PATH with a name or an address for SERVER, and not the URL, the user or
/// the list of monitors of another file system.
bool is_nfs_source(std::string_view source);

/// The source of a mount, where its server is one name or address; "?" in the place of another.
std::string kept_source(std::string_view source);

/// Of a list of options those that mount(8), nfs(5) and systemd.mount(5) know, with values that are
/// numbers, words of theirs or one address; "?" in the place of another.
std::string kept_options(std::string_view options);

/// What a recording keeps of a process's mountstats and mountinfo: the lines of NFS.
std::string kept_mountstats(std::string_view content);
std::string kept_mountinfo(std::string_view content);

/// The value of `key` in "a,key=value,b": empty for a plain word, absent where it is not there.
std::optional<std::string_view> mount_option(std::string_view options, std::string_view key);

bool is_rdma_protocol(std::string_view protocol);  ///< "rdma", and over IPv6 "rdma6" (nfs(5))

/// Whether mount options ask for RDMA: `rdma`, or `proto=` with such a protocol.
bool asks_for_rdma(std::string_view options);

}  // namespace railhead::usage
