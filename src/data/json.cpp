// SPDX-License-Identifier: Apache-2.0
#include "data/json.h"

#include <array>

#include <yaml-cpp/emitter.h>

#include "base/contains.h"
#include "base/text.h"

namespace railhead::data {
namespace {

/// A key that no reader of YAML takes for anything but text may stand without quotes.
bool is_plain_key(const std::string& key) {
  constexpr std::array kReserved = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
  if (key.empty() || key.size() > 128 || !is_letter(key.front())) return false;
  for (const char c : key) {
    const bool other = c == '_' || c == '-' || c == '.' || c == '/';
    if (!is_letter_or_digit(c) && !other) return false;
  }
  const std::string lower = to_lower(key);
  return !contains(kReserved, lower);
}

/// Numbers, booleans and null as JSON writes them; strings always in double quotes, so that "1" and
/// "true" stay strings for whoever reads the YAML.
void emit(YAML::Emitter& out, const Json& json) {
  if (json.is_object()) {
    if (json.empty()) out << YAML::Flow;
    out << YAML::BeginMap;
    for (const auto& [key, value] : json.items()) {
      out << YAML::Key;
      if (!is_plain_key(key)) out << YAML::DoubleQuoted;
      out << key << YAML::Value;
      emit(out, value);
    }
    out << YAML::EndMap;
  } else if (json.is_array()) {
    if (json.empty()) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const auto& item : json) emit(out, item);
    out << YAML::EndSeq;
  } else if (json.is_string()) {
    out << YAML::DoubleQuoted << json.get_ref<const std::string&>();
  } else if (json.is_null()) {
    out << YAML::Null;
  } else {
    out << json.dump();
  }
}

}  // namespace

std::string to_json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_yaml(const Json& json) {
  YAML::Emitter out;
  emit(out, json);
  return std::string(out.c_str(), out.size()) + "\n";
}

}  // namespace railhead::data
