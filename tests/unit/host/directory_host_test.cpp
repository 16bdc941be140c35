// SPDX-License-Identifier: Apache-2.0
#include "host/directory_host.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "snapshot/snapshot_host.h"
#include "unit/host/answers.h"
#include "unit/host/temporary_directory.h"
#include "unit/snapshot/random_tree.h"
#include "unit/snapshot/snapshot_tree.h"

namespace railhead::host {
namespace {

namespace fs = std::filesystem;

/// Every case with both ways of resolving a path.
class DirectoryHostTest : public testing::TestWithParam<DirectoryHost::Resolver> {
 protected:
  DirectoryHostTest() {
    std::string pattern = (fs::temp_directory_path() / "railhead-host-XXXXXX").string();
    base_ = mkdtemp(pattern.data());
    root_ = base_ / "root";
    fs::create_directories(root_ / "sys/devices/pci0000:00/0000:00:01.0");
    fs::create_directories(root_ / "sys/class/infiniband");
    write("sys/devices/pci0000:00/0000:00:01.0/vendor", "0x15b3\n");
    std::ofstream(base_ / "secret") << "outside\n";
    host_ = DirectoryHost::open_with(root_, GetParam()).value();
  }

  ~DirectoryHostTest() override { fs::remove_all(base_); }

  void write(const std::string& path, const std::string& text) const {
    std::ofstream(root_ / path) << text;
  }

  void link(const std::string& path, const std::string& target) const {
    fs::create_symlink(target, root_ / path);
  }

  std::string text(const std::string& path) {
    const auto found = host_->read(path);
    if (!found) return "error: " + found.error().message;
    return *found ? **found : "absent";
  }

