// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_job.h"

#include <gmock/gmock.h>

namespace railhead::proof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// One process "node-a", GPU 0, with these messages.
NcclJob job_of(const std::vector<std::string>& messages) {
  NcclLogReader reader;
  for (const auto& message : messages) reader.feed("node-a:1:2 [0] NCCL INFO " + message + "\n");
  return judge(reader.finish());
}

constexpr const char* kDevices =
    "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>";
constexpr const char* kInit = "ncclCommInitRank comm 0x1 rank 0 nranks 1 cudaDev 0 - Init COMPLETE";
constexpr const char* kDirect = "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/1/GDRDMA";
constexpr const char* kStaged = "Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/1";
constexpr const char* kSocket = "Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0";

TEST(NcclJob, connections_through_ib_with_gpu_direct_are_rdma) {
  const auto job = job_of({kDevices, "Using network IB", kDirect});
  EXPECT_EQ(job.verdict, NcclVerdict::rdma);
  EXPECT_EQ(job.gpu_path, NcclGpuPath::direct);
  ASSERT_EQ(job.ranks.size(), 1U);
  EXPECT_EQ(job.ranks[0].transport, "IB");
  ASSERT_EQ(job.ranks[0].devices.size(), 1U);
  EXPECT_EQ(job.ranks[0].devices[0].name, "mlx5_1");
  EXPECT_EQ(job.ranks[0].devices[0].link_layer, "RoCE");
  EXPECT_TRUE(job.ranks[0].relaxed_ordering);
  EXPECT_THAT(job.warnings, IsEmpty());
}

TEST(NcclJob, an_empty_list_is_no_rdma_and_no_error) {
  // Since 2.25 NCCL prints the list behind "No device found", too.
  const std::string none = "NET/IB : Using [RO]; OOB eth0:10.0.0.1<0>";
  const auto job = job_of({none, "Using network IB"});
  EXPECT_EQ(job.verdict, NcclVerdict::unknown);
  EXPECT_EQ(job.ranks[0].why, "network IB was chosen, and the list of its devices is empty");
  EXPECT_EQ(job.ranks[0].evidence[0].text, none);
  EXPECT_THAT(job_of({none, "Using network Socket"}).ranks[0].why,
              HasSubstr("list of RDMA devices is empty"));
  // A connection proves more than a list.
  EXPECT_EQ(job_of({none, "Using network IB", kDirect}).verdict, NcclVerdict::rdma);
  EXPECT_EQ(job_of({none, kDevices, "Using network IB"}).verdict, NcclVerdict::rdma_chosen);

  NcclLogReader reader;
  reader.feed("a:1:2 [0] NCCL INFO NET/IB : No device found.\na:1:2 [0] NCCL INFO " + none + "\n");
  EXPECT_TRUE(reader.finish().problems.empty());
}

TEST(NcclJob, ib_without_gpu_direct_is_rdma_staged_through_the_host) {
  const auto job = job_of({kDevices, "Using network IB", kStaged});
  EXPECT_EQ(job.verdict, NcclVerdict::rdma);
  EXPECT_EQ(job.gpu_path, NcclGpuPath::staged);
  EXPECT_THAT(job.warnings, ElementsAre(HasSubstr("host's memory")));
}

TEST(NcclJob, gpu_direct_on_some_connections_only_is_mixed) {
  const auto job = job_of({kDevices, "Using network IB", kDirect, kStaged});
  EXPECT_EQ(job.verdict, NcclVerdict::rdma);
  EXPECT_EQ(job.gpu_path, NcclGpuPath::mixed);
  EXPECT_THAT(job.warnings, ElementsAre(HasSubstr("host's memory")));
}

TEST(NcclJob, the_silent_fallback_to_sockets_is_tcp_with_its_reason) {
  const auto job = job_of({"NET/IB : No device found.", "NET/Socket : Using [0]eth0:10.0.0.1<0>",
                           "Using network Socket", kSocket});
  EXPECT_EQ(job.verdict, NcclVerdict::tcp);
  EXPECT_EQ(job.gpu_path, NcclGpuPath::unknown);
  EXPECT_THAT(job.ranks[0].why, HasSubstr("no RDMA device was found in the container"));
  EXPECT_EQ(job.ranks[0].devices[0].name, "eth0");
  ASSERT_EQ(job.ranks[0].evidence.size(), 3U);
  EXPECT_EQ(job.ranks[0].evidence[0].place.line, 1U);
  EXPECT_EQ(job.ranks[0].evidence[0].text, "NET/IB : No device found.");
}

