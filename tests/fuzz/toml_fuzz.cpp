// SPDX-License-Identifier: Apache-2.0
//
// Configuration of a container runtime, which may be written half.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "data/toml.h"
#include "system/shorten.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = railhead::data::parse_toml(text);
  if (value && value->kind != railhead::data::Value::Kind::map) std::abort();
  // What a snapshot keeps of it is shortened to itself.
  const std::string path = "/etc/containerd/config.toml";
  const auto once = railhead::system::shortened_file(path, std::string(text));
  if (railhead::system::shortened_file(path, once) != once) std::abort();
  return 0;
}
