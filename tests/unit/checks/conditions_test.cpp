// SPDX-License-Identifier: Apache-2.0
#include "checks/conditions.h"

#include <gmock/gmock.h>

#include <map>

#include "base/text.h"
#include "base/utf8.h"
#include "data/below.h"
#include "unit/checks/patient.h"
#include "unit/host/temporary_directory.h"
#include "unit/source_dir.h"

namespace railhead::test {
namespace {

using checks::Condition;
using checks::Finding;
using checks::Outcome;
using checks::State;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

/// The condition of this type.
Condition of(std::string_view type, const std::vector<Finding>& findings) {
  for (const auto& one : checks::conditions_of(findings)) {
    if (one.type == type) return one;
  }
  ADD_FAILURE() << type;
  return {};
}

Finding finding(std::string_view id, State state, const std::string& text = "text") {
  Finding one{id, "node", state};
  one.observed = one.reason = text;
  one.expected = "right";
  return one;
}

TEST(Conditions, a_healthy_machine_has_none_of_the_problems) {
  for (const auto& one : checks::conditions_of(healthy().examine())) {
    EXPECT_EQ(one.outcome, Outcome::good) << one.type << ": " << one.message;
  }
}

TEST(Conditions, a_failure_is_named_with_what_is_expected) {
  auto patient = healthy();
  patient.set("infiniband/mlx5_3/ports/1/state", "1: DOWN");
  const auto findings = patient.examine();
  const auto link = of("RDMALinkUnhealthy", findings);
  EXPECT_EQ(link.outcome, Outcome::problem);
  EXPECT_EQ(link.reason, "RDMALinkIsDown");
  EXPECT_EQ(link.message, "link.port-state mlx5_3/1: DOWN, LinkUp, expected ACTIVE");
  EXPECT_EQ(of("RDMADeviceMissing", findings).outcome, Outcome::good);
}

TEST(Conditions, several_failures_are_one_problem_with_their_number) {
  const auto one = of("RDMADriverUnhealthy",
                      {finding("drv.modules", State::fail, "no ib_umad"),
                       finding("drv.modules", State::fail), finding("log.firmware", State::fail)});
  EXPECT_EQ(one.message, "drv.modules node: no ib_umad, expected right (and 2 more)");
}

TEST(Conditions, a_warning_is_no_problem) {
  const auto one = of("GPUDirectRDMAUnusable", {finding("gdr.route", State::warn)});
  EXPECT_EQ(one.outcome, Outcome::good);
  EXPECT_EQ(one.reason, "GPUDirectRDMAIsUsable");
}

TEST(Conditions, what_is_not_known_is_unknown_with_the_reason) {
  const auto one = of(
      "RDMALinkUnhealthy",
      {finding("link.port-state", State::unknown, "state: EIO"), finding("link.sm", State::pass)});
  EXPECT_EQ(one.outcome, Outcome::unknown);
  EXPECT_EQ(one.reason, checks::kUnknownReason);
  EXPECT_EQ(one.message, "link.port-state node: state: EIO");
  EXPECT_EQ(of("RDMALinkUnhealthy",
               {finding("link.port-state", State::unknown), finding("link.sm", State::fail)})
                .outcome,
            Outcome::problem);
  EXPECT_EQ(of("RDMALinkUnhealthy", {}).outcome, Outcome::unknown);
}

TEST(Conditions, what_an_agent_in_a_pod_cannot_see_is_left_out_and_said) {
  const auto blind = of("RDMADriverUnhealthy", {finding("drv.modules", State::pass),
                                                finding("log.firmware", State::unknown)});
  EXPECT_EQ(blind.outcome, Outcome::good);
  EXPECT_EQ(blind.message, "modules are loaded; not seen from here: log.firmware");
  const auto half = of("RDMADriverUnhealthy", {finding("drv.modules", State::pass),
                                               finding("log.firmware", State::unknown),
                                               finding("log.firmware", State::pass)});
  EXPECT_EQ(half.outcome, Outcome::unknown) << "it is seen, and not all of it is known";
  const auto seen = of("RDMADriverUnhealthy",
                       {finding("drv.modules", State::pass), finding("log.firmware", State::pass)});
  EXPECT_EQ(seen.message, "modules are loaded, and no firmware has died");
}

TEST(Conditions, a_node_without_any_of_it_has_nothing_to_judge) {
  const auto one = of("RDMALinkUnhealthy", {finding("link.port-state", State::skip, "no port"),
                                            finding("link.sm", State::skip)});
  EXPECT_EQ(one.outcome, Outcome::good);
  EXPECT_EQ(one.message, "nothing to judge: no port");
}

TEST(Conditions, a_message_is_short_and_one_line_of_text) {
  const auto long_text = "a\nb\xff" + std::string(254, 'x') + "äöü";
  const auto one = of("GPUDirectRDMAUnusable", {finding("gdr.route", State::fail, long_text)});
  EXPECT_LE(one.message.size(), 256U);
  EXPECT_THAT(one.message, testing::StartsWith("gdr.route node: a?b?xxx"));
  EXPECT_THAT(one.message, EndsWith("…"));
  EXPECT_TRUE(is_plain_text(one.message));
}

TEST(Conditions, without_a_look_all_are_unknown) {
  for (const auto& one : checks::unknown_conditions("why\n")) {
    EXPECT_EQ(one.outcome, Outcome::unknown);
    EXPECT_EQ(one.message, "why?");
  }
}

TEST(Conditions, name_checks_of_the_node_once) {
  std::map<std::string_view, int> types;
  std::map<std::string_view, int> ids;
  for (const auto& row : checks::condition_rows()) {
    ++types[row.type];
    for (const auto list : {row.checks, row.also}) {
      for (const auto id : split_words(list)) {
        ++ids[id];
        ASSERT_NE(checks::find_check(id), nullptr) << id;
        EXPECT_EQ(checks::find_check(id)->scope, checks::Scope::node) << id;
      }
    }
  }
  for (const auto& [type, count] : types) EXPECT_EQ(count, 1) << type;
  for (const auto& [id, count] : ids) EXPECT_EQ(count, 1) << id;
}

/// Whoever had the conditions by node-problem-detector has the same by the agent.
TEST(Conditions, are_those_of_the_configuration_for_node_problem_detector) {
  const auto path = source_dir() + "/deploy/charts/files/railhead-doctor.json";
  const auto config = data::parse_json(file_text(path)).value();
  std::vector<std::string> theirs;
  for (const auto& one : data::items_below(config, {"conditions"})) {
    theirs.push_back(std::string(data::text_below(one, {"type"})) + " " +
                     std::string(data::text_below(one, {"reason"})) + ": " +
                     std::string(data::text_below(one, {"message"})));
  }
  for (const auto& rule : data::items_below(config, {"rules"})) {
    auto line = std::string(data::text_below(rule, {"condition"})) + " " +
                std::string(data::text_below(rule, {"reason"})) + ":";
    for (const auto& word : data::items_below(rule, {"args"})) {
      if (word.scalar != "doctor" && word.scalar != "--check") line += " " + word.scalar;
    }
    theirs.push_back(line);
  }
  std::vector<std::string> ours;
  const auto text = [](auto... parts) { return (std::string() + ... + std::string(parts)); };
  for (const auto& row : checks::condition_rows()) {
    ours.push_back(text(row.type, " ", row.good_reason, ": ", row.good_message, row.also_message));
  }
  for (const auto& row : checks::condition_rows()) {
    ours.push_back(text(row.type, " ", row.problem_reason, ": ", row.checks,
                        row.also.empty() ? "" : " ", row.also));
  }
  EXPECT_EQ(theirs, ours);
}

}  // namespace
}  // namespace railhead::test
