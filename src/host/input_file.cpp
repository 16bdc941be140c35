// SPDX-License-Identifier: Apache-2.0
#include "host/input_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <optional>

#include "base/text.h"
#include "host/host_error.h"
#include "host/unique_fd.h"
#include "host/write_all.h"

namespace railhead::host {
namespace {

std::string name_of(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

using UseChunk = std::function<Status(std::string_view)>;

/// Hands out the bytes until the end, or until `use` fails.
Status read_open(int descriptor, const std::string& path, const UseChunk& use) {
  char buffer[65536];
  for (;;) {
    const auto size = ::read(descriptor, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return host_error(name_of(path), errno);
    if (size == 0) return {};
    TRY_STATUS(use({buffer, static_cast<std::size_t>(size)}));
  }
}

Status read_chunks(const std::string& path, const UseChunk& use) {
  if (path == "-") return read_open(STDIN_FILENO, path, use);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return host_error(path, errno);
  return read_open(file.get(), path, use);
}

/// Appends to `text`, up to a limit.
UseChunk append_to(std::string& text, std::size_t max_bytes, const std::string& path) {
  return [&text, max_bytes, path](std::string_view bytes) -> Status {
    text += bytes;
    if (text.size() <= max_bytes) return {};
    return Error{ErrorCode::too_large,
                 name_of(path) + ": more than " + std::to_string(max_bytes) + " bytes"};
  };
}

Error no_file(const std::string& path) {
  return {ErrorCode::unavailable, path + ": is not a file"};
}

/// What a rename would put a file in place of, links followed. Nothing: there is none.
Result<std::optional<struct stat>> old_file(const std::string& path) {
  struct stat facts {};

  if (::stat(path.c_str(), &facts) != 0) {
    if (errno == ENOENT) return std::optional<struct stat>();
    return host_error(path, errno);
  }
  if (S_ISDIR(facts.st_mode)) return host_error(path, EISDIR);
  if (!S_ISREG(facts.st_mode)) return no_file(path);
  return std::optional(facts);
}

/// Fails where the old file is another's, in a folder where everybody may make files, as /tmp: who
/// made it first would own what is written. As fs.protected_regular has it (Linux
/// Documentation/admin-guide/sysctl/fs.rst).
Status check_owner(const std::string& path, const struct stat& old) {
  struct stat folder {};

  const auto end = path.rfind('/');
  const std::string name = end == std::string::npos ? "." : path.substr(0, end + 1);
  if (::stat(name.c_str(), &folder) != 0) return host_error(path, errno);
  const bool is_shared = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
  const bool is_known = old.st_uid == ::geteuid() || old.st_uid == folder.st_uid;
  if (!is_shared || is_known) return {};
  return Error{ErrorCode::denied, path + ": is another user's, in a folder that all may write to"};
}

/// Owner and permissions of the old file, so that no one may read the new one who might not read
/// that. Where the group cannot be kept, ours gets what everybody had.
Status keep_permissions(int file, const struct stat& old, const std::string& path) {
  constexpr auto kSame = static_cast<uid_t>(-1);
  mode_t mode = old.st_mode & 0777U;
  if (::fchown(file, old.st_uid, old.st_gid) != 0 && ::fchown(file, kSame, old.st_gid) != 0) {
    mode &= ~static_cast<mode_t>(S_IRWXG) | (mode & S_IRWXO) << 3U;
  }
  return ::fchmod(file, mode) == 0 ? Status() : host_error(path, errno);
}

/// Hidden, as some who read a whole folder pass over such names alone.
struct Temporary {
  std::string path;
  UniqueFd file;
};

/// A new file beside the path; `mode` is less what umask(2) takes.
Temporary temporary_beside(const std::string& path, mode_t mode) {
  constexpr int kTries = 100;
  const auto folder_end = path.rfind('/') + 1;  // 0 without a folder
  Temporary made;
  for (int i = 0; i < kTries; ++i) {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) return made;
    made.path = path.substr(0, folder_end) + "." + path.substr(folder_end) + "." +
                to_hex(number & 0xffffffffU, 8);
    made.file = UniqueFd(::open(made.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (made.file || errno != EEXIST) return made;
  }
  return made;
}

/// Writes, makes durable, and renames; `permit` sets the permissions.
Status replace_file(const std::string& path, std::string_view bytes, mode_t mode,
                    const std::function<Status(int file)>& permit) {
  const auto temporary = temporary_beside(path, mode);
  if (!temporary.file) return host_error(path, errno);
  const int file = temporary.file.get();
  Status status = write_all(file, bytes, path);
  if (status) status = permit(file);
  // Without it, a crash may leave the new name with none of the bytes.
  if (status && ::fsync(file) != 0) status = host_error(path, errno);
  if (status && ::rename(temporary.path.c_str(), path.c_str()) != 0)
    status = host_error(path, errno);
  if (!status) ::unlink(temporary.path.c_str());
  return status;
}

/// The descriptor that this name of a stream stands for; nothing: it is a file's.
std::optional<int> stream_of(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  return std::nullopt;
}

}  // namespace

Status stream_input_file(const std::string& path,
                         const std::function<void(std::string_view)>& use) {
  return read_chunks(path, [&](std::string_view bytes) {
    use(bytes);
    return Status();
  });
}

Result<std::string> read_input_file(const std::string& path, std::size_t max_bytes) {
  std::string text;
  TRY_STATUS(read_chunks(path, append_to(text, max_bytes, path)));
  return text;
}

Result<std::string> read_file_at_once(const std::string& path, std::size_t max_bytes) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!file) return host_error(path, errno);

  struct stat facts {};

  if (::fstat(file.get(), &facts) != 0) return host_error(path, errno);
  if (S_ISFIFO(facts.st_mode)) return no_file(path);
  std::string text;
  TRY_STATUS(read_open(file.get(), path, append_to(text, max_bytes, path)));
  return text;
}

std::string absolute_path(const std::string& path) {
  char current[PATH_MAX];
  if (path.starts_with('/') || ::getcwd(current, sizeof current) == nullptr) return path;
  return std::string(current) + "/" + path;
}

bool may_others_write(const std::string& path, std::optional<std::uint64_t> also) {
  struct stat facts {};

  if (path == "-" || ::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  const bool is_ours = facts.st_uid == 0 || facts.st_uid == ::geteuid() || facts.st_uid == also;
  return !is_ours || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

bool input_file_exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

Status remove_file(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return {};
  return host_error(path, errno);
}

Status make_folders(const std::string& path) {
  for (auto at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string folder = path.substr(0, at);
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return host_error(folder, errno);
    if (at == std::string::npos) return {};
  }
}

Status write_file_atomic(const std::string& path, std::string_view bytes) {
  TRY_STATUS(old_file(path));
  return replace_file(path, bytes, 0600, [&](int file) {
    return ::fchmod(file, 0644) == 0 ? Status() : host_error(path, errno);
  });
}

Status write_output_file(const std::string& path, std::string_view bytes) {
  if (const auto stream = stream_of(path)) return write_all(*stream, bytes, path);
  const auto old = TRY(old_file(path));
  if (old) TRY_STATUS(check_owner(path, *old));
  return replace_file(path, bytes, old ? 0600 : 0666, [&](int file) {
    return old ? keep_permissions(file, *old, path) : Status();
  });
}

Status check_output_file(const std::string& path) {
  if (stream_of(path)) return {};
  const auto old = TRY(old_file(path));
  if (old) TRY_STATUS(check_owner(path, *old));
  const auto temporary = temporary_beside(path, 0600);
  if (!temporary.file) return host_error(path, errno);
  ::unlink(temporary.path.c_str());
  return {};
}

}  // namespace railhead::host
