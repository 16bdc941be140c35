// SPDX-License-Identifier: Apache-2.0
#include "host/directory_host.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <functional>
#include <string_view>

#include "host/dcb_netlink.h"
#include "host/devlink.h"
#include "host/ethtool_netlink.h"
#include "host/host_error.h"
#include "host/rdma_netlink.h"
#include "host/resolve.h"
#include "host/tcp_diag.h"
#include "host/vf_netlink.h"

namespace railhead::host {
namespace {

template <typename T>
Result<std::optional<T>> absent_or_failure(const std::string& path, int error_number) {
  if (means_absent(error_number)) return kAbsent;
  return host_error(path, error_number);
}

/// A path below `folder` whose last component is a name: its directory can be resolved on its own.
bool has_directory_in(std::string_view folder, const std::string& path) {
  if (!path.starts_with(folder)) return false;
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  return !name.empty() && name != "." && name != "..";
}

bool has_directory_in_sys(const std::string& path) {
  return has_directory_in("/sys/", path);
}

std::string_view directory_of(const std::string& path) {
  return std::string_view(path).substr(0, path.rfind('/'));
}

const char* relative_name(const std::string& path) {
  return path.c_str() + path.rfind('/') + 1;
}

bool is_dot(std::string_view name) {
  return name == "." || name == "..";
}

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kOnePiece = ~std::size_t{0};

/// Attributes fit into a page; what is larger grows the text and goes on. The last read(2), which
/// only says that there is no more, is saved for a file that gave as much as it has (`size`), and
/// for one that comes in kOnePiece: sysfs shows an attribute at once, and only a full page can
/// have more behind it (fs/kernfs/file.c).
Result<std::optional<std::string>> read_whole(int descriptor, const std::string& path,
                                              std::size_t size) {
  char page[kPageBytes];
  std::string text;
  for (;;) {
    const auto got = ::read(descriptor, page, sizeof page);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absent_or_failure<std::string>(path, errno);
    const auto bytes = static_cast<std::size_t>(got);
    text.append(page, bytes);
    if (text.size() > Host::kMaxFileBytes) return host_error(path, EFBIG);
    const bool may_go_on = bytes == sizeof page || (size != kOnePiece && text.size() != size);
    if (bytes == 0 || !may_go_on) return std::optional(std::move(text));
  }
}

/// /dev/kmsg gives one record a read, and EAGAIN after the last; EPIPE is a record that was
/// overwritten meanwhile (Linux Documentation/ABI/testing/dev-kmsg). The newest records are kept.
Result<std::optional<std::string>> read_records(int descriptor, const std::string& path) {
  constexpr std::size_t kRecordBytes = 8192;  // PRINTKRB_RECORD_MAX and its prefix
  constexpr int kMaxRecords = 200'000;
  char record[kRecordBytes];
  std::string text;
  for (int n = 0; n < kMaxRecords; ++n) {
    const auto got = ::read(descriptor, record, sizeof record);
    if (got < 0 && (errno == EINTR || errno == EPIPE)) continue;
    if (got < 0 && errno != EAGAIN) return host_error(path, errno);
    if (got <= 0) break;
    text.append(record, static_cast<std::size_t>(got));
    if (text.size() > 2 * Host::kMaxFileBytes) {
      text.erase(0, text.find('\n', text.size() - Host::kMaxFileBytes) + 1);
    }
  }
  if (text.size() > Host::kMaxFileBytes) {
    text.erase(0, text.find('\n', text.size() - Host::kMaxFileBytes) + 1);
  }
  return std::optional(std::move(text));
}

/// Calls `use` with each entry of a directory but "." and "..". 0; an errno of the kernel's; or
/// what `use` returned, if that was not 0. As readdir(3), without what it asks of the descriptor
/// first.
template <typename Use>
int each_name(int directory, Use use) {
  alignas(dirent64) char entries[std::size_t{32} << 10];
  for (;;) {
    const auto got = ::getdents64(directory, entries, sizeof entries);
    if (got < 0) return errno;
    if (got == 0) return 0;
    for (const char* at = entries; at < entries + got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(at);
      at += entry->d_reclen;
      if (is_dot(entry->d_name)) continue;
      if (const int stopped = use(*entry)) return stopped;
    }
  }
}

bool is_kernel_log(const struct stat& facts) {
  return S_ISCHR(facts.st_mode) && major(facts.st_rdev) == 1 && minor(facts.st_rdev) == 11;
}

}  // namespace

Result<std::unique_ptr<Host>> DirectoryHost::open(const std::string& root) {
  auto host = open_with(root, Resolver::openat2);
  if (!host) return host;
  auto* directory = static_cast<DirectoryHost*>(host->get());
  // ENOSYS: a kernel before 5.6; EPERM: a seccomp filter that does not know the call.
  const UniqueFd probe = directory->open_below("/", O_PATH);
  if (!probe && means_shortage(errno)) return host_error(root, errno);
  if (!probe && (errno == ENOSYS || errno == EPERM)) directory->resolver_ = Resolver::walk;
  directory->has_real_sysfs_ = TRY(directory->is_sysfs("/sys"));
  return host;
}

Result<std::unique_ptr<Host>> DirectoryHost::open_foreign(const std::string& root) {
  auto host = open(root);
  if (host) static_cast<DirectoryHost*>(host->get())->foreign_ = true;
  return host;
}

Result<std::unique_ptr<Host>> DirectoryHost::open_with(const std::string& root, Resolver resolver) {
  UniqueFd descriptor(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor) return host_error(root, errno);
  return std::unique_ptr<Host>(new DirectoryHost(std::move(descriptor), resolver));
}

Result<bool> DirectoryHost::is_sysfs(const std::string& path) {
  struct statfs facts {};

  const UniqueFd directory = open_below(path, O_PATH | O_DIRECTORY);
  if (!directory && means_shortage(errno)) return host_error(path, errno);
  return directory && ::fstatfs(directory.get(), &facts) == 0 && facts.f_type == SYSFS_MAGIC;
}

int DirectoryHost::known_directory(std::string_view path) {
  const auto hash = std::hash<std::string_view>()(path);
  for (auto& parent : parents_) {
    if (parent.hash != hash || !parent.descriptor || parent.path != path) continue;
    parent.used = ++uses_;
    return parent.descriptor.get();
  }
  return -1;
}

/// One step from the directory above it, where that is at hand and the name is no link.
UniqueFd DirectoryHost::open_directory(std::string_view path) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  const std::string whole(path);
  const auto slash = path.rfind('/');
  const int above = has_directory_in_sys(whole) ? known_directory(path.substr(0, slash)) : -1;
  if (above >= 0) {
    UniqueFd found(::openat(above, relative_name(whole), kFlags | O_NOFOLLOW));
    if (found) return found;
  }
  return UniqueFd(open_in_root(root_.get(), whole, kFlags));
}

