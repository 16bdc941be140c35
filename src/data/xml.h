// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace railhead::data {

struct XmlAttribute {
  std::string name;
  std::string value;

  friend bool operator==(const XmlAttribute&, const XmlAttribute&) = default;
};

/// An element of a document that is nothing but elements and attributes.
struct XmlElement {
  std::string name;
  std::vector<XmlAttribute> attributes;  ///< in the order of the text; names are unique
  std::vector<XmlElement> children;
  unsigned line = 0;  ///< where it begins; 0: not from a text

  /// Value of an attribute; nullptr where there is none.
  [[nodiscard]] const std::string* find(std::string_view attribute) const;
};

/// What a document may cost.
struct XmlLimits {
  std::size_t bytes = std::size_t{1} << 20;
  std::size_t depth = 32;  ///< the root element is the first level
  std::size_t elements = 65536;
  std::size_t attributes = 32;         ///< of one element
  std::size_t attribute_bytes = 4096;  ///< of one value
};

/// The root element of a UTF-8 document. Comments, processing instructions and the XML declaration
/// are skipped. Refused, with the line: document types, text between elements, references to
/// anything but the five predefined entities and character numbers, an attribute twice, and what
/// is above the limits. Nothing outside the text is ever looked at.
Result<XmlElement> parse_xml(std::string_view text, const XmlLimits& limits = {});

/// The text to put between tags, or between double quotes, for this value.
std::string xml_escaped(std::string_view value);

/// The element with all below it, indented by two, without an XML declaration.
std::string to_xml_text(const XmlElement& element);

}  // namespace railhead::data
