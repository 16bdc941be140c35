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

TEST(Uevent, only_what_the_reader_reads_is_relevant) {
  using namespace std::string_view_literals;
  EXPECT_TRUE(is_relevant_uevent("add@/devices/x\0ACTION=add\0SUBSYSTEM=infiniband\0SEQNUM=1\0"sv));
  EXPECT_FALSE(is_relevant_uevent("change@/devices/x\0ACTION=change\0SUBSYSTEM=block\0"sv));
  EXPECT_FALSE(is_relevant_uevent(""sv));
  EXPECT_FALSE(is_relevant_uevent("libudev\0\xfe\xed\xca\xfe"sv));
}

}  // namespace
}  // namespace railhead
