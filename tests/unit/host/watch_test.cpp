// SPDX-License-Identifier: Apache-2.0
#include "host/watch.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace railhead {
namespace {

namespace fs = std::filesystem;

class WatchTest : public testing::Test {
 protected:
  WatchTest() {
    std::string pattern = (fs::temp_directory_path() / "railhead-watch-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }

  ~WatchTest() override { fs::remove_all(root_); }

  void make(const std::string& path) const { fs::create_directories(root_ / path); }

  fs::path root_;
};

TEST_F(WatchTest, nothing_happened_is_false) {
  make("sys/class/infiniband");
  auto watch = Watch::open(root_).value();
  EXPECT_FALSE(watch->drain());
}

TEST_F(WatchTest, a_device_that_appears_or_goes_is_seen_once) {
  make("sys/class/infiniband");
  auto watch = Watch::open(root_).value();
  make("sys/class/infiniband/mlx5_0");
  EXPECT_TRUE(watch->drain());
  EXPECT_FALSE(watch->drain());
  fs::remove_all(root_ / "sys/class/infiniband/mlx5_0");
  EXPECT_TRUE(watch->drain());
}

TEST_F(WatchTest, a_directory_that_does_not_exist_yet_is_seen_when_it_appears_and_then_watched) {
  auto watch = Watch::open(root_).value();
  make("sys/class");
  EXPECT_TRUE(watch->drain());
  make("sys/class/infiniband");
  EXPECT_TRUE(watch->drain());
  make("sys/class/infiniband/mlx5_0");
  EXPECT_TRUE(watch->drain());
}

TEST_F(WatchTest, a_directory_that_is_removed_and_made_again_is_watched_again) {
  make("sys/class/infiniband");
  auto watch = Watch::open(root_).value();
  fs::remove_all(root_ / "sys");
  EXPECT_TRUE(watch->drain());
  make("sys/class/infiniband");
  EXPECT_TRUE(watch->drain());
  make("sys/class/infiniband/mlx5_0");
  EXPECT_TRUE(watch->drain());
}

TEST_F(WatchTest, an_added_directory_tells_of_a_changed_file) {
  make("sys/class/infiniband/mlx5_0/ports/1");
  auto watch = Watch::open(root_).value();
  watch->add("/sys/class/infiniband/mlx5_0/ports/1");
  std::ofstream(root_ / "sys/class/infiniband/mlx5_0/ports/1/state") << "1: DOWN\n";
  EXPECT_TRUE(watch->drain());
}

TEST_F(WatchTest, directories_that_are_named_are_the_only_ones) {
  std::filesystem::create_directories(root_ / "sys/class/net");
  std::filesystem::create_directories(root_ / "etc/railhead");
  auto watch = Watch::open(root_, {"/etc/railhead"}).value();
  std::ofstream(root_ / "sys/class/net/eth0") << "";
  EXPECT_FALSE(watch->drain());
  std::ofstream(root_ / "etc/railhead/config.yaml") << "";
  EXPECT_TRUE(watch->drain());
}

TEST_F(WatchTest, a_link_that_is_swapped_is_seen) {
  std::filesystem::create_directories(root_ / "etc/railhead/one");
  std::filesystem::create_directories(root_ / "etc/railhead/two");
  std::filesystem::create_symlink("one", root_ / "etc/railhead/..data");
  auto watch = Watch::open(root_, {"/etc/railhead"}).value();
  std::filesystem::create_symlink("two", root_ / "etc/railhead/..data_tmp");
  watch->drain();
  std::filesystem::rename(root_ / "etc/railhead/..data_tmp", root_ / "etc/railhead/..data");
  EXPECT_TRUE(watch->drain());
}

TEST_F(WatchTest, nothing_but_the_missing_name_counts_in_an_ancestor) {
  make("var/run");
  auto watch = Watch::open(root_).value();
  std::ofstream(root_ / "var/run/some.pid") << "1";
  make("var/run/containers");
  fs::remove(root_ / "var/run/some.pid");
  EXPECT_FALSE(watch->drain());
  make("var/run/cdi");
  EXPECT_TRUE(watch->drain());
  std::ofstream(root_ / "var/run/other.pid") << "1";
  EXPECT_FALSE(watch->drain());
  std::ofstream(root_ / "var/run/cdi/gpu.json") << "{}";
  EXPECT_TRUE(watch->drain());
}

TEST_F(WatchTest, an_absolute_link_on_the_way_stays_inside_the_root) {
  make("var");
  make("run/cdi");
  fs::create_symlink("/run", root_ / "var/run");
  auto watch = Watch::open(root_).value();
  std::ofstream(root_ / "run/cdi/gpu.json") << "{}";
  EXPECT_TRUE(watch->drain());
}

TEST_F(WatchTest, a_changed_mode_of_a_device_node_is_a_change) {
  make("dev/infiniband");
  std::ofstream(root_ / "dev/infiniband/uverbs0") << "";
  auto watch = Watch::open(root_).value();
  fs::permissions(root_ / "dev/infiniband/uverbs0", fs::perms::owner_read);
  EXPECT_TRUE(watch->drain());
}

TEST_F(WatchTest, two_directories_below_one_missing_ancestor_are_both_found) {
  auto watch = Watch::open(root_).value();
  make("sys/class/infiniband");
  make("sys/class/infiniband_verbs");
  EXPECT_TRUE(watch->drain());
  make("sys/class/infiniband/mlx5_0");
  EXPECT_TRUE(watch->drain());
  make("sys/class/infiniband_verbs/uverbs0");
  EXPECT_TRUE(watch->drain());
}

TEST_F(WatchTest, lost_events_are_a_change_and_the_watch_goes_on) {
  std::size_t limit = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> limit;
  if (limit == 0 || limit > 20000) GTEST_SKIP() << "a queue of " << limit << " is too long to fill";
  make("run");
  fs::create_symlink("run", root_ / "var");
  auto watch = Watch::open(root_).value();
  for (std::size_t i = 0; i <= limit; ++i) {
    const fs::path name = root_ / ("n" + std::to_string(i % 2));
    fs::create_directory(name);
    fs::remove(name);
  }
  EXPECT_TRUE(watch->drain());
  EXPECT_FALSE(watch->drain());
  make("etc/cdi");
  EXPECT_TRUE(watch->drain());
}

TEST_F(WatchTest, a_root_that_is_no_directory_is_refused_by_name) {
  const auto watch = Watch::open((root_ / "none").string());
  ASSERT_FALSE(watch);
  EXPECT_NE(watch.error().message.find("none"), std::string::npos);
}

TEST_F(WatchTest, a_tree_of_files_has_no_kernel_to_tell_and_the_machine_may_have) {
  EXPECT_EQ(Watch::open(root_).value()->descriptors().size(), 1U);
  EXPECT_LE(Watch::open("/").value()->descriptors().size(), 3U);
}

}  // namespace
}  // namespace railhead
