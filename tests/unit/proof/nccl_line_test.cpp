// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_line.h"

#include <gtest/gtest.h>

#include "proof/line_text.h"

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
    EXPECT_TRUE(record.place.starts_with("transport/net_ib")) << record.place;
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

TEST(NcclLine, a_message_without_a_level_may_stand_behind_a_collector) {
  for (const std::string front :
       {"", "[rank3]:", "[1,0]<stdout>:", "3: ", "2026-01-02T03:04:05.678901234Z stdout F ",
        "[pod/trainer-0/main] ", "(RayWorker pid=12, ip=10.0.0.7) ", "[2026-01-02 03:04:05] ",
        "Jan 02 03:04:05 worker-7 torchrun[812]: ", "{\"log\":\"", "node-1: ", "42\t", "> ",
        "[INFO] ", "INFO ", "2026-01-02 03:04:05,123 - INFO - ", "E0102 03:04:05.678 1 x.py:1] "}) {
    for (const std::string prefix : {"", "trainer-0.svc:4711:4720 [3] "}) {
      for (const std::string message : {"Using network IB", "Assigned NET plugin IB to comm",
                                        "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA"}) {
        const auto line = front + prefix + message;
        const auto record = only(line);
        EXPECT_EQ(record.message, message) << front + prefix;
        EXPECT_EQ(record.pid.has_value(), !prefix.empty()) << front + prefix;
      }
    }
  }
  // A sentence may quote what did not happen.
  for (const auto* line :
       {"Expected: Using network IB", "It should say Using network IB, and does not",
        "The log says \"Using network IB\" there", "xUsing network IB",
        "why not Using network IB"}) {
    EXPECT_TRUE(nccl_records(line).empty()) << line;
  }
  EXPECT_EQ(only("10.3.35.83: WARN: Function: main Line: 66: NET/OFI OFI failure: 2").level,
            NcclLevel::warn);
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
  // As a person, a shell and a web page write ESC, and without it.
  for (const std::string escape : {"^[", "ESC", "\\033", "\\x1b", ""}) {
    EXPECT_EQ(plain_text(escape + "[1;36mnode:1:2 [0]" + escape + "[0m NCCL INFO x", room),
              "node:1:2 [0] NCCL INFO x")
        << escape;
  }
  // Ranks, devices and ids in brackets are no colours.
  for (const std::string_view text : {"[0]mlx5_0:1/IB [1]mlx5_1:1/IB", "3[3a000] -> 4[0]", "[36]m",
                                      "ESC is a key", "C:\\new ^ & | [RO]; OOB", "EFA&EFA"}) {
    EXPECT_EQ(plain_text(text, room), text);
  }
}

TEST(NcclLine, what_a_web_page_made_of_a_line_is_taken_back) {
  std::string room;
  EXPECT_EQ(plain_text("a:1:2 [0] NCCL INFO Channel 00&nbsp;: 0[0] -&gt; 1[0]", room),
            "a:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[0]");
  EXPECT_EQ(plain_text("eth0:10.0.0.1&lt;0&gt;\xc2\xa0\xc3\xa9 &unknown; &", room),
            "eth0:10.0.0.1<0> \xc3\xa9 &unknown; &");
}

TEST(NcclLine, ends_of_lines_may_be_spelt) {
  std::string_view line = R"(first\nsecond\r\nthird)";
  EXPECT_EQ(take_piece(line), "first");
  EXPECT_EQ(take_piece(line), "second");
  EXPECT_EQ(take_piece(line), "");
  EXPECT_EQ(take_piece(line), "third");
  EXPECT_TRUE(line.empty());
  line = R"(within\\n\\nanother\)";
  EXPECT_EQ(take_piece(line), "within");
  EXPECT_EQ(take_piece(line), "");
  EXPECT_EQ(take_piece(line), R"(another\)");
}

TEST(NcclLine, what_closes_a_text_in_json_is_not_of_the_message) {
  const std::string line = "a:1:2 [0] NCCL INFO Using network AWS Libfabric";
  for (const std::string end : {R"(","stream":"stdout"})", R"("})", R"("])", R"(")", "', 'next'",
                                R"(" level=info app="a b")"}) {
    EXPECT_EQ(only(R"({"message":")" + line + end).message, "Using network AWS Libfabric") << end;
  }
  EXPECT_EQ(only(R"(a:1:2 [0] NCCL INFO Setting NCCL_PROTO to \"simple\" here)").message,
            R"(Setting NCCL_PROTO to \"simple\" here)");
  EXPECT_EQ(only(R"(a:1:2 [0] NCCL INFO Setting NCCL_PROTO to "simple")").message,
            R"(Setting NCCL_PROTO to "simple")");
  EXPECT_EQ(only("a:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'").message,
            "NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'");
}

TEST(NcclLine, a_prefix_without_a_gpu_names_host_and_process) {
  const auto record = only("node-a:101:201 NCCL INFO Using network IB");
  EXPECT_EQ(record.host, "node-a");
  EXPECT_EQ(record.pid, 101U);
  EXPECT_FALSE(record.gpu);
  // A time of the day is no process.
  EXPECT_FALSE(only("2026-01-02 03:04:05 NCCL INFO Using network IB").pid);
}

TEST(NcclLine, the_end_of_a_connection_counts_without_its_beginning) {
  EXPECT_EQ(only(" 8[4] -> 0[4] [receive] via NET/IB/4/GDRDMA").message,
            "8[4] -> 0[4] [receive] via NET/IB/4/GDRDMA");
  // A sentence about connections is none.
  EXPECT_TRUE(nccl_records("we want 8[4] [send] via NET/IB/4 and get sockets").empty());
  EXPECT_TRUE(nccl_records("[send] via NET/IB/4").empty());
}

}  // namespace
}  // namespace railhead::proof
