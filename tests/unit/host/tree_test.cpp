// SPDX-License-Identifier: Apache-2.0
#include "host/tree.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/host/temporary_directory.h"

namespace railhead::host {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class TreeTest : public testing::Test {
 protected:
  TreeTest() { fs::create_directories(root_ / "etc"); }

  [[nodiscard]] std::vector<std::string> names(const std::string& folder) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(root_ / folder))
      found.push_back(entry.path().filename());
    return found;
  }

  test::TemporaryDirectory directory_;
  fs::path root_ = fs::path(directory_.path()) / "root";
  std::unique_ptr<Tree> tree_ = make();

  std::unique_ptr<Tree> make() {
    fs::create_directories(root_);
    return Tree::open(root_).value();
  }
};

TEST_F(TreeTest, a_file_is_written_whole_with_mode_and_owner) {
  const FileContent content{"a = 1\n", 0640, ::getuid(), ::getgid()};
  ASSERT_TRUE(tree_->write("/etc/a.conf", content));
  EXPECT_EQ(tree_->find("/etc/a.conf").value(), content);
  EXPECT_THAT(names("etc"), UnorderedElementsAre("a.conf"));
}

/// Version 2; user::rw- user:1000:r-- group::r-- mask::rw- other::--- (linux/posix_acl_xattr.h).
std::string acl_for_another_user() {
  std::string bytes("\2\0\0\0", 4);
  const auto add = [&](char tag, char permissions, std::uint32_t id) {
    bytes += tag + std::string(1, '\0') + permissions + std::string(1, '\0');
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(id >> shift);
  };
  constexpr std::uint32_t kNobody = 0xffffffff;
  add(0x01, 6, kNobody);
  add(0x02, 4, 1000);
  add(0x04, 4, kNobody);
  add(0x10, 6, kNobody);
  add(0x20, 0, kNobody);
  return bytes;
}

TEST_F(TreeTest, acls_and_labels_of_a_file_stay) {
  const auto path = (root_ / "etc/a.conf").string();
  const auto value_of = [&](const char* name) {
    char bytes[256];
    const auto size = ::getxattr(path.c_str(), name, bytes, sizeof bytes);
    return size < 0 ? "none" : std::string(bytes, static_cast<std::size_t>(size));
  };
  ASSERT_TRUE(tree_->write("/etc/a.conf", {"old", 0644, {}, {}}));
  const auto acl = acl_for_another_user();
  if (::setxattr(path.c_str(), "system.posix_acl_access", acl.data(), acl.size(), 0) != 0 ||
      ::setxattr(path.c_str(), "user.label", "mine", 4, 0) != 0) {
    GTEST_SKIP() << "this file system has no such attributes";
  }
  const auto before = tree_->find("/etc/a.conf").value().value();
  ASSERT_TRUE(tree_->write("/etc/a.conf", {"new", before.mode, before.uid, before.gid}));
  EXPECT_EQ(value_of("system.posix_acl_access"), acl);
  EXPECT_EQ(value_of("user.label"), "mine");
  EXPECT_EQ(tree_->find("/etc/a.conf").value()->mode, before.mode);
}

TEST_F(TreeTest, a_file_gets_no_acl_that_it_did_not_have) {
  const auto path = (root_ / "etc/a.conf").string();
  ASSERT_TRUE(tree_->write("/etc/a.conf", {"old", 0600, {}, {}}));
  const auto acl = acl_for_another_user();
  if (::setxattr((root_ / "etc").c_str(), "system.posix_acl_default", acl.data(), acl.size(), 0) !=
      0)
    GTEST_SKIP() << "this file system has no ACLs";
  ASSERT_TRUE(tree_->write("/etc/a.conf", {"new", 0600, {}, {}}));
  EXPECT_LT(::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0), 0);
}

TEST_F(TreeTest, what_is_not_there_is_absent) {
  EXPECT_FALSE(tree_->find("/etc/none").value());
  EXPECT_FALSE(tree_->find("/none/at/all").value());
  EXPECT_TRUE(tree_->remove("/etc/none"));
  EXPECT_TRUE(tree_->remove("/none/at/all"));
}

