// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace railhead::host {

/// Where a path leads to: a file system, and a path inside it. Two processes that see different
/// mounts mean the same file by a path exactly where this is the same.
struct FilePlace {
  std::string device;  ///< "0:25", as the kernel numbers the file system
  std::string path;    ///< inside the file system, such as "/railhead/topology.xml"

  friend bool operator==(const FilePlace&, const FilePlace&) = default;
};

/// By the mounts of a process, /proc/PID/mountinfo. Unlike /proc/PID/root that needs no privilege.
/// `path` is absolute and without links. Absent where no mount covers it; fails on a line that is
/// none. Source: Linux fs/proc_namespace.c, show_mountinfo(); proc(5).
Result<std::optional<FilePlace>> place_of(std::string_view mountinfo, std::string_view path);

/// A line of /proc/PID/mountinfo; views into it, `root` and `point` as they are meant.
struct MountLine {
  std::string_view id;
  std::string_view parent;  ///< the id of the mount it is on
  std::string_view device;  ///< "0:25", as the kernel numbers the file system
  std::string root;         ///< what of the file system is mounted
  std::string point;        ///< where
  std::string_view type;
  std::string_view source;   ///< as the kernel writes it
  std::string_view options;  ///< of the file system
};

/// Absent where the line is none.
std::optional<MountLine> parse_mount_line(std::string_view line);

/// A word of /proc/PID/mountinfo, mountstats or /etc/fstab as it is meant: the kernel writes space,
/// tab, newline and backslash as a backslash and three octal digits.
std::string unescaped_mount(std::string_view word);

}  // namespace railhead::host
