// SPDX-License-Identifier: Apache-2.0
#include "host/process.h"

#include <gtest/gtest.h>

#include "snapshot/snapshot_host.h"

namespace railhead::host {
namespace {

/// A procfs with two processes, as Linux 6.1 prints it.
std::unique_ptr<Host> procfs() {
  const std::string status = "Name:\tcontainerd\nUmask:\t0022\nCapEff:\t000001fffeffffff\n";
  const std::string limits =
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max cpu time              unlimited            unlimited            seconds   \n"
      "Max locked memory         65536                unlimited            bytes     \n";
  const auto file = [](const std::string& path, const std::string& text) {
    return "f " + path + " " + std::to_string(text.size()) + "\n" + text + "\n";
  };
  return snapshot::SnapshotHost::parse("railhead-snapshot 1\n" + file("/proc/100/comm", "other\n") +
                                       file("/proc/99/comm", "containerd\n") +
                                       file("/proc/99/limits", limits) +
                                       file("/proc/99/status", status) + "d /proc/self\n")
      .value();
}

TEST(Process, capabilities_come_from_status_and_memlock_from_limits) {
  const auto host = procfs();
  const auto facts = read_process(*host, "/proc", 99);
  ASSERT_TRUE(facts && *facts);
  EXPECT_EQ((*facts)->cap_effective, 0x1fffeffffffU);
  EXPECT_EQ((*facts)->memlock_soft_bytes, 65536U);
  EXPECT_EQ((*facts)->memlock_hard_bytes, ProcessFacts::kUnlimited);
}

TEST(Process, one_that_is_gone_is_absent_not_an_error) {
  const auto host = procfs();
  const auto facts = read_process(*host, "/proc", 7);
  ASSERT_TRUE(facts);
  EXPECT_FALSE(facts->has_value());
}

TEST(Process, is_found_by_the_name_that_the_kernel_keeps) {
  const auto host = procfs();
  EXPECT_EQ(find_processes(*host, "/proc", "containerd").value(), std::vector<int>{99});
  EXPECT_TRUE(find_processes(*host, "/proc", "crio").value().empty());
  EXPECT_FALSE(find_processes(*host, "/nowhere", "crio"));
}

TEST(Process, a_long_name_is_found_by_the_part_that_is_kept) {
  const auto host = snapshot::SnapshotHost::parse(
                        "railhead-snapshot 1\nt /p/8/comm containerd-shim\nx /p/9/comm\n")
                        .value();
  EXPECT_EQ(find_processes(*host, "/p", "containerd-shim-runc-v2").value(), std::vector<int>{8});
  EXPECT_TRUE(find_processes(*host, "/p", "containerd").value().empty());
}

TEST(Process, facts_that_cannot_be_read_are_absent_each_for_itself) {
  const auto host = snapshot::SnapshotHost::parse(
                        "railhead-snapshot 1\nf /p/8/status 15\nCapEff:\tjunk\n\n\n\n"
                        "t /p/8/limits Max locked memory 8388608 none bytes\n")
                        .value();
  const auto facts = read_process(*host, "/p", 8);
  ASSERT_TRUE(facts && *facts) << facts.error().message;
  EXPECT_EQ((*facts)->cap_effective, std::nullopt);
  EXPECT_EQ((*facts)->memlock_soft_bytes, 8388608U);
  EXPECT_EQ((*facts)->memlock_hard_bytes, std::nullopt);
}

TEST(Process, one_that_may_not_be_looked_at_is_an_error) {
  const auto host =
      snapshot::SnapshotHost::parse("railhead-snapshot 1\ne /p/8/status EACCES\n").value();
  EXPECT_EQ(read_process(*host, "/p", 8).error().code, ErrorCode::denied);
}

}  // namespace
}  // namespace railhead::host
