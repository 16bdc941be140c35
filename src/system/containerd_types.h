// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "system/runtime_answer.h"

namespace railhead::system {

/// Of a table, the values that containerd takes for a key, in the order in which the later counts:
/// go-toml 1 of containerd 1.7 knows a key as it is written and in capitals, go-toml 2 in any case
/// (marshal.go, valueFromTree; unmarshaler.go, structFieldPath).
std::vector<const data::Value*> values_of(const data::Value& table, std::string_view key,
                                          ContainerdRelease release);

/// Whether it has what go-toml 1.9.5 of containerd 1.7 reads otherwise than we do.
bool is_read_otherwise_by_1(const data::Value& file, std::string_view text);

/// Why the file does not decode. Absent: it does, as far as it is not a plugin's.
std::optional<RuntimeReason> bad_type(const data::Value& file, ContainerdRelease release);

/// Likewise of the section of NRI.
std::optional<RuntimeReason> bad_nri_type(const data::Value& section, ContainerdRelease release);

/// Likewise of that of CRI, without which containerd does not start (config.Decode() in New() of
/// server.go): never a failure, since another file may say the key again, and 2.x passes over some.
std::optional<RuntimeReason> bad_cri_type(const data::Value& section, ContainerdRelease release);

/// Tables of containerd's files: the root and those of fixed keys in it; a proxy plugin or a stream
/// processor; NRI's section and its validator; CRI's section, [….containerd], [….cni] in it, and
/// one of its runtimes.
enum class ContainerdTable : std::uint8_t {
  file,
  helper,
  nri,
  cri,
  cri_containerd,
  cri_cni,
  cri_runtime
};

/// The keys that are looked at there.
std::vector<std::string> keys_of(ContainerdTable table);
bool has_key(ContainerdTable table, std::string_view key);

}  // namespace railhead::system