int DirectoryHost::directory_at(std::string_view path) {
  const int known = known_directory(path);
  if (known >= 0) return known;
  UniqueFd descriptor = open_directory(path);
  const int number = descriptor.get();
  if (number < 0) return -1;
  keep_directory(path, std::move(descriptor));
  return number;
}

void DirectoryHost::keep_directory(std::string_view path, UniqueFd descriptor) {
  auto* oldest = std::min_element(parents_.begin(), parents_.end(),
                                  [](const Parent& a, const Parent& b) { return a.used < b.used; });
  *oldest = {std::string(path), std::hash<std::string_view>()(path), std::move(descriptor),
             ++uses_};
}

UniqueFd DirectoryHost::open_below(const std::string& path, int flags) {
  flags |= O_CLOEXEC;
  if (path.find('\0') != std::string::npos) {
    errno = ENOENT;
    return {};
  }
  if (resolver_ == Resolver::walk) return UniqueFd(walk_in_root(root_.get(), path, flags));
  // O_PATH with O_NOFOLLOW would open a link itself, and not where it leads.
  if ((flags & O_PATH) == 0 && has_directory_in_sys(path)) {
    const int parent = directory_at(directory_of(path));
    if (parent < 0) return {};
    UniqueFd descriptor(::openat(parent, relative_name(path), flags | O_NOFOLLOW));
    // ELOOP, with O_DIRECTORY ENOTDIR: a link, perhaps, to be followed inside the root.
    if (descriptor || (errno != ELOOP && errno != ENOTDIR)) return descriptor;
  }
  return UniqueFd(open_in_root(root_.get(), path, flags));
}

