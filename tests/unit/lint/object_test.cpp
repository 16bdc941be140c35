// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "unit/lint/lint_text.h"

namespace railhead::test {
namespace {

TEST(LintObjects, places_are_those_of_the_file) {
  EXPECT_EQ(said_of("a: 1\n---\n# two\nkind: Pod\nmetadata:\n  namespace: a.\n---\nb: [\n"),
            "FAIL manifest.name 6:14\nFAIL manifest.syntax 9:1\n");
}

TEST(LintObjects, a_tab_is_named_where_it_stands) {
  const auto found = lint_text("kind: Pod\nspec:\n\tcontainers: []\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "a tab in the indentation, where YAML allows blanks only");
  EXPECT_EQ(found[0].mark.line, 3U);
}

TEST(LintObjects, a_template_of_helm_is_not_known) {
  EXPECT_EQ(said_of("kind: {{ .Values.kind }}\n---\nkind: Pod\nmetadata: {namespace: b.}\n"),
            "UNKNOWN manifest.unread 1:8\nFAIL manifest.name 4:23\n");
}

TEST(LintObjects, items_of_a_list_are_objects) {
  EXPECT_EQ(said_of("kind: List\nitems:\n- kind: Pod\n  metadata: {namespace: a.}\n"),
            "FAIL manifest.name 4:25\n");
}

TEST(LintObjects, items_of_a_list_share_its_text) {
  lint::Objects objects;
  read_objects(
      {"m.yaml", "kind: List\nitems:\n- {kind: List, items: [{a: 1}, {a: 2}]}\n- {a: 3}\n"},
      objects);
  ASSERT_EQ(objects.all.size(), 3U);
  EXPECT_EQ(objects.all[0].file(), "m.yaml");
  EXPECT_EQ(objects.all[0].source, objects.all[1].source);
  EXPECT_EQ(objects.all[0].source, objects.all[2].source);
}

TEST(LintObjects, a_complaint_of_a_plugins_file_in_a_list_has_its_line) {
  const std::string item =
      "- kind: ConfigMap\n  data:\n    config.json: |\n"
      "      {\"configList\": [{\"resourceName\": \"a\", \"rdmaHcaMax\": -1,\n"
      "       \"selectors\": {\"ifNames\": [\"i\"]}}]}\n";
  EXPECT_EQ(said_of("# one\n---\nkind: List\nitems:\n" + item + item),
            "FAIL plugin.file 8:59\nFAIL plugin.file 13:59\n");
}

TEST(LintObjects, a_complaint_of_a_plugins_file_has_its_line) {
  const auto found = lint_text(
      "kind: ConfigMap\nmetadata: {name: n}\ndata:\n  config.json: |\n    {\"configList\": [\n"
      "      {\"resourceName\": \"a\", \"rdmaHcaMax\": -1,\n       \"selectors\": {\"ifNames\": "
      "[\"i\"]}}]}\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, "plugin.file");
  EXPECT_EQ(found[0].mark.line, 6U) << found[0].what;
}

TEST(LintObjects, a_rule_says_no_more_than_64_things) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "kind: Pod\nmetadata: {namespace: a.}\n---\n";
  const auto found = lint_text(text);
  ASSERT_EQ(found.size(), 64U);
  EXPECT_NE(found.back().what.find("(and 36 more of this rule)"), std::string::npos);
}

TEST(LintObjects, too_much_is_not_known_and_said) {
  lint::Objects objects;
  read_objects({"m.yaml", std::string(lint::kMaxFileBytes + 1, '#')}, objects);
  ASSERT_EQ(objects.unread.size(), 1U);
  EXPECT_FALSE(objects.unread[0].is_wrong);
}

}  // namespace
}  // namespace railhead::test
