// SPDX-License-Identifier: Apache-2.0
#include "data/json.h"

#include <array>

#include <yaml-cpp/emitter.h>

#include "base/contains.h"
#include "base/text.h"
#include "base/utf8.h"

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

std::string json_escape(char32_t code) {
  if (code <= 0xffff) return "\\u" + to_hex(code, 4);
  const char32_t rest = code - 0x10000;
  return "\\u" + to_hex(0xd800 + (rest >> 10U), 4) + "\\u" + to_hex(0xdc00 + (rest & 0x3ffU), 4);
}

std::string yaml_escape(char32_t code) {
  return code <= 0xffff ? "\\u" + to_hex(code, 4) : "\\U" + to_hex(code, 8);
}

/// A document with escapes for characters that a terminal obeys. Beyond ASCII both writers put
/// characters between double quotes only, where an escape means the same as the character. Most
/// have none, and of those no second copy is made.
std::string with_escapes(std::string document, std::string (*escape)(char32_t code)) {
  std::string out;
  std::size_t kept = 0;
  for (std::size_t at = 0; at < document.size();) {
    if (static_cast<unsigned char>(document[at]) < 0x7f) {
      ++at;
      continue;
    }
    const auto [code, bytes, is_valid] = first_character(std::string_view(document).substr(at));
    if (is_valid && is_obeyed(code)) {
      out.append(document, kept, at - kept).append(escape(code));
      kept = at + bytes;
    }
    at += bytes;
  }
  if (kept == 0) return document;
  return out.append(document, kept);
}

std::string json_text(const Json& json, int indent) {
  return with_escapes(json.dump(indent, ' ', false, Json::error_handler_t::replace), json_escape);
}

}  // namespace

std::string to_json_text(const Json& json) {
  return json_text(json, 2) + "\n";
}

std::string to_json_line(const Json& json) {
  return json_text(json, -1);
}

std::string to_yaml(const Json& json) {
  YAML::Emitter out;
  emit(out, json);
  return with_escapes(std::string(out.c_str(), out.size()), yaml_escape) + "\n";
}

}  // namespace railhead::data
