// SPDX-License-Identifier: Apache-2.0
#include "host/tree.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/contains.h"
#include "base/text.h"
#include "host/host.h"
#include "host/host_error.h"
#include "host/resolve.h"
#include "host/write_all.h"

namespace railhead::host {
namespace {

/// One name for each file, so that the next write, or remove(), finds what a crash left.
std::string name_beside(const std::string& name) {
  return "." + name + ".railhead-new";
}

Result<std::string> read_all(int descriptor, const std::string& path, std::size_t max_bytes) {
  std::string text;
  char page[4096];
  for (;;) {
    const auto got = ::read(descriptor, page, sizeof page);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return host_error(path, errno);
    if (got == 0) return text;
    text.append(page, static_cast<std::size_t>(got));
    if (text.size() > max_bytes) return host_error(path, EFBIG);
  }
}

/// A rename survives a loss of power only when its folder has reached the disk.
Status keep(int folder, const std::string& path) {
  const UniqueFd readable(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // EINVAL: a file system without a disk, such as configfs (fsync(2)).
  if (!readable || (::fsync(readable.get()) != 0 && errno != EINVAL))
    return host_error(path, errno);
  return {};
}

/// Absent: the file has no such attribute.
std::optional<std::string> extended_attribute(int file, const std::string& name) {
  std::string value(std::size_t{1} << 16, '\0');  // XATTR_SIZE_MAX
  const auto size = ::fgetxattr(file, name.c_str(), value.data(), value.size());
  if (size < 0) return std::nullopt;
  value.resize(static_cast<std::size_t>(size));
  return value;
}

/// None where the file system has none. Those that sign the bytes are of no other bytes.
std::vector<std::string> names_of_attributes(int file) {
  std::string text(std::size_t{1} << 16, '\0');  // XATTR_LIST_MAX
  const auto size = ::flistxattr(file, text.data(), text.size());
  text.resize(static_cast<std::size_t>(std::max(size, ssize_t{0})));
  std::vector<std::string> names;
  for (const auto name : split(text, '\0')) {
    if (!name.empty() && name != "security.ima" && name != "security.evm") names.emplace_back(name);
  }
  return names;
}

/// Gives a new file what the one that it replaces has beside its mode: ACLs, the label of SELinux,
/// attributes of users (xattr(7)). What it has of its folder's default ACL goes.
Status keep_attributes(int from, int to, const std::string& path) {
  const auto refused = [&](const std::string& name) {
    return host_error(path, errno).context("its attribute " + name + " cannot be kept");
  };
  for (const auto& name : names_of_attributes(from)) {
    const auto value = extended_attribute(from, name);
    if (!value || extended_attribute(to, name) == value) continue;
    if (::fsetxattr(to, name.c_str(), value->data(), value->size(), 0) != 0) return refused(name);
  }
  for (const auto& name : names_of_attributes(to)) {
    if (!extended_attribute(from, name) && ::fremovexattr(to, name.c_str()) != 0)
      return refused(name);
  }
  return {};
}

/// `before`: the file that it replaces; -1: none.
Status fill(int file, int before, const FileContent& content, const std::string& path) {
  TRY_STATUS(write_all(file, content.bytes, path));
  constexpr std::uint32_t kAsItIs = ~std::uint32_t{0};
  if (::fchown(file, content.uid.value_or(kAsItIs), content.gid.value_or(kAsItIs)) != 0)
    return host_error(path, errno);
  // The mode last: where there is an ACL, its group bits are the ACL's mask.
  if (before >= 0) TRY_STATUS(keep_attributes(before, file, path));
  if (::fchmod(file, content.mode) != 0) return host_error(path, errno);
  if (::fsync(file) != 0) return host_error(path, errno);
  return {};
}

Status remove_name(int folder, const std::string& name, const std::string& path) {
  if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  return host_error(path, errno);
}

Error changed_meanwhile(const std::string& path) {
  return {ErrorCode::unavailable, path + ": somebody changed it meanwhile, and it stays so"};
}

bool exchange(int folder, const std::string& one, const std::string& other) {
  return ::renameat2(folder, one.c_str(), folder, other.c_str(), RENAME_EXCHANGE) == 0;
}

/// Whether this is what stands there, bytes, mode and owner.
bool is_at(int folder, const std::string& name, const std::optional<FileContent>& known) {
  const UniqueFd file(
      ::openat(folder, name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!file || !known) return !file && !known && errno == ENOENT;

  struct stat facts {};

  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  if ((facts.st_mode & 07777U) != known->mode || facts.st_uid != known->uid.value_or(facts.st_uid))
    return false;
  if (facts.st_gid != known->gid.value_or(facts.st_gid)) return false;
  const auto bytes = read_all(file.get(), name, known->bytes.size());
  return bytes && *bytes == known->bytes;
}

bool is_same_file(int one, int other) {
  struct stat a {};

  struct stat b {};

  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

/// In the child after fork(2): async-signal-safe calls only.
[[noreturn]] void become(int root, int standard_error, char** arguments) {
  static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  static char* environment[] = {path, nullptr};
  if (::fchdir(root) == 0 && ::chroot(".") == 0 && ::dup2(standard_error, STDOUT_FILENO) >= 0 &&
      ::dup2(standard_error, STDERR_FILENO) >= 0)
    ::execvpe(arguments[0], arguments, environment);
  constexpr std::string_view kFailed = "cannot be started";
  (void)!::write(standard_error, kFailed.data(), kFailed.size());
  ::_exit(127);
}

/// The last line, of at most 4 KiB.
std::string last_of(int descriptor) {
  std::string text;
  char page[4096];
  for (;;) {
    const auto got = ::read(descriptor, page, sizeof page);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(page, static_cast<std::size_t>(got));
    if (text.size() > sizeof page) text.erase(0, text.size() - sizeof page);
  }
  const std::string_view lines = trim(text);
  return std::string(lines.substr(lines.rfind('\n') + 1));
}

}  // namespace

std::optional<std::uint64_t> holder_in(std::string_view locks, std::uint64_t device,
                                       std::uint64_t inode) {
  // "1: FLOCK  ADVISORY  WRITE 30946 08:01:275 0 EOF", where the device is hexadecimal
  for (const auto line : split(locks, '\n')) {
    const auto words = split_words(line);
    if (words.size() < 6 || words[1] != "FLOCK") continue;
    const auto file = split(words[5], ':');
    const bool is_it = file.size() == 3 && parse_hex(file[0]).value_or(~0ULL) == major(device) &&
                       parse_hex(file[1]).value_or(~0ULL) == minor(device) &&
                       parse_unsigned(file[2]).value_or(0) == inode;
    const auto process = is_it ? parse_unsigned(words[4]) : std::uint64_t{0};
    if (process && *process != 0) return *process;
  }
  return std::nullopt;
}

bool is_written_by_us(const FileContent& content) {
  const auto owner = content.uid.value_or(0);
  return (owner == 0 || owner == ::geteuid()) && (content.mode & (S_IWGRP | S_IWOTH)) == 0;
}

Result<std::unique_ptr<Tree>> Tree::open(const std::string& root) {
  UniqueFd descriptor(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor) return host_error(root, errno);
  return std::unique_ptr<Tree>(new Tree(std::move(descriptor)));
}

int Tree::open_below(const std::string& path, int flags) const {
  const int found = open_in_root(root_.get(), path, flags | O_CLOEXEC);
  // As DirectoryHost: a kernel before 5.6, or a seccomp filter that does not know openat2(2).
  if (found >= 0 || (errno != ENOSYS && errno != EPERM)) return found;
  return walk_in_root(root_.get(), path, flags | O_CLOEXEC);
}

Result<Tree::Place> Tree::place_of(const std::string& path) {
  std::string at = path;
  for (int links = 0; links < kMaxLinks; ++links) {
    const auto slash = at.rfind('/');
    Place place{UniqueFd(open_below(slash == 0 ? "/" : at.substr(0, slash), O_PATH | O_DIRECTORY)),
                at.substr(slash + 1)};
    if (!place.folder) return host_error(path, errno);
    char target[PATH_MAX];
    const auto size = ::readlinkat(place.folder.get(), place.name.c_str(), target, sizeof target);
    if (size < 0) return place;
    at = join_link(at, std::string(target, static_cast<std::size_t>(size)));
  }
  return host_error(path, ELOOP);
}

Result<std::optional<UniqueFd>> Tree::open_file(const std::string& path) {
  UniqueFd file(open_below(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  if (!file && means_absent(errno)) return kAbsent;
  if (!file) return host_error(path, errno);
  return std::optional(std::move(file));
}

Result<std::optional<std::string>> Tree::read(const std::string& path, std::size_t max_bytes) {
  const auto file = TRY(open_file(path));
  if (!file) return kAbsent;
  return std::optional(TRY(read_all(file->get(), path, max_bytes)));
}

Result<std::optional<FileContent>> Tree::find(const std::string& path, std::size_t max_bytes) {
  const auto file = TRY(open_file(path));
  if (!file) return kAbsent;

  struct stat facts {};

  if (::fstat(file->get(), &facts) != 0) return host_error(path, errno);
  if (!S_ISREG(facts.st_mode)) return Error{ErrorCode::unavailable, path + ": is not a file"};
  return std::optional(FileContent{TRY(read_all(file->get(), path, max_bytes)),
                                   facts.st_mode & 07777U, facts.st_uid, facts.st_gid});
}

Result<std::optional<FileContent>> Tree::owner_of(const std::string& path) {
  const UniqueFd file(open_below(path, O_PATH));
  if (!file && means_absent(errno)) return kAbsent;

  struct stat facts {};

  if (!file || ::fstat(file.get(), &facts) != 0) return host_error(path, errno);
  return std::optional(FileContent{"", facts.st_mode & 07777U, facts.st_uid, facts.st_gid});
}

Result<Tree::Place> Tree::new_file_beside(const std::string& path, const FileContent& content) {
  auto place = TRY(place_of(path));
  const std::string beside = name_beside(place.name);
  TRY_STATUS(remove_name(place.folder.get(), beside, path));
  const UniqueFd file(::openat(place.folder.get(), beside.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return host_error(path, errno);
  const UniqueFd before(::openat(place.folder.get(), place.name.c_str(),
                                 O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  const auto status = fill(file.get(), before ? before.get() : -1, content, path);
  if (status) return place;
  (void)remove_name(place.folder.get(), beside, path);
  return status.error();
}

Status Tree::write(const std::string& path, const FileContent& content) {
  const auto place = TRY(new_file_beside(path, content));
  const std::string beside = name_beside(place.name);
  const int folder = place.folder.get();
  if (::renameat(folder, beside.c_str(), folder, place.name.c_str()) == 0)
    return keep(folder, path);
  const auto error = host_error(path, errno);
  (void)remove_name(folder, beside, path);
  return error;
}

Status Tree::replace(const std::string& path, const std::optional<FileContent>& known,
                     const FileContent& content) {
  const auto place = TRY(new_file_beside(path, content));
  const std::string beside = name_beside(place.name);
  const int folder = place.folder.get();
  const auto fails = [&](Error error) {
    (void)remove_name(folder, beside, path);
    return error;
  };
  if (!is_at(folder, place.name, known)) return fails(changed_meanwhile(path));
  if (!known) {
    if (::renameat2(folder, beside.c_str(), folder, place.name.c_str(), RENAME_NOREPLACE) == 0)
      return keep(folder, path);
    if (errno == EEXIST) return fails(changed_meanwhile(path));
  } else {
    if (exchange(folder, beside, place.name)) {
      if (is_at(folder, beside, known)) {
        TRY_STATUS(keep(folder, path));
        return remove_name(folder, beside, path);
      }
      (void)exchange(folder, beside, place.name);
      return fails(changed_meanwhile(path));
    }
    if (errno == ENOENT) return fails(changed_meanwhile(path));
  }
  // A file system that knows no flags, such as NFS (renameat2(2)).
  if (errno != EINVAL || ::renameat(folder, beside.c_str(), folder, place.name.c_str()) != 0)
    return fails(host_error(path, errno));
  return keep(folder, path);
}

Status Tree::remove(const std::string& path) {
  const auto place = place_of(path);
  if (!place) return means_absent(errno_of(place.error())) ? Status() : Status(place.error());
  TRY_STATUS(remove_name(place->folder.get(), name_beside(place->name), path));
  TRY_STATUS(remove_name(place->folder.get(), place->name, path));
  return keep(place->folder.get(), path);
}

Status Tree::remove_known(const std::string& path, const FileContent& known) {
  const auto place = TRY(place_of(path));
  const int folder = place.folder.get();
  const std::string beside = name_beside(place.name);
  TRY_STATUS(remove_name(folder, beside, path));
  if (!is_at(folder, place.name, known)) return changed_meanwhile(path);
  if (::renameat(folder, place.name.c_str(), folder, beside.c_str()) != 0)
    return host_error(path, errno);
  if (!is_at(folder, beside, known)) {
    // Not in the way of one that was made meanwhile.
    if (::linkat(folder, beside.c_str(), folder, place.name.c_str(), 0) == 0)
      TRY_STATUS(remove_name(folder, beside, path));
    return changed_meanwhile(path);
  }
  TRY_STATUS(remove_name(folder, beside, path));
  return keep(folder, path);
}

Status Tree::remove_half_written(const std::string& path) {
  const auto place = place_of(path);
  if (!place) return means_absent(errno_of(place.error())) ? Status() : Status(place.error());
  return remove_name(place->folder.get(), name_beside(place->name), path);
}

Result<bool> Tree::make_folder(const std::string& path) {
  const auto place = TRY(place_of(path));
  if (::mkdirat(place.folder.get(), place.name.c_str(), 0755) == 0) {
    TRY_STATUS(keep(place.folder.get(), path));
    return true;
  }
  if (errno == EEXIST) return false;
  return host_error(path, errno);
}

Status Tree::remove_folder(const std::string& path) {
  const auto place = place_of(path);
  if (!place) return means_absent(errno_of(place.error())) ? Status() : Status(place.error());
  if (::unlinkat(place->folder.get(), place->name.c_str(), AT_REMOVEDIR) == 0) return {};
  // EBUSY: something is mounted there, such as the machine's own folder in a container.
  if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOENT || errno == EBUSY) return {};
  return host_error(path, errno);
}

Status Tree::set_attribute(const std::string& path, std::string_view text) {
  const UniqueFd file(open_below(path, O_WRONLY | O_NOCTTY));
  if (!file) return host_error(path, errno);
  const auto written = ::write(file.get(), text.data(), text.size());
  if (written < 0) return host_error(path, errno);
  if (static_cast<std::size_t>(written) != text.size()) return host_error(path, EIO);
  return {};
}

Status Tree::write_at(const std::string& path, std::uint64_t offset, std::string_view bytes) {
  const UniqueFd file(open_below(path, O_WRONLY | O_NOCTTY));
  if (!file) return host_error(path, errno);
  const auto written = ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (written < 0) return host_error(path, errno);
  if (static_cast<std::size_t>(written) != bytes.size()) return host_error(path, EIO);
  return {};
}

Result<bool> Tree::lock(const std::string& path) {
  for (auto at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    if (TRY(make_folder(path.substr(0, at)))) made_.push_back(path.substr(0, at));
  }
  // Who had it before may have removed the file after we opened it.
  constexpr int kTries = 8;
  for (int tries = 0; tries < kTries; ++tries) {
    if (!TRY(take_lock(path))) return false;
    const UniqueFd now(open_below(path, O_PATH | O_NOFOLLOW));
    if (now && is_same_file(now.get(), lock_.get())) {
      lock_path_ = path;
      return true;
    }
  }
  return false;
}

Result<bool> Tree::take_lock(const std::string& path) {
  const auto place = TRY(place_of(path));

  struct stat folder {};

  if (::fstat(place.folder.get(), &folder) != 0) return host_error(path, errno);
  if (!is_written_by_us({"", folder.st_mode & 07777U, folder.st_uid, folder.st_gid})) {
    return Error{ErrorCode::denied, path.substr(0, path.rfind('/')) +
                                        ": others than root may write it, or own it: look at it, "
                                        "then chown and chmod it"};
  }
  lock_.reset(::openat(place.folder.get(), place.name.c_str(),
                       O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock_ || ::fchmod(lock_.get(), 0600) != 0) return host_error(path, errno);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  return host_error(path, errno);
}

void Tree::remove_lock_file() {
  if (!lock_path_.empty()) (void)remove(lock_path_);
  lock_path_.clear();
}

bool Tree::has_made(const std::string& folder) const {
  return contains(made_, folder);
}

Tree::~Tree() {
  remove_lock_file();
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) (void)remove_folder(*folder);
}

std::optional<std::uint64_t> Tree::lock_holder() {
  constexpr std::size_t kMostLocks = std::size_t{1} << 20;
  const auto locks = read("/proc/locks", kMostLocks);
  if (!locks || !*locks) return std::nullopt;

  struct stat facts {};

  if (!lock_ || ::fstat(lock_.get(), &facts) != 0) return std::nullopt;
  return holder_in(**locks, facts.st_dev, facts.st_ino);
}

Status Tree::run(const std::vector<std::string>& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return host_error(command.front(), errno);
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const UniqueFd root(open_below("/", O_RDONLY | O_DIRECTORY));
  const pid_t child = ::fork();
  if (child < 0) return host_error(command.front(), errno);
  if (child == 0) become(root.get(), to.get(), arguments.data());
  to.reset();
  const std::string said = last_of(from.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Error{ErrorCode::unavailable,
               join(command, " ") + ": " + (said.empty() ? "failed" : said)};
}

bool Tree::is_of_kernel(const std::string& path, long magic) const {
  struct statfs facts {};

  const UniqueFd folder(open_below(path, O_PATH | O_DIRECTORY));
  return folder && ::fstatfs(folder.get(), &facts) == 0 && facts.f_type == magic;
}

bool Tree::is_live() {
  return is_of_kernel("/sys", SYSFS_MAGIC) && is_of_kernel("/proc", PROC_SUPER_MAGIC);
}

}  // namespace railhead::host