UniqueFd DirectoryHost::open_file(const std::string& path) {
  // O_NONBLOCK: a FIFO in a hostile tree must not stop us.
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
  if (!foreign_) return open_below(path, kFlags);
  const UniqueFd found = open_below(path, O_PATH);
  if (!found) return {};

  struct stat facts {};

  if (::fstat(found.get(), &facts) != 0) return {};
  if (!S_ISREG(facts.st_mode)) {
    errno = ENOENT;
    return {};
  }
  // The very file that was looked at, whatever the path leads to by now.
  return UniqueFd(
      ::open(("/proc/self/fd/" + std::to_string(found.get())).c_str(), kFlags | O_CLOEXEC));
}

Result<std::optional<std::string>> DirectoryHost::read(const std::string& path) {
  const UniqueFd file = open_file(path);
  if (!file) return absent_or_failure<std::string>(path, errno);
  if (path.starts_with("/sys/")) return read_attribute(path, file.get());

  struct stat facts {};

  if (::fstat(file.get(), &facts) != 0) return host_error(path, errno);
  if (path == kKernelLog && is_kernel_log(facts)) return read_records(file.get(), path);
  if (!S_ISREG(facts.st_mode)) return kAbsent;
  return read_whole(file.get(), path, static_cast<std::size_t>(facts.st_size));
}

/// Most attributes are a few bytes, which one call reads. A real sysfs has regular files only. In a
/// tree of files a name may hide a FIFO, which cannot be read at a position, or a device: what is
/// empty or fills the page is looked at before it counts.
Result<std::optional<std::string>> DirectoryHost::read_attribute(const std::string& path,
                                                                 int file) {
  if (has_real_sysfs_) return read_whole(file, path, kOnePiece);
  char page[kPageBytes];
  const auto got = ::pread(file, page, sizeof page, 0);
  if (got > 0 && static_cast<std::size_t>(got) < sizeof page) {
    return std::optional(std::string(page, static_cast<std::size_t>(got)));
  }

  struct stat facts {};

  if (::fstat(file, &facts) != 0) return host_error(path, errno);
  if (!S_ISREG(facts.st_mode)) return kAbsent;
  return read_whole(file, path, static_cast<std::size_t>(facts.st_size));
}

