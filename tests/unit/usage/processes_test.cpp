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

TEST(Processes, one_whose_first_thread_has_ended_is_known) {
  const auto parsed = [](const std::string& state, const std::string& threads) {
    return usage::parse_stat("7 (x) " + state + " 1 0 0 0 0 0 0 0 0 0 0 0 0 0 20 0 " + threads +
                             " 0 500 0\n");
  };
  ASSERT_TRUE(parsed("Z", "2"));
  EXPECT_TRUE(parsed("Z", "2")->leaderless);
  EXPECT_FALSE(parsed("Z", "1")->leaderless) << "all of it has ended";
  EXPECT_FALSE(parsed("S", "2")->leaderless);
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
  EXPECT_EQ(table.doubt, "");
  ASSERT_EQ(table.by_id.size(), 1U);
  EXPECT_EQ(table.by_id.at(6).start_ticks, 7U);
}

TEST(Processes, what_may_not_be_seen_of_one_is_said) {
  const auto doubt = [](const std::string& entries) {
    const auto host = snapshot::SnapshotHost::parse("railhead-snapshot 1\n" + entries).value();
    return usage::read_processes(*host, "/proc", {99}).value().doubt;
  };
  const auto cgroup = entry("/proc/5/cgroup", "0::/kubepods/" + std::string(64, 'a') + "\n");
  const auto stat = entry("/proc/5/stat", stat_line("x", "7"));
  EXPECT_EQ(doubt("e /proc/5/cgroup EACCES\n" + stat), "/proc/5/cgroup: permission denied");
  EXPECT_EQ(doubt(cgroup + "e /proc/5/stat EIO\n"), "/proc/5/stat: input/output error");
  EXPECT_EQ(doubt(stat), "/proc/5 has no cgroup");
  EXPECT_EQ(doubt("e /proc/99/stat EPERM\n"), "/proc/99/stat: operation not permitted");
  EXPECT_EQ(doubt(cgroup), "");
}

TEST(Processes, a_number_is_still_that_of_who_began_at_the_same_time) {
  const auto host = snapshot::SnapshotHost::parse("railhead-snapshot 1\n" +
                                                  entry("/proc/6/stat", stat_line("x", "7")))
                        .value();
  usage::ProcessTable table;
  table.by_id[6].start_ticks = 7;
  table.by_id[8].start_ticks = 7;
  EXPECT_TRUE(usage::is_still(*host, "/proc", table, 6));
  EXPECT_FALSE(usage::is_still(*host, "/proc", table, 8)) << "it has ended";
  EXPECT_TRUE(usage::is_still(*host, "/proc", table, 9)) << "nothing is known of it";
  table.by_id[6].start_ticks = 3;
  EXPECT_FALSE(usage::is_still(*host, "/proc", table, 6)) << "another has its number";
}

TEST(Processes, so_many_are_kept_and_no_more) {
  std::string text = "railhead-snapshot 1\n";
  const auto cgroup = "0::/kubepods/" + std::string(64, 'a') + "\n";
  for (int id = 1; id <= 32769; ++id) {
    text += entry("/proc/" + std::to_string(id) + "/cgroup", cgroup) +
            entry("/proc/" + std::to_string(id) + "/stat", stat_line("x", "7"));
  }
  const auto host = snapshot::SnapshotHost::parse(text).value();
  const auto table = usage::read_processes(*host, "/proc", {}).value();
  EXPECT_EQ(table.by_id.size(), 32768U);
  EXPECT_EQ(table.doubt, "more than 32768 processes are in containers");
}

TEST(Processes, without_procfs_there_is_an_error) {
  const auto host = snapshot::SnapshotHost::parse("railhead-snapshot 1\n").value();
  EXPECT_EQ(usage::read_processes(*host, "/proc", {}).error().message, "/proc: no such directory");
}

}  // namespace
}  // namespace railhead::test
