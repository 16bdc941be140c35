// SPDX-License-Identifier: Apache-2.0
//
// A machine as one text file, for bug reports and tests. The format:
//
//   railhead-snapshot 1
//   # comment; those before the first entry are kept
//   t <path> <text>          regular file: <text> and one newline (most of sysfs); printable UTF-8
//   f <path> <length>        regular file: the next <length> bytes, then one newline
//   l <path> -> <target>     symbolic link, target as stored
//   d <path>                 directory; parents of entries are directories without saying so
//   c <path> <major>:<minor> <mode> <uid>:<gid>    character device; b: block device
//   e <path> <errno name>    there, and could not be read
//   x <path>                 a name in its directory whose content was not recorded
//
// Answers of the kernel's RDMA netlink are directories below /.netlink/rdma, their files the bytes
// in hexadecimal, in pieces; see rdma_path(). Those of its devlink are below /.netlink/devlink. TCP
// connections are text below /.netlink/tcp; see tcp_path().
//
// Bytes <= 0x20, 0x7f and '%' of paths and targets are written %XX.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace railhead::snapshot {

struct SnapshotFile {
  std::string content;
  friend bool operator==(const SnapshotFile&, const SnapshotFile&) = default;
};

struct SnapshotLink {
  std::string target;
  friend bool operator==(const SnapshotLink&, const SnapshotLink&) = default;
};

struct SnapshotDirectory {
  friend bool operator==(const SnapshotDirectory&, const SnapshotDirectory&) = default;
};

/// There, and reading or listing it failed. It may have entries below it: a directory whose names
/// can be opened and not listed.
struct SnapshotUnreadable {
  int error_number = 0;  ///< errno
  friend bool operator==(const SnapshotUnreadable&, const SnapshotUnreadable&) = default;
};

/// Listed by its directory, never looked at.
struct SnapshotName {
  friend bool operator==(const SnapshotName&, const SnapshotName&) = default;
};

using SnapshotEntry = std::variant<SnapshotFile, SnapshotLink, SnapshotDirectory, host::DeviceNode,
                                   SnapshotUnreadable, SnapshotName>;

/// What a snapshot file says. Keys of `entries` are absolute paths without ".", "..", "//" or a
/// final slash ("/" itself excepted).
struct Snapshot {
  std::vector<std::string> comments;  ///< without "# "; a line each
  std::map<std::string, SnapshotEntry, std::less<>> entries;

  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

struct SnapshotLimits {
  static constexpr std::size_t kBytes = std::size_t{64} << 20;
  static constexpr std::size_t kEntries = 500'000;
  static constexpr std::size_t kDirectories = 500'000;  ///< said and implied
  static constexpr std::size_t kPathBytes = 4096;
};

/// Malformed, naming the line: a missing first line, an unknown letter, a bad length, duplicate or
/// conflicting entries (a path that is both a file and a directory). too_large above the limits.
Result<Snapshot> parse_snapshot(std::string_view text);

/// Sorted by path, each entry in its shortest form. parse_snapshot(format_snapshot(s)) is s for any
/// s that respects the limits and the rules for keys. Control characters in comments become spaces.
std::string format_snapshot(const Snapshot& snapshot);

}  // namespace railhead::snapshot
