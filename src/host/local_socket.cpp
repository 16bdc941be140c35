// SPDX-License-Identifier: Apache-2.0
#include "host/local_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "host/host_error.h"

namespace railhead::host {
namespace {

constexpr int kBacklog = 64;

UniqueFd new_socket() {
  return UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return Error{ErrorCode::usage, path + ": longer than the path of a socket can be (" +
                                       std::to_string(sizeof address.sun_path - 1) + " bytes)"};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

const sockaddr* plain(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

/// By a connection. One whose queue is full (EAGAIN) has an owner.
Result<bool> takes_connections(const std::string& path, const sockaddr_un& address) {
  const UniqueFd probe = new_socket();
  if (!probe) return host_error(path, errno);
  if (::connect(probe.get(), plain(address), sizeof address) == 0 || errno == EAGAIN) return true;
  if (errno == ECONNREFUSED) return false;
  return host_error(path, errno);
}

/// Only a socket that refuses connections was left behind.
Status remove_left_behind(const std::string& path, const sockaddr_un& address) {
  struct stat facts {};

  if (::lstat(path.c_str(), &facts) != 0) {
    return errno == ENOENT ? Status() : host_error(path, errno);
  }
  if (!S_ISSOCK(facts.st_mode)) {
    return Error{ErrorCode::unavailable, path + ": is not a socket; left as it is"};
  }
  if (TRY(takes_connections(path, address))) {
    return Error{ErrorCode::unavailable, path + ": another process listens there"};
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return host_error(path, errno);
  return {};
}

}  // namespace

Result<bool> is_listened_on(const std::string& path) {
  struct stat facts {};

  if (::stat(path.c_str(), &facts) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return host_error(path, errno);
  }
  // What is no socket refuses a connection with the same errno as a socket that nobody listens on.
  if (!S_ISSOCK(facts.st_mode)) return Error{ErrorCode::unavailable, path + ": is not a socket"};
  return takes_connections(path, TRY(address_of(path)));
}

Result<LocalSocket> LocalSocket::listen(const std::string& path) {
  const auto address = TRY(address_of(path));
  auto lock = TRY(FileLock::try_take(path + ".lock"));
  if (!lock) return Error{ErrorCode::unavailable, path + ": another agent serves it"};
  TRY_STATUS(remove_left_behind(path, address));
  UniqueFd listener = new_socket();
  if (!listener || ::bind(listener.get(), plain(address), sizeof address) != 0) {
    return host_error(path, errno);
  }
  LocalSocket bound(path, *std::move(lock), std::move(listener));
  // Nobody can connect before listen(2), so nobody does with another mode.
  if (::chmod(path.c_str(), 0600) != 0 || ::listen(bound.listener_.get(), kBacklog) != 0) {
    return host_error(path, errno);
  }
  bound.identity_ = identity_of(path);
  return bound;
}

LocalSocket::LocalSocket(std::string path, FileLock lock, UniqueFd listener)
    : path_(std::move(path)),
      lock_(std::move(lock)),
      listener_(std::move(listener)),
      identity_(identity_of(path_)) {}

LocalSocket::LocalSocket(LocalSocket&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)),
      listener_(std::move(other.listener_)),
      identity_(other.identity_) {}

LocalSocket::~LocalSocket() {
  if (!path_.empty() && identity_ && identity_of(path_) == identity_) ::unlink(path_.c_str());
}

}  // namespace railhead::host
