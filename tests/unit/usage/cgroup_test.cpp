// SPDX-License-Identifier: Apache-2.0
#include "usage/cgroup.h"

#include <gtest/gtest.h>

namespace railhead::test {
namespace {

const std::string kId(64, 'a');
const std::string kOther(64, 'b');
const std::string kUid = "12345678-1234-1234-1234-123456789abc";
const std::string kUidOfSystemd = "12345678_1234_1234_1234_123456789abc";

void expect_in_pod(const std::string& text) {
  const auto place = usage::container_of_cgroup(text);
  ASSERT_TRUE(place) << text;
  EXPECT_EQ(place->container, kId) << text;
  EXPECT_EQ(place->pod_uid, kUid) << text;
}

TEST(Cgroup, names_of_drivers_runtimes_and_quality_classes_are_known) {
  const auto slice =
      "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + kUidOfSystemd + ".slice/";
  expect_in_pod("0::" + slice + "cri-containerd-" + kId + ".scope\n");
  expect_in_pod("0::" + slice + "crio-" + kId + ".scope\n");
  expect_in_pod("0::" + slice + "docker-" + kId + ".scope\n");
  expect_in_pod("0::/kubepods.slice/kubepods-pod" + kUidOfSystemd + ".slice/cri-containerd-" + kId +
                ".scope\n");
  expect_in_pod("0::/kubepods/besteffort/pod" + kUid + "/" + kId + "\n");
  expect_in_pod("0::/kubepods/pod" + kUid + "/crio-" + kId + "\n");
}

TEST(Cgroup, every_line_of_version_1_says_the_same_and_one_is_enough) {
  const auto path = "/kubepods/burstable/pod" + kUid + "/" + kId;
  expect_in_pod("12:memory:" + path + "\n1:name=systemd:/\n0::/\n");
  expect_in_pod("0::/system.slice/containerd.service\n4:devices:" + path + "\n");
}

TEST(Cgroup, what_is_below_a_container_is_in_it_from_any_namespace) {
  expect_in_pod("0::/kubepods/pod" + kUid + "/" + kId + "/init.scope\n");
  expect_in_pod("0::/../../pod" + kUid + "/" + kId + "\n");
  expect_in_pod("0::/kubepods/pod" + kUid + "/" + kId + "/docker/" + kOther + "\n");
}

TEST(Cgroup, a_node_that_is_a_container_itself_is_above_the_pods) {
  expect_in_pod("0::/docker/" + kOther + "/kubelet/kubepods/pod" + kUid + "/" + kId + "\n");
}

TEST(Cgroup, a_cgroup_that_is_named_like_another_pods_deceives_nobody) {
  const std::string other = "87654321-4321-4321-4321-cba987654321";
  expect_in_pod("0::/kubepods/pod" + kUid + "/" + kId + "/kubepods/pod" + other + "/" + kOther +
                "\n");
  expect_in_pod("0::/kubepods.slice/kubepods-pod" + kUidOfSystemd + ".slice/cri-containerd-" + kId +
                ".scope/pod" + other + "/" + kOther + "\n");
}

TEST(Cgroup, systemd_notation_taken_for_a_path_is_read) {
  expect_in_pod("0::/system.slice/containerd.service/kubepods-besteffort-pod" + kUidOfSystemd +
                ".slice:cri-containerd:" + kId + "\n");
}

TEST(Cgroup, the_uid_of_a_static_pod_is_a_hash) {
  const std::string hash(32, 'c');
  const auto place = usage::container_of_cgroup("0::/kubepods/pod" + hash + "/" + kId + "\n");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->pod_uid, hash);
}

TEST(Cgroup, a_container_of_no_pod_has_no_uid) {
  const auto place = usage::container_of_cgroup("0::/system.slice/docker-" + kId + ".scope\n");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->container, kId);
  EXPECT_EQ(place->pod_uid, std::nullopt);
}

TEST(Cgroup, processes_of_the_host_are_in_no_container) {
  for (const auto* text : {"", "0::/\n", "0::/init.scope\n", "0::/user.slice/user-0.slice\n",
                           "nonsense", "0:", "0::/kubepods.slice\n", "0::/kubepods/podxyz/abc\n"}) {
    EXPECT_EQ(usage::container_of_cgroup(text), std::nullopt) << text;
  }
  EXPECT_EQ(usage::container_of_cgroup("0::/kubepods/crio-conmon-" + kId + ".scope\n"),
            std::nullopt);
  EXPECT_EQ(usage::container_of_cgroup("0::/" + std::string(63, 'a') + "\n"), std::nullopt);
  EXPECT_EQ(usage::container_of_cgroup("0::/" + std::string(64, 'A') + "\n"), std::nullopt);
}

}  // namespace
}  // namespace railhead::test
