// SPDX-License-Identifier: Apache-2.0
#include "agent/topology_file_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "host/input_file.h"
#include "unit/host/temporary_directory.h"

namespace railhead::agent {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class TopologyFileKeeperTest : public testing::Test {
 protected:
  TopologyFileKeeperTest() {
    fs::create_directories(folder_.path() / "proc/7");
    mounts("own", "1 0 8:1 / / rw - ext4 a rw\n");
    mounts("proc/7/mountinfo", "1 0 8:1 / / rw - ext4 a rw\n");
  }

  void mounts(const std::string& of_whom, const std::string& text) const {
    std::ofstream(folder_.path() / of_whom) << text;
  }

  [[nodiscard]] TopologyFileKeeper keeper() const {
    return TopologyFileKeeper(folder_ / "proc", folder_ / "own");
  }

  test::TemporaryDirectory folder_;
  node::TextFile file_{folder_ / "run/railhead/topology.xml", "<system/>"};
};

TEST_F(TopologyFileKeeperTest, the_file_is_written_with_its_folders_and_again_when_gone) {
  ASSERT_TRUE(keeper().provide(file_, 7));
  EXPECT_EQ(host::read_input_file(file_.path, 100).value(), "<system/>");
  fs::remove(file_.path);
  EXPECT_TRUE(keeper().provide(file_, 7));
  EXPECT_TRUE(fs::exists(file_.path));
  file_.text = "<system version=\"1\"/>";
  EXPECT_TRUE(keeper().provide(file_, 7));
  EXPECT_EQ(host::read_input_file(file_.path, 100).value(), file_.text);
}

TEST_F(TopologyFileKeeperTest, a_file_that_the_runtime_does_not_see_is_not_provided) {
  mounts("own", "9 0 0:91 / / rw - overlay a rw\n");
  const auto done = keeper().provide(file_, 7);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("injection.ncclTopoFile"));
}

TEST_F(TopologyFileKeeperTest, a_runtime_that_is_not_known_is_no_proof) {
  EXPECT_THAT(keeper().provide(file_, std::nullopt).error().message, HasSubstr("is not known"));
  EXPECT_THAT(keeper().provide(file_, 8).error().message, HasSubstr("proc/8/mountinfo"));
}

TEST_F(TopologyFileKeeperTest, what_cannot_be_written_is_an_error) {
  std::ofstream(folder_.path() / "run") << "a file where a folder should be";
  EXPECT_FALSE(keeper().provide(file_, 7));
}

}  // namespace
}  // namespace railhead::agent
