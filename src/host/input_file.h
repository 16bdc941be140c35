// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace railhead::host {

/// A file that a person named on the command line ("-" is standard input), whole. Absent is an
/// error here: it was asked for. The error names the path.
Result<std::string> read_input_file(const std::string& path, std::size_t max_bytes);

/// A file that a thread reads which may not wait for whoever writes a pipe: a pipe is an error, and
/// so is "-".
Result<std::string> read_file_at_once(const std::string& path, std::size_t max_bytes);

using ReadFile = Result<std::string> (*)(const std::string& path, std::size_t max_bytes);

/// As read_input_file(), for a file of any size: `use` gets its bytes, chunk by chunk.
Status stream_input_file(const std::string& path, const std::function<void(std::string_view)>& use);

/// The same file, whatever the current directory will be; links stay as they are.
std::string absolute_path(const std::string& path);

/// Whether somebody else than root, than who runs this program, and than `also` may write a file
/// that a person named. "-": no.
bool may_others_write(const std::string& path, std::optional<std::uint64_t> also);

bool input_file_exists(const std::string& path);

/// Removes a file, a link or a socket; one that is not there is removed already.
Status remove_file(const std::string& path);

/// Makes the folder and those above it, mode 0755; one that exists is left as it is.
Status make_folders(const std::string& path);

/// Writes a hidden file beside the path and renames it, so that a reader sees the old file or the
/// new one, never half of it. Mode 0644. What is there and is no file (a device, a pipe, a socket,
/// also behind a link) stays, and is an error. A link to a file is replaced, not followed.
Status write_file_atomic(const std::string& path, std::string_view bytes);

/// The same for a path that a person named. A new file gets the mode that umask(2) leaves of 0666;
/// one that was there keeps its permissions, and its owner where that is allowed. In a sticky
/// folder that everybody may write to, a file of another user is an error. /dev/stdout and
/// /dev/stderr are the streams that this program has open.
Status write_output_file(const std::string& path, std::string_view bytes);

/// Whether write_output_file() could begin: for those who say so before hours of work. Leaves
/// nothing behind.
Status check_output_file(const std::string& path);

}  // namespace railhead::host
