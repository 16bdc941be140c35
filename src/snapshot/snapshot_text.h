// SPDX-License-Identifier: Apache-2.0
//
// The words of a snapshot line. Used by the parser and the formatter only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace railhead::snapshot {

inline constexpr std::string_view kSnapshotFirstLine = "railhead-snapshot 1";

/// Bytes <= 0x20, 0x7f and '%' as %XX.
std::string escape_path(std::string_view path);

/// nullopt for a byte that had to be escaped, and for a '%' that is not followed by two hexadecimal
/// digits or makes a NUL.
std::optional<std::string> unescape_path(std::string_view text);

/// With a space for each control character, newlines included.
std::string without_controls(std::string_view text);

/// Absolute, without empty, "." or ".." components and without NUL; "/" is one too.
bool is_canonical_path(std::string_view path);

}  // namespace railhead::snapshot
