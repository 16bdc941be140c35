// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_log.h"

#include <gtest/gtest.h>

namespace railhead::proof {
namespace {

NcclLog read(const std::string& text, std::size_t chunk = SIZE_MAX) {
  NcclLogReader reader;
  for (std::size_t at = 0; at < text.size(); at += std::min(chunk, text.size() - at)) {
    reader.feed(std::string_view(text).substr(at, chunk));
  }
  return reader.finish();
}

std::string worker_line(const std::string& host, unsigned gpu, const std::string& message) {
  return host + ":100:200 [" + std::to_string(gpu) + "] NCCL INFO " + message + "\n";
}

const std::string kTwoRanks =
    worker_line("a", 0, "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:1<0>") +
    worker_line("b", 1, "NET/IB : Using [0]mlx5_4:1/RoCE [RO]; OOB eth0:1<0>") +
    worker_line("a", 0, "Using network IB") + worker_line("b", 1, "Using network IB") +
    worker_line("a", 0, "Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/1/GDRDMA") +
    worker_line("b", 1, "Channel 00/0 : 0[0] -> 1[1] [receive] via NET/IB/0/GDRDMA") +
    worker_line("a", 0, "Channel 01/0 : 1[1] -> 0[0] [receive] via NET/IB/1");

TEST(NcclLog, interleaved_ranks_are_told_apart) {
  const auto log = read(kTwoRanks);
  EXPECT_EQ(log.lines, 7U);
  EXPECT_EQ(log.records, 7U);
  ASSERT_EQ(log.processes.size(), 2U);
  EXPECT_EQ(log.processes[0].devices.size(), 2U);
  EXPECT_EQ(log.processes[1].devices[0].name, "mlx5_4");
  ASSERT_EQ(log.workers.size(), 2U);
  const auto& a = log.workers[0];
  EXPECT_EQ(a.network, "IB");
  EXPECT_EQ(a.channel_rank, 0U);
  EXPECT_EQ(a.channels.size(), 2U);
  ASSERT_EQ(a.uses.size(), 1U);
  EXPECT_EQ(a.uses[0].device, 1U);
  EXPECT_EQ(a.uses[0].sends, 1U);
  EXPECT_EQ(a.uses[0].receives, 1U);
  EXPECT_EQ(a.uses[0].gpu_direct, 1U);
}

TEST(NcclLog, evidence_has_the_number_of_the_first_line) {
  const auto log = read(kTwoRanks);
  const auto& evidence = log.workers[0].evidence;
  EXPECT_EQ(evidence.at(NcclSign::network).place.line, 3U);
  EXPECT_EQ(evidence.at(NcclSign::gpu_direct).place.line, 5U);
  EXPECT_EQ(evidence.at(NcclSign::staged).place.line, 7U);
  EXPECT_EQ(log.processes[1].evidence.at(NcclSign::devices).place.line, 2U);
}

TEST(NcclLog, the_last_chosen_network_counts) {
  const auto log =
      read(worker_line("a", 0, "Using network IB") + worker_line("a", 0, "Using network Socket"));
  EXPECT_EQ(log.workers[0].network, "Socket");
  EXPECT_EQ(log.workers[0].evidence.at(NcclSign::network).place.line, 2U);
}

TEST(NcclLog, chunks_may_end_anywhere) {
  const auto whole = read(kTwoRanks);
  for (const auto chunk : {1U, 2U, 3U, 7U, 100U}) {
    const auto log = read(kTwoRanks, chunk);
    EXPECT_EQ(log.lines, whole.lines);
    EXPECT_EQ(log.records, whole.records);
    EXPECT_EQ(log.workers.size(), whole.workers.size());
    EXPECT_EQ(log.workers[0].uses[0].receives, 1U);
  }
}

TEST(NcclLog, a_last_line_without_an_end_is_read) {
  EXPECT_EQ(read("a:1:1 [0] NCCL INFO Using network IB").workers.size(), 1U);
}

TEST(NcclLog, a_line_above_the_limit_is_read_in_pieces_and_counted) {
  const auto log = read(worker_line("a", 0, "Using network IB" + std::string(100000, 'x')) +
                            worker_line("a", 0, "Using network Socket"),
                        4096);
  EXPECT_EQ(log.lines, 2U);
  EXPECT_EQ(log.split_lines, 1U);
  ASSERT_EQ(log.workers.size(), 1U);
  EXPECT_EQ(log.workers[0].network, "Socket");
}

TEST(NcclLog, a_log_in_one_line_may_have_any_size) {
  for (const std::string separator : {"\\n", "\r"}) {
    std::string line = "{\"log\":\"";
    for (int i = 0; i < 2000; ++i) line += "a:1:1 [0] NCCL INFO Using network IB" + separator;
    line += "a:1:1 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [send] via NET/Socket/0" + separator;
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{4096}, line.size()}) {
      const auto log = read(line + std::string(100, ' ') + "\"}\n", chunk);
      EXPECT_EQ(log.lines, 1U);
      EXPECT_EQ(log.split_lines, 0U);
      EXPECT_EQ(log.records, 2001U);
      ASSERT_EQ(log.workers.size(), 1U);
      ASSERT_EQ(log.workers[0].uses.size(), 1U) << separator << chunk;
      EXPECT_EQ(log.workers[0].evidence.at(NcclSign::sockets).place.line, 1U);
    }
  }
}

