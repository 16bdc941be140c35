// SPDX-License-Identifier: Apache-2.0
#include "host/resolve.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "host/unique_fd.h"

namespace railhead::host {
namespace {

constexpr int kMaxTries = 32;

/// Directories that were entered, from the root down; each step opens one name in the last of them,
/// so that a link put there meanwhile is never followed by the kernel.
class Walk {
 public:
  explicit Walk(int root)
      : root_(root) {}

  int open(const std::string& path, int flags) {
    push_front(todo_, path);
    while (!todo_.empty()) {
      const std::string name = std::move(todo_.front());
      todo_.pop_front();
      if (name == ".") continue;
      if (name == "..") {
        if (!entered_.empty()) entered_.pop_back();
        continue;
      }
      const bool last = todo_.empty();
      UniqueFd found(::openat(current(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      if (found.get() < 0) return -1;

      struct stat facts {};

      if (::fstat(found.get(), &facts) != 0) return -1;
      if (S_ISLNK(facts.st_mode) && !(last && (flags & O_NOFOLLOW) != 0)) {
        if (!follow(found.get())) return -1;
        continue;
      }
      if (last) return ::openat(current(), name.c_str(), flags | O_NOFOLLOW);
      if (!S_ISDIR(facts.st_mode)) {
        errno = ENOTDIR;
        return -1;
      }
      entered_.push_back(std::move(found));
    }
    return ::openat(current(), ".", flags);
  }

 private:
  [[nodiscard]] int current() const { return entered_.empty() ? root_ : entered_.back().get(); }

  bool follow(int link) {
    if (++links_ > kMaxLinks) {
      errno = ELOOP;
      return false;
    }
    char target[PATH_MAX];
    const auto size = ::readlinkat(link, "", target, sizeof target);
    if (size < 0) return false;
    const std::string_view text(target, static_cast<std::size_t>(size));
    if (text.starts_with('/')) entered_.clear();
    push_front(todo_, text);
    return true;
  }

  int root_;
  int links_ = 0;
  std::deque<std::string> todo_;
  std::vector<UniqueFd> entered_;
};

}  // namespace

void push_front(std::deque<std::string>& todo, std::string_view path) {
  const auto parts = split(path, '/');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (!part->empty()) todo.emplace_front(*part);
  }
}

int open_in_root(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: something on the machine was renamed while a ".." was resolved, openat2(2). Many
  // renames must not keep us here for ever, and the walk needs no such luck.
  for (int tries = 0; tries < kMaxTries; ++tries) {
    const auto descriptor = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (descriptor >= 0 || (errno != EAGAIN && errno != EINTR)) return static_cast<int>(descriptor);
  }
  return walk_in_root(root, path, flags);
}

int open_without_links(int directory, const char* path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_NO_SYMLINKS;
  return static_cast<int>(::syscall(SYS_openat2, directory, path, &how, sizeof how));
}

int walk_in_root(int root, const std::string& path, int flags) {
  return Walk(root).open(path, flags);
}

}  // namespace railhead::host
