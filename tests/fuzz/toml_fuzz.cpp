// SPDX-License-Identifier: Apache-2.0
// A runtime's configuration file: what can be edited says afterwards what it was to say, and a
// second edit changes nothing.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/toml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const railhead::data::TomlPath path{"plugins", "io.containerd.nri.v1.nri", "disable"};
  const auto once = railhead::data::set_toml_boolean(text, path, false);
  if (!once) return 0;
  const auto json = railhead::data::parse_toml(*once);
  if (!json || (*json)["plugins"]["io.containerd.nri.v1.nri"]["disable"] != false) std::abort();
  const auto twice = railhead::data::set_toml_boolean(*once, path, false);
  if (!twice || *twice != *once) std::abort();
  return 0;
}
