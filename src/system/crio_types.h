// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "data/value.h"

namespace railhead::system {

/// The keys of [crio.nri]. The last one is of containerd's files, too, the others are CRI-O's
/// alone.
inline constexpr auto kCrioNriKeys = std::to_array<std::string_view>(
    {"enable_nri", "nri_listen", "nri_plugin_dir", "nri_plugin_config_dir",
     "nri_plugin_registration_timeout", "nri_plugin_request_timeout", "nri_disable_connections",
     "nri_config_file", "default_validator"});

/// Whether a key in small letters is one of those, and CRI-O's alone.
bool is_crio_nri_key(std::string_view key);

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
