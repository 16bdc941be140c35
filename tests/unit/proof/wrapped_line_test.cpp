// SPDX-License-Identifier: Apache-2.0
#include "proof/wrapped_line.h"

#include <gtest/gtest.h>

namespace railhead::proof {
namespace {

const std::string kRanks = "Channel 00/0 : 0[0] -> 8[0]";
const std::string kFrontOfA = "a:1:1 [0] NCCL INFO ";

TEST(WrappedLine, a_message_is_known_by_where_it_breaks_off) {
  for (const std::string& message :
       {kRanks, kRanks + " [se", kRanks + " [send]", kRanks + " [send] via", kRanks + " via N",
        kRanks + " via NET", kRanks + " [send] via NET/", kRanks + " [send] via NET/I",
        kRanks + " [send] via NET/IB", kRanks + " [send] via NET/IB/0/GDR", kRanks + " via P2P",
        std::string("Channel 00/0 : 0["), std::string("Using network"), std::string("Using netw"),
        std::string("Ring 00 : 1 ->")}) {
    EXPECT_TRUE(nccl_breaks_off(message)) << message;
  }
  for (const std::string& message :
       {std::string("Channel 00/08 :    0   1   2   3"), std::string("Using network IB"),
        std::string("Ring 00 : 0 -> 1 via NET/IB/0"), std::string("Trees [0] 1/-1/-1->0->-1"),
        std::string("Using non-device net plugin version 0"), kRanks + " via P2P/IPC",
        kRanks + " via NET/Socket/0", kRanks + " [send] via NET/Sock", std::string()}) {
    EXPECT_FALSE(nccl_breaks_off(message)) << message;
  }
}

TEST(WrappedLine, what_breaks_off_before_the_network_may_hide_tcp) {
  for (const std::string end : {" [send", " [send]", " [receive] via", " [send] via N",
                                " [send] via NET", " [send] via NET/", " via", " via NET/x"}) {
    EXPECT_TRUE(nccl_may_hide_tcp(kRanks + end)) << end;
  }
  for (const std::string end : {"", " [send] via NET/I", " [send] via NET/IB/0/G", " via P2P/",
                                " via S", " [send] via NET/AWS Libfab", " via NET/Socket/0"}) {
    EXPECT_FALSE(nccl_may_hide_tcp(kRanks + end)) << end;
  }
  EXPECT_TRUE(nccl_may_hide_tcp("Using network"));
  EXPECT_FALSE(nccl_may_hide_tcp("Using n"));
  EXPECT_FALSE(nccl_may_hide_tcp("Channel 00/08 : 0 1 2 3"));
}

TEST(WrappedLine, the_next_line_is_its_end_behind_what_a_collector_put_there) {
  const std::string begin = kFrontOfA + kRanks + " [send] via NET/";
  for (const std::string front :
       {"", "  ", "2026-01-02T03:04:05.678Z stdout F ", "[pod/a-0/main] ", R"({"log":")",
        "Nov 24 05:24:32 node1 kubelet[77]: ", "[rank0]: ", "\xe2\x94\x82 "}) {
    EXPECT_EQ(join_wrapped(begin, std::string(front) + "IB/0/GDRDMA"), begin + "IB/0/GDRDMA")
        << front;
    EXPECT_EQ(join_wrapped(begin, std::string(front) + "Socket/0"), begin + "Socket/0") << front;
  }
  EXPECT_EQ(join_wrapped(kFrontOfA + "Using netw", "ork IB"), kFrontOfA + "Using network IB");
  EXPECT_EQ(join_wrapped(kFrontOfA + "Using network", "IB"), kFrontOfA + "Using network IB");
  EXPECT_EQ(join_wrapped(kFrontOfA + kRanks, "[send] via NET/IB/0"),
            kFrontOfA + kRanks + "[send] via NET/IB/0");
  EXPECT_EQ(join_wrapped(kFrontOfA + "Channel 00/0", " : 0[0] -> 8[0"),
            kFrontOfA + "Channel 00/0 : 0[0] -> 8[0");
}

TEST(WrappedLine, other_lines_are_no_end_of_it) {
  const std::string begin = kFrontOfA + kRanks;
  for (const std::string next : {"", " ", "4 GPUs are here", "epoch 1/5 loss 3.2",
                                 "INFO 10-27 pynccl.py:63] vLLM is using nccl==2.20.5"}) {
    EXPECT_FALSE(join_wrapped(begin, next)) << next;
    EXPECT_FALSE(join_wrapped(begin + " [send] via NET/", next)) << next;
  }
  EXPECT_FALSE(join_wrapped(kFrontOfA + "Using network", "is what we want"));
  EXPECT_FALSE(join_wrapped(kFrontOfA + "Using network", "Socket is slow"));
}

TEST(WrappedLine, an_endpoint_of_ucx_ends_with_its_bracket) {
  const std::string begin = "[1.0] [a:1:0] ucp_worker.c:1 UCX  INFO x inter-node cfg#1 am(";
  EXPECT_TRUE(transport_breaks_off(begin));
  EXPECT_TRUE(transport_may_hide_tcp(begin));
  EXPECT_EQ(join_wrapped(begin, "tcp/eth0)"), begin + "tcp/eth0)");
  EXPECT_FALSE(transport_breaks_off(begin + "tcp/eth0)"));
  EXPECT_FALSE(transport_breaks_off("[1.0] [a:1:0] UCX  INFO x inter-node cfg#1 | am(multi) |"));
}

TEST(WrappedLine, a_piece_of_tcp_is_found_in_whatever_is_around_it) {
  for (const std::string line :
       {"nel 00/0 : 1[0] -> 0[0] [send] via NET/Socket/0", "ket/0", "[send] via NET/Socket",
        "sing network Socket", "twork Socket", "lugin FasTrak to comm", "l 0 : 1 -> 0 [send] via N",
        "xNET/Socket/0"}) {
    EXPECT_TRUE(has_piece_of_tcp(line)) << line;
  }
  for (const std::string line :
       {"NET/Socket : Using [0]eth0:10.0.0.1<0>",
        "Expected: no connection that goes via NET/Socket/0",
        "# NET/Socket/0     = TCP socket fallback", "NCCL_SOCKET_IFNAME set by environment to eth0",
        "Socket closed", ""}) {
    EXPECT_FALSE(has_piece_of_tcp(line)) << line;
  }
}

}  // namespace
}  // namespace railhead::proof
