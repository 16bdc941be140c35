// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "host/unique_fd.h"

namespace railhead::host {

/// An advisory lock on a file (flock(2)), held until the end of the object or of the process. The
/// object takes the file with it, so that nothing is left of an agent that was ended; a process
/// that was killed leaves the file.
class FileLock {
 public:
  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  /// Makes the file if it is not there; absent while another process holds the lock. An error names
  /// the path.
  /// Looking at a lock that another one holds changes nothing that inotify would tell.
  static Result<std::optional<FileLock>> try_take(const std::string& path);

  /// The file is still the one of this name: who comes later meets the lock.
  [[nodiscard]] bool is_at(const std::string& path) const;

 private:
  FileLock(std::string path, UniqueFd file)
      : path_(std::move(path)),
        file_(std::move(file)) {}

  std::string path_;
  UniqueFd file_;
};

/// Tells a file from another one of the same name, made later: inode numbers are used again, so the
/// time of the last change counts, too.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// Absent where there is no such file, or it cannot be looked at.
std::optional<FileIdentity> identity_of(const std::string& path);

}  // namespace railhead::host
