// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_line.h"

#include <gtest/gtest.h>

namespace railhead::proof {
namespace {

NcclRecord only(std::string_view line) {
  const auto records = nccl_records(line);
  EXPECT_EQ(records.size(), 1U) << line;
  return records.empty() ? NcclRecord{} : records.front();
}

void expect_worker(std::string_view line) {
  const auto record = only(line);
  EXPECT_EQ(record.host, "trainer-0.svc") << line;
  EXPECT_EQ(record.pid, 4711U) << line;
  EXPECT_EQ(record.gpu, 3U) << line;
  EXPECT_EQ(record.message, "Using network IB") << line;
}

TEST(NcclLine, the_prefix_names_host_process_and_gpu) {
  expect_worker("trainer-0.svc:4711:4720 [3] NCCL INFO Using network IB");
}

TEST(NcclLine, what_collectors_put_in_front_is_no_host) {
  const std::string line = "trainer-0.svc:4711:4720 [3] NCCL INFO Using network IB";
  for (const std::string front :
       {"[rank3]:", "[default3]: ", "[1,0]<stdout>:", "[1,3]<stderr>: ", "3: ",
        "2026-01-02T03:04:05.678901234Z ", "[pod/trainer-0/main] ",
        "2026-01-02T03:04:05Z stderr F ", "(RayWorker pid=12, ip=10.0.0.7) ",
        "[2026-01-02 03:04:05] ", "trainer-0 main ", "{\"log\":\"",
        "2026-01-02T03:04:05.123456789+00:00 stdout P ", "trainer-0 \xe2\x80\xba main ",
        "Jan 02 03:04:05 worker-7 torchrun[812]: ", "Jan 02 03:04:05 worker-7 python3.11[9]: ",
        "I0102 03:04:05.123456 99 runner.cc:7] ", "0: [rank3]: "}) {
    expect_worker(front + line);
  }
}

TEST(NcclLine, a_warning_begins_with_its_place_and_perhaps_a_function) {
  for (const std::string_view line :
       {"node-a:7:9 [1] transport/net_ib.cc:1295 NCCL WARN NET/IB : GID table changed",
        "node-a:7:9 [1] transport/net_ib/common.cc:153 (ncclIbAsync) NCCL WARN NET/IB : GID table "
        "changed"}) {
    const auto record = only(line);
    EXPECT_EQ(record.level, NcclLevel::warn);
    EXPECT_EQ(record.host, "node-a");
    EXPECT_EQ(record.gpu, 1U);
    EXPECT_EQ(record.message, "NET/IB : GID table changed");
  }
}

TEST(NcclLine, a_message_whose_prefix_was_filtered_away_still_counts) {
  EXPECT_EQ(only("NCCL INFO Using network Socket").message, "Using network Socket");
  EXPECT_FALSE(only("NCCL INFO Using network Socket").pid);
  const auto gpu_only = only(" [2] NCCL INFO Using network Socket");
  EXPECT_EQ(gpu_only.gpu, 2U);
  EXPECT_FALSE(gpu_only.pid);
}

TEST(NcclLine, a_host_that_was_made_unreadable_is_no_host) {
  const auto record = only("<cluster>:924:1152 [5] NCCL INFO P2P plugin IBext");
  EXPECT_EQ(record.host, "");
  EXPECT_EQ(record.pid, 924U);
  EXPECT_EQ(record.gpu, 5U);
}

TEST(NcclLine, a_message_without_a_level_begins_as_those_about_networks_do) {
  for (const std::string front : {"", "> ", "\xe2\x94\x82 ", "INFO: Function: init Line: 686: "}) {
    EXPECT_EQ(only(front + "NET/IB : No device found.").message, "NET/IB : No device found.");
  }
  const auto record = only("node-a:7:9 [1] NET/IB : No device found.");
  EXPECT_EQ(record.pid, 7U);
  EXPECT_EQ(record.gpu, 1U);
  EXPECT_EQ(only("WARN: Function: init Line: 686: NET/OFI Couldn't open CQ").level,
            NcclLevel::warn);
  EXPECT_TRUE(nccl_records("see NET/IB : No device found.").empty());
}

TEST(NcclLine, nccl_2_1_writes_the_level_alone) {
  const auto info = only("node-a:7:9 [1] INFO Using internal Network IB");
  EXPECT_EQ(info.pid, 7U);
  EXPECT_EQ(info.message, "Using internal Network IB");
  const auto warn = only("node-a:7:9 [1] misc/ibvwrap.cu:269 WARN Call to ibv_reg_mr failed");
  EXPECT_EQ(warn.level, NcclLevel::warn);
  EXPECT_EQ(warn.gpu, 1U);
  EXPECT_EQ(warn.message, "Call to ibv_reg_mr failed");
}

TEST(NcclLine, two_writers_on_one_line_are_two_messages) {
  const auto records =
      nccl_records("a:1:2 [0] NCCL INFO Using network IB b:3:4 [1] NCCL INFO Using network Socket");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].host, "a");
  EXPECT_EQ(records[0].message, "Using network IB");
  EXPECT_EQ(records[1].host, "b");
  EXPECT_EQ(records[1].pid, 3U);
  EXPECT_EQ(records[1].message, "Using network Socket");
}

TEST(NcclLine, other_lines_have_no_message) {
  for (const std::string_view line : {"", "step 12 loss 0.4", "NCCL version 2.21.5+cuda12.4",
                                      "NCCL ", "NCCL TRACE x", "# Using NCCL INFORMATION"}) {
    EXPECT_TRUE(nccl_records(line).empty()) << line;
  }
}

TEST(NcclLine, numbers_that_are_too_large_are_not_taken_for_a_process) {
  const auto record = only("a:99999999999999999999:2 [0] NCCL INFO x");
  EXPECT_FALSE(record.pid);
  EXPECT_EQ(record.gpu, 0U);
}

TEST(NcclLine, a_thread_without_a_device_still_names_its_process) {
  const auto record = only("node-a:101:201 [-1] NCCL INFO Using network IB");
  EXPECT_EQ(record.host, "node-a");
  EXPECT_EQ(record.pid, 101U);
  EXPECT_FALSE(record.gpu);
  EXPECT_FALSE(only("node-a:101:201 [-] NCCL INFO Using network IB").pid);
}

TEST(NcclLine, colours_are_taken_out) {
  std::string room;
  EXPECT_EQ(plain_text("\x1b[36mnode:1:2 [0]\x1b[0m NCCL INFO x", room),
            "node:1:2 [0] NCCL INFO x");
  EXPECT_EQ(plain_text("\\u001b[36m[rank0]:\\u001b[0mnode:1:2 [0] \x1b[1mNCCL\x1b[0m INFO x", room),
            "[rank0]:node:1:2 [0] NCCL INFO x");
  EXPECT_EQ(plain_text("cut \x1b[3", room), "cut ");
  EXPECT_EQ(plain_text("cut \x1b", room), "cut ");
  EXPECT_EQ(plain_text("plain", room), "plain");
}

}  // namespace
}  // namespace railhead::proof
