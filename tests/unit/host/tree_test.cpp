// SPDX-License-Identifier: Apache-2.0
#include "host/tree.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

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

TEST_F(TreeTest, a_tree_of_files_is_not_live) {
  fs::create_directories(root_ / "sys");
  fs::create_directories(root_ / "proc");
  EXPECT_FALSE(tree_->is_live());
  EXPECT_TRUE(Tree::open("/").value()->is_live());
}

TEST_F(TreeTest, one_at_a_time_has_the_lock) {
  const auto other = make();
  ASSERT_TRUE(tree_->lock().value());
  EXPECT_FALSE(other->lock().value());
  tree_.reset();
  EXPECT_TRUE(other->lock().value());
}

TEST_F(TreeTest, one_that_has_etc_has_the_machine) {
  // What a container has at its own root is not the machine's; /etc is.
  const UniqueFd held(::open((root_ / "etc").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(held.get(), LOCK_EX | LOCK_NB), 0);
  EXPECT_FALSE(tree_->lock().value());
}

TEST_F(TreeTest, an_attribute_is_written_in_place) {
  std::ofstream(root_ / "etc/attribute") << "0\n";
  ASSERT_TRUE(tree_->set_attribute("/etc/attribute", "8"));
  EXPECT_FALSE(tree_->set_attribute("/etc/none", "8"));
  EXPECT_EQ(tree_->find("/etc/attribute").value()->bytes.substr(0, 1), "8");
}

}  // namespace
}  // namespace railhead::host
