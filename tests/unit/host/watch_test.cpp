// SPDX-License-Identifier: Apache-2.0
#include "host/watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "unit/few_descriptors.h"

namespace railhead::host {
namespace {

namespace fs = std::filesystem;

bool is_readable(int descriptor) {
  pollfd ready{descriptor, POLLIN, 0};
  return ::poll(&ready, 1, 0) == 1;
}

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

TEST_F(WatchTest, a_directory_that_appears_later_is_seen_and_then_watched) {
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

TEST_F(WatchTest, a_touched_device_node_is_no_event_and_named_when_asked_for) {
  make("dev/infiniband");
  std::ofstream(root_ / "dev/infiniband/uverbs0") << "";
  std::ofstream(root_ / "dev/infiniband/uverbs1") << "";
  auto watch = Watch::open(root_).value();
  EXPECT_FALSE(is_readable(*watch->touches()));
  for (int i = 0; i < 100; ++i) {
    const auto node = root_ / "dev/infiniband/uverbs0";
    EXPECT_EQ(::utimensat(AT_FDCWD, node.c_str(), nullptr, 0), 0);
  }
  fs::permissions(root_ / "dev/infiniband/uverbs1", fs::perms::owner_read);
  EXPECT_FALSE(is_readable(watch->descriptor()));
  EXPECT_TRUE(watch->drain().empty());
  EXPECT_TRUE(is_readable(*watch->touches()));
  MachineChanges touched;
  touched.nodes = {"uverbs0", "uverbs1"};
  EXPECT_EQ(watch->touched(), touched);
  EXPECT_FALSE(is_readable(*watch->touches()));
  EXPECT_TRUE(watch->touched().empty());
}

TEST_F(WatchTest, touched_device_nodes_of_a_later_folder_are_named) {
  auto watch = Watch::open(root_).value();
  make("dev/infiniband");
  EXPECT_TRUE(watch->touched().everything);
  std::ofstream(root_ / "dev/infiniband/uverbs0") << "";
  EXPECT_TRUE(watch->drain());
  fs::permissions(root_ / "dev/infiniband/uverbs0", fs::perms::owner_read);
  EXPECT_EQ(watch->touched().nodes, MachineChanges::Names{"uverbs0"});
  EXPECT_TRUE(watch->drain().empty());
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

TEST_F(WatchTest, is_not_opened_when_it_cannot_tell_what_the_kernel_reports) {
  make("sys");
  const test::FewDescriptors few(2);  // the root, and the set of sources
  const auto watch = Watch::open(root_);
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().message, "/sys: too many open files in this process");
}

TEST_F(WatchTest, an_event_names_what_came_or_went) {
  for (const auto* path : {"sys/class/infiniband", "sys/class/infiniband_verbs", "sys/class/net",
                           "sys/bus/pci/devices", "proc/driver/nvidia/gpus", "dev/infiniband"}) {
    make(path);
  }
  auto watch = Watch::open(root_).value();
  make("sys/class/infiniband/mlx5_0");
  make("sys/class/infiniband_verbs/uverbs0");
  make("dev/infiniband/umad0");
  make("sys/class/net/ens1");
  make("sys/bus/pci/devices/0000:16:00.0");
  MachineChanges expected;
  expected.add_rdma("mlx5_0");
  expected.add_node("uverbs0");
  expected.add_node("umad0");
  expected.add_netdev("ens1");
  expected.add_pci("0000:16:00.0");
  EXPECT_EQ(watch->drain(), expected);
  make("proc/driver/nvidia/gpus/0000:18:00.0");
  MachineChanges gpu;
  gpu.gpus = true;
  gpu.add_pci("0000:18:00.0");
  EXPECT_EQ(watch->drain(), gpu);
}

TEST_F(WatchTest, specs_that_are_written_are_a_change_of_specs_alone) {
  make("etc");
  auto watch = Watch::open(root_).value();
  MachineChanges specs;
  specs.cdi = true;
  make("etc/cdi");
  EXPECT_EQ(watch->drain(), specs);
  std::ofstream(root_ / "etc/cdi/gpu.json") << "{}";
  EXPECT_EQ(watch->drain(), specs);
  fs::remove_all(root_ / "etc/cdi");
  EXPECT_EQ(watch->drain(), specs);
}

TEST_F(WatchTest, a_directory_that_appears_or_goes_is_everything) {
  make("sys/class");
  auto watch = Watch::open(root_).value();
  make("sys/class/infiniband");
  EXPECT_TRUE(watch->drain().everything);
  fs::remove_all(root_ / "sys/class/infiniband");
  EXPECT_TRUE(watch->drain().everything);
}

TEST_F(WatchTest, opening_and_closing_a_device_node_is_no_change) {
  make("dev/infiniband");
  std::ofstream(root_ / "dev/infiniband/uverbs0") << "";
  auto watch = Watch::open(root_).value();
  for (int use = 0; use < 100; ++use) {
    std::fstream node(root_ / "dev/infiniband/uverbs0", std::ios::in | std::ios::out);
    char byte = 0;
    node.write(&byte, 1);
    node.read(&byte, 1);
  }
  EXPECT_TRUE(watch->drain().empty());
}

TEST_F(WatchTest, a_tree_of_files_has_no_kernel_to_tell_and_is_seen_whole) {
  make("sys/class/infiniband");
  auto watch = Watch::open(root_).value();
  EXPECT_EQ(watch->blind(), "");
  EXPECT_FALSE(watch->retry());
  EXPECT_TRUE(watch->drain().empty());
}

/// Sources of which each can be made to fail. Those of the kernel's events are sockets to which the
/// test writes.
class WatchWithoutSources : public WatchTest {
 protected:
  WatchWithoutSources() { make("sys/class/infiniband"); }

  std::unique_ptr<Watch> open() {
    return Watch::open_with(root_,
                            {.inotify = [this] { return file_events(); },
                             .uevents = [this] { return device_events(); },
                             .links = [this] { return links(); },
                             .add_watch =
                                 [this](int inotify, const char* path, std::uint32_t events) {
                                   if (before_adding_) before_adding_();
                                   errno = ENOSPC;
                                   return full_ ? -1 : ::inotify_add_watch(inotify, path, events);
                                 }})
        .value();
  }

  UniqueFd file_events() {
    errno = EMFILE;
    return no_inotify_ || inotifies_left_-- <= 0
               ? UniqueFd()
               : UniqueFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  }

  UniqueFd device_events() {
    errno = EPROTONOSUPPORT;
    return no_uevents_ ? UniqueFd() : connected(kernel_of_devices_);
  }

  UniqueFd links() {
    errno = ENFILE;
    return no_links_ ? UniqueFd() : connected(kernel_of_links_);
  }

  static UniqueFd connected(UniqueFd& other_end) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    other_end = UniqueFd(ends[0]);
    return UniqueFd(ends[1]);
  }

  void device_comes(const std::string& name) const {
    const std::string event = "add@/x" + std::string(1, '\0') + "SUBSYSTEM=infiniband" +
                              std::string(1, '\0') + "DEVPATH=/devices/x/" + name;
    EXPECT_GT(::send(kernel_of_devices_.get(), event.data(), event.size(), 0), 0);
  }

  bool no_inotify_ = false;
  int inotifies_left_ = 99;
  bool no_uevents_ = false;
  bool no_links_ = false;
  bool full_ = false;
  std::function<void()> before_adding_;
  UniqueFd kernel_of_devices_;
  UniqueFd kernel_of_links_;
};

TEST_F(WatchWithoutSources, that_all_work_is_not_blind) {
  auto watch = open();
  EXPECT_EQ(watch->blind(), "");
  device_comes("mlx5_7");
  EXPECT_EQ(watch->drain().rdma, MachineChanges::Names{"mlx5_7"});
  EXPECT_TRUE(watch->drain().empty());
}

TEST_F(WatchWithoutSources, what_cannot_be_looked_for_is_not_taken_for_missing) {
  auto watch = open();
  std::optional<test::FewDescriptors> few;
  before_adding_ = [&] {
    if (few) return;
    make("data/late");  // comes between the look at it and the watch on its ancestor
    few.emplace(0);
  };
  watch->add("/data/late");
  EXPECT_NE(watch->blind(), "");
  few.reset();
  before_adding_ = {};
  EXPECT_TRUE(watch->retry());
  EXPECT_EQ(watch->blind(), "");
  EXPECT_TRUE(watch->drain().everything);
  make("data/late/file");
  EXPECT_TRUE(watch->drain().everything);
}

TEST_F(WatchWithoutSources, without_inotify_hears_of_devices) {
  no_inotify_ = true;
  auto watch = open();
  EXPECT_NE(watch->blind().find("events of files and device nodes (inotify: "), std::string::npos)
      << watch->blind();
  make("sys/class/infiniband/mlx5_0");
  EXPECT_TRUE(watch->drain().empty());
  device_comes("mlx5_7");
  EXPECT_EQ(watch->drain().rdma, MachineChanges::Names{"mlx5_7"});
}

TEST_F(WatchWithoutSources, without_events_of_devices_sees_files) {
  no_uevents_ = true;
  no_links_ = true;
  auto watch = open();
  EXPECT_NE(watch->blind().find("events of devices (uevents: "), std::string::npos);
  EXPECT_NE(watch->blind().find("events of links (rtnetlink: "), std::string::npos);
  EXPECT_EQ(watch->blind().find("inotify"), std::string::npos);
  make("sys/class/infiniband/mlx5_0");
  EXPECT_EQ(watch->drain().rdma, MachineChanges::Names{"mlx5_0"});
}

TEST_F(WatchWithoutSources, that_come_back_are_used_and_everything_may_have_changed) {
  no_inotify_ = no_uevents_ = no_links_ = true;
  auto watch = open();
  const int descriptor = watch->descriptor();
  EXPECT_FALSE(watch->retry());
  EXPECT_TRUE(watch->drain().empty());
  no_inotify_ = no_uevents_ = no_links_ = false;
  EXPECT_TRUE(watch->retry());
  EXPECT_EQ(watch->blind(), "");
  EXPECT_EQ(watch->descriptor(), descriptor);
  EXPECT_TRUE(watch->drain().everything);
  EXPECT_TRUE(watch->drain().empty());
  make("sys/class/infiniband/mlx5_0");
  device_comes("mlx5_7");
  EXPECT_EQ(watch->drain().rdma, (MachineChanges::Names{"mlx5_0", "mlx5_7"}));
  EXPECT_FALSE(watch->retry()) << "nothing is missing";
}

TEST_F(WatchWithoutSources, says_that_modes_of_device_nodes_are_not_seen) {
  make("dev/infiniband");
  std::ofstream(root_ / "dev/infiniband/uverbs0") << "";
  inotifies_left_ = 1;
  auto watch = open();
  EXPECT_EQ(watch->blind(),
            "modes of device nodes (inotify: no room in fs.inotify.max_user_instances, or too many "
            "open files in this process)");
  EXPECT_EQ(watch->touches(), std::nullopt);
  EXPECT_TRUE(watch->touched().empty());
  inotifies_left_ = 1;
  EXPECT_TRUE(watch->retry());
  EXPECT_EQ(watch->blind(), "");
  fs::permissions(root_ / "dev/infiniband/uverbs0", fs::perms::owner_read);
  EXPECT_EQ(watch->touched().nodes, MachineChanges::Names{"uverbs0"});
}

TEST_F(WatchWithoutSources, names_directories_for_which_the_kernel_has_no_room) {
  full_ = true;
  auto watch = open();
  EXPECT_NE(watch->blind().find("/sys/class/infiniband"), std::string::npos) << watch->blind();
  EXPECT_NE(watch->blind().find("/var/run/cdi"), std::string::npos);
  EXPECT_NE(watch->blind().find("max_user_watches"), std::string::npos);
  device_comes("mlx5_7");
  EXPECT_FALSE(watch->drain().empty());
  EXPECT_FALSE(watch->retry());
  full_ = false;
  EXPECT_TRUE(watch->retry());
  EXPECT_EQ(watch->blind(), "");
  EXPECT_TRUE(watch->drain().everything);
  make("sys/class/infiniband/mlx5_0");
  EXPECT_EQ(watch->drain().rdma, MachineChanges::Names{"mlx5_0"});
}

}  // namespace
}  // namespace railhead::host
