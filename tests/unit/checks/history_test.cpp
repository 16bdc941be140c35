// SPDX-License-Identifier: Apache-2.0
#include "checks/history.h"

#include <gmock/gmock.h>

#include "host/boot_id.h"
#include "unit/checks/patient.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

using checks::History;
using checks::parse_history;
using testing::HasSubstr;

constexpr const char* kSymbols = "/sys/class/infiniband/x/ports/1/counters/symbol_error";
constexpr const char* kDowned = "/sys/class/infiniband/x/ports/1/counters/link_downed";

/// A machine with one port.
struct Look {
  unsigned seconds = 0;
  std::string symbols = "0";
  std::string downed = "0";
  std::string boot = "b0";
};

bool add(History& history, const Look& look) {
  const auto host =
      host_of("t /proc/uptime " + std::to_string(look.seconds) + ".00 1.00\n" + "t " +
              std::string(host::kBootId) + " " + look.boot + "\n" +
              "t /sys/class/infiniband/x/node_type 1: CA\n"
              "t /sys/class/infiniband/x/ports/1/state 4: ACTIVE\n" +
              "t " + kSymbols + " " + look.symbols + "\nt " + kDowned + " " + look.downed + "\n");
  const auto node = node::read_node(*host);
  return history.add(node, system::read_system(*host, node, system::Part::counters));
}

History history_of(const std::vector<Look>& looks) {
  History history;
  for (const auto& look : looks) add(history, look);
  return history;
}

TEST(History, grows_by_what_looks_saw) {
  const auto history = history_of({{100, "7"}, {400, "7"}, {700, "1207"}, {1000, "1210"}});
  const auto growth = history.growth(kSymbols, 0);
  ASSERT_TRUE(growth.has_value());
  EXPECT_EQ(growth->by, 1203U);
  EXPECT_EQ(growth->per_second, 4);
  EXPECT_EQ(growth->steepest_from, 7U);
  EXPECT_EQ(growth->steepest_to, 1207U);
  EXPECT_EQ(growth->steepest_seconds, 300U);
  EXPECT_EQ(history.growth(kSymbols, 700)->by, 3U);
  EXPECT_EQ(history.growth(kSymbols, 701)->by, 0U);
  EXPECT_FALSE(history.growth("/sys/nothing", 0).has_value());
}

TEST(History, looks_a_second_apart_are_no_slope) {
  const auto history = history_of({{100, "0"}, {101, "60"}});
  EXPECT_EQ(history.growth(kSymbols, 0)->per_second, 1);
}

TEST(History, of_a_counter_that_was_set_back_counts_what_came_after) {
  const auto history = history_of({{100, "50"}, {200, "5"}, {300, "8"}});
  EXPECT_EQ(history.growth(kSymbols, 0)->by, 3U);
}

TEST(History, knows_when_a_counter_counts_no_more) {
  const auto full = history_of({{100, "0", "255"}, {200, "0", "255"}});
  EXPECT_TRUE(full.growth(kDowned, 0)->full);
  const auto fills = history_of({{100, "0", "250"}, {200, "0", "255"}, {300, "0", "255"}});
  EXPECT_FALSE(fills.growth(kDowned, 0)->full);
  EXPECT_EQ(fills.growth(kDowned, 0)->by, 5U);
  EXPECT_TRUE(fills.growth(kDowned, 250)->full);
}

TEST(History, begins_anew_when_the_machine_was_started) {
  auto history = history_of({{100, "7"}, {400, "9"}});
  EXPECT_EQ(history.looks(), 2U);
  EXPECT_TRUE(add(history, {50, "3", "0", "b1"}));
  EXPECT_EQ(history.looks(), 1U);
  EXPECT_EQ(history.boot_id(), "b1");
  EXPECT_EQ(history.growth(kSymbols, 0)->by, 0U);
}

TEST(History, takes_no_look_without_a_later_time) {
  auto history = history_of({{100, "7"}});
  EXPECT_FALSE(add(history, {100, "9"}));
  EXPECT_FALSE(add(history, {99, "9"}));
  EXPECT_FALSE(add(history, {200, "9", "0", ""}));
  EXPECT_EQ(history.looks(), 1U);
}

TEST(History, leaves_out_what_is_no_number) {
  const auto history = history_of({{100, "7"}, {200, "garbage"}, {300, "9"}});
  EXPECT_EQ(history.growth(kSymbols, 0)->by, 2U);
  EXPECT_FALSE(history_of({{100, "-1"}}).growth(kSymbols, 0).has_value());
}

TEST(History, is_bounded_however_long_an_agent_looks) {
  History history;
  for (unsigned n = 1; n <= 2000; ++n) {
    add(history, {n * 300, std::to_string(n)});
  }
  EXPECT_LT(to_text(history).size(), 2000U);
  const auto growth = history.growth(kSymbols, 0);
  EXPECT_EQ(growth->by, History::kMaxSteps - 1);
  EXPECT_EQ(history.looks(), 2000U);
}

TEST(History, forgets_what_is_older_than_its_window) {
  auto history = history_of({{100, "1"}, {200, "2"}, {50'000, "2"}, {50'100, "2"}});
  EXPECT_EQ(history.growth(kSymbols, 0)->by, 0U);
  EXPECT_EQ(parse_history(to_text(history))->growth(kSymbols, 0)->by, 0U);
}

