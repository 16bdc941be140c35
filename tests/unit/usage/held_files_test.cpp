// SPDX-License-Identifier: Apache-2.0
#include "usage/held_files.h"

#include <gmock/gmock.h>

#include "snapshot/snapshot_host.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;

usage::HeldFiles held_by_7(const std::string& entries) {
  const auto host = snapshot::SnapshotHost::parse("railhead-snapshot 1\n" + entries).value();
  return usage::read_held_files(*host, "/proc", {7, 8});
}

TEST(HeldFiles, links_say_what_is_open) {
  const auto held = held_by_7(
      "l /proc/7/fd/0 -> /dev/null\nl /proc/7/fd/3 -> socket:[31]\n"
      "l /proc/7/fd/4 -> anon_inode:[devx_async_event]\nl /proc/8/fd/4 -> "
      "anon_inode:[devx_async_cmd]\n"
      "l /proc/7/fd/5 -> /dev/nvidia0\nl /proc/8/fd/5 -> /dev/nvidiactl\n"
      "l /proc/7/fd/6 -> /dev/nvidia-caps-imex-channels/channel0\nl /proc/7/fd/7 -> /dev/hfi1_0\n");
  EXPECT_THAT(held.sockets, ElementsAre(31));
  EXPECT_EQ(held.devx, 2U);
  EXPECT_EQ(held.imex_channels, 1U);
  EXPECT_THAT(held.other_fabrics, ElementsAre("/dev/hfi1_0"));
  EXPECT_THAT(held.gpu_processes, ElementsAre(7));
  EXPECT_EQ(held.doubt, "");
}

TEST(HeldFiles, what_may_not_be_seen_is_said) {
  EXPECT_EQ(held_by_7("e /proc/7/fd EACCES\n").doubt, "/proc/7/fd: permission denied");
  EXPECT_EQ(held_by_7("e /proc/8/fd/3 EACCES\n").doubt, "");
}

TEST(HeldFiles, what_is_behind_a_limit_was_not_looked_at) {
  const auto host =
      snapshot::SnapshotHost::parse("railhead-snapshot 1\nl /proc/7/fd/3 -> socket:[31]\n").value();
  std::vector<std::uint32_t> processes(1024, 7);
  EXPECT_FALSE(usage::read_held_files(*host, "/proc", processes).is_cut);
  processes.push_back(8);
  const auto held = usage::read_held_files(*host, "/proc", processes);
  EXPECT_TRUE(held.is_cut);
  EXPECT_EQ(held.doubt, "more than 1024 processes may hold them");
  EXPECT_FALSE(held_by_7("e /proc/7/fd EACCES\n").is_cut);
}

}  // namespace
}  // namespace railhead::test
