// SPDX-License-Identifier: Apache-2.0
#include "data/xml_text.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "data/xml.h"

namespace railhead::data {
namespace {

constexpr std::array kPredefined = {
    std::pair{std::string_view("amp"), '&'},   std::pair{std::string_view("lt"), '<'},
    std::pair{std::string_view("gt"), '>'},    std::pair{std::string_view("quot"), '"'},
    std::pair{std::string_view("apos"), '\''},
};
constexpr std::size_t kLongestReference = 10;

bool is_character(std::uint64_t code) {
  const bool control = code < 0x20 && code != '\t' && code != '\n' && code != '\r';
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return !control && !surrogate && code <= 0x10ffff;
}

void append_utf8(std::uint64_t code, std::string& to) {
  const auto tail = [&](unsigned shift) {
    to += static_cast<char>(0x80U | ((code >> shift) & 0x3fU));
  };
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += static_cast<char>(0xc0U | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    to += static_cast<char>(0xe0U | (code >> 12));
    tail(6);
    tail(0);
  } else {
    to += static_cast<char>(0xf0U | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// `name` is what stands between "&" and ";".
bool append_reference(std::string_view name, std::string& to) {
  for (const auto& [known, character] : kPredefined) {
    if (name != known) continue;
    to += character;
    return true;
  }
  if (!name.starts_with('#')) return false;
  name.remove_prefix(1);
  const bool hexadecimal = name.starts_with('x');
  if (hexadecimal) name.remove_prefix(1);
  if (name.starts_with('0') && name.find_first_of("xX") != std::string_view::npos) return false;
  const auto code = hexadecimal ? parse_hex(name) : parse_unsigned(name);
  if (!code || !is_character(*code)) return false;
  append_utf8(*code, to);
  return true;
}

void write(const XmlElement& element, std::size_t indent, std::string& out) {
  out.append(indent, ' ');
  out += '<' + element.name;
  for (const auto& attribute : element.attributes) {
    out += ' ' + attribute.name + "=\"" + xml_escaped(attribute.value) + '"';
  }
  if (element.children.empty()) {
    out += "/>\n";
    return;
  }
  out += ">\n";
  for (const auto& child : element.children) write(child, indent + 2, out);
  out.append(indent, ' ');
  out += "</" + element.name + ">\n";
}

}  // namespace

Result<std::string> xml_value(std::string_view raw) {
  if (raw.find('<') != std::string_view::npos) {
    return Error{ErrorCode::malformed, "\"<\" inside a value; is a quote missing?"};
  }
  std::string value;
  value.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size(); ++at) {
    if (raw[at] != '&') {
      value += raw[at];
      continue;
    }
    const auto rest = raw.substr(at + 1, kLongestReference + 1);
    const auto end = rest.find(';');
    if (end == std::string_view::npos || !append_reference(rest.substr(0, end), value)) {
      return Error{ErrorCode::malformed,
                   in_quotes(raw.substr(at, kLongestReference)) + " is not a character"};
    }
    at += end + 1;
  }
  return value;
}

std::string xml_escaped(std::string_view value) {
  std::string text;
  text.reserve(value.size());
  for (const char c : value) {
    switch (c) {
      case '&': text += "&amp;"; break;
      case '<': text += "&lt;"; break;
      case '>': text += "&gt;"; break;
      case '"': text += "&quot;"; break;
      case '\t': text += "&#9;"; break;
      case '\n': text += "&#10;"; break;
      case '\r': text += "&#13;"; break;
      default: text += c;
    }
  }
  return text;
}

std::string to_xml_text(const XmlElement& element) {
  std::string out;
  write(element, 0, out);
  return out;
}

}  // namespace railhead::data
