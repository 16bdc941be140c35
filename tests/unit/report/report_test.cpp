// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace railhead::report {
namespace {

const Table kTable{{{"NAME"}, {"STATE"}, {"GUID", Column::Shown::wide}},
                   {{"mlx5_0", "ACTIVE", "a"}, {"é", "", "b"}}};

TEST(Report, tables_have_kubectl_s_look) {
  EXPECT_EQ(render_table(kTable, Column::Shown::always),
            "NAME     STATE\nmlx5_0   ACTIVE\né        -\n");
}

TEST(Report, wide_adds_columns_at_their_place) {
  EXPECT_EQ(render_table(kTable, Column::Shown::wide),
            "NAME     STATE    GUID\nmlx5_0   ACTIVE   a\né        -        b\n");
}

TEST(Report, sections_are_separated_by_one_blank_line) {
  Report report;
  report.sections = {{"", kTable, {}}, {"WARNINGS", {}, {"one"}}};
  const auto text = to_table(report);
  EXPECT_NE(text.find("-\n\nWARNINGS\none\n"), std::string::npos) << text;
}

TEST(Report, nothing_reaches_a_terminal_that_it_would_act_on) {
  Report report;
  report.sections = {{"T\x1b[1m",
                      {{{"N\x9b"
                         "1m"}},
                       {{"a\x1b[31m\nb\xc2\x9bm"}}},
                      {"line\r\a\x7f"}}};
  for (const auto render : {to_table, to_wide_table}) {
    const auto text = render(report);
    for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ');
    EXPECT_EQ(text.find('\x7f'), std::string::npos);
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  }
}

TEST(Report, documents_carry_version_and_kind_first) {
  Report report;
  report.json = make_document("Topology");
  report.json["gpus"] = data::Json::array();
  EXPECT_EQ(to_json(report),
            "{\n  \"apiVersion\": \"railhead.io/v1alpha1\",\n  \"kind\": \"Topology\",\n"
            "  \"gpus\": []\n}\n");
}

TEST(Report, unknown_formats_are_not_guessed) {
  EXPECT_EQ(find_format("JSON"), nullptr);
  ASSERT_NE(find_format("wide"), nullptr);
  EXPECT_EQ(find_format("wide")->render, to_wide_table);
}

}  // namespace
}  // namespace railhead::report
