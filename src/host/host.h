// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace railhead {

/// A device node as stat(2) shows it.
struct DeviceNode {
  char type = 'c';  ///< 'c' or 'b'
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t mode = 0;  ///< permission bits only (07777)
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;

  friend bool operator==(const DeviceNode&, const DeviceNode&) = default;
};

/// The only door through which the machine is read: the live one, a directory tree, or a snapshot.
/// Paths are absolute, as on the machine ("/sys/class/infiniband"). Symbolic links in any component
/// are followed inside the root, never out of it. Every answer is one of three:
///   nullopt     absent: ENOENT, ENOTDIR, ENODEV, ENXIO, or a dangling link
///   a value     present
///   an Error    present and not readable (denied, unavailable, too_large), naming the path
/// Reads are limited to kMaxFileBytes; larger files are too_large, never cut.
class Host {
 public:
  static constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMaxListEntries = 65536;

  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  /// Whole content of a file.
  virtual Result<std::optional<std::string>> read(const std::string& path) = 0;

  /// Target text of a symbolic link, as stored. Absent also when the path is not a link.
  virtual Result<std::optional<std::string>> readlink(const std::string& path) = 0;

  /// Names in a directory, sorted, without "." and "..". Absent also when it is not a directory.
  virtual Result<std::optional<std::vector<std::string>>> list(const std::string& path) = 0;

  /// A device node. Absent also when the path is not a device.
  virtual Result<std::optional<DeviceNode>> device(const std::string& path) = 0;
};

/// Where `link` at `path` (absolute) points, as an absolute path, by text alone: "." and ".." are
/// taken away, nothing is resolved. "/a/b" with "../c" is "/c".
std::string join_link(const std::string& path, const std::string& target);

/// The last component of a path.
std::string base_name(const std::string& path);

}  // namespace railhead
