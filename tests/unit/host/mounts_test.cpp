// SPDX-License-Identifier: Apache-2.0
#include "host/mounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railhead::host {
namespace {

const std::string kHost =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "25 22 0:22 / /run rw,nosuid shared:5 - tmpfs tmpfs rw,mode=755\n"
    "30 22 8:2 / /mnt/my\\040disk rw - xfs /dev/sdb rw\n";

std::string place(const std::string& mountinfo, const std::string& path) {
  const auto found = place_of(mountinfo, path);
  if (!found) return found.error().message;
  return *found ? (*found)->device + " " + (*found)->path : "none";
}

TEST(PlaceOf, a_host_folder_that_is_mounted_into_a_pod_is_the_same_place) {
  const std::string pod =
      "700 650 0:91 / / rw - overlay overlay rw\n"
      "701 700 0:22 /railhead /run/railhead rw - tmpfs tmpfs rw,mode=755\n";
  EXPECT_EQ(place(pod, "/run/railhead/topology.xml"), "0:22 /railhead/topology.xml");
  EXPECT_EQ(place(pod, "/run/railhead/topology.xml"), place(kHost, "/run/railhead/topology.xml"));
}

TEST(PlaceOf, a_path_that_only_the_pod_has_is_another_place) {
  const std::string pod = "700 650 0:91 / / rw - overlay overlay rw\n";
  EXPECT_EQ(place(pod, "/run/railhead/topology.xml"), "0:91 /run/railhead/topology.xml");
  EXPECT_EQ(place(kHost, "/run/railhead/topology.xml"), "0:22 /railhead/topology.xml");
}

TEST(PlaceOf, the_mount_on_top_counts) {
  EXPECT_EQ(place(kHost + "40 25 0:50 / /run rw - tmpfs over rw\n", "/run/a"), "0:50 /a");
  EXPECT_EQ(
      place("20 1 0:5 / / rw - rootfs rootfs rw\n22 20 8:1 / / rw - ext4 /dev/sda1 rw\n", "/a"),
      "8:1 /a");
}

TEST(PlaceOf, a_mount_that_a_later_one_hides_does_not_count) {
  const std::string hidden =
      "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
      "23 22 0:30 / /a/b rw - tmpfs inner rw\n"
      "24 22 0:31 / /a rw - tmpfs outer rw\n";
  EXPECT_EQ(place(hidden, "/a/b/c"), "0:31 /b/c");
}

TEST(PlaceOf, names_are_compared_whole_and_unescaped) {
  EXPECT_EQ(place(kHost, "/running/a"), "8:1 /running/a");
  EXPECT_EQ(place(kHost, "/mnt/my disk/a"), "8:2 /a");
  EXPECT_EQ(place(kHost, "/run"), "0:22 ");
}

TEST(PlaceOf, what_is_no_mount_is_an_error_that_shows_it) {
  EXPECT_THAT(place("22 1 8:1 / /\n", "/a"), testing::HasSubstr("\"22 1 8:1 / /\" is not a mount"));
  EXPECT_EQ(place("", "/a"), "none");
  EXPECT_EQ(place("5 6 0:1 / / rw - a b c\n6 5 0:2 / / rw - a b c\n", "/a"), "none") << "a circle";
}

}  // namespace
}  // namespace railhead::host