/// Of many directories one link is asked: the many virtual functions' below one bridge. So one that
/// is not at hand is not opened. What is asked of the one above is the link itself, which costs one
/// call where it is absent, and as much as before where it is not.
ssize_t DirectoryHost::read_link_below(const std::string& path, char* target, std::size_t size) {
  const auto directory = directory_of(path);
  const int known = known_directory(directory);
  if (known >= 0) return ::readlinkat(known, relative_name(path), target, size);
  const std::string folder(directory);
  if (!has_directory_in_sys(folder)) {
    const int parent = directory_at(directory);
    return parent < 0 ? -1 : ::readlinkat(parent, relative_name(path), target, size);
  }
  const auto above = directory_of(folder);
  const int grandparent = directory_at(above);
  if (grandparent < 0) return -1;
  const char* rest = path.c_str() + above.size() + 1;
  // There the kernel alone makes links, and no other file system is mounted.
  const bool is_kernels = has_real_sysfs_ && path.starts_with("/sys/devices/");
  if (is_kernels) return ::readlinkat(grandparent, rest, target, size);
  UniqueFd link(open_without_links(grandparent, rest, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!link && errno == ELOOP) link = open_below(path, O_PATH | O_NOFOLLOW);
  return link ? ::readlinkat(link.get(), "", target, size) : -1;
}

Result<std::optional<std::string>> DirectoryHost::readlink(const std::string& path) {
  char target[PATH_MAX];
  ssize_t size = -1;
  if (resolver_ == Resolver::openat2 && has_directory_in_sys(path)) {
    size = read_link_below(path, target, sizeof target);
  } else {
    const UniqueFd link = open_below(path, O_PATH | O_NOFOLLOW);
    if (link) size = ::readlinkat(link.get(), "", target, sizeof target);
  }
  if (size >= 0) return std::optional(std::string(target, static_cast<std::size_t>(size)));
  // EINVAL, or ENOENT for an empty path: it is there and no link (readlinkat(2)).
  if (errno == EINVAL) return kAbsent;
  return absent_or_failure<std::string>(path, errno);
}

Result<std::optional<std::vector<std::string>>> DirectoryHost::list(const std::string& path) {
  using Names = std::vector<std::string>;
  UniqueFd directory = open_below(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
  if (!directory) return absent_or_failure<Names>(path, errno);
  Names names;
  const int failed = each_name(directory.get(), [&](const dirent64& entry) {
    if (names.size() == kMaxListEntries) return EFBIG;
    names.emplace_back(entry.d_name);
    return 0;
  });
  if (failed != 0) return absent_or_failure<Names>(path, failed);
  std::sort(names.begin(), names.end());
  // What is in it is asked for next, perhaps.
  const bool is_in_sys = resolver_ == Resolver::openat2 && has_directory_in_sys(path);
  if (is_in_sys) keep_directory(path, std::move(directory));
  return std::optional(std::move(names));
}

Result<std::optional<LinkWalk>> DirectoryHost::walk_links(
    const std::string& path, std::size_t limit,
    const std::function<void(const std::string& target)>& take) {
  const UniqueFd directory = open_below(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
  if (!directory) return absent_or_failure<LinkWalk>(path, errno);
  LinkWalk walk;
  const int failed = each_name(directory.get(), [&](const dirent64& entry) {
    walk.is_cut = walk.entries == limit;
    if (walk.is_cut) return EFBIG;
    ++walk.entries;
    char target[PATH_MAX];
    const auto size = ::readlinkat(directory.get(), entry.d_name, target, sizeof target);
    if (size >= 0) {
      take(std::string(target, static_cast<std::size_t>(size)));
    } else if (errno != EINVAL && !means_absent(errno)) {  // EINVAL: it is no link
      walk.failure = host_error(path + "/" + entry.d_name, errno);
    }
    return 0;
  });
  if (failed != 0 && !walk.is_cut) return absent_or_failure<LinkWalk>(path, failed);
  return std::optional(std::move(walk));
}

/// A name in a directory that is at hand takes one call, unless it is a link, which may lead out of
/// the root.
bool DirectoryHost::stat_below(const std::string& path, struct stat& facts) {
  const bool is_whole = path.find('\0') == std::string::npos;
  if (is_whole && resolver_ == Resolver::openat2 && has_directory_in("/dev/infiniband/", path)) {
    const int parent = directory_at(directory_of(path));
    if (parent < 0) return false;
    if (::fstatat(parent, relative_name(path), &facts, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (!S_ISLNK(facts.st_mode)) return true;
  }
  const UniqueFd found = open_below(path, O_PATH);
  return found && ::fstat(found.get(), &facts) == 0;
}

Result<std::optional<DeviceNode>> DirectoryHost::device(const std::string& path) {
  struct stat facts {};

  if (!stat_below(path, facts)) return absent_or_failure<DeviceNode>(path, errno);
  if (!S_ISCHR(facts.st_mode) && !S_ISBLK(facts.st_mode)) return kAbsent;
  return std::optional(DeviceNode{S_ISBLK(facts.st_mode) ? 'b' : 'c', major(facts.st_rdev),
                                  minor(facts.st_rdev), facts.st_mode & 07777U, facts.st_uid,
                                  facts.st_gid});
}

Result<std::optional<std::string>> DirectoryHost::rdma(const RdmaDump& dump) {
  return has_real_sysfs_ ? ask_rdma_netlink(dump) : kAbsent;
}

Result<std::optional<std::vector<TcpSocket>>> DirectoryHost::tcp_sockets(const std::string& link) {
  if (!has_real_sysfs_) return kAbsent;
  // The last component alone is one of procfs' magic links, which lead out of every root.
  const UniqueFd folder = open_below(std::string(directory_of(link)), O_RDONLY | O_DIRECTORY);
  if (!folder) return absent_or_failure<std::vector<TcpSocket>>(link, errno);
  const UniqueFd found(::openat(folder.get(), base_name(link).c_str(), O_RDONLY | O_CLOEXEC));
  if (!found) return absent_or_failure<std::vector<TcpSocket>>(link, errno);
  auto sockets = TRY(ask_tcp_diag(found.get()));
  return std::optional(std::move(sockets));
}

Result<std::optional<std::string>> DirectoryHost::devlink_info(const std::string& pci_address) {
  return has_real_sysfs_ ? ask_devlink_info(pci_address) : kAbsent;
}

Result<std::optional<std::string>> DirectoryHost::link_settings(const std::string& netdev,
                                                                LinkPart part) {
  if (!has_real_sysfs_) return kAbsent;
  if (part == LinkPart::vfs) return ask_vfs(netdev);
  return part == LinkPart::dcb ? ask_dcb(netdev) : ask_ethtool(netdev, part);
}

}  // namespace railhead::host