TEST_F(TreeTest, a_link_stays_and_what_it_names_is_written) {
  fs::create_directories(root_ / "opt");
  fs::create_symlink("/opt/real.conf", root_ / "etc/a.conf");
  ASSERT_TRUE(tree_->write("/etc/a.conf", {"x\n", 0644, {}, {}}));
  EXPECT_TRUE(fs::is_symlink(root_ / "etc/a.conf"));
  EXPECT_THAT(names("opt"), UnorderedElementsAre("real.conf"));
}

TEST_F(TreeTest, no_link_leads_out_of_the_root) {
  std::ofstream(fs::path(directory_.path()) / "outside") << "mine\n";
  fs::create_symlink("../../outside", root_ / "etc/a.conf");
  ASSERT_TRUE(tree_->write("/etc/a.conf", {"theirs\n", 0644, {}, {}}));
  EXPECT_EQ(fs::file_size(fs::path(directory_.path()) / "outside"), 5U);
  EXPECT_TRUE(fs::exists(root_ / "outside"));
}

TEST_F(TreeTest, a_link_that_turns_in_a_circle_is_an_error) {
  fs::create_symlink("b", root_ / "etc/a");
  fs::create_symlink("a", root_ / "etc/b");
  EXPECT_THAT(tree_->write("/etc/a", {}).error().message, HasSubstr("/etc/a"));
}

TEST_F(TreeTest, what_a_crash_left_beside_a_file_goes) {
  std::ofstream(root_ / "etc/.a.conf.railhead-new") << "half";
  ASSERT_TRUE(tree_->write("/etc/a.conf", {"x\n", 0644, {}, {}}));
  EXPECT_THAT(names("etc"), UnorderedElementsAre("a.conf"));
  std::ofstream(root_ / "etc/.a.conf.railhead-new") << "half";
  ASSERT_TRUE(tree_->remove("/etc/a.conf"));
  EXPECT_TRUE(names("etc").empty());
}

TEST_F(TreeTest, a_device_or_folder_is_not_written_over) {
  fs::create_directories(root_ / "etc/a.conf");
  EXPECT_FALSE(tree_->write("/etc/a.conf", {"x\n", 0644, {}, {}}));
  EXPECT_THAT(tree_->find("/etc/a.conf").error().message, HasSubstr("is not a file"));
  ASSERT_EQ(::mkfifo((root_ / "etc/pipe").c_str(), 0600), 0);
  EXPECT_THAT(tree_->find("/etc/pipe").error().message, HasSubstr("is not a file"));
  EXPECT_THAT(names("etc"), UnorderedElementsAre("a.conf", "pipe"));
}

TEST_F(TreeTest, folders_are_made_once_and_removed_when_empty) {
  EXPECT_TRUE(tree_->make_folder("/etc/x.d").value());
  EXPECT_FALSE(tree_->make_folder("/etc/x.d").value());
  std::ofstream(root_ / "etc/x.d/file") << "";
  EXPECT_TRUE(tree_->remove_folder("/etc/x.d"));
  EXPECT_TRUE(fs::exists(root_ / "etc/x.d"));
  fs::remove(root_ / "etc/x.d/file");
  EXPECT_TRUE(tree_->remove_folder("/etc/x.d"));
  EXPECT_FALSE(fs::exists(root_ / "etc/x.d"));
}

TEST_F(TreeTest, a_folder_with_something_mounted_on_it_stays) {
  EXPECT_TRUE(Tree::open("/").value()->remove_folder("/proc"));
}

TEST_F(TreeTest, a_tree_of_files_is_not_live) {
  fs::create_directories(root_ / "sys");
  fs::create_directories(root_ / "proc");
  EXPECT_FALSE(tree_->is_live());
  EXPECT_TRUE(Tree::open("/").value()->is_live());
}