TEST(NcclJob, each_reason_for_tcp_is_named) {
  const auto why = [](const std::string& message) {
    return job_of({message, "Using network Socket"}).ranks[0].why;
  };
  EXPECT_THAT(why("Failed to open libibverbs.so[.1]"), HasSubstr("no libibverbs"));
  EXPECT_THAT(why("NCCL_IB_DISABLE set by environment to 1."), HasSubstr("switches RDMA off"));
  EXPECT_THAT(why("NET/IB : Unable to open device mlx5_0"), HasSubstr("could not be opened"));
  EXPECT_THAT(why("Failed to initialize NET plugin IB"), HasSubstr("did not start"));
  EXPECT_THAT(why("NCCL_IB_DISABLE set by environment to 0."), testing::Not(HasSubstr("off")));
}

TEST(NcclJob, a_connection_of_rdma_excuses_no_choice_of_tcp) {
  // Another communicator of the rank, whose connections are made when they are needed.
  EXPECT_EQ(job_of({"Using network IB", kDirect, "Using network Socket"}).verdict,
            NcclVerdict::mixed);
  EXPECT_EQ(job_of({"Using network IB", kDirect, kSocket}).verdict, NcclVerdict::mixed);
}

TEST(NcclJob, without_connections_the_chosen_network_decides) {
  const auto job =
      job_of({kDevices, "Using network IB", "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read"});
  EXPECT_EQ(job.verdict, NcclVerdict::rdma_chosen);
  EXPECT_EQ(job.gpu_path, NcclGpuPath::unknown);
  EXPECT_THAT(job.ranks[0].why, HasSubstr("within the node"));
}

TEST(NcclJob, the_route_of_gpu_direct_is_dma_buf_where_the_gpu_exports_it) {
  const std::string dma_buf = "DMA-BUF is available on GPU device 0";
  EXPECT_EQ(job_of({dma_buf, kInit, "Using network IB", kDirect}).ranks[0].route, "DMA-BUF");
  EXPECT_EQ(job_of({kInit, "Using network IB", kDirect}).ranks[0].route, "peermem");
  EXPECT_EQ(job_of({"Using network IB", kDirect}).ranks[0].route, "");
  EXPECT_EQ(job_of({dma_buf, kInit, "Using network IB", kStaged}).ranks[0].route, "");
  const std::string off = "NCCL_DMABUF_ENABLE set by environment to 0.";
  EXPECT_EQ(job_of({dma_buf, off, kInit, "Using network IB", kDirect}).ranks[0].route, "peermem");
}

TEST(NcclJob, libfabric_is_what_its_provider_is) {
  const std::string channel = "Channel 00/0 : 0[0] -> 8[0] [send] via NET/AWS Libfabric/1/GDRDMA";
  const std::string network = "Using network AWS Libfabric";
  EXPECT_EQ(job_of({"NET/OFI Selected Provider is efa (found 4 nics)", network, channel}).verdict,
            NcclVerdict::rdma);
  EXPECT_EQ(
      job_of({"NET/OFI Selected provider is tcp, fabric is x (found 1 nics)", network, channel})
          .verdict,
      NcclVerdict::tcp);
  const auto job = job_of({network, channel});
  EXPECT_EQ(job.verdict, NcclVerdict::unknown);
  EXPECT_THAT(job.ranks[0].why, HasSubstr("provider"));
}

TEST(NcclJob, a_plugin_of_unknown_name_that_lists_rdma_ports_is_rdma) {
  const std::string channel = "Channel 00/0 : 0[0] -> 8[0] [send] via NET/Mystery/0/GDRDMA";
  EXPECT_EQ(job_of({"NET/Plugin: Loaded net plugin Mystery (v8)",
                    "NET/Mystery : Using [0]ionic_0:1/RoCE [RO]; OOB eth0:1<0>",
                    "Using network Mystery", channel})
                .verdict,
            NcclVerdict::rdma);
  EXPECT_EQ(job_of({"Using network Mystery", channel}).verdict, NcclVerdict::unknown);
}

TEST(NcclJob, what_is_known_to_be_tcp_decides_over_what_is_not_known) {
  const std::string mystery = "Channel 01/0 : 0[0] -> 8[0] [send] via NET/Mystery/0";
  const auto job = job_of({"Using network Mystery", mystery, kSocket});
  EXPECT_EQ(job.verdict, NcclVerdict::tcp);
  EXPECT_EQ(job.ranks[0].why, "1 of 2 network connections are TCP");
  EXPECT_EQ(job_of({"Using network IB", mystery, kDirect}).verdict, NcclVerdict::unknown);
}

TEST(NcclJob, ports_that_were_listed_are_not_ports_that_were_used) {
  const auto job = job_of({kDevices});
  EXPECT_EQ(job.verdict, NcclVerdict::unknown);
  EXPECT_EQ(job.ranks.size(), 1U);
}