  fs::path base_;
  fs::path root_;
  std::unique_ptr<Host> host_;
};

TEST_P(DirectoryHostTest, reads_through_relative_class_links) {
  link("sys/class/infiniband/mlx5_0", "../../devices/pci0000:00/0000:00:01.0");
  EXPECT_EQ(text("/sys/class/infiniband/mlx5_0/vendor"), "0x15b3\n");
  EXPECT_EQ(host_->readlink("/sys/class/infiniband/mlx5_0").value(),
            "../../devices/pci0000:00/0000:00:01.0");
}

TEST_P(DirectoryHostTest, absolute_links_start_at_the_root_of_the_tree) {
  link("a", "/sys/devices/pci0000:00/0000:00:01.0/vendor");
  EXPECT_EQ(text("/a"), "0x15b3\n");
  link("b", (base_ / "secret").string());
  EXPECT_EQ(text("/b"), "absent");
}

TEST_P(DirectoryHostTest, no_number_of_dots_leads_out_of_the_tree) {
  link("up", "../../../../../../../../../../..");
  EXPECT_EQ(text("/up/sys/devices/pci0000:00/0000:00:01.0/vendor"), "0x15b3\n");
  EXPECT_EQ(text("/../secret"), "absent");
  link("out", "../secret");
  EXPECT_EQ(text("/out"), "absent");
}

TEST_P(DirectoryHostTest, a_loop_of_links_is_unavailable_not_absent) {
  link("x", "y");
  link("y", "x");
  const auto found = host_->read("/x");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::unavailable);
  EXPECT_NE(found.error().message.find("/x"), std::string::npos);
}

TEST_P(DirectoryHostTest, absent_has_many_forms) {
  for (const char* path :
       {"/none", "/sys/none/none", "/sys/devices/pci0000:00/0000:00:01.0/vendor/below"}) {
    EXPECT_EQ(text(path), "absent") << path;
    EXPECT_FALSE(host_->list(path).value().has_value()) << path;
    EXPECT_FALSE(host_->readlink(path).value().has_value()) << path;
    EXPECT_FALSE(host_->device(path).value().has_value()) << path;
  }
  EXPECT_EQ(text("/sys"), "absent");
  link("dangling", "nowhere");
  EXPECT_EQ(text("/dangling"), "absent");
  EXPECT_FALSE(host_->readlink("/sys").value().has_value());
  EXPECT_FALSE(host_->list("/sys/devices/pci0000:00/0000:00:01.0/vendor").value().has_value());
}

TEST_P(DirectoryHostTest, a_name_that_cannot_be_is_absent) {
  EXPECT_EQ(text("/" + std::string(300, 'x')), "absent");
  EXPECT_EQ(text(std::string(8000, '/') + "x"), "absent");
  EXPECT_EQ(text(std::string("/sys\0/x", 7)), "absent");
  EXPECT_FALSE(host_->list(std::string("/sys\0", 5)).value().has_value());
}

TEST_P(DirectoryHostTest, a_device_or_socket_in_the_place_of_a_file_is_not_read) {
  if (mknod((root_ / "zero").c_str(), S_IFCHR | 0666, makedev(1, 5)) == 0) {
    EXPECT_EQ(text("/zero"), "absent");
  }
  ASSERT_EQ(mknod((root_ / "socket").c_str(), S_IFSOCK | 0600, 0), 0);
  EXPECT_EQ(text("/socket"), "absent");
}

TEST_P(DirectoryHostTest, live_procfs_is_read_to_its_end_and_magic_links_lead_nowhere) {
  const auto live = DirectoryHost::open_with("/", GetParam()).value();
  EXPECT_NE(live->read("/proc/self/limits").value().value().find("Max locked memory"),
            std::string::npos);
  EXPECT_FALSE(live->read("/proc/self/exe/x").value_or(std::nullopt).has_value());
  EXPECT_TRUE(live->device("/dev/null").value().has_value());
}

TEST_P(DirectoryHostTest, a_fifo_does_not_stop_the_reader) {
  ASSERT_EQ(mkfifo((root_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(text("/fifo"), "absent");
}

TEST_P(DirectoryHostTest, a_file_above_the_limit_is_too_large_and_never_cut) {
  write("big", std::string(Host::kMaxFileBytes, 'x'));
  EXPECT_EQ(text("/big").size(), Host::kMaxFileBytes);
  write("bigger", std::string(Host::kMaxFileBytes + 1, 'x'));
  EXPECT_EQ(host_->read("/bigger").error().code, ErrorCode::too_large);
}

TEST_P(DirectoryHostTest, lists_sorted_names) {
  write("sys/b", "");
  write("sys/a", "");
  EXPECT_EQ(host_->list("/sys").value(), (std::vector<std::string>{"a", "b", "class", "devices"}));
}

TEST_P(DirectoryHostTest, the_links_of_a_directory_are_handed_over_up_to_a_limit) {
  fs::create_directories(root_ / "proc/7/fd");
  for (int i = 0; i < 3; ++i)
    link("proc/7/fd/" + std::to_string(i), "socket:[" + std::to_string(i) + "]");
  write("proc/7/fd/none", "no link\n");
  const auto walked = [&](std::size_t limit) {
    std::multiset<std::string> targets;
    const auto walk = host_->walk_links("/proc/7/fd", limit,
                                        [&](const std::string& target) { targets.insert(target); });
    EXPECT_EQ((*walk)->is_cut, limit < 4) << limit;
    EXPECT_EQ((*walk)->entries, std::min<std::size_t>(limit, 4)) << limit;
    EXPECT_FALSE((*walk)->failure);
    return targets;
  };
  EXPECT_EQ(walked(4), (std::multiset<std::string>{"socket:[0]", "socket:[1]", "socket:[2]"}));
  EXPECT_EQ(walked(100).size(), 3U);
  EXPECT_GE(walked(2).size(), 1U);
  EXPECT_EQ(walked(0).size(), 0U);
  EXPECT_FALSE(host_->walk_links("/proc/8/fd", 9, [](const std::string&) {}).value());
}

TEST_P(DirectoryHostTest, a_device_node_has_its_numbers_mode_and_owner) {
  if (mknod((root_ / "node").c_str(), S_IFCHR | 0600, makedev(231, 192)) != 0) {
    GTEST_SKIP() << "mknod is not allowed here";
  }
  ASSERT_EQ(chmod((root_ / "node").c_str(), 0640), 0);
  EXPECT_EQ(host_->device("/node").value(), (DeviceNode{'c', 231, 192, 0640, 0, 0}));
  EXPECT_FALSE(host_->device("/sys").value().has_value());
  fs::create_directories(root_ / "dev/infiniband");
  write("dev/infiniband/file", "no device");
  fs::rename(root_ / "node", root_ / "dev/infiniband/uverbs0");
  link("dev/infiniband/by_link", "/dev/infiniband/uverbs0");
  link("dev/infiniband/dangling", "/nowhere");
  for (const auto* path : {"/dev/infiniband/uverbs0", "/dev/infiniband/by_link"}) {
    EXPECT_EQ(host_->device(path).value(), (DeviceNode{'c', 231, 192, 0640, 0, 0})) << path;
  }
  for (const auto* name : {"file", "dangling", "uverbs1", "..", "uverbs0/x"}) {
    const std::string path = std::string("/dev/infiniband/") + name;
    EXPECT_FALSE(host_->device(path).value().has_value()) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(Resolvers, DirectoryHostTest,
                         testing::Values(DirectoryHost::Resolver::openat2,
                                         DirectoryHost::Resolver::walk),
                         [](const auto& resolver) {
                           return resolver.param == DirectoryHost::Resolver::openat2 ? "openat2"
                                                                                     : "walk";
                         });

/// The same tree below a directory.
snapshot::Snapshot below(const std::string& directory, const snapshot::Snapshot& snapshot) {
  snapshot::Snapshot moved;
  for (const auto& [path, entry] : snapshot.entries) moved.entries.emplace(directory + path, entry);
  return moved;
}

TEST(DirectoryHost, both_resolvers_and_the_snapshot_agree_on_any_tree) {
  for (unsigned seed = 0; seed < 16; ++seed) {
    test::RandomTree tree(seed, test::Oddities::none);
    const std::string top = seed % 2 == 0 ? "" : "/sys";
    const snapshot::Snapshot machine = below(top, tree.snapshot());
    test::TemporaryDirectory directory;
    test::make_tree(machine, directory / "root");
    snapshot::SnapshotHost snapshot(machine);
    const auto kernel =
        DirectoryHost::open_with(directory / "root", DirectoryHost::Resolver::openat2).value();
    const auto walk =
        DirectoryHost::open_with(directory / "root", DirectoryHost::Resolver::walk).value();
    for (int question = 0; question < 100; ++question) {
      const std::string path = top + tree.path();
      const auto expected = test::answers(snapshot, path);
      EXPECT_EQ(test::answers(*walk, path), expected) << "seed " << seed;
      EXPECT_EQ(test::answers(*kernel, path), expected) << "seed " << seed;
    }
  }
}

TEST(DirectoryHost, what_lies_below_sys_in_a_tree_of_files_may_be_anything) {
  test::TemporaryDirectory directory;
  fs::create_directory(directory / "sys");
  ASSERT_EQ(mkfifo((directory / "sys/fifo").c_str(), 0600), 0);
  const auto host = DirectoryHost::open(directory.path()).value();
  EXPECT_EQ(host->read("/sys/fifo").value(), std::nullopt);
}

TEST(DirectoryHost, a_directory_above_the_limit_is_too_large) {
  test::TemporaryDirectory directory;
  for (std::size_t i = 0; i <= Host::kMaxListEntries; ++i) {
    ASSERT_EQ(mknod((directory / std::to_string(i)).c_str(), S_IFREG | 0600, 0), 0);
  }
  const auto names = DirectoryHost::open(directory.path()).value()->list("/");
  ASSERT_FALSE(names);
  EXPECT_EQ(names.error().code, ErrorCode::too_large);
}

TEST(DirectoryHost, a_root_that_does_not_exist_is_an_error_that_names_it) {
  const auto host = DirectoryHost::open("/no/such/root");
  ASSERT_FALSE(host);
  EXPECT_NE(host.error().message.find("/no/such/root"), std::string::npos);
}

}  // namespace
}  // namespace railhead::host
