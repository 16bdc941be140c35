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
    const auto text = render(report, {});
    for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ');
    EXPECT_EQ(text.find('\x7f'), std::string::npos);
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
    EXPECT_EQ(std::ranges::count(text, '\n'), 4);
  }
}

TEST(Report, is_data_and_notes) {
  Report report;
  report.add("TITLE", {"line"});
  report.add(kTable, "none");
  report.note("WARNINGS", {"one"});
  report.sections.push_back({"MORE", kTable, {"below"}});
  const std::string rows = "mlx5_0   ACTIVE\né        -\n";
  const std::string table = "NAME     STATE\n" + rows;
  EXPECT_EQ(to_table(report, {0, true, false, Printed::data}),
            "TITLE\nline\n\n" + table + "\nMORE\n" + table + "below\n");
  EXPECT_EQ(to_table(report, {0, true, false, Printed::notes}), "WARNINGS\none\n");
  EXPECT_EQ(to_table(report, {0, false, false, Printed::data}), rows);
  EXPECT_EQ(to_table(report, {0, false, false, Printed::notes}),
            "TITLE\nline\n\nWARNINGS\none\n\nMORE\n" + rows + "below\n");
  EXPECT_EQ(to_json(report, {0, true, false, Printed::notes}), "");
}

TEST(Report, that_there_is_nothing_and_columns_without_room_are_notes) {
  Report report;
  report.add(Table(), "none");
  EXPECT_EQ(to_table(report, {0, true, false, Printed::data}), "");
  EXPECT_EQ(to_table(report, {0, true, false, Printed::notes}), "none\n");
  report.sections = {{"", {{{"A", kKept}, {"B"}}, {{std::string(16, 'a'), "b"}}}, {}}};
  EXPECT_EQ(to_table(report, {16, true, false, Printed::data}), "A\naaaaaaaaaaaaaaaa\n");
  EXPECT_EQ(to_table(report, {16, true, false, Printed::notes}), "no room for B; …\n");
}

Table nics_table() {
  Table table;
  table.add({{"NAME", "mlx5_0", kKept},
             {"NETDEV", "ens1f0np0"},
             {"ROLE", "compute"},
             {"USABLE", "no: port 1 is DOWN", kKept, true},
             {"GUID", "0011:2233", kWide}});
  return table;
}

TEST(Table, that_is_too_wide_loses_columns_from_the_right) {
  EXPECT_EQ(render_table(nics_table(), Column::Shown::always, {40, true, false}),
            "NAME     NETDEV      USABLE\n"
            "mlx5_0   ens1f0np0   no: port 1 is DOWN\n"
            "no room for ROLE; -o wide prints all\n");
}

TEST(Table, cuts_a_long_text_before_it_loses_columns) {
  EXPECT_EQ(render_table(nics_table(), Column::Shown::always, {48, true, false}),
            "NAME     NETDEV      ROLE      USABLE\n"
            "mlx5_0   ens1f0np0   compute   no: port 1 is DO…\n");
}

TEST(Table, keeps_what_it_must_in_any_width) {
  for (std::size_t columns = 1; columns < 60; ++columns) {
    const auto text = render_table(nics_table(), Column::Shown::always, {columns, true, false});
    EXPECT_NE(text.find("NAME"), std::string::npos) << columns;
    EXPECT_NE(text.find("USABLE"), std::string::npos) << columns;
  }
}

TEST(Table, is_red_where_it_is_broken_and_can_lack_headers) {
  EXPECT_EQ(render_table(nics_table(), Column::Shown::always, {0, false, true}),
            "mlx5_0   ens1f0np0   compute   \x1b[31mno: port 1 is DOWN\x1b[0m\n");
}

TEST(Table, that_is_wide_is_never_cut) {
  Report report;
  report.sections.push_back({"", nics_table(), {}});
  EXPECT_EQ(to_wide_table(report, {10, true, false}), to_wide_table(report));
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
