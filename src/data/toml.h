// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/value.h"

namespace railhead::data {

/// A TOML 1.0 document as a map, as containerd's and CRI-O's files are. Numbers, booleans, dates
/// and times are plain scalars, strings are quoted ones; entries are sorted by their keys. Errors
/// name line and column. More than 32 levels are an error, whatever the limits say. An error is
/// malformed where containerd's parsers refuse the text, too, and unsupported where one of them may
/// take it.
Result<Value> parse_toml(std::string_view text, const ParseLimits& limits = {});

/// A place in a document: table by table, then the key.
using TomlPath = std::vector<std::string>;

/// The text with the boolean at `path` set. All else stays as it is, byte for byte, comments too.
/// A missing key is added below the header of its table, a missing table at the end. Fails where
/// the result would not be the same document with this one value changed, such as a key of an
/// inline table that is missing.
Result<std::string> set_toml_boolean(std::string_view text, const TomlPath& path, bool value);

}  // namespace railhead::data