TEST(NcclJob, gpu_direct_over_tcp_is_still_tcp) {
  EXPECT_EQ(job_of({"Using network GPUDirectTCPX_v7",
                    "Channel 00/0 : 0[0] -> 8[0] [send] via NET/GPUDirectTCPX_v7/0/GDRDMA"})
                .verdict,
            NcclVerdict::tcp);
}

TEST(NcclJob, a_log_without_messages_asks_for_the_level_that_has_them) {
  const auto job = judge(NcclLog{});
  EXPECT_EQ(job.verdict, NcclVerdict::unknown);
  EXPECT_THAT(job.why, HasSubstr("NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET"));
  EXPECT_THAT(job_of({"Bootstrap : Using eth0:1<0>"}).why, HasSubstr("NCCL_DEBUG_SUBSYS"));
}

TEST(NcclJob, one_rank_on_tcp_makes_the_job_mixed) {
  NcclLogReader reader;
  reader.feed(
      "a:1:2 [0] NCCL INFO Using network IB\na:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 3"
      " - Init START\nb:1:2 [0] NCCL INFO Using network Socket\n");
  const auto job = judge(reader.finish());
  EXPECT_EQ(job.verdict, NcclVerdict::mixed);
  EXPECT_EQ(job.why, "1 rank RDMA (chosen), 1 rank TCP");
  EXPECT_THAT(job.warnings, ElementsAre(HasSubstr("1 of 3 ranks")));
}

TEST(NcclJob, a_line_that_names_no_process_is_a_warning_and_no_rank) {
  const auto job_with = [](const std::string& line) {
    NcclLogReader reader;
    reader.feed(line + "\na:1:2 [0] NCCL INFO Using network IB\n");
    return judge(reader.finish());
  };
  for (const std::string line : {"1 [0] NCCL INFO Bootstrap : Using eth0:1<0>",
                                 "NCCL INFO NET/IB : Using [0]mlx5_0:1/IB ; OOB eth0:1<0>",
                                 ":2 [0] NCCL INFO Using network Mystery"}) {
    const auto job = job_with(line);
    EXPECT_EQ(job.verdict, NcclVerdict::rdma_chosen) << line;
    EXPECT_EQ(job.ranks.size(), 1U) << line;
    EXPECT_THAT(job.warnings, ElementsAre("1 message without host and process: they belong to no "
                                          "rank"));
  }
  // TCP stays TCP, whoever it was.
  const auto job = job_with("NCCL INFO Using network Socket");
  EXPECT_EQ(job.verdict, NcclVerdict::mixed);
  EXPECT_EQ(job.ranks.size(), 2U);
  EXPECT_THAT(job.warnings, ElementsAre(HasSubstr("a rank of their own")));
}

TEST(NcclJob, a_log_without_any_prefix_is_one_rank) {
  NcclLogReader reader;
  reader.feed("NCCL INFO Using network IB\n");
  EXPECT_EQ(judge(reader.finish()).verdict, NcclVerdict::rdma_chosen);
}

TEST(NcclJob, a_process_with_fewer_ports_than_others_is_a_warning) {
  NcclLogReader reader;
  reader.feed("a:1:2 [0] NCCL INFO " + std::string(kDevices) +
              "\nb:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE ; OOB eth0:10.0.0.1<0>\n");
  EXPECT_THAT(judge(reader.finish()).warnings,
              ElementsAre("some processes list 1 RDMA port, others 2"));
}

TEST(NcclJob, ranks_come_in_their_order) {
  NcclLogReader reader;
  for (const unsigned rank : {10U, 2U, 0U}) {
    const auto text = std::to_string(rank);
    reader.feed("h:" + text + ":1 [0] NCCL INFO comm 0x1 rank " + text +
                " nranks 11 - Init START\n");
  }
  std::vector<unsigned> order;
  for (const auto& rank : judge(reader.finish()).ranks) order.push_back(*rank.rank);
  EXPECT_THAT(order, ElementsAre(0U, 2U, 10U));
}

TEST(NcclJob, different_versions_are_a_warning) {
  NcclLogReader reader;
  reader.feed("NCCL version 2.21.5+cuda12.4\nNCCL version 2.27.6+cuda13.0\n");
  EXPECT_THAT(judge(reader.finish()).warnings,
              ElementsAre(HasSubstr("NCCL 2.21.5+cuda12.4, NCCL 2.27.6+cuda13.0")));
}

TEST(NcclJob, ports_used_as_one_are_named_so) {
  const auto job = job_of(
      {kDevices, "NET/IB : Made virtual device [2] name=mlx5_0+mlx5_1 speed=2 ndevs=2",
       "Using network IB", "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/2(1)/GDRDMA(PCI)"});
  EXPECT_EQ(job.ranks[0].devices[0].name, "mlx5_0+mlx5_1");
  EXPECT_TRUE(job.ranks[0].devices[0].use.through_other_rank);
}

}  // namespace
}  // namespace railhead::proof
