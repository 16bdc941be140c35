// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/value.h"

namespace railhead::data {

/// A part of a text between lines that separate documents.
struct Document {
  std::string_view text;
  unsigned before = 0;  ///< lines of the whole text above its first

  /// Below as many empty lines as stand above it: what is parsed of it has the lines of the whole.
  [[nodiscard]] std::string in_place() const { return std::string(before, '\n').append(text); }
};

/// The documents of a YAML stream; one that is empty is among them. A line separates them that
/// begins with "---" and goes on with white space or not at all: an indented one is content (YAML
/// 1.2, 9.1.4). What stands behind the dashes is the beginning of the document.
std::vector<Document> documents_in(std::string_view text);

/// What was parsed of a document alone gets the lines of the whole.
void move_down(Value& value, unsigned lines);

}  // namespace railhead::data
