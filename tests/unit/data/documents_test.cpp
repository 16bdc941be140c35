// SPDX-License-Identifier: Apache-2.0
#include "data/documents.h"

#include <gtest/gtest.h>

#include <string>

namespace railhead::data {
namespace {

/// "[2:b: 1]" for a document with one line below two.
std::string shown(std::string_view text) {
  std::string all;
  for (const auto& document : documents_in(text)) {
    all += "[" + std::to_string(document.before) + ":" + std::string(document.text) + "]";
  }
  return all;
}

TEST(Documents, are_cut_at_lines_of_three_dashes) {
  EXPECT_EQ(shown("a: 1\n---\nb: 2\n"), "[0:a: 1\n][1:\nb: 2\n]");
  EXPECT_EQ(shown("---\r\na: 1\n--- # next\nb: 2"), "[0:][0:\r\na: 1\n][2:# next\nb: 2]");
  EXPECT_EQ(shown("a\n--- \t{b: 2}\n---"), "[0:a\n][1:{b: 2}\n][2:]");
  EXPECT_EQ(shown(""), "[0:]");
}

TEST(Documents, what_only_looks_like_a_separator_is_content) {
  const std::string text = "data:\n  file: |\n    ---\n    a: 1\nb: |\n  x\n----\n---b\n";
  EXPECT_EQ(shown(text), "[0:" + text + "]");
}

}  // namespace
}  // namespace railhead::data
