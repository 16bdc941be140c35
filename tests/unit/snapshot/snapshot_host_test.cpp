// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railhead::snapshot {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;

std::unique_ptr<host::Host> host_of(const std::string& lines) {
  auto host = SnapshotHost::parse("railhead-snapshot 1\n" + lines);
  EXPECT_TRUE(host) << (host ? "" : host.error().message);
  return host ? *std::move(host) : nullptr;
}

TEST(SnapshotHost, answers_what_was_recorded) {
  const auto host = host_of(
      "t /sys/a/numa_node 1\n"
      "f /sys/a/raw 3\nx\ny\n"
      "c /dev/infiniband/uverbs0 231:192 0666 0:0\n");
  EXPECT_EQ(host->read("/sys/a/numa_node").value(), "1\n");
  EXPECT_EQ(host->read("/sys/a/raw").value(), "x\ny");
  EXPECT_THAT(host->list("/sys/a").value().value(), ElementsAre("numa_node", "raw"));
  EXPECT_THAT(host->list("/").value().value(), ElementsAre("dev", "sys"));
  EXPECT_EQ(host->device("/dev/infiniband/uverbs0").value(),
            (host::DeviceNode{'c', 231, 192, 0666, 0, 0}));
}

TEST(SnapshotHost, what_is_not_there_or_of_another_kind_is_absent) {
  const auto host = host_of("t /a/file 1\nd /a/empty\nx /a/name\nc /a/node 1:3 0666 0:0\n");
  for (const char* path : {"/b", "/a/none", "/a/file/below", "/a/name/below", ""}) {
    EXPECT_EQ(host->read(path).value(), std::nullopt) << path;
    EXPECT_EQ(host->list(path).value(), std::nullopt) << path;
    EXPECT_EQ(host->readlink(path).value(), std::nullopt) << path;
    EXPECT_EQ(host->device(path).value(), std::nullopt) << path;
  }
  for (const char* path : {"/a", "/a/empty", "/a/name", "/a/node"}) {
    EXPECT_EQ(host->read(path).value(), std::nullopt) << path;
  }
  EXPECT_EQ(host->list("/a/file").value(), std::nullopt);
  EXPECT_EQ(host->list("/a/name").value(), std::nullopt);
  EXPECT_EQ(host->device("/a/file").value(), std::nullopt);
  EXPECT_THAT(host->list("/a/empty").value().value(), IsEmpty());
  EXPECT_THAT(host->list("/a").value().value(), ElementsAre("empty", "file", "name", "node"));
}

TEST(SnapshotHost, links_are_followed_in_every_component) {
  const auto host = host_of(
      "l /sys/class/infiniband/mlx5_0 -> ../../devices/pci0000:00/0000:00:01.0/infiniband/mlx5_0\n"
      "t /sys/devices/pci0000:00/0000:00:01.0/infiniband/mlx5_0/node_type 1: CA\n"
      "l /sys/devices/pci0000:00/0000:00:01.0/infiniband/mlx5_0/device -> ../../../0000:00:01.0\n"
      "t /sys/devices/pci0000:00/0000:00:01.0/numa_node 0\n"
      "l /abs -> /sys/class\n");
  EXPECT_EQ(host->read("/sys/class/infiniband/mlx5_0/node_type").value(), "1: CA\n");
  EXPECT_EQ(host->read("/sys/class/infiniband/mlx5_0/device/numa_node").value(), "0\n");
  EXPECT_EQ(host->read("/abs/infiniband/mlx5_0/../../numa_node").value(), "0\n");
  EXPECT_EQ(host->readlink("/sys/class/infiniband/mlx5_0/device").value(), "../../../0000:00:01.0");
  EXPECT_EQ(host->readlink("/sys/class/infiniband/mlx5_0/node_type").value(), std::nullopt);
  EXPECT_THAT(host->list("/abs").value().value(), ElementsAre("infiniband"));
}

TEST(SnapshotHost, dots_stay_inside_the_root) {
  const auto host = host_of("t /a/b 1\nl /a/up -> ../../../../a/b\n");
  EXPECT_EQ(host->read("/../../a/./b").value(), "1\n");
  EXPECT_EQ(host->read("/a/up").value(), "1\n");
  EXPECT_EQ(host->read("//a//b").value(), "1\n");
  EXPECT_EQ(host->read("/a/b/../b").value(), std::nullopt) << "a file has no ..";
}

TEST(SnapshotHost, a_dangling_link_is_absent_and_a_loop_an_error) {
  const auto host = host_of("l /dangling -> nowhere\nl /x -> y\nl /y -> x\n");
  EXPECT_EQ(host->read("/dangling").value(), std::nullopt);
  EXPECT_EQ(host->readlink("/dangling").value(), "nowhere");
  const auto loop = host->read("/x/file");
  ASSERT_FALSE(loop);
  EXPECT_EQ(loop.error().code, ErrorCode::unavailable);
  EXPECT_EQ(loop.error().message, "/x/file: too many levels of symbolic links");
  EXPECT_EQ(host->readlink("/x").value(), "y");
}

TEST(SnapshotHost, forty_links_are_followed_and_not_one_more) {
  std::string lines = "t /end 1\nl /0 -> end\n";
  for (int i = 1; i <= 40; ++i) {
    lines += "l /" + std::to_string(i) + " -> " + std::to_string(i - 1) + "\n";
  }
  const auto host = host_of(lines);
  EXPECT_EQ(host->read("/39").value(), "1\n");
  EXPECT_FALSE(host->read("/40"));
}

TEST(SnapshotHost, the_unreadable_answers_with_its_error) {
  const auto host = host_of("e /secret EACCES\ne /gid EINVAL\ne /dir EFBIG\nt /dir/known 1\n");
  EXPECT_EQ(host->read("/gid").error().code, ErrorCode::unavailable);
  EXPECT_THAT(host->read("/gid").error().message, EndsWith("/gid: invalid argument"));
  EXPECT_EQ(host->list("/secret").error().code, ErrorCode::denied);
  EXPECT_EQ(host->device("/secret").error().code, ErrorCode::denied);
  EXPECT_EQ(host->readlink("/secret").value(), std::nullopt);
  EXPECT_EQ(host->read("/secret/below").error().code, ErrorCode::denied);
  EXPECT_EQ(host->list("/dir").error().code, ErrorCode::too_large);
  EXPECT_EQ(host->read("/dir/known").value(), "1\n");
  EXPECT_EQ(host->read("/dir/other").value(), std::nullopt);
}

TEST(SnapshotHost, a_directory_above_the_list_limit_is_too_large) {
  Snapshot snapshot;
  for (std::size_t i = 0; i <= host::Host::kMaxListEntries; ++i) {
    snapshot.entries.emplace("/d/" + std::to_string(i), SnapshotName{});
  }
  SnapshotHost host(std::move(snapshot));
  EXPECT_EQ(host.list("/d").error().code, ErrorCode::too_large);
}

TEST(SnapshotHost, a_very_deep_path_is_harmless) {
  std::string path;
  while (path.size() < 4090) path += "/a";
  const auto host = host_of("t " + path + " 1\n");
  EXPECT_EQ(host->read(path).value(), "1\n");
}

}  // namespace
}  // namespace railhead::snapshot
