// SPDX-License-Identifier: Apache-2.0
#include "host/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

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

/// True for what must not be renamed over: a device such as /dev/null, a pipe, a socket.
bool is_special(const std::string& path) {
  struct stat facts {};

  if (::stat(path.c_str(), &facts) != 0) return false;
  return !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

/// For mkostemp(3): hidden, as some who read a whole folder pass over such names alone.
std::string temporary_beside(const std::string& path) {
  const auto folder_end = path.rfind('/') + 1;  // 0 without a folder
  return path.substr(0, folder_end) + "." + path.substr(folder_end) + ".XXXXXX";
}

Status write_into(const std::string& path, std::string_view bytes) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return host_error(path, errno);
  return write_all(file.get(), bytes, path);
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
  if (is_special(path)) return no_file(path);
  auto temporary = temporary_beside(path);
  UniqueFd file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) return host_error(path, errno);
  Status status = write_all(file.get(), bytes, path);
  if (status && ::fchmod(file.get(), 0644) != 0) status = host_error(path, errno);
  // Without it, a crash may leave the new name with none of the bytes.
  if (status && ::fsync(file.get()) != 0) status = host_error(path, errno);
  if (status && ::rename(temporary.c_str(), path.c_str()) != 0) status = host_error(path, errno);
  if (!status) ::unlink(temporary.c_str());
  return status;
}

Status write_output_file(const std::string& path, std::string_view bytes) {
  return is_special(path) ? write_into(path, bytes) : write_file_atomic(path, bytes);
}

Status check_output_file(const std::string& path) {
  struct stat facts {};

  if (::stat(path.c_str(), &facts) == 0) {
    if (S_ISDIR(facts.st_mode)) return host_error(path, EISDIR);
    if (!S_ISREG(facts.st_mode)) {
      return ::access(path.c_str(), W_OK) == 0 ? Status() : host_error(path, errno);
    }
  }
  auto temporary = temporary_beside(path);
  const UniqueFd file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) return host_error(path, errno);
  ::unlink(temporary.c_str());
  return {};
}

}  // namespace railhead::host
