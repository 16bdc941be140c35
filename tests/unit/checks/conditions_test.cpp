// SPDX-License-Identifier: Apache-2.0
#include "checks/conditions.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "data/value.h"
#include "unit/checks/patient.h"
#include "unit/source_dir.h"

namespace railhead::test {
namespace {

const data::Value& at(const data::Value& map, const char* key) {
  const auto* value = map.find(key);
  EXPECT_NE(value, nullptr) << key;
  static const data::Value kNone;
  return value == nullptr ? kNone : *value;
}

TEST(NodeConditions, are_those_of_the_configuration_for_node_problem_detector) {
  std::ifstream file(source_dir() + "/deploy/node-problem-detector/railhead-doctor.json");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto config = data::parse_json(text);
  ASSERT_TRUE(config.has_value()) << config.error().message;
  const auto& conditions = at(*config, "conditions").items;
  const auto& rules = at(*config, "rules").items;
  ASSERT_EQ(conditions.size(), checks::kNodeConditions.size());
  ASSERT_EQ(rules.size(), conditions.size());
  for (std::size_t n = 0; n < conditions.size(); ++n) {
    const auto& ours = checks::kNodeConditions[n];
    EXPECT_EQ(at(conditions[n], "type").scalar, ours.type);
    EXPECT_EQ(at(conditions[n], "reason").scalar, ours.good_reason);
    EXPECT_EQ(at(conditions[n], "message").scalar, ours.good_message);
    EXPECT_EQ(at(rules[n], "condition").scalar, ours.type);
    EXPECT_EQ(at(rules[n], "reason").scalar, ours.bad_reason);
    std::vector<std::string> args = {"doctor"};
    for (const auto id : ours.checks) {
      if (id.empty()) continue;
      EXPECT_NE(checks::find_check(id), nullptr) << id;
      args.insert(args.end(), {"--check", std::string(id)});
    }
    EXPECT_EQ(at(rules[n], "args").as_strings().value(), args);
  }
}

checks::ConditionState of_links(const Patient& patient) {
  checks::Diagnosis diagnosis;
  diagnosis.findings = patient.examine();
  return checks::conditions_of(diagnosis).at(1);
}

TEST(NodeConditions, a_failure_makes_one_and_what_is_not_known_is_unknown) {
  const auto good = of_links(healthy());
  EXPECT_EQ(good.outcome, checks::Outcome::good);
  EXPECT_EQ(good.message, "every RDMA link is up, and its fabric answers");
  auto down = healthy();
  down.set("infiniband/mlx5_3/ports/1/state", "1: DOWN");
  EXPECT_EQ(of_links(down).outcome, checks::Outcome::problem);
  EXPECT_THAT(of_links(down).message, testing::StartsWith("FAIL link.port-state mlx5_3/1"));
  auto silent = healthy();
  for (const auto& path : silent.paths("infiniband/mlx5_3/ports/1/state"))
    silent.unreadable(path, "EIO");
  EXPECT_EQ(of_links(silent).outcome, checks::Outcome::unknown);
}

}  // namespace
}  // namespace railhead::test
