// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lint/lint.h"

namespace railhead::test {

inline std::vector<lint::Finding> lint_text(const std::string& text) {
  lint::Objects objects;
  lint::read_objects({"m.yaml", text}, objects);
  const auto given = lint::give(std::move(objects), {});
  return lint::lint(given);
}

/// "WARN env.off 7:5", each in a line.
inline std::string said_of(const std::string& text) {
  std::string said;
  for (const auto& one : lint_text(text)) {
    said += std::string(to_string(one.severity)) + " " + std::string(one.rule) + " " +
            std::to_string(one.mark.line) + ":" + std::to_string(one.mark.column) + "\n";
  }
  return said;
}

}  // namespace railhead::test
