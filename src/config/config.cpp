// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include "base/text.h"
#include "config/builder.h"

namespace railhead {

std::string_view to_string(Origin origin) {
  switch (origin) {
    case Origin::fallback: return "default";
    case Origin::file: return "file";
    case Origin::rdma_environment:
    case Origin::environment: return "environment";
    case Origin::flag: return "flag";
  }
  return "unknown";
}

const Config::Entry& Config::entry(std::string_view key) const {
  return entries_.find(key)->second;
}

bool Config::enabled(std::string_view key) const {
  return parse_switch(text(key)).value_or(false);
}

std::uint64_t Config::number(std::string_view key) const {
  return parse_unsigned(text(key)).value_or(0U);
}

std::vector<std::string> Config::list(std::string_view key) const {
  std::vector<std::string> words;
  for (const auto word : split(text(key), ',')) {
    if (!trim(word).empty()) words.emplace_back(trim(word));
  }
  return words;
}

void Config::keep(std::string_view key, const Config& other) {
  entries_.find(key)->second = other.entry(key);
}

Result<Config> make_config(const ConfigSources& sources) {
  ConfigBuilder builder;
  for (const auto& file : sources.files) TRY_STATUS(builder.add_file(file));
  TRY_STATUS(builder.add_environment(sources.environment));
  for (const auto& [key, text] : sources.flags) {
    const auto* spec = find_setting(key);
    if (spec == nullptr) return Error{ErrorCode::internal, "no setting " + in_quotes(key)};
    TRY_STATUS(builder.set(*spec, text, Origin::flag, std::string(spec->flag)));
  }
  return std::move(builder).finish();
}

}  // namespace railhead
