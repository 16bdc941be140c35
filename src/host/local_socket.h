// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "host/file_lock.h"
#include "host/unique_fd.h"

namespace railhead::host {

/// Whether anybody listens on the stream socket of this path, which is found out by a connection
/// that ends at once. False where there is no such path, or the socket refuses; whoever has no room
/// for a connection listens. Everything else is an error: a path that is no socket, a descriptor
/// that this process lacks. Does not wait.
Result<bool> is_listened_on(const std::string& path);

/// A listening Unix socket at a path, mode 0600. While it lives, a lock beside it ("<path>.lock")
/// keeps another process of ours from taking its place.
class LocalSocket {
 public:
  /// Takes the place of a socket that a process left behind when it ended. Fails, naming the path,
  /// where the folder is absent, where somebody listens there, and where the path is something else
  /// than a socket: that is never removed.
  static Result<LocalSocket> listen(const std::string& path);

  LocalSocket(LocalSocket&& other) noexcept;
  LocalSocket& operator=(LocalSocket&&) = delete;
  /// Removes the path, if it still leads to this socket.
  ~LocalSocket();

  /// The listening descriptor, non-blocking; the caller's from now on.
  UniqueFd take() { return std::move(listener_); }

 private:
  LocalSocket(std::string path, FileLock lock, UniqueFd listener);

  std::string path_;  ///< empty in one that was moved from
  FileLock lock_;
  UniqueFd listener_;
  std::optional<FileIdentity> identity_;
};

}  // namespace railhead::host
