// SPDX-License-Identifier: Apache-2.0
// A runtime's configuration file, which may be written half. What can be edited says afterwards
// what it was to say, and a second edit changes nothing; what a snapshot keeps of it is kept of
// that, too.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/toml.h"
#include "system/kept_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto kept = railhead::system::kept_runtime_settings(text);
  if (railhead::system::kept_runtime_settings(kept) != kept) std::abort();
  const railhead::data::TomlPath flag{"plugins", "io.containerd.nri.v1.nri", "disable"};
  const auto once = railhead::data::set_toml_boolean(text, flag, false);
  if (!once) return 0;
  const auto twice = railhead::data::set_toml_boolean(*once, flag, false);
  if (!twice || *twice != *once) std::abort();
  return 0;
}
