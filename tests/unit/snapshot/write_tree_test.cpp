// SPDX-License-Identifier: Apache-2.0
#include "snapshot/write_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "host/directory_host.h"
#include "snapshot/snapshot_host.h"
#include "unit/host/temporary_directory.h"

namespace railhead::snapshot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WriteTree : public testing::Test {
 protected:
  std::unique_ptr<host::Host> host_of(const std::string& lines) {
    const auto snapshot = parse_snapshot("railhead-snapshot 1\n" + lines).value();
    const Status status = write_tree(snapshot, directory_ / "tree");
    EXPECT_TRUE(status) << (status ? "" : status.error().message);
    return host::DirectoryHost::open(directory_ / "tree").value();
  }

  test::TemporaryDirectory directory_;
};

TEST_F(WriteTree, the_tree_answers_as_the_snapshot_does) {
  const auto host = host_of(
      "t /sys/devices/a/numa_node 1\n"
      "f /sys/devices/a/raw 3\n\n\n\n\n"
      "l /sys/class/a -> ../devices/a\n"
      "l /sys/class/gone -> nowhere\n"
      "d /sys/empty\n"
      "x /sys/name\n"
      "c /dev/null0 1:3 0666 0:0\n");
  EXPECT_EQ(host->read("/sys/class/a/numa_node").value(), "1\n");
  EXPECT_EQ(host->read("/sys/class/a/raw").value(), "\n\n\n");
  EXPECT_EQ(host->readlink("/sys/class/gone").value(), "nowhere");
  EXPECT_TRUE(host->list("/sys/empty").value()->empty());
  EXPECT_THAT(host->list("/sys").value().value(), ElementsAre("class", "devices", "empty", "name"));
  EXPECT_EQ(host->read("/sys/name").value(), std::nullopt);
  EXPECT_EQ(host->list("/sys/name").value(), std::nullopt);
  EXPECT_EQ(host->readlink("/sys/name").value(), std::nullopt);
  EXPECT_EQ(host->device("/dev/null0").value(), std::nullopt);
}

TEST_F(WriteTree, failures_fail_again) {
  const auto host = host_of("e /a EINVAL\ne /b EFBIG\ne /c EACCES\ne /d EACCES\nt /d/x 1\n");
  EXPECT_EQ(host->read("/a").error().code, ErrorCode::unavailable);
  EXPECT_EQ(host->read("/b").error().code, ErrorCode::too_large);
  EXPECT_EQ(host->read("/d/x").value(), "1\n");
  if (::geteuid() != 0) {
    EXPECT_EQ(host->read("/c").error().code, ErrorCode::denied);
  }
}

TEST_F(WriteTree, device_nodes_are_made_on_request) {
  Snapshot snapshot;
  snapshot.entries = {{"/dev/infiniband/uverbs0", host::DeviceNode{'c', 231, 192, 0640, 1, 2}}};
  const Status status = write_tree(snapshot, directory_ / "tree", DeviceNodes::make);
  if (!status && status.error().code == ErrorCode::denied) GTEST_SKIP() << "mknod is not allowed";
  ASSERT_TRUE(status) << status.error().message;
  const auto host = host::DirectoryHost::open(directory_ / "tree").value();
  EXPECT_EQ(host->device("/dev/infiniband/uverbs0").value(),
            (host::DeviceNode{'c', 231, 192, 0640, 1, 2}));
}

TEST_F(WriteTree, nothing_is_written_through_a_link) {
  std::filesystem::create_directory(directory_ / "outside");
  Snapshot hostile;  // no parser would let this pass
  hostile.entries = {{"/out", SnapshotLink{directory_ / "outside"}},
                     {"/out/file", SnapshotFile{"x"}}};
  (void)write_tree(hostile, directory_ / "tree");
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / "outside"));
  hostile.entries = {{"/../file", SnapshotFile{"x"}}};
  EXPECT_EQ(write_tree(hostile, directory_ / "other").error().code, ErrorCode::usage);
}

TEST_F(WriteTree, the_directory_has_to_be_empty) {
  Snapshot snapshot;
  snapshot.entries = {{"/a", SnapshotFile{"x"}}};
  ASSERT_TRUE(write_tree(snapshot, directory_ / "tree"));
  const Status again = write_tree(snapshot, directory_ / "tree");
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("tree: is not empty"));
  EXPECT_THAT(write_tree(snapshot, directory_ / "no/such").error().message,
              HasSubstr("no/such: no such file"));
}

}  // namespace
}  // namespace railhead::snapshot
