// SPDX-License-Identifier: Apache-2.0
//
// The verdict on whole logs: one node, plugins, old versions, UCX, NIXL, Mooncake, several files.
#include <gmock/gmock.h>

#include "proof/nccl_job.h"

namespace railhead::proof {
namespace {

using testing::HasSubstr;

NcclJob judge_lines(const std::string& lines) {
  NcclLogReader reader;
  reader.feed(lines);
  return judge(reader.finish());
}

/// One process "node-a", GPU 0, with these messages.
NcclJob judge_messages(const std::vector<std::string>& messages) {
  std::string lines;
  for (const auto& message : messages) lines += "node-a:1:1 [0] NCCL INFO " + message + "\n";
  return judge_lines(lines);
}

NcclVerdict verdict_on(const std::vector<std::string>& messages) {
  return judge_messages(messages).verdict;
}

TEST(NcclVerdicts, a_job_of_one_node_is_neither_rdma_nor_tcp) {
  const std::string socket = "Using network Socket";
  const std::string member = "comm 0x1 rank 0 nranks 2 - Init START";
  const std::string pair = "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct";
  const auto job = judge_messages({socket, member, pair});
  EXPECT_EQ(job.verdict, NcclVerdict::intra_node);
  EXPECT_EQ(job.ranks[0].why, "connections within the host reach all 2 ranks");
  EXPECT_EQ(verdict_on({"Using network IB", "comm 0x1 rank 0 nRanks 8 nNodes 1 localRanks 8"}),
            NcclVerdict::intra_node);
}

TEST(NcclVerdicts, one_node_has_to_be_certain) {
  const std::string socket = "Using network Socket";
  const std::string pair = "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct";
  // Two of four ranks, another host, a connection through a network.
  EXPECT_EQ(verdict_on({socket, "comm 0x1 rank 0 nranks 4 - Init START", pair}), NcclVerdict::tcp);
  const std::string front = "a:1:1 [0] NCCL INFO ";
  const std::string member = front + "comm 0x1 rank 0 nranks 2 - Init START\n";
  EXPECT_EQ(judge_lines(member + front + socket + "\n" + front + pair + "\nb:1:1 [0] NCCL INFO " +
                        socket + "\n")
                .verdict,
            NcclVerdict::tcp);
  EXPECT_EQ(verdict_on({"comm 0x1 rank 0 nranks 2 - Init START", pair,
                        "Channel 01/0 : 0[0] -> 1[1] [send] via NET/Socket/0"}),
            NcclVerdict::tcp);
  // NVLink between nodes.
  EXPECT_EQ(verdict_on({"comm 0x1 rank 0 nranks 2 - Init START",
                        "Channel 00/0 : 0[0] -> 1[0] via P2P/MNNVL"}),
            NcclVerdict::unknown);
}

TEST(NcclVerdicts, all_ranks_in_the_log_of_one_host_are_one_node) {
  const auto rank = [](const std::string& host, const std::string& number, const std::string& size,
                       const std::string& pointer = "0x1") {
    const auto front = host + ":10" + number + ":1 [0] NCCL INFO ";
    const auto member = front + "comm " + pointer + " rank " + number + " nranks " + size;
    return front + "Using network Socket\n" + member + " - Init START\n" + member +
           " - Init COMPLETE\n";
  };
  const auto two = rank("node-a", "0", "2") + rank("node-a", "1", "2");
  EXPECT_EQ(judge_lines(two).verdict, NcclVerdict::intra_node);
  // Any number of nodes may have that name.
  EXPECT_EQ(judge_lines(rank("localhost", "0", "2") + rank("localhost", "1", "2")).verdict,
            NcclVerdict::tcp);
  EXPECT_EQ(judge_lines(rank("node-a", "0", "2") + rank("node-b", "1", "2")).verdict,
            NcclVerdict::tcp);
  // Of the pipeline's communicators the log has one end only.
  EXPECT_EQ(judge_lines(two + rank("node-a", "0", "3")).verdict, NcclVerdict::tcp);
  EXPECT_EQ(judge_lines(two + rank("node-a", "0", "2", "0x2")).verdict, NcclVerdict::tcp);
  EXPECT_EQ(
      judge_lines(rank("node-a", "0", "4") + rank("node-a", "1", "4") + rank("node-a", "2", "4") +
                  rank("node-a", "3", "4") + rank("node-a", "0", "2"))
          .verdict,
      NcclVerdict::tcp);
}

TEST(NcclVerdicts, one_process_with_all_gpus_is_one_node) {
  const std::string chosen =
      "a:1:2 [0] NCCL INFO Using network Socket\na:1:3 [1] NCCL INFO Using network Socket\n";
  const std::string ring = "a:1:2 [0] NCCL INFO Channel 00/08 :    0   1";
  EXPECT_EQ(judge_lines(chosen + ring + "\n").verdict, NcclVerdict::intra_node);
  EXPECT_EQ(judge_lines(chosen + ring + "   2   3\n").verdict, NcclVerdict::tcp);
  EXPECT_EQ(judge_lines(chosen).verdict, NcclVerdict::tcp);
  // Twenty is what NCCL prints of a longer one.
  EXPECT_EQ(nccl_ring_size("Channel 00/08 : 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"),
            0U);
  EXPECT_EQ(nccl_ring_size("Channel 00/0 : 0[0] -> 1[1] via P2P/IPC"), 0U);
}

TEST(NcclVerdicts, the_table_of_nccl_tests_has_all_ranks_of_the_job) {
  const auto row = [](int rank, const std::string& host) {
    return "#  Rank  " + std::to_string(rank) + " Group  0 Pid  4711 on " + host + " device  " +
           std::to_string(rank) + " [0x1a] A GPU\n";
  };
  const auto verdict = [](const std::string& text) {
    NcclLogReader reader;
    reader.feed(text);
    return judge(reader.finish()).verdict;
  };
  const std::string chosen = "a:4711:4720 [0] NCCL INFO Using network Socket\n";
  EXPECT_EQ(verdict(row(0, "a") + row(1, "a") + "#\n"), NcclVerdict::intra_node);
  EXPECT_EQ(verdict(">  Rank  0 Pid 7 on a device  0 [0x1a] GPU\n>  Rank  1 Pid 7 on a device  1 "
                    "[0x1b] GPU\nthen\n"),
            NcclVerdict::intra_node);
  EXPECT_EQ(verdict(row(0, "a") + row(1, "a") + chosen), NcclVerdict::intra_node);
  EXPECT_EQ(verdict(row(0, "a") + row(1, "b") + chosen), NcclVerdict::tcp);
  // What was cut, what another host printed, and a larger communicator.
  EXPECT_EQ(verdict(row(1, "a") + row(2, "a") + chosen), NcclVerdict::tcp);
  EXPECT_EQ(verdict(row(0, "b") + row(1, "b") + chosen), NcclVerdict::tcp);
  EXPECT_EQ(verdict(row(0, "a") + row(1, "a") + chosen +
                    "a:4711:4720 [0] NCCL INFO comm 0x1 rank 0 nranks 4 cudaDev 0\n"),
            NcclVerdict::tcp);
  EXPECT_EQ(verdict(row(0, "a") + "#\n"), NcclVerdict::unknown);
  EXPECT_EQ(verdict(row(0, "a") + row(1, "a")), NcclVerdict::unknown);
  NcclLogReader two_files;
  two_files.feed(row(0, "a") + row(1, "a"));
  two_files.begin_file("next");
  two_files.feed("what stands in another file\n");
  EXPECT_EQ(judge(two_files.finish()).verdict, NcclVerdict::unknown);
  EXPECT_EQ(verdict(row(0, "a") + "#  Rank  1 Group  0 Pid  4711 on a device  1 [0\n#\n"),
            NcclVerdict::unknown);
  // Two machines of one name: both have a GPU 0.
  EXPECT_EQ(verdict(row(0, "a") + "# Rank 1 Group 0 Pid 9 on a device 0 [0x1a] A GPU\n" + chosen),
            NcclVerdict::tcp);
}

TEST(NcclVerdicts, two_ids_are_two_communicators) {
  // Two stages of a pipeline, each of whose communicators leads to the other node.
  const std::string start = "cudaDev 0 nvmlDev 0 busId 1000 commId ";
  const std::string text =
      "a:1:2 [0] NCCL INFO Using network Socket\n"
      "a:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 " +
      start +
      "0xaa - Init START\n"
      "a:3:4 [1] NCCL INFO Using network Socket\n"
      "a:3:4 [1] NCCL INFO comm 0x2 rank 1 nranks 2 " +
      start;
  const auto verdict = [&](const std::string& id) {
    NcclLogReader reader;
    reader.feed(text + id + " - Init START\n");
    return judge(reader.finish()).verdict;
  };
  EXPECT_EQ(verdict("0xaa"), NcclVerdict::intra_node);
  EXPECT_EQ(verdict("0xbb"), NcclVerdict::tcp);
}

TEST(NcclVerdicts, what_a_source_file_prints_says_what_was_in_use) {
  const auto job = [](const std::string& line) {
    NcclLogReader reader;
    reader.feed("a:1:2 [0] " + line + "\n");
    return judge(reader.finish());
  };
  for (const auto* line :
       {"NCCL INFO NET/IB: ncclIbConnectImpl: QP created: port=1 dev=0 devName=mlx5_0 qp_num=77",
        "NCCL INFO NET/IB : ncclIbRtrQp qpn=77 mtu=5 dst=78 ll=1 port=1 sl: 0 tc: 0",
        "NCCL INFO NET/IB: Dev 0 Port 1 qpn 77 mtu 5 LID 7"}) {
    EXPECT_EQ(job(line).verdict, NcclVerdict::rdma) << line;
  }
  for (const auto* line : {"NCCL INFO NET/Socket: Using 1 threads and 1 sockets per thread",
                           "NCCL INFO transport/net_socket.cc:336 -> 2",
                           "transport/net_socket.cc:450 NCCL WARN NET/Socket : message truncated : "
                           "receiving 8 bytes"}) {
    EXPECT_EQ(job(line).verdict, NcclVerdict::tcp) << line;
  }
  EXPECT_EQ(job("transport/net_socket.cc:40 NCCL WARN NET/Socket : no interface found").verdict,
            NcclVerdict::unknown);
}

TEST(NcclVerdicts, a_small_communicator_may_lead_to_another_node) {
  // Tensor parallelism within the node, a pipeline between nodes.
  const std::vector<std::string> messages = {"Using network Socket",
                                             "comm 0x1 rank 0 nRanks 8 nNodes 1 localRanks 8",
                                             "comm 0x2 rank 0 nRanks 2 nNodes 2 localRanks 1"};
  EXPECT_EQ(verdict_on(messages), NcclVerdict::tcp);
  EXPECT_EQ(verdict_on({messages[0], messages[2], messages[1]}), NcclVerdict::tcp);
}

TEST(NcclVerdicts, the_list_of_2_3_has_one_device_a_line) {
  const auto job = judge_messages({"NET/IB: [0] mlx5_64:1/IB ", "NET/IB: [1] mlx5_128:1/IB "});
  EXPECT_EQ(job.verdict, NcclVerdict::rdma_chosen);
  ASSERT_EQ(job.ranks[0].available.size(), 2U);
  EXPECT_EQ(job.ranks[0].available[1].name, "mlx5_128");
  EXPECT_EQ(verdict_on({"NET/IB: [0] mlx5_64:1/IB", "Using internal Network Socket"}),
            NcclVerdict::tcp);
}

TEST(NcclVerdicts, the_plugin_for_verbs_looks_for_the_same_devices) {
  EXPECT_EQ(verdict_on({"P2P plugin IBext", "NET/IB : No device found."}), NcclVerdict::tcp);
  EXPECT_EQ(verdict_on({"P2P plugin UCX_v6", "NET/IB : No device found."}), NcclVerdict::unknown);
  EXPECT_EQ(verdict_on({"P2P plugin IBext"}), NcclVerdict::unknown);
}

TEST(NcclVerdicts, a_communicator_that_failed_is_an_error) {
  for (const std::string message :
       {"bootstrap.cc:275 -> 2", "init.cc:1493 -> 2", "init.cu:915 -> 2"}) {
    NcclLogReader reader;
    reader.feed("a:1:1 [0] NCCL INFO Using network IB\na:1:1 [0] NCCL INFO " + message + "\n");
    const auto log = reader.finish();
    ASSERT_EQ(log.problems.size(), 1U) << message;
    EXPECT_EQ(log.problems[0].severity, NcclSeverity::error) << message;
  }
}

TEST(NcclVerdicts, the_plugin_names_what_its_stub_is) {
  const std::string stub = "Using network NCCL RDMA Plugin v6";
  EXPECT_EQ(verdict_on({"P2P plugin v6 IBext_v6", stub}), NcclVerdict::rdma_chosen);
  EXPECT_EQ(verdict_on({"P2P plugin UCX_v6", stub}), NcclVerdict::rdma_chosen);
  EXPECT_EQ(verdict_on({stub}), NcclVerdict::rdma_chosen);
}

TEST(NcclVerdicts, plugins_over_tcp_are_tcp_by_their_name) {
  EXPECT_EQ(verdict_on({"NET/FastSocket : Using [0]ens12:10.0.0.6<0>"}), NcclVerdict::tcp);
  EXPECT_EQ(verdict_on({"NET/FasTrak plugin initialized."}), NcclVerdict::tcp);
  EXPECT_EQ(verdict_on({"Using network FasTrak"}), NcclVerdict::tcp);
  EXPECT_EQ(verdict_on({"Using network gIB"}), NcclVerdict::rdma_chosen);
}

TEST(NcclVerdicts, a_plugin_that_was_assigned_was_chosen) {
  EXPECT_EQ(verdict_on({"Initialized NET plugin Socket"}), NcclVerdict::tcp);
  EXPECT_EQ(verdict_on({"Initialized NET plugin IB", "Assigned NET plugin IB to comm"}),
            NcclVerdict::rdma_chosen);
}

TEST(NcclVerdicts, a_provider_that_was_selected_was_chosen) {
  const std::string efa = "NET/OFI Selected Provider is efa";
  EXPECT_EQ(verdict_on({efa}), NcclVerdict::rdma_chosen);
  EXPECT_EQ(verdict_on({"NET/OFI Selected Provider is tcp"}), NcclVerdict::tcp);
  EXPECT_EQ(verdict_on({efa, "NET/Socket : Using [0]eth0:10.0.0.1<0>"}), NcclVerdict::unknown);
}

TEST(NcclVerdicts, what_fails_shows_what_was_in_use) {
  EXPECT_EQ(
      judge_lines("a:1:1 [0] x.cc:1 NCCL WARN NET/IB : Got completion with error 12, x\n").verdict,
      NcclVerdict::rdma);
  EXPECT_EQ(
      judge_lines("NCCL WARN NET/gIB : Got completion from peer 1 with status = 12 x\n").verdict,
      NcclVerdict::rdma);
  EXPECT_EQ(judge_lines("NCCL WARN NET/IB : Got completion with error\n").verdict,
            NcclVerdict::rdma);
  EXPECT_EQ(verdict_on({"transport/net_ib.cc:771 Ib Alloc Size 552 pointer 0x7f"}),
            NcclVerdict::rdma);
  EXPECT_EQ(verdict_on({"transport/net_socket.cc:368 -> 6"}), NcclVerdict::tcp);
}

TEST(NcclVerdicts, before_2_7_the_list_of_devices_is_the_choice) {
  const std::string list = "a:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB ; OOB ib0:1<0>\n";
  for (const std::string version : {"2.4.7+cuda10.0", "2.5.6+cuda10.2", "2.6.4+cuda10.2"}) {
    EXPECT_EQ(judge_lines("NCCL version " + version + "\n" + list).verdict,
              NcclVerdict::rdma_chosen);
  }
  // From 2.7 on the log would say so; with NCCL_NET=Socket the list stands there, too.
  const auto job = judge_lines("NCCL version 2.12.9+cuda11.6\n" + list);
  EXPECT_EQ(job.verdict, NcclVerdict::unknown);
  EXPECT_TRUE(job.ranks[0].has_candidates_only);
}

TEST(NcclVerdicts, nccl_2_1_and_2_3_are_read) {
  EXPECT_EQ(judge_lines("a:1:2 [0] INFO NET : Using interface eth0:10.0.0.1<0>\n"
                        "a:1:2 [0] INFO Ring 00 : 0 -> 1 via NET/Socket/0\n")
                .verdict,
            NcclVerdict::tcp);
  EXPECT_EQ(verdict_on({"Ring 00 : 0 -> 1 via NET/IB/0/GDRDMA"}), NcclVerdict::rdma);
  EXPECT_EQ(verdict_on({"Using internal Network Socket"}), NcclVerdict::tcp);
}

TEST(NcclVerdicts, without_a_plugin_and_a_device_sockets_are_left) {
  EXPECT_EQ(verdict_on({"NET/IB : No device found."}), NcclVerdict::tcp);
  EXPECT_EQ(judge_lines("NCCL WARN Net/IB : No device found\n").verdict, NcclVerdict::tcp);
  EXPECT_EQ(verdict_on({"NET/IB : No device found.", "NET/Plugin: Loaded net plugin X (v8)"}),
            NcclVerdict::unknown);
}

TEST(NcclVerdicts, the_network_whose_nics_were_surveyed_was_chosen) {
  EXPECT_EQ(verdict_on({"NET/Socket : GPU Direct RDMA Disabled for HCA 0 'eth0'"}),
            NcclVerdict::tcp);
  EXPECT_EQ(verdict_on({"NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'"}),
            NcclVerdict::rdma_chosen);
  EXPECT_EQ(
      verdict_on({"NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'", "Using network Socket"}),
      NcclVerdict::tcp);
  EXPECT_EQ(verdict_on({"NET/IB : GPU Direct RDMA Disabled for HCA mlx5_0 (no peermem)"}),
            NcclVerdict::rdma_chosen);
}

TEST(NcclVerdicts, ranks_that_say_nothing_have_no_vote) {
  const auto job = judge_lines(
      "a:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/1/GDRDMA\n"
      "a:2:2 [1] NCCL INFO comm 0x1 rank 1 nranks 16 - Init START\n");
  EXPECT_EQ(job.verdict, NcclVerdict::rdma);
  EXPECT_THAT(job.warnings, testing::Contains(HasSubstr("do not say which network")));
}

TEST(NcclVerdicts, lanes_of_ucx_are_rdma_or_tcp) {
  const std::string front = "[1744331142.028115] [node-a:7:0]  ucp_worker.c:1903 UCX  INFO  ";
  const auto verdict = [&](const std::string& text) {
    return judge_lines(front + text + "\n").verdict;
  };
  EXPECT_EQ(verdict("ctx inter-node cfg#3 rma(rc_mlx5/mlx5_0:1) am(rc_mlx5/mlx5_0:1)"),
            NcclVerdict::rdma);
  EXPECT_EQ(verdict("ctx inter-node cfg#3 am(srd/rdmap0s6:1)"), NcclVerdict::rdma);
  EXPECT_EQ(verdict("ep_cfg[1]: tag(tcp/eth0)"), NcclVerdict::tcp);
  EXPECT_EQ(verdict("ctx inter-node cfg#3 rma(rc_mlx5/mlx5_0:1) am(tcp/eth0)"), NcclVerdict::mixed);
  EXPECT_EQ(verdict("ctx intra-node cfg#2 tag(sysv/memory tcp/lo)"), NcclVerdict::intra_node);
  // A process reaches itself, which says nothing of the others.
  EXPECT_EQ(verdict("ctx self cfg#0 tag(self/memory rc_mlx5/mlx5_0:1 cma/memory)"),
            NcclVerdict::unknown);
  EXPECT_EQ(verdict("ep_cfg[0]: tag(self/memory)"), NcclVerdict::unknown);
  EXPECT_EQ(verdict("ctx inter-node cfg#3 am(new_wire/x0:1)"), NcclVerdict::unknown);
  EXPECT_EQ(verdict("ctx inter-node cfg#3 am(rc_mlx5/mlx"), NcclVerdict::unknown);
}

TEST(NcclVerdicts, a_table_of_ucx_about_another_node_has_lanes) {
  const std::string rule = "+--------------------------+-----------------------------------+\n";
  const auto verdict = [&](const std::string& peer, const std::string& lanes) {
    return judge_lines(rule + "| perftest " + peer +
                       " cfg#1 | tagged message by ucp_tag_send*(fast)" + " from host memory |\n" +
                       rule + "|  0..92 | eager short | " + lanes + " |\n" + rule +
                       "| below (tcp/eth9) |\nelsewhere | a | tcp/eth8 |\n")
        .verdict;
  };
  EXPECT_EQ(verdict("inter-node", "rc_mlx5/mlx5_0:1/path0"), NcclVerdict::rdma);
  EXPECT_EQ(verdict("inter-node", "50% on rc_mlx5/mlx5_0:1 and 50% on dc_mlx5/mlx5_1:1"),
            NcclVerdict::rdma);
  EXPECT_EQ(verdict("inter-node", "tcp/eth0"), NcclVerdict::tcp);
  EXPECT_EQ(verdict("inter-node", "50% on rc_mlx5/mlx5_0:1 and 50% on tcp/eth0"),
            NcclVerdict::mixed);
  EXPECT_EQ(verdict("intra-node", "tcp/lo"), NcclVerdict::intra_node);
  EXPECT_EQ(judge_lines(rule + "|  0..92 | eager short | rc_mlx5/mlx5_0:1 |\n").verdict,
            NcclVerdict::unknown);
}

TEST(NcclVerdicts, trees_of_a_whole_ring_on_one_host_are_one_node) {
  const std::string ring = "a:1:1 [0] NCCL INFO Channel 00/02 :    0   1   2\n";
  const std::string zero = "a:1:1 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1 [1] 1/-1/-1->0->-1\n";
  const std::string one = ":2:2 [1] NCCL INFO Trees [0] 2/-1/-1->1->0 [1] 2/-1/-1->1->0\n";
  const std::string pair = "a:3:3 [2] NCCL INFO Channel 00/0 : 2[2] -> 0[0] via P2P/CUMEM\n";
  EXPECT_EQ(judge_lines(ring + zero + "a" + one + pair).verdict, NcclVerdict::intra_node);
  // A rank that nobody saw, and one on another host.
  EXPECT_EQ(judge_lines(ring + zero + pair).verdict, NcclVerdict::unknown);
  EXPECT_EQ(judge_lines(ring + zero + "b" + one + pair).verdict, NcclVerdict::unknown);
  EXPECT_EQ(nccl_tree_rank("Trees [0] 3/-1/-1->2->1 [1] 3/-1/-1->2->1"), 2U);
  EXPECT_FALSE(nccl_tree_rank("Trees [0] 3/-1/-1->2"));
}

TEST(NcclVerdicts, one_name_with_two_addresses_is_two_machines) {
  // A person has put one name in the place of all.
  const auto verdict = [](const std::string& address, const std::string& front) {
    return judge_lines("x:1:1 [0] NCCL INFO Bootstrap : Using " + front + "bond0:10.0.0.1<0>\n" +
                       "x:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB ; OOB bond0:" + address +
                       "<0>\nx:1:1 [0] NCCL INFO Using network IB\n" +
                       "x:1:3 [0] NCCL INFO Channel 00/02 :    0   1\n" +
                       "x:1:3 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1 [1] 1/-1/-1->0->-1\n" +
                       "x:2:4 [0] NCCL INFO Trees [0] -1/-1/-1->1->0 [1] -1/-1/-1->1->0\n")
        .verdict;
  };
  EXPECT_EQ(verdict("10.0.0.1", ""), NcclVerdict::intra_node);
  EXPECT_EQ(verdict("10.0.0.2", ""), NcclVerdict::rdma_chosen);
  EXPECT_EQ(verdict("10.0.0.2", "[0]"), NcclVerdict::rdma_chosen);
}

TEST(NcclVerdicts, a_completion_that_libfabric_tells_of_names_the_provider) {
  const std::string channel =
      "ip-1:7:9 [4] NCCL INFO Channel 00/0 : 0[4] -> 8[4] [send] via NET/AWS Libfabric/4/GDRDMA\n";
  const auto verdict = [&](const std::string& provider, const std::string& pid) {
    return judge_lines("libfabric:" + pid + ":1708520807::" + provider +
                       ":cq:handle_error():737<warn> err: 5, message: Invalid address\n" + channel)
        .verdict;
  };
  EXPECT_EQ(verdict("efa", "7"), NcclVerdict::rdma);
  EXPECT_EQ(verdict("tcp", "7"), NcclVerdict::tcp);
  EXPECT_EQ(verdict("efa", "8"), NcclVerdict::unknown);
  EXPECT_FALSE(fabric_completion("libfabric:7:1::core:core:fi_getinfo_():1<warn> provider efa"));
  EXPECT_FALSE(fabric_completion("libfabric:7:1:efa"));
}

TEST(NcclVerdicts, connections_within_the_node_that_reach_a_whole_ring_are_all) {
  const std::string ring = "Channel 00/02 :    0   1   2";
  EXPECT_EQ(verdict_on({ring, "Channel 00/0 : 0[0] -> 1[1] via P2P/IPC",
                        "Channel 00/0 : 1[1] -> 2[2] via P2P/IPC"}),
            NcclVerdict::intra_node);
  EXPECT_EQ(verdict_on({ring, "Channel 00/0 : 0[0] -> 1[1] via P2P/IPC"}), NcclVerdict::unknown);
}

TEST(NcclVerdicts, a_lane_of_ucx_counts_without_its_prefix) {
  EXPECT_EQ(judge_lines("ctx inter-node cfg#2 rma_am(tcp/eth1) am(tcp/eth1)\n").verdict,
            NcclVerdict::tcp);
  EXPECT_EQ(judge_lines("our cfg#2 (see above) uses tcp/eth1\n").verdict, NcclVerdict::unknown);
}

TEST(NcclVerdicts, a_tcp_connection_of_ucx_is_tcp) {
  const std::string front = "[1708608201.047956] [a:7:0] tcp_cm.c:96 UCX  DEBUG   tcp_ep 0x1: ";
  const std::string half = "CLOSED -> CONNECTING for the [10.0.0.1:41279]<->[";
  EXPECT_EQ(judge_lines(front + half + "10.0.0.2:55289]:0 connection [-:-]\n").verdict,
            NcclVerdict::tcp);
  // To itself, and cut.
  EXPECT_EQ(judge_lines(front + half + "10.0.0.1:55289]:0 connection [-:-]\n").verdict,
            NcclVerdict::unknown);
  EXPECT_EQ(judge_lines(front + half.substr(0, half.size() - 5) + "\n").verdict,
            NcclVerdict::unknown);
}

TEST(NcclVerdicts, a_process_with_ucx_is_a_row_of_its_own) {
  const auto job = judge_lines(
      "[17.0] [node-a:7:0]  ucp_worker.c:1903 UCX  INFO  ctx inter-node cfg#3 "
      "am(rc_mlx5/mlx5_0:1)\n");
  EXPECT_EQ(job.ranks[0].library, "UCX");
  EXPECT_EQ(job.ranks[0].host, "node-a");
  EXPECT_EQ(job.ranks[0].pid, 7U);
  EXPECT_EQ(job.ranks[0].devices[0].name, "mlx5_0:1");
  EXPECT_EQ(job.gpu_path, NcclGpuPath::unknown);
}

TEST(NcclVerdicts, nixl_says_how_through_ucx_or_libfabric_alone) {
  const std::string backend = "2026-01-08 NIXL INFO _api.py:363 Backend UCX was instantiated\n";
  const auto job = judge_lines(backend);
  EXPECT_EQ(job.verdict, NcclVerdict::unknown);
  EXPECT_THAT(job.ranks[0].why, HasSubstr("UCX_LOG_LEVEL"));
  EXPECT_EQ(judge_lines(backend + "[1.0] [a:7:0] x.c:1 UCX  INFO inter-node cfg#1 am(tcp/eth0)\n")
                .verdict,
            NcclVerdict::tcp);
  const std::string rails = "I1 libfabric_rail_manager.cpp:232] Created 4 rails using provider=";
  EXPECT_EQ(judge_lines(rails + "efa\n").verdict, NcclVerdict::rdma_chosen);
  EXPECT_EQ(judge_lines(rails + "tcp\n").verdict, NcclVerdict::tcp);
}

TEST(NcclVerdicts, what_mooncake_installed_is_what_it_uses) {
  const std::string rdma = "I1 rdma_context.cpp:140] RDMA device: mlx5_0, LID: 0, GID: (3) 00\n";
  const std::string tcp = "I1 tcp_transport.cpp:241] TcpTransport: listen on port 16050\n";
  const auto job = judge_lines(rdma);
  EXPECT_EQ(job.verdict, NcclVerdict::rdma_chosen);
  EXPECT_EQ(job.ranks[0].available[0].name, "mlx5_0");
  EXPECT_EQ(judge_lines(tcp).verdict, NcclVerdict::tcp);
  EXPECT_EQ(judge_lines(rdma + tcp).verdict, NcclVerdict::unknown);
  EXPECT_EQ(judge_lines("RDMA device: mlx5_0 is up\n").verdict, NcclVerdict::unknown);
}

TEST(NcclVerdicts, what_mooncake_installed_on_aws_and_slingshot_is_rdma_or_tcp) {
  const auto verdict = [](const std::string& line) { return judge_lines(line + "\n").verdict; };
  for (const auto* line :
       {"I1 efa_transport.cpp:1025] EfaTransport: Initialized EFA device rdmap1s0",
        "I1 efa_context.cpp:228] EFA device (libfabric): rdmap1s0, domain: r-rdm",
        "I1 efa_transport.cpp:112] EfaTransport: Started 16 CQ polling worker",
        "I1 transfer_engine_py.cpp:267] EFA transport installed successfully",
        "I1 cxi_context.cpp:169] CXI device (libfabric): cxi0, domain: cxi0",
        "I1 cxi_transport.cpp:947] CxiTransport: Initialized CXI device cxi0"}) {
    EXPECT_EQ(verdict(line), NcclVerdict::rdma_chosen) << line;
  }
  for (const std::string build : {"EFA", "CXI"}) {
    EXPECT_EQ(verdict("I1 transfer_engine_py.cpp:271] Installing TCP transport (auto_discover "
                      "disabled in " +
                      build + " build)"),
              NcclVerdict::tcp);
  }
  // What is compiled in is not yet installed.
  EXPECT_EQ(
      verdict("I1 efa_transport.cpp:89] [EFA] AWS Elastic Fabric Adapter transport initialized"),
      NcclVerdict::unknown);
  const auto job = judge_lines("EfaTransport: Initialized EFA device rdmap1s0\n");
  EXPECT_EQ(job.ranks[0].available[0].name, "rdmap1s0");
}

TEST(NcclVerdicts, nvshmem_says_which_transport_it_took) {
  const std::string begin = "a:1:1 [0] NVSHMEM INFO Successfully initialized the transport: ";
  const auto job = judge_lines(begin + "ibrc\n" + begin + "IBGDA. It will be used for x\n");
  EXPECT_EQ(job.verdict, NcclVerdict::rdma_chosen);
  EXPECT_EQ(job.ranks[0].library, "NVSHMEM");
  for (const std::string other : {"ucx", "libfabric"}) {
    EXPECT_EQ(judge_lines(begin + other + "\n").verdict, NcclVerdict::unknown) << other;
  }
}

TEST(NcclVerdicts, mooncake_without_a_device_takes_tcp) {
  const std::string none =
      "I1 transfer_engine_impl.cpp:274] Topology discovery complete. Found 0 HCAs.\n";
  EXPECT_EQ(judge_lines(none).verdict, NcclVerdict::tcp);
  EXPECT_EQ(judge_lines(none + "Using NVLink transport (forced or no HCA detected)\n").verdict,
            NcclVerdict::unknown);
  EXPECT_EQ(
      judge_lines("tcp_transport.cpp:541] TcpTransport: cannot start handshake daemon\n").verdict,
      NcclVerdict::tcp);
  EXPECT_EQ(judge_lines("NIXL INFO falling back to TCP transport\n").verdict, NcclVerdict::tcp);
}

TEST(NcclVerdicts, sharp_that_started_was_chosen) {
  const std::string sharp = "SHARP rank 1/4 initialized on mlx5_4:1";
  EXPECT_EQ(verdict_on({sharp}), NcclVerdict::rdma_chosen);
  EXPECT_EQ(verdict_on({sharp, "Using network Socket"}), NcclVerdict::tcp);
}

TEST(NcclVerdicts, one_rank_alone_may_be_a_piece_of_a_job) {
  const std::string one = "comm 0x1 rank 0 nranks 1 cudaDev 0 - Init COMPLETE";
  EXPECT_EQ(verdict_on({"Using network Socket", one}), NcclVerdict::tcp);
}

TEST(NcclVerdicts, nvlink_between_machines_is_not_one_node) {
  const std::string counted = "comm 0x1 rank 0 nRanks 8 nNodes 1 localRanks 8 localRank 0 MNNVL ";
  const auto job = judge_messages({"Using network IB", counted + "0"});
  EXPECT_EQ(job.verdict, NcclVerdict::intra_node);
  EXPECT_EQ(job.ranks[0].why, "NCCL counts one node");
  EXPECT_EQ(verdict_on({"Using network IB", counted + "1"}), NcclVerdict::rdma_chosen);
  EXPECT_EQ(judge_lines("comm rank 0 nRanks 8 nNodes 1 localRanks 8 localRank 0 MNNVL 0\n").verdict,
            NcclVerdict::intra_node);
  EXPECT_EQ(verdict_on({"MNNVL 1 cliqueId 2 cliqueSize 8", counted + "1"}), NcclVerdict::unknown);
}

TEST(NcclVerdicts, the_tuner_of_aws_has_the_nodes_as_nccl_counts_them) {
  const std::string begin = "NET/OFI Region Tuner init (platform 0): comm with ";
  EXPECT_EQ(verdict_on({begin + "8 ranks and 1 nodes."}), NcclVerdict::intra_node);
  EXPECT_EQ(verdict_on({begin + "16 ranks and 2 nodes."}), NcclVerdict::unknown);
  EXPECT_EQ(verdict_on({"NET/OFI Tuner init: comm with 8 ranks and 1 nodes.",
                        begin + "16 ranks and 2 nodes."}),
            NcclVerdict::unknown);
  // A larger communicator that nobody counts.
  EXPECT_EQ(verdict_on({"Using network Socket", begin + "8 ranks and 1 nodes.",
                        "comm 0x1 rank 0 nranks 16 - Init START"}),
            NcclVerdict::tcp);
  EXPECT_FALSE(nccl_node_count("NET/OFI Tuner init: comm with 8 ranks"));
  // RCCL says it of each communicator.
  const std::string rccl = "comm:0x56af, nRanks:4, nNodes:";
  EXPECT_EQ(verdict_on({"Using network Socket", rccl + "1, coll channels:8"}),
            NcclVerdict::intra_node);
  EXPECT_EQ(verdict_on({"Using network Socket", rccl + "2, coll channels:8"}), NcclVerdict::tcp);
  EXPECT_FALSE(nccl_node_count("Tuner init: comm with 8 ranks and 1 nodes."));
}

TEST(NcclVerdicts, the_filter_for_providers_names_the_one_that_was_chosen) {
  const std::string filter = "NET/OFI Setting provider_filter to efa";
  EXPECT_EQ(verdict_on({filter, "Using network Libfabric"}), NcclVerdict::rdma_chosen);
  EXPECT_EQ(verdict_on({"Using network Libfabric"}), NcclVerdict::unknown);
  // A wish is no choice, and what was selected counts more.
  EXPECT_EQ(verdict_on({filter}), NcclVerdict::unknown);
  EXPECT_EQ(verdict_on({filter, "NET/OFI Selected Provider is tcp", "Using network Libfabric"}),
            NcclVerdict::tcp);
}

TEST(NcclVerdicts, ucx_below_nccl_has_the_rdma_device_alone) {
  EXPECT_EQ(verdict_on({"Using network UCX"}), NcclVerdict::rdma_chosen);
  EXPECT_EQ(verdict_on({"Channel 00/0 : 0[0] -> 8[0] [send] via NET/UCX_RMA/0"}),
            NcclVerdict::rdma);
}

TEST(NcclVerdicts, a_plugin_of_googles_may_print_without_nccl) {
  EXPECT_EQ(judge_lines("[ncclNet:2] tcpxResult_t tcpxGetRequest(...):705 NET/GPUDirectTCPX : "
                        "unable to allocate requests\n")
                .verdict,
            NcclVerdict::tcp);
  EXPECT_EQ(judge_lines("tcpxResult_t tcpxInit(tcpxDebugLogger_t):379 NET/GPUDirectTCPX : "
                        "GPUDirectTCPX enable: 1\n")
                .verdict,
            NcclVerdict::tcp);
}

TEST(NcclVerdicts, what_is_compressed_is_named_with_its_remedy) {
  NcclLogReader reader;
  reader.begin_file("nccl.log.gz");
  reader.feed("\x1f\x8b\x08");
  reader.feed(std::string("\0Using network IB\n", 18));
  const auto job = judge(reader.finish());
  EXPECT_EQ(job.verdict, NcclVerdict::unknown);
  EXPECT_EQ(job.why, "nccl.log.gz is compressed by gzip: zcat makes it text");
}

TEST(NcclVerdicts, utf_16_is_named_with_its_remedy) {
  for (const auto& head :
       {std::string("\xff\xfe\x61\0", 4), std::string("a\0b\0", 4), std::string("\0a\0b", 4)}) {
    EXPECT_THAT(judge_lines(head + "rest\n").why, HasSubstr("UTF-16"));
  }
}

TEST(NcclVerdicts, nameless_lines_belong_together_by_file) {
  NcclLogReader reader;
  reader.begin_file("rank0.log");
  reader.feed("NCCL INFO Using network IB\n");
  reader.begin_file("rank1.log");
  reader.feed("NCCL INFO Using network Socket\n");
  const auto job = judge(reader.finish());
  EXPECT_EQ(job.verdict, NcclVerdict::mixed);
  ASSERT_EQ(job.ranks.size(), 2U);
  EXPECT_EQ(job.ranks[1].evidence[0].place.file, 1U);
  EXPECT_EQ(job.ranks[1].evidence[0].place.line, 1U);
}

}  // namespace
}  // namespace railhead::proof
