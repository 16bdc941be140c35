// SPDX-License-Identifier: Apache-2.0
#include "usage/processes.h"

#include <gtest/gtest.h>

#include "snapshot/snapshot_host.h"

namespace railhead::test {
namespace {

std::string stat_line(const std::string& name, const std::string& start) {
  std::string text = "4711 (" + name + ") S 12";
  for (int i = 0; i < 17; ++i) text += " 0";
  return text + " " + start + " 0 0\n";
}

TEST(Processes, a_name_may_hold_parentheses_and_spaces) {
  const auto process = usage::parse_stat(stat_line("a) (b) R 1", "900"));
  ASSERT_TRUE(process);
  EXPECT_EQ(process->name, "a) (b) R 1");
  EXPECT_EQ(process->parent, 12U);
  EXPECT_EQ(process->start_ticks, 900U);
}

TEST(Processes, what_is_no_stat_line_is_nothing) {
  for (const auto& text : {std::string(), std::string("4711 (x"), std::string(")("),
                           std::string("1 (x) S 1 2"), stat_line("x", "soon")}) {
    EXPECT_FALSE(usage::parse_stat(text)) << text;
  }
}

TEST(Processes, uptime_is_in_hundredths) {
  EXPECT_EQ(usage::parse_uptime("123.45 600.00\n"), 12345U);
  for (const auto* text : {"", "1", "1.2", "x.00", "-1.00", "99999999999999.00"}) {
    EXPECT_EQ(usage::parse_uptime(text), std::nullopt) << text;
  }
}

std::string entry(const std::string& path, const std::string& content) {
  return "f " + path + " " + std::to_string(content.size()) + "\n" + content + "\n";
}

TEST(Processes, one_that_ends_between_two_reads_is_not_there) {
  const auto cgroup = "0::/kubepods/" + std::string(64, 'a') + "\n";
  const auto host =
      snapshot::SnapshotHost::parse("railhead-snapshot 1\n" + entry("/proc/5/cgroup", cgroup) +
                                    entry("/proc/6/cgroup", cgroup) +
                                    entry("/proc/6/stat", stat_line("x", "7")) + "x /proc/7\n")
          .value();
  const auto table = usage::read_processes(*host, "/proc", {99}).value();
  EXPECT_TRUE(table.complete);
  ASSERT_EQ(table.by_id.size(), 1U);
  EXPECT_EQ(table.by_id.at(6).start_ticks, 7U);
}

TEST(Processes, hidden_ones_make_the_table_incomplete) {
  const auto host =
      snapshot::SnapshotHost::parse("railhead-snapshot 1\ne /proc/5/cgroup EACCES\n").value();
  EXPECT_FALSE(usage::read_processes(*host, "/proc", {}).value().complete);
}

TEST(Processes, without_procfs_there_is_an_error) {
  const auto host = snapshot::SnapshotHost::parse("railhead-snapshot 1\n").value();
  EXPECT_EQ(usage::read_processes(*host, "/proc", {}).error().message, "/proc: no such directory");
}

}  // namespace
}  // namespace railhead::test
