// SPDX-License-Identifier: Apache-2.0
#include "nri/capability.h"

#include <gtest/gtest.h>

namespace railhead::nri {
namespace {

TEST(Capability, rlimits_begin_with_containerd_1_7_7_and_crio_1_29) {
  EXPECT_FALSE(features_of("containerd", "v1.7.6").rlimits);
  EXPECT_TRUE(features_of("containerd", "v1.7.7").rlimits);
  EXPECT_FALSE(features_of("cri-o", "1.28.4").rlimits);
  EXPECT_TRUE(features_of("cri-o", "1.29.0").rlimits);
}

TEST(Capability, the_failure_policy_comes_after_containerd_2_4_2) {
  EXPECT_FALSE(features_of("containerd", "v2.4.2").failure_policy);
  EXPECT_TRUE(features_of("containerd", "v2.4.3").failure_policy);
}

TEST(Capability, versions_come_in_many_spellings) {
  for (const char* version : {"1.7.24", "v1.7.24", "1.7.24~ds1", "1.7.24~ds1-6+b5",
                              "v1.7.24-3-gabcdef0", "v1.7.24-3-gabcdef0.m", "1.7.24+unknown"}) {
    const RuntimeFeatures features = features_of("containerd", version);
    EXPECT_TRUE(features.rlimits) << version;
    EXPECT_FALSE(features.failure_policy) << version;
  }
}

TEST(Capability, a_version_without_a_patch_number_is_its_first) {
  EXPECT_FALSE(features_of("containerd", "2.4").failure_policy);
  EXPECT_TRUE(features_of("containerd", "2.5").failure_policy);
}

TEST(Capability, a_pre_release_is_older_than_its_release) {
  for (const char* version : {"2.4.3-rc.1", "v2.4.3-beta.0", "2.4.3~rc1+ds1", "2.4.3-dev"}) {
    EXPECT_FALSE(features_of("containerd", version).failure_policy) << version;
    EXPECT_TRUE(features_of("containerd", version).rlimits) << version;
  }
}

TEST(Capability, what_is_not_recognised_is_taken_for_the_newest) {
  const std::pair<const char*, const char*> unknown[] = {
      {"containerd", ""},  {"containerd", "unknown"},         {"containerd", "v"},
      {"containerd", "2"}, {"containerd", "99999999999.1.1"}, {"isulad", "2.1.0"}};
  for (const auto& [name, version] : unknown) {
    const RuntimeFeatures features = features_of(name, version);
    EXPECT_TRUE(features.rlimits && features.failure_policy) << name << " " << version;
  }
}

TEST(Capability, a_missing_feature_is_named_with_the_release_that_has_it) {
  RuntimeFeatures wanted;
  wanted.rlimits = true;
  const auto sentences = missing_features(wanted, "containerd", "1.7.5");
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_EQ(sentences[0], "containerd 1.7.5 ignores RLIMIT_MEMLOCK from NRI plugins (needs 1.7.7)");
}

TEST(Capability, what_is_not_wanted_is_not_missed) {
  EXPECT_TRUE(missing_features({}, "containerd", "1.7.0").empty());
  RuntimeFeatures wanted;
  wanted.rlimits = wanted.failure_policy = true;
  EXPECT_EQ(missing_features(wanted, "containerd", "1.7.0").size(), 2U);
  EXPECT_TRUE(missing_features(wanted, "containerd", "unknown").empty());
}

}  // namespace
}  // namespace railhead::nri
