// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace railhead::host {

/// "Not there", as the answer of any reader: return kAbsent;
struct Absent {
  template <typename T>
  operator Result<std::optional<T>>() const {  // NOLINT(google-explicit-constructor)
    return std::optional<T>();
  }
};

inline constexpr Absent kAbsent;

/// True where an errno of open(2), read(2) or readlink(2) says "not there" and not "could not
/// look": ENOENT, ENOTDIR, ENODEV, ENXIO (a device that went away under its attribute),
/// ENAMETOOLONG (no such name can exist), EISDIR and ESRCH (a process that ended).
bool means_absent(int error_number);

/// EMFILE, ENFILE and ENOMEM: they say that we lack something, and nothing about the file.
bool means_shortage(int error_number);

/// The failure of an access to `path`: "<path>: permission denied". The same for every kind of
/// host.
Error host_error(const std::string& path, int error_number);

/// The errno behind an Error made by host_error, even with context in front; else the best guess
/// from its code (EACCES, EFBIG, EIO).
int errno_of(const Error& error);

/// "EACCES"; "EIO" for a number that is not in the table.
std::string_view errno_name(int error_number);

/// The number of a name that errno_name knows.
std::optional<int> errno_number(std::string_view name);

}  // namespace railhead::host
