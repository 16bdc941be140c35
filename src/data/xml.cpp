// SPDX-License-Identifier: Apache-2.0
#include "data/xml.h"

#include <algorithm>
#include <array>
#include <utility>

#include <pugixml.hpp>

#include "base/find.h"
#include "base/text.h"

namespace railhead::data {
namespace {

/// Everything is handed to us as it stands in the text (no entities, no white space rules), and so
/// is what we refuse.
constexpr unsigned kOptions = pugi::parse_fragment | pugi::parse_doctype | pugi::parse_cdata;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

class Lines {
 public:
  explicit Lines(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '\n') ends_.push_back(at);
    }
  }

  [[nodiscard]] unsigned line_of(std::ptrdiff_t offset) const {
    const auto at = static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0));
    const auto before = std::ranges::lower_bound(ends_, at) - ends_.begin();
    return static_cast<unsigned>(before) + 1;
  }

 private:
  std::vector<std::size_t> ends_;
};

Error at_line(unsigned line, const std::string& what, ErrorCode code = ErrorCode::malformed) {
  return {code, "line " + std::to_string(line) + ": " + what};
}

std::string_view kind_of(pugi::xml_node_type type) {
  switch (type) {
    case pugi::node_doctype: return "a document type";
    case pugi::node_cdata: return "a CDATA section";
    default: return "text";
  }
}

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
  to += pugi::as_utf8(std::wstring(1, static_cast<wchar_t>(*code)));
  return true;
}

/// What an attribute's text between the quotes stands for; fails on an entity that XML 1.0 does not
/// predefine, and on "<".
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

/// Copies the parser's tree into ours, within the limits.
class Copier {
 public:
  Copier(const Lines& lines, const XmlLimits& limits)
      : lines_(lines),
        limits_(limits) {}

  Result<XmlElement> root(const pugi::xml_document& document) {
    pugi::xml_node found;
    for (const auto& node : document.children()) {
      if (node.type() != pugi::node_element) return refuse(node);
      if (found) return at_line(line_of(node), "a second root element <" + name_of(node) + ">");
      found = node;
    }
    if (!found) return at_line(1, "no element");
    return element(found, 1);
  }

 private:
  [[nodiscard]] unsigned line_of(const pugi::xml_node& node) const {
    return lines_.line_of(node.offset_debug());
  }

  static std::string name_of(const pugi::xml_node& node) {
    const auto text = in_quotes(node.name(), 40);
    return text.substr(1, text.size() - 2);
  }

  /// At the first character that is more than white space.
  [[nodiscard]] Error refuse(const pugi::xml_node& node) const {
    const std::string_view text = node.value();
    const auto blank = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    const unsigned line = lines_.line_of(node.offset_debug() + static_cast<std::ptrdiff_t>(blank));
    return at_line(line, std::string(kind_of(node.type())) + ", where only elements may be");
  }

  Result<XmlElement> element(const pugi::xml_node& node, std::size_t depth) {
    XmlElement copy;
    copy.name = node.name();
    copy.line = line_of(node);
    if (depth > limits_.depth) {
      return at_line(copy.line, "more than " + std::to_string(limits_.depth) + " levels",
                     ErrorCode::too_large);
    }
    if (++elements_ > limits_.elements) {
      return at_line(copy.line, "more than " + std::to_string(limits_.elements) + " elements",
                     ErrorCode::too_large);
    }
    for (const auto& attribute : node.attributes()) {
      TRY_STATUS(add(copy, attribute));
    }
    for (const auto& child : node.children()) {
      if (child.type() != pugi::node_element) return refuse(child);
      copy.children.push_back(TRY(element(child, depth + 1)));
    }
    return copy;
  }

  Status add(XmlElement& to, const pugi::xml_attribute& attribute) const {
    const std::string name = attribute.name();
    if (to.attributes.size() == limits_.attributes) {
      return at_line(to.line, "more than " + std::to_string(limits_.attributes) + " attributes",
                     ErrorCode::too_large);
    }
    if (to.find(name) != nullptr)
      return at_line(to.line, "attribute " + in_quotes(name) + " twice");
    const std::string_view raw = attribute.value();
    if (raw.size() > limits_.attribute_bytes) {
      return at_line(to.line,
                     "attribute " + in_quotes(name) + " has more than " +
                         std::to_string(limits_.attribute_bytes) + " bytes",
                     ErrorCode::too_large);
    }
    auto value = xml_value(raw);
    if (!value)
      return at_line(to.line, "attribute " + in_quotes(name) + ": " + value.error().message);
    to.attributes.push_back({name, *std::move(value)});
    return {};
  }

  const Lines& lines_;
  const XmlLimits& limits_;
  std::size_t elements_ = 0;
};

}  // namespace

const std::string* XmlElement::find(std::string_view attribute) const {
  const auto* found = find_by(attributes, &XmlAttribute::name, attribute);
  return found != nullptr ? &found->value : nullptr;
}

Result<XmlElement> parse_xml(std::string_view text, const XmlLimits& limits) {
  if (text.size() > limits.bytes) {
    return Error{ErrorCode::too_large, "more than " + std::to_string(limits.bytes) + " bytes"};
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const Lines lines(text);
  // The parser takes a zero byte for the end of the text.
  if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
    return at_line(lines.line_of(static_cast<std::ptrdiff_t>(zero)), "a zero byte");
  }
  pugi::xml_document document;
  const auto parsed = document.load_buffer(text.data(), text.size(), kOptions, pugi::encoding_utf8);
  if (!parsed) {
    std::string what(parsed.description());
    return at_line(lines.line_of(parsed.offset), "not XML: " + to_lower(what));
  }
  return Copier(lines, limits).root(document);
}

std::string xml_escaped(std::string_view value) {
  std::string text;
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
