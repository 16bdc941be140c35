// SPDX-License-Identifier: Apache-2.0
#include "host/directory_host.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string_view>

#include "host/host_error.h"
#include "host/resolve.h"

namespace railhead {
namespace {

Error failure(const std::string& path) {
  return host_error(path, errno);
}

/// A path whose last component is a name: the directory part can be resolved on its own.
bool is_plain(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return false;
  const std::string_view name = std::string_view(path).substr(slash + 1);
  return !name.empty() && name != "." && name != "..";
}

bool is_sysfs(const std::string& path) {
  return path.starts_with("/sys/");
}

const char* name_of(const std::string& path) {
  return path.c_str() + path.rfind('/') + 1;
}

bool is_dot(std::string_view name) {
  return name == "." || name == "..";
}

/// sysfs attributes fit into a page; what is larger grows the text and goes on.
Result<std::optional<std::string>> read_whole(int descriptor, const std::string& path) {
  char page[4096];
  std::string text;
  for (;;) {
    const auto size = ::read(descriptor, page, sizeof page);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      if (means_absent(errno)) return kAbsent;
      return failure(path);
    }
    if (size == 0) return std::optional(std::move(text));
    text.append(page, static_cast<std::size_t>(size));
    if (text.size() > Host::kMaxFileBytes) return host_error(path, EFBIG);
    // An attribute of sysfs comes in one piece (fs/kernfs); only a full page can have more behind
    // it.
    if (is_sysfs(path) && size < static_cast<ssize_t>(sizeof page)) {
      return std::optional(std::move(text));
    }
  }
}

}  // namespace

Result<std::unique_ptr<Host>> DirectoryHost::open(const std::string& root) {
  auto host = open_with(root, Resolver::openat2);
  if (!host) return host;
  auto* directory = static_cast<DirectoryHost*>(host->get());
  const int probe = directory->open_below("/", O_PATH | O_CLOEXEC);
  if (probe >= 0) {
    ::close(probe);
  } else if (errno == ENOSYS || errno == EPERM) {
    directory->resolver_ = Resolver::walk;
  }
  return host;
}

Result<std::unique_ptr<Host>> DirectoryHost::open_with(const std::string& root, Resolver resolver) {
  const int descriptor = ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return failure(root);
  return std::unique_ptr<Host>(new DirectoryHost(descriptor, resolver));
}

DirectoryHost::~DirectoryHost() {
  for (const auto& parent : parents_) {
    if (parent.descriptor >= 0) ::close(parent.descriptor);
  }
  ::close(root_);
}

int DirectoryHost::parent_of(const std::string& path) {
  const auto directory = std::string_view(path).substr(0, path.rfind('/'));
  for (const auto& parent : parents_) {
    if (parent.descriptor >= 0 && parent.path == directory) return parent.descriptor;
  }
  auto& parent = parents_[oldest_parent_];
  if (parent.descriptor >= 0) ::close(parent.descriptor);
  oldest_parent_ = (oldest_parent_ + 1) % parents_.size();
  parent.path = directory;
  parent.descriptor =
      open_in_root(root_, directory.empty() ? "/" : parent.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  return parent.descriptor;
}

int DirectoryHost::open_below(const std::string& path, int flags) {
  flags |= O_CLOEXEC;
  if (resolver_ == Resolver::walk) return walk_in_root(root_, path, flags);
  // O_PATH with O_NOFOLLOW would open a link itself, so what has to be followed takes the long way.
  if ((flags & O_PATH) == 0 && is_plain(path)) {
    const int parent = parent_of(path);
    if (parent < 0) return -1;
    const int descriptor = ::openat(parent, name_of(path), flags | O_NOFOLLOW);
    // ELOOP, with O_DIRECTORY ENOTDIR: a link, perhaps, to be followed inside the root.
    if (descriptor >= 0 || (errno != ELOOP && errno != ENOTDIR)) return descriptor;
  }
  return open_in_root(root_, path, flags);
}

Result<std::optional<std::string>> DirectoryHost::read(const std::string& path) {
  // O_NONBLOCK: a FIFO in a hostile tree must not stop us.
  const int descriptor = open_below(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) {
    if (means_absent(errno)) return kAbsent;
    return failure(path);
  }

  // sysfs has regular files only; anywhere else a name may hide a device or a FIFO.
  struct stat facts {};

  const bool regular =
      is_sysfs(path) || (::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode));
  Result<std::optional<std::string>> text = kAbsent;
  if (regular) text = read_whole(descriptor, path);
  ::close(descriptor);
  return text;
}

Result<std::optional<std::string>> DirectoryHost::readlink(const std::string& path) {
  char target[PATH_MAX];
  ssize_t size = -1;
  if (resolver_ == Resolver::openat2 && is_plain(path)) {
    const int parent = parent_of(path);
    if (parent >= 0) size = ::readlinkat(parent, name_of(path), target, sizeof target);
  } else {
    const int descriptor = open_below(path, O_PATH | O_NOFOLLOW);
    if (descriptor >= 0) {
      size = ::readlinkat(descriptor, "", target, sizeof target);
      const int problem = errno;
      ::close(descriptor);
      errno = problem;
    }
  }
  if (size >= 0) return std::optional(std::string(target, static_cast<std::size_t>(size)));
  // EINVAL, or ENOENT for an empty path: it is there and no link (readlinkat(2)).
  if (means_absent(errno) || errno == EINVAL) return kAbsent;
  return failure(path);
}

Result<std::optional<std::vector<std::string>>> DirectoryHost::list(const std::string& path) {
  const int descriptor = open_below(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
  if (descriptor < 0) {
    if (means_absent(errno)) return kAbsent;
    return failure(path);
  }
  DIR* directory = ::fdopendir(descriptor);
  if (directory == nullptr) {
    ::close(descriptor);
    return failure(path);
  }
  std::vector<std::string> names;
  int problem = 0;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory);
    if (entry == nullptr) {
      problem = errno;
      break;
    }
    if (is_dot(entry->d_name)) continue;
    names.emplace_back(entry->d_name);
    if (names.size() > kMaxListEntries) {
      problem = EFBIG;
      break;
    }
  }
  ::closedir(directory);
  if (means_absent(problem)) return kAbsent;
  if (problem != 0) return host_error(path, problem);
  std::sort(names.begin(), names.end());
  return std::optional(std::move(names));
}

Result<std::optional<DeviceNode>> DirectoryHost::device(const std::string& path) {
  const int descriptor = open_below(path, O_PATH);
  if (descriptor < 0) {
    if (means_absent(errno)) return kAbsent;
    return failure(path);
  }

  struct stat facts {};

  const int outcome = ::fstat(descriptor, &facts);
  const int problem = errno;
  ::close(descriptor);
  if (outcome != 0) return host_error(path, problem);
  if (!S_ISCHR(facts.st_mode) && !S_ISBLK(facts.st_mode)) return kAbsent;
  return std::optional(DeviceNode{S_ISBLK(facts.st_mode) ? 'b' : 'c', major(facts.st_rdev),
                                  minor(facts.st_rdev), facts.st_mode & 07777U, facts.st_uid,
                                  facts.st_gid});
}

}  // namespace railhead
