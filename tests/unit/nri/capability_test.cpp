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

TEST(Capability, cdi_devices_begin_with_containerd_2_1_and_crio_1_34) {
  EXPECT_FALSE(features_of("containerd", "1.7.30").cdi_devices_adjust);
  EXPECT_FALSE(features_of("containerd", "2.0.5").cdi_devices_adjust);
  EXPECT_TRUE(features_of("containerd", "2.1.0").cdi_devices_adjust);
  EXPECT_FALSE(features_of("cri-o", "1.33.9").cdi_devices_adjust);
  EXPECT_TRUE(features_of("cri-o", "1.34.0").cdi_devices_adjust);
}

TEST(Capability, crio_never_tells_the_cdi_devices) {
  EXPECT_FALSE(features_of("cri-o", "1.36.3").sees_cdi);
  EXPECT_TRUE(features_of("containerd", "2.3.0").sees_cdi);
}

TEST(Capability, limits_of_the_pod_spec_are_seen_since_containerd_2_3_and_crio_1_36) {
  EXPECT_FALSE(features_of("containerd", "2.2.7").sees_rlimits);
  EXPECT_TRUE(features_of("containerd", "2.3.0").sees_rlimits);
  EXPECT_FALSE(features_of("cri-o", "1.35.0").sees_rlimits);
  EXPECT_TRUE(features_of("cri-o", "1.36.0").sees_rlimits);
}

TEST(Capability, events_have_requests_of_their_own_since_nri_0_12) {
  EXPECT_FALSE(features_of("containerd", "2.2.7").per_event_rpcs);
  EXPECT_TRUE(features_of("containerd", "2.3.0").per_event_rpcs);
  EXPECT_FALSE(features_of("cri-o", "1.36.3").per_event_rpcs);
}

TEST(Capability, the_failure_policy_comes_after_containerd_2_4_2) {
  EXPECT_FALSE(features_of("containerd", "v2.4.2").failure_policy);
  EXPECT_TRUE(features_of("containerd", "v2.4.3").failure_policy);
}

TEST(Capability, the_synchronize_race_was_fixed_in_three_series) {
  EXPECT_FALSE(features_of("containerd", "1.7.25").no_sync_gap);
  EXPECT_TRUE(features_of("containerd", "1.7.26").no_sync_gap);
  EXPECT_FALSE(features_of("containerd", "2.0.2").no_sync_gap);
  EXPECT_TRUE(features_of("containerd", "2.0.3").no_sync_gap);
  EXPECT_FALSE(features_of("cri-o", "1.36.0").no_sync_gap);
}

TEST(Capability, versions_come_in_many_spellings) {
  for (const char* version : {"1.7.24", "v1.7.24", "1.7.24~ds1", "1.7.24~ds1-6+b5",
                              "v1.7.24-3-gabcdef0", "v1.7.24-3-gabcdef0.m", "1.7.24+unknown"}) {
    const RuntimeFeatures features = features_of("containerd", version);
    EXPECT_TRUE(features.known) << version;
    EXPECT_TRUE(features.rlimits) << version;
    EXPECT_FALSE(features.split_synchronize) << version;
  }
}

TEST(Capability, a_version_without_a_patch_number_is_its_first) {
  EXPECT_TRUE(features_of("containerd", "2.3").sees_cdi);
}

TEST(Capability, a_pre_release_is_older_than_its_release) {
  for (const char* version : {"2.1.0-rc.1", "v2.1.0-beta.0", "2.1.0~rc1+ds1", "2.1.0-dev"}) {
    EXPECT_FALSE(features_of("containerd", version).cdi_devices_adjust) << version;
    EXPECT_TRUE(features_of("containerd", version).rlimits) << version;
  }
}

TEST(Capability, what_is_not_recognised_is_taken_for_the_newest) {
  const std::pair<const char*, const char*> unknown[] = {
      {"containerd", ""},  {"containerd", "unknown"},         {"containerd", "v"},
      {"containerd", "2"}, {"containerd", "99999999999.1.1"}, {"isulad", "2.1.0"}};
  for (const auto& [name, version] : unknown) {
    const RuntimeFeatures features = features_of(name, version);
    EXPECT_FALSE(features.known) << name << " " << version;
    EXPECT_TRUE(features.rlimits && features.cdi_devices_adjust && features.failure_policy);
  }
}

TEST(Capability, a_missing_feature_is_named_with_the_release_that_has_it) {
  WantedFeatures wanted;
  wanted.rlimits = true;
  const auto sentences = missing_features(wanted, "containerd", "1.7.5");
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_EQ(sentences[0], "containerd 1.7.5 ignores RLIMIT_MEMLOCK from NRI plugins (needs 1.7.7)");
}

TEST(Capability, what_no_release_has_is_said_so) {
  WantedFeatures wanted;
  wanted.sees_cdi = true;
  const auto sentences = missing_features(wanted, "cri-o", "1.36.0");
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_EQ(
      sentences[0],
      "cri-o 1.36.0 does not tell NRI plugins the CDI devices of a container (no release does)");
}

TEST(Capability, what_is_not_wanted_is_not_missed) {
  EXPECT_TRUE(missing_features({}, "containerd", "1.7.0").empty());
  WantedFeatures wanted;
  wanted.rlimits = wanted.cdi_devices_adjust = wanted.failure_policy = true;
  EXPECT_EQ(missing_features(wanted, "containerd", "1.7.0").size(), 3U);
  EXPECT_TRUE(missing_features(wanted, "containerd", "unknown").empty());
}

}  // namespace
}  // namespace railhead::nri