TEST_F(TreeTest, one_at_a_time_has_the_lock) {
  const auto other = make();
  const std::string path = "/var/lib/x/lock";
  ASSERT_TRUE(tree_->lock(path).value());
  EXPECT_FALSE(other->lock(path).value());
  EXPECT_EQ(fs::status(root_ / "var/lib/x/lock").permissions(), fs::perms(0600));
  tree_.reset();
  EXPECT_TRUE(other->lock(path).value());
}

TEST_F(TreeTest, a_lock_leaves_nothing_behind) {
  ASSERT_TRUE(tree_->lock("/var/lib/x/lock").value());
  EXPECT_TRUE(tree_->has_made("/var/lib/x"));
  tree_.reset();
  EXPECT_FALSE(fs::exists(root_ / "var"));
}

TEST_F(TreeTest, a_lock_in_a_folder_of_others_is_refused) {
  fs::create_directories(root_ / "var/x");
  fs::permissions(root_ / "var/x", fs::perms(0777));
  EXPECT_EQ(tree_->lock("/var/x/lock").error().code, ErrorCode::denied);
}

TEST_F(TreeTest, an_edit_since_reading_stays) {
  fs::create_directories(root_ / "etc");
  const auto put = [&](const std::string& text) { std::ofstream(root_ / "etc/x") << text; };
  put("read\n");
  const auto known = tree_->find("/etc/x").value();
  put("edited\n");
  const host::FileContent ours{"ours\n", 0644, {}, {}};
  EXPECT_EQ(tree_->replace("/etc/x", known, ours).error().code, ErrorCode::unavailable);
  EXPECT_EQ(tree_->remove_known("/etc/x", *known).error().code, ErrorCode::unavailable);
  EXPECT_EQ(tree_->replace("/etc/x", {}, ours).error().code, ErrorCode::unavailable);
  EXPECT_EQ(tree_->find("/etc/x").value()->bytes, "edited\n");
  const auto edited = tree_->find("/etc/x").value();
  fs::permissions(root_ / "etc/x", fs::perms(0600));
  EXPECT_EQ(tree_->replace("/etc/x", edited, ours).error().code, ErrorCode::unavailable)
      << "somebody tightened it";
  EXPECT_TRUE(tree_->replace("/etc/x", tree_->find("/etc/x").value(), ours).has_value());
  EXPECT_EQ(tree_->find("/etc/x").value()->bytes, "ours\n");
  EXPECT_TRUE(tree_->remove_known("/etc/x", *tree_->find("/etc/x").value()).has_value());
  EXPECT_TRUE(tree_->replace("/etc/x", {}, ours).has_value());
  EXPECT_EQ(std::distance(fs::directory_iterator(root_ / "etc"), {}), 1) << "nothing beside it";
}

TEST(Locks, name_the_process) {
  const std::string locks =
      "1: POSIX  ADVISORY  WRITE 11 08:01:275 0 EOF\n"
      "2: FLOCK  ADVISORY  WRITE 22 fe:00:275 0 EOF\n"
      "2: -> FLOCK  ADVISORY  WRITE 33 08:01:275 0 EOF\n"
      "3: FLOCK  ADVISORY  READ  44 08:01:275 0 EOF\n"
      "4: FLOCK  ADVISORY  WRITE 0 08:02:275 0 EOF\n";
  EXPECT_EQ(holder_in(locks, makedev(8, 1), 275), 44U);
  EXPECT_EQ(holder_in(locks, makedev(0xfe, 0), 275), 22U);
  EXPECT_FALSE(holder_in(locks, makedev(8, 2), 275)) << "of another PID namespace";
  EXPECT_FALSE(holder_in(locks, makedev(8, 1), 276));
}

TEST_F(TreeTest, an_attribute_is_written_in_place) {
  std::ofstream(root_ / "etc/attribute") << "0\n";
  ASSERT_TRUE(tree_->set_attribute("/etc/attribute", "8"));
  EXPECT_FALSE(tree_->set_attribute("/etc/none", "8"));
  EXPECT_EQ(tree_->find("/etc/attribute").value()->bytes.substr(0, 1), "8");
}

}  // namespace
}  // namespace railhead::host
