// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>

#include "config/config.h"
#include "config/plugin_texts.h"

/// A configuration file of any bytes, or a manifest with one: a Config whose every value passed its
/// check, or an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  railhead::config::ConfigSources sources;
  sources.files.push_back({"fuzz.yaml", std::string(reinterpret_cast<const char*>(data), size)});
  const auto texts = railhead::config::plugin_texts_of_manifest(sources.files.front());
  if (texts && *texts) {
    sources.files = (*texts)->files;
    sources.environment = (*texts)->environment;
    sources.flags = (*texts)->flags;
  }
  const auto config = railhead::config::make_config(sources);
  if (!config) return 0;
  railhead::config::Settings settings;
  for (const auto& row : railhead::config::kSettings) {
    if (!row.read(config->entry(row).text, settings)) __builtin_trap();
  }
  return 0;
}
