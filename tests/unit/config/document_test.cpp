// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "config/settings.h"
#include "unit/source_dir.h"

namespace railhead::config {
namespace {

TEST(ConfigurationDocument, has_every_setting_with_flag_variable_default_and_meaning) {
  std::ifstream file(test::source_dir() + "/docs/configuration.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const auto& spec : kSettings) {
    const auto code = [](std::string_view word) {
      return word.empty() ? std::string() : "`" + std::string(word) + "`";
    };
    const std::string start = "| " + code(spec.key) + " | " + code(spec.flag) + " | " +
                              code(spec.variable()) + " | " + code(spec.fallback) + " | ";
    const auto at = text.str().find(start);
    ASSERT_NE(at, std::string::npos) << start;
    const auto line = text.str().substr(at, text.str().find('\n', at) - at);
    EXPECT_NE(line.find(spec.help), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace railhead::config
