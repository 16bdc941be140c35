// SPDX-License-Identifier: Apache-2.0
#include "host/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "host/host_error.h"

namespace railhead::host {

Result<std::optional<FileLock>> FileLock::try_take(const std::string& path) {
  while (true) {
    UniqueFd file(
        ::open(path.c_str(), O_RDONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return host_error(path, errno);

    struct stat facts {};

    if (::fstat(file.get(), &facts) != 0) return host_error(path, errno);
    if (!S_ISREG(facts.st_mode)) return Error{ErrorCode::unavailable, path + ": is not a file"};
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return std::optional<FileLock>();
      return host_error(path, errno);
    }
    FileLock lock(path, std::move(file));
    // Else its holder ended, and took the file with it, since we opened it.
    if (lock.is_at(path)) return std::optional<FileLock>(std::move(lock));
  }
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  return *this;
}

FileLock::~FileLock() {
  if (file_ && is_at(path_)) ::unlink(path_.c_str());
}

bool FileLock::is_at(const std::string& path) const {
  struct stat mine {};

  struct stat named {};

  return ::fstat(file_.get(), &mine) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat facts {};

  if (::lstat(path.c_str(), &facts) != 0) return std::nullopt;
  constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
  return FileIdentity{facts.st_dev, facts.st_ino,
                      facts.st_ctim.tv_sec * kNanosecondsPerSecond + facts.st_ctim.tv_nsec};
}

}  // namespace railhead::host