TEST(History, is_read_as_it_was_written) {
  const auto history = history_of({{100, "7"}, {400, "9"}, {700, "9", "1"}});
  const auto read = parse_history(to_text(history));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(*read, history);
}

TEST(History, a_file_that_is_none_is_refused_with_the_reason) {
  const auto good = to_text(history_of({{100, "7"}, {400, "9"}}));
  const auto with = [&](const std::string& what, const std::string& instead) {
    auto text = good;
    text.replace(text.find(what), what.size(), instead);
    const auto read = parse_history(text);
    return read ? std::string("accepted") : read.error().message;
  };
  EXPECT_THAT(parse_history(good.substr(0, good.size() / 2)).error().message, HasSubstr("line"));
  EXPECT_THAT(with("DoctorHistory", "Pods"), HasSubstr("DoctorHistory"));
  EXPECT_THAT(with("\"b0\"", "\"\""), HasSubstr("bootId"));
  EXPECT_THAT(with("100-400:9", "400-100:9"), HasSubstr("order"));
  EXPECT_THAT(with("100-400:9", "100-401:9"), HasSubstr("order"));
  EXPECT_THAT(with("100-400:9", "100:9"), HasSubstr("AFTER-SEEN"));
  EXPECT_THAT(with("100-100:7 100-400:9", ""), HasSubstr("without steps"));
  EXPECT_THAT(with("\"lastLook\": 400", "\"lastLook\": 1"), HasSubstr("order"));
}

// What the checks make of it.

constexpr const char* kMlx5_3 = "/sys/class/infiniband/mlx5_3/ports/1/";

/// A DGX H100 with these counters of mlx5_3 at these seconds.
struct Machine {
  unsigned seconds;
  std::string symbols = "0";
  std::string downed = "0";
};

std::vector<checks::Finding> after(const std::vector<Machine>& looks) {
  History history;
  for (const auto& look : looks) {
    auto patient = healthy();
    patient.text("/proc/uptime", std::to_string(look.seconds) + ".00 1.00")
        .text(host::kBootId, "b0")
        .set("infiniband/mlx5_3/ports/1/counters/symbol_error", look.symbols)
        .set("infiniband/mlx5_3/ports/1/counters/link_downed", look.downed);
    snapshot::SnapshotHost host(patient.snapshot());
    auto node = node::read_node(host);
    auto system = system::read_system(host, node, system::Part::all);
    history.add(node, system);
    if (&look != &looks.back()) continue;
    checks::MoreFacts more;
    more.history = history;
    const checks::Machine machine(std::move(node), std::move(system), {}, std::move(more));
    return checks::run_checks(machine,
                              {checks::find_check("link.errors"), checks::find_check("link.flap")});
  }
  return {};
}

TEST(DoctorWithHistory, an_infiniband_port_that_goes_down_again_and_again_flaps) {
  const auto finding = finding_of(after({{5000, "0", "1"}, {5300, "0", "2"}, {5600, "0", "4"}}),
                                  "link.flap", "mlx5_3");
  EXPECT_EQ(finding.state, checks::State::warn);
  EXPECT_EQ(finding.observed, "3 times down");
  EXPECT_EQ(finding.evidence.at(0).path, std::string(kMlx5_3) + "counters/link_downed");
  const auto twice = finding_of(after({{5000, "0", "1"}, {8600, "0", "3"}}), "link.flap", "mlx5_3");
  EXPECT_EQ(twice.state, checks::State::pass);
  EXPECT_EQ(twice.observed, "2 times down in the last 60 minutes");
}

TEST(DoctorWithHistory, what_went_down_while_the_machine_started_does_not_count) {
  EXPECT_EQ(
      finding_of(after({{60, "0", "0"}, {360, "0", "9"}, {5000, "0", "9"}}), "link.flap", "mlx5_3")
          .state,
      checks::State::pass);
}

TEST(DoctorWithHistory, a_full_link_downed_proves_nothing) {
  const auto finding =
      finding_of(after({{5000, "0", "255"}, {5300, "0", "255"}}), "link.flap", "mlx5_3");
  EXPECT_EQ(finding.state, checks::State::unknown);
  EXPECT_THAT(finding.reason, HasSubstr("full"));
}

TEST(DoctorWithHistory, a_slope_between_two_looks_is_seen_without_waiting) {
  const auto finding = finding_of(after({{5000, "7"}, {5300, "7"}, {5600, "4007"}, {5900, "4007"}}),
                                  "link.errors", "mlx5_3/1");
  EXPECT_EQ(finding.state, checks::State::warn);
  EXPECT_EQ(finding.observed, "1 counter grew between looks of the last 15 minutes");
  EXPECT_EQ(finding.evidence.at(0).value, "7 -> 4007 in 300 s");
}

TEST(DoctorWithHistory, what_grew_more_than_an_hour_ago_is_over) {
  EXPECT_EQ(
      finding_of(after({{5000, "7"}, {5300, "4007"}, {9000, "4007"}}), "link.errors", "mlx5_3/1")
          .state,
      checks::State::pass);
}

TEST(DoctorWithHistory, one_look_alone_says_nothing) {
  const auto findings = after({{5000, "7"}});
  EXPECT_EQ(finding_of(findings, "link.errors", "node").state, checks::State::skip);
  EXPECT_EQ(finding_of(findings, "link.flap", "mlx5_3").state, checks::State::skip);
}

}  // namespace
}  // namespace railhead::test
