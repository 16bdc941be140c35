// SPDX-License-Identifier: Apache-2.0
#include "inject/codes.h"

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "unit/source_dir.h"

namespace railhead::inject {
namespace {

std::string page() {
  std::ifstream file(test::source_dir() + "/docs/pod-interface.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

template <typename Table>
void expect_documented(const Table& table) {
  const std::string text = page();
  std::set<std::string_view> seen;
  for (const CodeMeaning& entry : table) {
    EXPECT_TRUE(seen.insert(entry.code).second) << entry.code << " stands there twice";
    const std::string row = "| `" + std::string(entry.code) + "` | " + std::string(entry.meaning);
    EXPECT_NE(text.find(row), std::string::npos) << "docs/pod-interface.md lacks: " << row << " |";
  }
}

TEST(Codes, every_reason_is_on_the_page_with_its_meaning) {
  expect_documented(kReasonCodes);
}

TEST(Codes, every_warning_is_on_the_page_with_its_meaning) {
  expect_documented(kRemarkCodes);
}

}  // namespace
}  // namespace railhead::inject