TEST(NcclLog, processes_above_the_limit_are_counted_and_not_kept) {
  const auto read_of = [](unsigned pids, std::size_t padding) {
    NcclLogReader reader;
    for (unsigned pid = 1; pid <= pids; ++pid) {
      reader.feed("h:" + std::to_string(pid) + ":1 [0] NCCL INFO Using network IB\n" +
                  std::string(padding, ' ') + "\n");
    }
    return reader.finish();
  };
  // A rank of a real log takes more than a KiB: all are kept, up to the most.
  const auto whole = read_of(65537, 800);
  EXPECT_EQ(whole.processes.size(), 65536U);
  EXPECT_EQ(whole.workers.size(), 65536U);
  EXPECT_EQ(whole.left_out, 1U);
  // Of lines that each are another process's, memory stays within ten times the log.
  const auto many = read_of(30000, 0);
  EXPECT_EQ(many.processes.size(), many.workers.size());
  EXPECT_GE(many.processes.size(), 10240U);
  EXPECT_LT(many.processes.size(), 20000U);
  EXPECT_EQ(many.left_out, 30000 - many.processes.size());
}

TEST(NcclLog, a_host_that_another_writer_ran_into_is_known_by_its_end) {
  const auto log = read(
      worker_line("node-a", 0, "Using network IB") + "node-b:7:7 [0] NCCL INFO Channe" +
      worker_line("node-a", 0, "Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/1") +
      "l 01/0 : 0[0] -> 1[1] [send] via NET/IB/0/GDRDMA" + worker_line("node-a", 0, "nothing"));
  ASSERT_EQ(log.processes.size(), 2U);
  EXPECT_EQ(log.processes[0].host, "node-a");
  EXPECT_EQ(log.processes[1].host, "node-b");
  ASSERT_EQ(log.workers.size(), 1U);
  EXPECT_EQ(log.workers[0].uses.size(), 1U);
}

TEST(NcclLog, what_ran_into_a_host_is_the_end_of_the_message_before) {
  const auto log = read(worker_line("node-a", 0, "Using network Socket") +
                        "node-b:7:7 [0] NCCL INFO Using network IB" +
                        worker_line("node-a", 0, "Using network IB"));
  ASSERT_EQ(log.workers.size(), 2U);
  EXPECT_EQ(log.workers[0].network, "IB");
  EXPECT_EQ(log.workers[1].network, "IB");
}

TEST(NcclLog, a_host_whose_name_ends_as_anothers_is_another_one) {
  const auto log = read(worker_line("a-0", 0, "Using network IB") +
                        worker_line("ba-0", 0, "Using network Socket") +
                        "[rank2]: " + worker_line("ca-0", 0, "Using network IB"));
  EXPECT_EQ(log.processes.size(), 3U);
  EXPECT_EQ(log.workers.size(), 3U);
}

