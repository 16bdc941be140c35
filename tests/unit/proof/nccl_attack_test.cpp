// SPDX-License-Identifier: Apache-2.0
//
// Logs that are cut, remarked upon, contradict themselves or lie: what may be TCP is never RDMA.
#include <gmock/gmock.h>

#include "proof/nccl_job.h"

namespace railhead::proof {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

const std::string kHonestFront = "node-a:100:101 [0] NCCL INFO ";
const std::string kIbChosen = kHonestFront + "Using network IB\n";

NcclJob judge_hostile(const std::string& lines) {
  NcclLogReader reader;
  reader.feed(lines);
  return judge(reader.finish());
}

NcclVerdict hostile_verdict(const std::string& lines) {
  return judge_hostile(lines).verdict;
}

TEST(NcclAttack, a_connection_through_sockets_counts_in_any_shape) {
  const std::string begin = kIbChosen + kHonestFront + "Channel 00/0 : 1[0] -> 0[0] [receive] via ";
  for (const std::string route :
       {"NET/Socket", "NET/Sock", "NET/Socket/", "NET/Socket/0foo", "NET/Socket/0,",
        "NET/Socket/0)", "NET/Socket/0.", "NET/Socket/0\t# slow", "NET/Socket/0<-- bad",
        "NET/Socket/0`", "NET/Socket/0**", "NET/Socket       # TCP fallback", " NET/Socket/0",
        "\nNET/Socket/0", "NET/FastSocket", "NET/GPUDirectTCPX_v7/GDRDMA", "NET/FasTrak"}) {
    EXPECT_EQ(hostile_verdict(begin + route + "\n"), NcclVerdict::tcp) << route;
  }
  const std::string direct =
      kHonestFront + "Channel 01/0 : 1[0] -> 0[0] [send] via NET/IB/0/GDRDMA\n";
  EXPECT_EQ(hostile_verdict(direct + begin + "NET/Socket # slow\n"), NcclVerdict::mixed);
}

TEST(NcclAttack, a_wrapped_route_is_read_with_its_connection) {
  const std::string begin = kHonestFront + "Channel 00/0 : 1[0] -> 0[0] [send] via\n";
  EXPECT_EQ(hostile_verdict(begin + "NET/IB/0/GDRDMA\n"), NcclVerdict::rdma);
  // A message that begins as a route does.
  EXPECT_EQ(hostile_verdict(begin + "NET/IB : No device found.\n"), NcclVerdict::tcp);
}

TEST(NcclAttack, sockets_that_were_seen_at_work_make_a_rank_mixed) {
  EXPECT_EQ(
      hostile_verdict(kHonestFront + "Channel 01/0 : 1[0] -> 0[0] [send] via NET/IB/0/GDRDMA\n" +
                      kHonestFront + "transport/net_socket.cc:368 -> 6\n"),
      NcclVerdict::mixed);
}

TEST(NcclAttack, a_network_without_devices_was_not_used) {
  const std::string none = kHonestFront + "NET/IB : No device found.\n";
  const auto job = judge_hostile(none + kIbChosen);
  EXPECT_EQ(job.verdict, NcclVerdict::unknown);
  EXPECT_THAT(job.ranks[0].why, HasSubstr("none of its devices"));
  // NCCL's GPU-initiated networking looks for them beside a plugin that needs none.
  EXPECT_EQ(
      hostile_verdict(none + kHonestFront + "NET/OFI Selected provider is efa, fabric is efa\n" +
                      kHonestFront + "Using network Libfabric\n"),
      NcclVerdict::rdma_chosen);
  EXPECT_EQ(hostile_verdict("installTransport, type=rdma\nRdmaTransport: No available RNIC\n"),
            NcclVerdict::unknown);
}

TEST(NcclAttack, a_rank_that_chose_tcp_and_rdma_is_mixed) {
  const std::string sockets = kHonestFront + "Using network Socket\n";
  const auto job = judge_hostile(sockets + kIbChosen);
  EXPECT_EQ(job.verdict, NcclVerdict::mixed);
  EXPECT_THAT(job.ranks[0].why, HasSubstr("over RDMA and over TCP"));
  EXPECT_EQ(hostile_verdict(kIbChosen + sockets), NcclVerdict::tcp);
  const std::string direct =
      kHonestFront + "Channel 01/0 : 1[0] -> 0[0] [send] via NET/IB/0/GDRDMA\n";
  EXPECT_EQ(hostile_verdict(direct + sockets), NcclVerdict::mixed);
  EXPECT_EQ(hostile_verdict(direct + kIbChosen), NcclVerdict::rdma);
}

TEST(NcclAttack, of_a_cut_line_of_ucx_nothing_counts_but_tcp) {
  const std::string begin = "[1.0] [a:1:0] ucp_worker.c:1 UCX  INFO ctx inter-node cfg#1 ";
  EXPECT_EQ(hostile_verdict(begin + "rma(rc_mlx5/mlx5_0:1) am(tcp/eth"), NcclVerdict::mixed);
  EXPECT_EQ(hostile_verdict(begin + "am(tcp/eth"), NcclVerdict::tcp);
  EXPECT_EQ(hostile_verdict(begin + "am(rc_mlx5/mlx5"), NcclVerdict::unknown);
  EXPECT_EQ(hostile_verdict(begin + "am(sysv/memory tcp/eth"), NcclVerdict::unknown);
}

TEST(NcclAttack, nuls_and_utf_16_within_a_log_hide_nothing) {
  EXPECT_EQ(hostile_verdict(kHonestFront + "Using network So\0cket\n"s), NcclVerdict::tcp);
  std::string wide;
  for (const char c : kHonestFront + "Channel 00/0 : 1[0] -> 0[0] [send] via NET/Socket/0\n") {
    wide += c;
    wide += '\0';
  }
  EXPECT_EQ(hostile_verdict(kIbChosen + wide), NcclVerdict::tcp);
}

TEST(NcclAttack, a_provider_that_was_named_outweighs_an_address) {
  const std::string network = kHonestFront + "Using network Libfabric\n";
  const std::string error =
      "node-a:100:101 [0] f:1 NCCL WARN NET/OFI Request completed with error. Peer EFA addr: "
      "fi_addr_efa://[fe80::1]:0:1\n";
  EXPECT_EQ(hostile_verdict(network + error), NcclVerdict::rdma);
  EXPECT_EQ(hostile_verdict(kHonestFront + "NET/OFI Selected provider is tcp, fabric is x\n" +
                            network + error),
            NcclVerdict::tcp);
}

TEST(NcclAttack, a_completion_without_a_failure_is_none) {
  const auto job =
      judge_hostile(kHonestFront + "NET/IB : Got completion from peer a with status=0 x\n");
  EXPECT_EQ(job.verdict, NcclVerdict::unknown);
}

}  // namespace
}  // namespace railhead::proof
