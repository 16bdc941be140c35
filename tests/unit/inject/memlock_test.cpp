// SPDX-License-Identifier: Apache-2.0
#include "inject/memlock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inject/container_builder.h"

namespace railhead::inject {
namespace {

constexpr std::uint64_t kMiB = 1U << 20;

struct Situation {
  const char* name;
  std::optional<std::uint64_t> asked;
  std::uint64_t cap;
  std::optional<std::uint64_t> ceiling;
  std::optional<std::uint64_t> inherited;
  std::optional<std::uint64_t> present;
  bool honours;
  // what comes out
  std::optional<std::uint64_t> set;
  const char* code;  // "" for none
};

/// Names its case where a test is listed, in place of its bytes.
void PrintTo(const Situation& situation, std::ostream* out) {
  *out << situation.name;
}

const auto kNo = std::nullopt;

TEST(MemlockInDoubt, nothing_is_raised) {
  test::ContainerBuilder container;
  RuntimeAbility runtime;
  runtime.memlock_in_doubt = true;
  const auto plan = plan_memlock(container.request(), kNo, {}, runtime);
  EXPECT_FALSE(plan.set);
  EXPECT_EQ(plan.remarks[0].code, "memlock-clamped");
  EXPECT_TRUE(plan.short_of);
}

class Memlock : public ::testing::TestWithParam<Situation> {};

TEST_P(Memlock, is_planned) {
  const Situation& s = GetParam();
  test::ContainerBuilder container;
  if (s.present) container.memlock(*s.present, *s.present);
  InjectionPolicy policy;
  policy.memlock_cap = s.cap;
  RuntimeAbility runtime = test::able();
  runtime.memlock_ceiling = s.ceiling;
  runtime.memlock_inherited = s.inherited;
  runtime.rlimits = s.honours;
  const auto plan = plan_memlock(container.request(), s.asked, policy, runtime);
  EXPECT_EQ(plan.set, s.set) << s.name;
  EXPECT_EQ(plan.remarks.empty() ? "" : plan.remarks[plan.remarks.size() - 1].code, s.code)
      << s.name;
  EXPECT_EQ(plan.short_of.has_value(), *s.code != '\0') << s.name;
}

const Situation kSituations[] = {
    {"unlimited_by_default", kNo, container::kUnlimited, container::kUnlimited, kNo, kNo, true,
     container::kUnlimited, ""},
    {"an_unknown_ceiling_is_tried", kNo, container::kUnlimited, kNo, kNo, kNo, true,
     container::kUnlimited, ""},
    {"the_cap_is_the_default_then", kNo, kMiB, container::kUnlimited, kNo, kNo, true, kMiB, ""},
    {"an_annotation_says_less", 5U, kMiB, container::kUnlimited, kNo, kNo, true, 5U, ""},
    {"more_than_the_cap_is_asked", 2 * kMiB, kMiB, container::kUnlimited, kNo, kNo, true, kMiB,
     "memlock-capped"},
    {"the_runtime_cannot", kNo, container::kUnlimited, kMiB, 65536U, kNo, true, kMiB,
     "memlock-clamped"},
    {"a_ceiling_at_the_inherited_limit_adds_nothing", kNo, container::kUnlimited, 65536U, 65536U,
     kNo, true, kNo, "memlock-clamped"},
    {"a_ceiling_below_the_inherited_limit_adds_nothing", kNo, container::kUnlimited, 100U, 65536U,
     kNo, true, kNo, "memlock-clamped"},
    {"an_inherited_unlimited_is_enough", kNo, container::kUnlimited, container::kUnlimited,
     container::kUnlimited, kNo, true, kNo, ""},
    {"a_limit_is_never_lowered", 5U, container::kUnlimited, container::kUnlimited, kMiB, kNo, true,
     kNo, ""},
    {"the_cap_does_not_lower_either", kNo, kMiB, container::kUnlimited, 2 * kMiB, kNo, true, kNo,
     ""},
    {"a_present_limit_that_is_enough_is_fine", kNo, kMiB, container::kUnlimited, kNo, kMiB, true,
     kNo, ""},
    {"a_present_unlimited_is_fine", kNo, container::kUnlimited, container::kUnlimited, kNo,
     container::kUnlimited, true, kNo, ""},
    {"a_lower_present_limit_is_left", kNo, container::kUnlimited, container::kUnlimited, kNo, kMiB,
     true, kNo, "memlock-left"},
    {"a_present_limit_suffices_where_the_runtime_ignores_ours", 5U, container::kUnlimited, kNo, kNo,
     5U, false, kNo, ""},
    {"an_old_runtime_ignores_limits", kNo, container::kUnlimited, container::kUnlimited, kNo, kNo,
     false, kNo, "memlock-unsupported"},
    {"zero_is_nothing_to_add", 0U, container::kUnlimited, container::kUnlimited, kNo, kNo, true,
     kNo, ""},
};

INSTANTIATE_TEST_SUITE_P(Limits, Memlock, ::testing::ValuesIn(kSituations),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(MemlockPresent, the_soft_limit_is_what_a_process_has) {
  test::ContainerBuilder container;
  container.memlock(container::kUnlimited, 65536);
  const auto plan = plan_memlock(container.request(), std::nullopt, {}, test::able());
  EXPECT_EQ(plan.set, std::nullopt);
  EXPECT_THAT(test::codes(plan.remarks), ::testing::ElementsAre("memlock-left"));
}

TEST(MemlockPresent, other_limits_are_not_looked_at) {
  test::ContainerBuilder container;
  container.request().rlimits = {{"RLIMIT_NOFILE", 5, 5}};
  const auto plan = plan_memlock(container.request(), std::nullopt, {}, test::able());
  EXPECT_EQ(plan.set, container::kUnlimited);
}

}  // namespace
}  // namespace railhead::inject
