// SPDX-License-Identifier: Apache-2.0
#include "host/host_error.h"

#include <array>
#include <cerrno>

#include "base/find.h"

namespace railhead::host {
namespace {

struct Entry {
  int number;
  std::string_view name;
  ErrorCode code;
  std::string_view text;
};

// Texts of our own: strerror(3) depends on the C library and the locale, and a snapshot has to give
// the words that the live machine gave.
constexpr std::array kEntries = {
    Entry{EACCES, "EACCES", ErrorCode::denied, "permission denied"},
    Entry{EPERM, "EPERM", ErrorCode::denied, "operation not permitted"},
    Entry{EIO, "EIO", ErrorCode::unavailable, "input/output error"},
    Entry{EINVAL, "EINVAL", ErrorCode::unavailable, "invalid argument"},
    Entry{EFBIG, "EFBIG", ErrorCode::too_large, "larger than our limit"},
    Entry{ELOOP, "ELOOP", ErrorCode::unavailable, "too many levels of symbolic links"},
    Entry{ENOMEM, "ENOMEM", ErrorCode::unavailable, "out of memory"},
    Entry{EAGAIN, "EAGAIN", ErrorCode::unavailable, "try again"},
    Entry{EBUSY, "EBUSY", ErrorCode::unavailable, "device or resource busy"},
    Entry{EINTR, "EINTR", ErrorCode::unavailable, "interrupted"},
    Entry{EMFILE, "EMFILE", ErrorCode::unavailable, "too many open files in this process"},
    Entry{ENFILE, "ENFILE", ErrorCode::unavailable, "too many open files in the system"},
    Entry{ENOSPC, "ENOSPC", ErrorCode::unavailable, "no space left on device"},
    Entry{EROFS, "EROFS", ErrorCode::unavailable, "read-only file system"},
    Entry{EEXIST, "EEXIST", ErrorCode::unavailable, "file exists"},
    Entry{EFAULT, "EFAULT", ErrorCode::unavailable, "bad address"},
    Entry{EOPNOTSUPP, "EOPNOTSUPP", ErrorCode::unavailable, "operation not supported"},
    Entry{ENOSYS, "ENOSYS", ErrorCode::unavailable, "function not implemented"},
    Entry{EOVERFLOW, "EOVERFLOW", ErrorCode::unavailable, "value too large for its type"},
    Entry{ENODATA, "ENODATA", ErrorCode::unavailable, "no data available"},
    Entry{ETIMEDOUT, "ETIMEDOUT", ErrorCode::unavailable, "timed out"},
    Entry{ESTALE, "ESTALE", ErrorCode::unavailable, "stale file handle"},
    Entry{EREMOTEIO, "EREMOTEIO", ErrorCode::unavailable, "remote input/output error"},
    Entry{ENOBUFS, "ENOBUFS", ErrorCode::unavailable, "no buffer space available"},
    Entry{EMSGSIZE, "EMSGSIZE", ErrorCode::unavailable, "message too long"},
    Entry{EPROTO, "EPROTO", ErrorCode::unavailable, "protocol error"},
    Entry{ENOENT, "ENOENT", ErrorCode::unavailable, "no such file or directory"},
    Entry{ENOTDIR, "ENOTDIR", ErrorCode::unavailable, "not a directory"},
    Entry{EISDIR, "EISDIR", ErrorCode::unavailable, "is a directory"},
    Entry{ENODEV, "ENODEV", ErrorCode::unavailable, "no such device"},
    Entry{ENXIO, "ENXIO", ErrorCode::unavailable, "no such device or address"},
};

const Entry* find(int error_number) {
  return find_by(kEntries, &Entry::number, error_number);
}

}  // namespace

bool means_absent(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
    case ENODEV:
    case ENXIO:
    case ENAMETOOLONG:
    case EISDIR:
    case ESRCH: return true;
    default: return false;
  }
}

bool means_shortage(int error_number) {
  return error_number == EMFILE || error_number == ENFILE || error_number == ENOMEM;
}

Error host_error(const std::string& path, int error_number) {
  if (const Entry* entry = find(error_number)) {
    return {entry->code, path + ": " + std::string(entry->text)};
  }
  return {ErrorCode::unavailable, path + ": error " + std::to_string(error_number)};
}

int errno_of(const Error& error) {
  const std::string_view message = error.message;
  for (const Entry& entry : kEntries) {
    const std::size_t tail = entry.text.size() + 2;
    if (entry.code == error.code && message.size() >= tail &&
        message.substr(message.size() - tail, 2) == ": " &&
        message.substr(message.size() - tail + 2) == entry.text) {
      return entry.number;
    }
  }
  if (error.code == ErrorCode::denied) return EACCES;
  return error.code == ErrorCode::too_large ? EFBIG : EIO;
}

std::string_view errno_name(int error_number) {
  const Entry* entry = find(error_number);
  return entry != nullptr ? entry->name : "EIO";
}

std::optional<int> errno_number(std::string_view name) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.number;
  }
  return std::nullopt;
}

}  // namespace railhead::host