TEST(NcclLog, a_carriage_return_ends_what_a_progress_bar_wrote) {
  const auto log = read("step 1\r" + worker_line("a", 0, "Using network IB") + "step 2\r" +
                        worker_line("a", 0, "Using network IB") +
                        "a:100:200 [0] NCCL INFO Using network Socket\rstep 3 10%|##  |\r\n");
  EXPECT_EQ(log.lines, 3U);
  ASSERT_EQ(log.processes.size(), 1U);
  EXPECT_EQ(log.processes[0].host, "a");
  ASSERT_EQ(log.workers.size(), 1U);
  EXPECT_EQ(log.workers[0].network, "Socket");
}

TEST(NcclLog, the_level_may_have_a_colour_of_its_own) {
  EXPECT_EQ(read("a:1:1 [0] \x1b[32mNCCL\x1b[0m INFO Using network IB").workers.size(), 1U);
}

TEST(NcclLog, messages_that_do_not_name_their_process_are_counted) {
  EXPECT_EQ(read("NCCL INFO x\n" + worker_line("a", 0, "x") + "a:1 [0] NCCL INFO x\n").nameless,
            2U);
}

TEST(NcclLog, gpus_of_one_process_share_what_it_was_told_once) {
  const auto log = read(
      worker_line("a", 0, "NET/IB : Using [0]mlx5_0:1/IB ; OOB eth0:1<0>") +
      worker_line("a", 0, "Using network IB") + worker_line("a", 1, "Using network IB") +
      worker_line("a", 0, "ncclCommInitAll comm 0x1 rank 0 nranks 2 cudaDev 0 - Init COMPLETE") +
      worker_line("a", 1, "ncclCommInitAll comm 0x2 rank 1 nranks 2 cudaDev 1 - Init COMPLETE"));
  EXPECT_EQ(log.processes.size(), 1U);
  ASSERT_EQ(log.workers.size(), 2U);
  EXPECT_EQ(log.workers[1].membership->rank, 1U);
  EXPECT_EQ(log.workers[1].communicators, 1U);
}

TEST(NcclLog, a_rank_is_that_of_its_largest_communicator) {
  const auto log = read(worker_line("a", 3, "comm 0x1 rank 11 nranks 16 - Init COMPLETE") +
                        worker_line("a", 3,
                                    "ncclCommSplit comm 0x2 rank 1 nranks 2 parent 0x1 "
                                    "color 5 key 1 commId 0x3 - Init COMPLETE"));
  EXPECT_EQ(log.workers[0].membership->rank, 11U);
  EXPECT_EQ(log.workers[0].communicators, 2U);
}

TEST(NcclLog, a_log_file_of_a_container_runtime_is_read_as_it_is) {
  const auto log =
      read(R"({"log":"a:1:1 [0] NCCL INFO Using network AWS Libfabric\n","stream":"stdout"})");
  ASSERT_EQ(log.workers.size(), 1U);
  EXPECT_EQ(log.workers[0].network, "AWS Libfabric");
}

TEST(NcclLog, several_lines_in_one_text_of_json_are_several) {
  const auto log =
      read(R"({"text":"a:1:1 [0] NCCL INFO Using network IB\\nb:2:2 [1] NCCL INFO Using )"
           R"(network Socket","time":1})");
  ASSERT_EQ(log.workers.size(), 2U);
  EXPECT_EQ(log.workers[0].network, "IB");
  EXPECT_EQ(log.workers[1].network, "Socket");
  EXPECT_EQ(log.processes[1].host, "b");
}

TEST(NcclLog, a_line_that_was_wrapped_is_one_with_the_next) {
  const auto log = read(
      "a:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send]\n  via NET/IB/3\n"
      "a:1:1 [0] NCCL INFO Using network\nIB\n"
      "a:1:1 [0] NCCL INFO Channel 01/0 : 0[0] -> 8[0] [send]\n\nvia NET/Socket/0\n"
      "a:1:1 [0] NCCL INFO Channel 02/0 : 0[0] ->\nNCCL version 2.20.5+cuda12.4\n"
      "a:1:1 [0] NCCL INFO Channel 03/0 : 0[0] ->");
  ASSERT_EQ(log.workers.size(), 1U);
  ASSERT_EQ(log.workers[0].uses.size(), 1U);
  EXPECT_EQ(log.workers[0].uses[0].network, "IB");
  EXPECT_EQ(log.workers[0].uses[0].sends, 1U);
  EXPECT_EQ(log.workers[0].network, "IB");
  EXPECT_EQ(log.workers[0].evidence.at(NcclSign::staged).place.line, 1U);
  EXPECT_EQ(log.workers[0].evidence.at(NcclSign::network).place.line, 3U);
  EXPECT_EQ(log.versions.size(), 1U);
  EXPECT_EQ(log.records, 5U);
}

