// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "config/settings.h"
#include "unit/source_dir.h"

namespace railhead::config {
namespace {

/// A bar would end the cell.
std::string in_a_cell(std::string_view text) {
  std::string out;
  for (const char character : text) {
    if (character == '|') out += '\\';
    out += character;
  }
  return out;
}

TEST(ConfigurationDocument, has_every_setting_with_flag_variable_default_and_meaning) {
  std::ifstream file(test::source_dir() + "/docs/configuration.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const auto& spec : kSettings) {
    const auto code = [](std::string_view word) {
      return word.empty() ? std::string() : "`" + std::string(word) + "`";
    };
    const std::string row = "| " + code(spec.key) + " | " + code(spec.flag) + " | " +
                            code(spec.variable()) + " | " + code(spec.fallback) + " | " +
                            in_a_cell(spec.shape) + " | " + std::string(spec.help);
    // A link may stand behind it.
    EXPECT_NE(text.str().find(row), std::string::npos) << "docs/configuration.md lacks the row\n"
                                                       << row << " |";
  }
}

}  // namespace
}  // namespace railhead::config
