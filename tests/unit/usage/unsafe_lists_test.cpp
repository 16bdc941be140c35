// SPDX-License-Identifier: Apache-2.0
#include "usage/unsafe_lists.h"

#include <gmock/gmock.h>

#include "snapshot/snapshot_host.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;
using usage::ListQueuePairs;

bool is_unsafe(const std::string& release) {
  return usage::may_read_freed_memory(usage::parse_kernel_version(release).value());
}

TEST(UnsafeLists, branches_are_unsafe_from_5_15_to_their_mended_release) {
  for (const auto* bad : {"5.15.0-119-generic", "5.15.221", "5.19.0", "6.1.187", "6.6.156",
                          "6.8.12", "6.12.110", "6.18.44", "6.19.0", "7.0.9", "7.1.3", "7.2.7"}) {
    EXPECT_TRUE(is_unsafe(bad)) << bad;
  }
  for (const auto* good : {"4.18.0-553.el8", "5.14.0-427.el9", "6.1.188", "6.6.157", "6.12.111",
                           "6.18.54", "7.2.8", "7.3.0-rc1", "8.0.0"}) {
    EXPECT_FALSE(is_unsafe(good)) << good;
  }
}

TEST(UnsafeLists, a_release_that_is_none_says_nothing) {
  EXPECT_EQ(usage::parse_kernel_version("Linux"), std::nullopt);
  EXPECT_EQ(usage::parse_kernel_version("6"), std::nullopt);
  EXPECT_EQ(usage::parse_kernel_version("6.99999999999.1"), std::nullopt);
  EXPECT_EQ(usage::parse_kernel_version("6.8"), (usage::KernelVersion{6, 8, 0}));
}

/// Why not the queue pairs of `device`, on a machine of which this is known.
std::string why_not(const std::string& entries, ListQueuePairs choice = ListQueuePairs::automatic,
                    const std::string& device = "mlx5_0") {
  const auto host = snapshot::SnapshotHost::parse("railhead-snapshot 1\n" + entries).value();
  return usage::QueuePairLists(*host, "/proc", choice).why_not(*host, device);
}

TEST(UnsafeLists, distributions_say_upstreams_release_elsewhere) {
  EXPECT_THAT(why_not("t /proc/sys/kernel/osrelease 6.8.0-45-generic\n"),
              HasSubstr("Linux 6.8.0-45"));
  EXPECT_EQ(
      why_not("t /proc/sys/kernel/osrelease 6.1.0-40-amd64\n"
              "t /proc/version Linux version 6.1.0-40-amd64 #1 SMP Debian 6.1.190-1 (2026)\n"),
      "");
  EXPECT_THAT(why_not("t /proc/version_signature Ubuntu 6.8.0-45.45-generic 6.8.12\n"),
              HasSubstr("Linux 6.8.12 may read freed memory"));
  EXPECT_EQ(why_not(""), "");
}

TEST(UnsafeLists, the_operator_may_insist_or_forbid) {
  const std::string bad = "t /proc/sys/kernel/osrelease 6.8.0\n";
  EXPECT_EQ(why_not(bad, ListQueuePairs::always), "");
  EXPECT_EQ(why_not("", ListQueuePairs::never), "pods.queuePairs is never");
}

TEST(UnsafeLists, devices_without_hardware_are_listed) {
  const std::string bad =
      "t /proc/sys/kernel/osrelease 6.8.0\n"
      "l /sys/class/infiniband/rxe0 -> ../../devices/virtual/infiniband/rxe0\n";
  EXPECT_EQ(why_not(bad, ListQueuePairs::automatic, "rxe0"), "");
  EXPECT_NE(why_not(bad, ListQueuePairs::automatic, "mlx5_0"), "");
}

}  // namespace
}  // namespace railhead::test