TEST(NcclLog, a_failed_call_is_an_error_and_so_is_a_failed_connection) {
  const auto log = read(
      "a:1:2 [0] NCCL INFO transport/net.cc:1302 -> 6\n"
      "a:1:2 [0] NCCL INFO proxy.cc:698 -> 6\n"
      "a:1:2 [0] misc/socket.cc:9 NCCL WARN a call failed in a new way\n"
      "a:1:2 [0] misc/other.cc:9 NCCL WARN a call failed elsewhere\n");
  ASSERT_EQ(log.problems.size(), 3U);
  EXPECT_EQ(log.problems[0].severity, NcclSeverity::error);
  EXPECT_EQ(log.problems[0].count, 2U);
  EXPECT_EQ(log.problems[1].severity, NcclSeverity::error);
  EXPECT_EQ(log.problems[1].meaning, "");
  EXPECT_EQ(log.problems[2].severity, NcclSeverity::warning);
}

TEST(NcclLog, an_untidy_log_is_no_failure) {
  constexpr char kBytes[] = "\0\0NCCL INFO \xff\n\n[0] NCCL INFO\nNCCL WARN";
  const auto log = read(std::string(kBytes, sizeof kBytes - 1));
  EXPECT_EQ(log.records, 3U);
}

TEST(NcclLog, failures_are_collected_by_what_they_mean) {
  const std::string failed =
      "a:1:2 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<5> "
      "with status=12 opcode=0 len=0 vendor err 129\n";
  const auto log = read(worker_line("a", 0, "HINT: try NCCL_IB_TIMEOUT") + failed + failed +
                        "a:1:2 [0] x.cc:1 NCCL WARN NET/IB : mlx5_0:1 GID table changed\n" +
                        "a:1:2 [0] x.cc:1 NCCL WARN something else\n");
  ASSERT_EQ(log.problems.size(), 4U);
  EXPECT_EQ(log.problems[0].severity, NcclSeverity::error);
  EXPECT_EQ(log.problems[0].count, 2U);
  EXPECT_EQ(log.problems[0].first.place.line, 2U);
  EXPECT_EQ(log.problems[1].severity, NcclSeverity::warning);
  EXPECT_EQ(log.problems[3].severity, NcclSeverity::hint);
  EXPECT_EQ(log.problems[3].first.text, "HINT: try NCCL_IB_TIMEOUT");
}

TEST(NcclLog, a_retry_is_a_warning_and_a_failed_connection_an_error) {
  const auto log = read(
      worker_line("a", 0, "Call to ibv_modify_qp failed with 110 Connection timed out, retrying") +
      "a:1:2 [0] misc/ibvwrap.cc:376 NCCL WARN Call to ibv_modify_qp failed with 22 Invalid\n");
  ASSERT_EQ(log.problems.size(), 2U);
  EXPECT_EQ(log.problems[0].severity, NcclSeverity::error);
  EXPECT_EQ(log.problems[1].severity, NcclSeverity::warning);
}

TEST(NcclLog, what_ucx_and_mooncake_say_of_rdma_is_reported) {
  const auto log = read(
      "[1700000000.1] [h:1:0] ucp_context.c:1 UCX  WARN  network device 'eth9' is not "
      "available, please use one or more of: 'eth0'(tcp)\n"
      "E0101 rdma_context.cpp:1] No RDMA devices found, check your device installation\n");
  ASSERT_EQ(log.problems.size(), 2U);
  EXPECT_EQ(log.problems[0].severity, NcclSeverity::error);
  EXPECT_EQ(log.problems[0].first.place.line, 2U);
}

TEST(NcclLog, quotes_are_printable_and_of_bounded_length) {
  const auto quote = nccl_quote({0, 1}, "a\x07" + std::string(1000, 'b'));
  EXPECT_EQ(quote.text.substr(0, 3), "a b");
  EXPECT_LT(quote.text.size(), 300U);
}

}  // namespace
}  // namespace railhead::proof
