// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>

#include "base/text.h"
#include "unit/checks/patient.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Doctor, finds_nothing_on_a_healthy_machine) {
  const auto findings = healthy().examine();
  EXPECT_THAT(complaints(findings), IsEmpty());
  EXPECT_GT(findings.size(), 100U);
}

TEST(Doctor, shows_evidence_for_whatever_it_says) {
  for (const auto& name : machine_names()) {
    for (const auto& finding : Patient::of(name).examine()) {
      const auto about = name + ": " + std::string(finding.id) + " " + finding.subject;
      if (finding.state == checks::State::skip) {
        EXPECT_FALSE(finding.reason.empty()) << about;
        continue;
      }
      EXPECT_FALSE(finding.evidence.empty()) << about;
      for (const auto& evidence : finding.evidence) EXPECT_FALSE(evidence.path.empty()) << about;
      const bool unknown = finding.state == checks::State::unknown;
      EXPECT_FALSE(unknown ? finding.reason.empty() : finding.observed.empty()) << about;
    }
  }
}

TEST(Doctor, says_what_helps_wherever_something_is_wrong) {
  for (const auto& name : machine_names()) {
    for (const auto& finding : Patient::of(name).examine()) {
      if (finding.state != checks::State::fail && finding.state != checks::State::warn) continue;
      const auto about = name + ": " + std::string(finding.id) + " " + finding.subject;
      EXPECT_FALSE(finding.observed.empty()) << about;
      EXPECT_FALSE(finding.expected.empty()) << about;
      EXPECT_FALSE(finding.effect.empty()) << about;
      EXPECT_FALSE(finding.remedy.empty()) << about;
      EXPECT_NE(finding.remedy_class, checks::RemedyClass::none) << about;
    }
  }
}

/// A check that looks at a part which its row does not name finds it when all are made.
TEST(Doctor, makes_each_check_alone_as_it_makes_it_among_all) {
  const auto patient = healthy();
  const auto all = states_of(patient.examine());
  for (const auto* check : checks::all_checks()) {
    auto alone = patient.examine({}, {check});
    std::erase_if(alone, [&](const auto& finding) { return finding.id != check->id; });
    EXPECT_FALSE(alone.empty()) << check->id;
    for (const auto& [what, state] : states_of(alone)) EXPECT_EQ(all.at(what), state) << what;
  }
}

TEST(Doctor, lists_checks_behind_those_that_they_depend_on) {
  std::set<std::string_view> before;
  for (const auto* check : checks::all_checks()) {
    EXPECT_TRUE(before.insert(check->id).second) << check->id << " stands twice";
    EXPECT_EQ(std::string(check->id), to_lower(check->id));
    for (const auto word : split_words(check->after)) {
      EXPECT_TRUE(before.contains(word.substr(0, word.find(':'))))
          << check->id << " after " << word;
    }
    EXPECT_FALSE(check->what.empty() || check->source.empty() || check->rule.empty() ||
                 check->about.empty())
        << check->id;
    EXPECT_TRUE(check->what.ends_with(".")) << check->id;
  }
}

TEST(Doctor, knows_nothing_where_nothing_was_recorded) {
  for (const auto& finding : Patient("railhead-snapshot 1\n").examine()) {
    EXPECT_NE(finding.state, checks::State::fail) << finding.id << " " << finding.observed;
  }
}

TEST(Doctor, says_unknown_for_what_may_not_be_read) {
  auto patient = healthy();
  patient.unreadable("/proc/modules", "EACCES")
      .unreadable("/dev/kmsg", "EPERM")
      .unreadable("/proc/driver/nvidia/version", "EACCES")
      .unreadable("/proc/811/limits", "EACCES");
  for (const auto& finding : patient.examine()) {
    EXPECT_NE(finding.state, checks::State::fail) << finding.id << " " << finding.observed;
    EXPECT_NE(finding.state, checks::State::warn) << finding.id << " " << finding.observed;
  }
  const auto log = finding_of(patient.examine(), "log.firmware", "node");
  EXPECT_EQ(log.state, checks::State::unknown);
  EXPECT_EQ(log.reason, "/dev/kmsg: EPERM");
  ASSERT_EQ(log.evidence.size(), 1U);
  EXPECT_EQ(log.evidence[0].error, "EPERM");
}

/// Seed 003: an A100 node with two cards, of which one is cabled, and a bond for the node's own
/// network.
Patient one_cabled() {
  auto patient = healthy();
  for (const auto* address :
       {"0000:29:00.0", "0000:29:00.1", "0000:4f:00.0", "0000:5e:00.0", "0000:9a:00.0",
        "0000:aa:00.0", "0000:aa:00.1", "0000:c0:00.0", "0000:ce:00.0", "0000:dc:00.0"}) {
    patient.unplug(address);
  }
  return patient.set("infiniband/mlx5_3/ports/1/state", "1: DOWN")
      .set("infiniband/mlx5_3/ports/1/phys_state", "2: Polling");
}

std::vector<std::string> link_complaints(const Patient& patient, const checks::Wishes& wishes) {
  std::vector<std::string> lines;
  for (const auto& line : complaints(patient.examine(wishes))) {
    if (line.find(" link.") != std::string::npos) lines.push_back(line);
  }
  return lines;
}

TEST(Doctor, takes_the_operators_word_for_a_port_without_a_cable) {
  checks::Wishes wishes;
  auto patient = healthy();
  patient.set("infiniband/mlx5_3/ports/1/state", "1: DOWN");
  EXPECT_THAT(link_complaints(patient, wishes), ElementsAre("FAIL link.port-state mlx5_3/1"));
  affinity::Expectation unused;
  unused.name_globs = "mlx5_3";
  unused.where = "config.yaml:4:5";
  wishes.rules.expect = {unused};
  EXPECT_THAT(complaints(patient.examine(wishes)), IsEmpty());
  const auto finding = finding_of(patient.examine(wishes), "link.port-state", "mlx5_3");
  EXPECT_EQ(finding.observed, "unused by design (config.yaml:4:5)");
}

TEST(Doctor, warns_where_as_many_ports_are_down_as_up) {
  EXPECT_THAT(link_complaints(one_cabled(), {}), ElementsAre("WARN link.port-state mlx5_3/1"));
}

TEST(Doctor, has_no_warning_for_seed_003_and_its_one_cable) {
  checks::Wishes wishes;
  affinity::Expectation one_up;
  one_up.kind = affinity::Expectation::Kind::one_up;
  one_up.link_layer = node::LinkLayer::infiniband;
  wishes.rules.expect = {one_up};
  EXPECT_THAT(complaints(one_cabled().examine(wishes)), IsEmpty());
  affinity::Expectation unused;
  unused.name_globs = "mlx5_3";
  wishes.rules.expect = {unused};
  EXPECT_THAT(complaints(one_cabled().examine(wishes)), IsEmpty());
}

}  // namespace
}  // namespace railhead::test
