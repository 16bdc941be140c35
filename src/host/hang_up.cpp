// SPDX-License-Identifier: Apache-2.0
#include "host/hang_up.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <system_error>

#include "base/text.h"
#include "host/unique_fd.h"

namespace railhead::host {
namespace {

/// An accepted socket carries the address of the one that listened (Linux net/unix/af_unix.c,
/// unix_stream_connect).
bool is_at(int descriptor, std::string_view path) {
  sockaddr_un address{};
  socklen_t size = sizeof(address);
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  if (address.sun_family != AF_UNIX || size > sizeof(address)) return false;
  const std::string_view whole(address.sun_path, size - offsetof(sockaddr_un, sun_path));
  return whole.substr(0, whole.find('\0')) == path;
}

bool listens(int descriptor) {
  int answer = 0;
  socklen_t size = sizeof(answer);
  return ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &answer, &size) == 0 && answer != 0;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

void hang_up(const std::string& socket_path) {
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir("/proc/self/fd"));
  if (!folder) return;
  while (const auto* entry = ::readdir(folder.get())) {
    const auto number = parse_unsigned(entry->d_name);
    if (!number) continue;
    // A descriptor of our own: the number may stand for something else by the next call.
    const UniqueFd mine(::fcntl(static_cast<int>(*number), F_DUPFD_CLOEXEC, 0));
    if (mine && is_at(mine.get(), socket_path) && !listens(mine.get())) {
      ::shutdown(mine.get(), SHUT_RDWR);
    }
  }
}

DelayedHangUp::DelayedHangUp(const std::string& socket_path, std::chrono::milliseconds delay) {
  try {
    thread_ = std::thread([this, path = socket_path, delay] {
      std::unique_lock lock(mutex_);
      if (!wake_.wait_for(lock, delay, [this] { return is_ended_; })) hang_up(path);
    });
  } catch (const std::system_error&) {  // the system's limit of threads: rather now than never
    hang_up(socket_path);
  }
}

DelayedHangUp::~DelayedHangUp() {
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace railhead::host
