// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "data/value.h"

namespace railhead::system {

enum class CrioType : std::uint8_t { flag, whole, text, texts };

/// "true or false", "a whole number", "a text", "a list of texts"
std::string_view to_string(CrioType type);

/// The type of a key of CRI-O in [crio.TABLE], or with "" in [crio]; NRI's are not among them. Of
/// keys that each release from 1.24 to 1.36 has, and with one type (pkg/config/config.go): a value
/// of another one keeps CRI-O from starting. Absent: none of these.
std::optional<CrioType> type_in_crio(std::string_view table, std::string_view key);

/// Whether [crio] has a table of this name.
bool is_table_of_crio(std::string_view name);

/// As BurntSushi's TOML library decodes it (decode.go): nothing is converted.
bool has_crio_type(const data::Value& value, CrioType type);

}  // namespace railhead::system
