// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_message.h"
#include "proof/nccl_source.h"

#include <gtest/gtest.h>

namespace railhead::proof {
namespace {

NcclChannel channel(std::string_view message) {
  const auto read = nccl_channel(message);
  EXPECT_TRUE(read) << message;
  return read.value_or(NcclChannel{});
}

TEST(NcclMessage, a_device_list_has_index_name_port_and_link_layer) {
  const auto list = nccl_device_list(
      "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_bond_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->network, "IB");
  EXPECT_TRUE(list->relaxed_ordering);
  ASSERT_EQ(list->devices.size(), 2U);
  EXPECT_EQ(list->devices[0].name, "mlx5_0");
  EXPECT_EQ(list->devices[0].link_layer, "IB");
  EXPECT_EQ(list->devices[1].index, 1U);
  EXPECT_EQ(list->devices[1].name, "mlx5_bond_0");
  EXPECT_EQ(list->devices[1].port, 1U);
  EXPECT_EQ(list->devices[1].link_layer, "RoCE");
}

TEST(NcclMessage, rail_plane_and_what_a_plugin_adds_are_no_part_of_a_name) {
  const auto list = nccl_device_list(
      "NET/IB : Using [0]mlx5_0:1:3:1/RoCE [1]mlx5_1:2::1/IB [2]mlx5_4:1/IB/SHARP ; OOB eth0:x<0>");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->devices.size(), 3U);
  EXPECT_FALSE(list->relaxed_ordering);
  EXPECT_EQ(list->devices[0].link_layer, "RoCE");
  EXPECT_EQ(list->devices[1].port, 2U);
  EXPECT_EQ(list->devices[2].link_layer, "IB");
}

TEST(NcclMessage, the_list_of_sockets_has_interfaces) {
  const auto list = nccl_device_list("NET/Socket : Using [0]eth0:10.0.0.1<0> [1]lo:127.0.0.1<0>");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->network, "Socket");
  ASSERT_EQ(list->devices.size(), 2U);
  EXPECT_EQ(list->devices[0].name, "eth0");
  EXPECT_EQ(list->devices[0].link_layer, "");
}

TEST(NcclMessage, an_empty_list_is_a_list) {
  for (const std::string_view message :
       {"NET/IB : Using ; OOB eth0:10.0.0.1<0>", "NET/IB : Using [RO]; OOB eth0:10.0.0.1<0>",
        "NET/IB : Using [RO]"}) {
    const auto list = nccl_device_list(message);
    ASSERT_TRUE(list) << message;
    EXPECT_TRUE(list->devices.empty()) << message;
    EXPECT_TRUE(list->is_empty) << message;
  }
}

TEST(NcclMessage, a_list_that_was_cut_or_cannot_be_read_is_not_empty) {
  for (const std::string_view message :
       {"NET/IB : Using", "NET/IB : Using [0]mlx5", "NET/IB : Using [x]mlx5_0:1/IB ; OOB eth0:1<0>",
        "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:1<0>"}) {
    EXPECT_FALSE(nccl_device_list(message)->is_empty) << message;
  }
}

TEST(NcclMessage, other_messages_are_no_lists) {
  for (const std::string_view message :
       {"NET/IB : No device found.", "Bootstrap : Using eth0:10.0.0.1<0>", "NET/IB", "NET/ : Using",
        "Using network IB", "NET/Plugin: Using internal network plugin."}) {
    const auto list = nccl_device_list(message);
    EXPECT_TRUE(!list || list->devices.empty()) << message;
  }
}

TEST(NcclMessage, ports_that_are_used_as_one_have_a_name_of_their_own) {
  const auto device = nccl_virtual_device(
      "NET/IB : Made virtual device [8] name=mlx5_0+mlx5_1 speed=800000 ndevs=2");
  ASSERT_TRUE(device);
  EXPECT_EQ(device->index, 8U);
  EXPECT_EQ(device->name, "mlx5_0+mlx5_1");
}

TEST(NcclMessage, a_network_may_have_blanks_in_its_name) {
  EXPECT_EQ(nccl_chosen_network("Using network AWS Libfabric"), "AWS Libfabric");
  EXPECT_EQ(nccl_chosen_network("Using network IB [repeated 7x across cluster]"), "IB");
  EXPECT_FALSE(nccl_chosen_network("Using non-device net plugin version 0"));
  EXPECT_FALSE(nccl_chosen_network("Using network "));
}

TEST(NcclMessage, a_sender_is_the_first_rank_and_a_receiver_the_second) {
  const auto sender = channel("Channel 02/0 : 3[3] -> 4[0] [send] via NET/IB/7/GDRDMA");
  EXPECT_EQ(sender.number, 2U);
  EXPECT_TRUE(sender.is_send);
  EXPECT_EQ(sender.rank, 3U);
  EXPECT_EQ(sender.network, "IB");
  EXPECT_EQ(sender.device, 7U);
  EXPECT_TRUE(sender.gpu_direct);
  const auto receiver = channel("Channel 02/0 : 3[3] -> 4[0] [receive] via NET/IB/7");
  EXPECT_FALSE(receiver.is_send);
  EXPECT_EQ(receiver.rank, 4U);
  EXPECT_FALSE(receiver.gpu_direct);
}

TEST(NcclMessage, each_spelling_of_a_route_is_read) {
  EXPECT_EQ(channel("Channel 00/0 : 1[1] -> 8[0] [send] via NET/IB/0(2)/GDRDMA").proxy_rank, 2U);
  EXPECT_TRUE(channel("Channel 00/0 : 1[1] -> 8[0] [send] via NET/IB/0(2)/GDRDMA").gpu_direct);
  EXPECT_TRUE(channel("Channel 00/0 : 1[1] -> 8[0] [send] via NET/IB/0/GDRDMA(PCI)").gpu_direct);
  EXPECT_TRUE(channel("Channel 00/1 : 1[1] -> 8[0] [send] via NET/IB/0/GDRDMA/Shared").gpu_direct);
  EXPECT_FALSE(channel("Channel 00/1 : 1[1] -> 8[0] [send] via NET/IB/0/Shared").gpu_direct);
  EXPECT_TRUE(channel("Channel 00/0 : 9[1] -> 0[0] [receive] via NET/IB/0/GDRDMA/flush=None comm")
                  .gpu_direct);
  EXPECT_EQ(channel("Channel 00/0 : 1[1] -> 0[0] [send] via NET/AWS Libfabric/3/GDRDMA").network,
            "AWS Libfabric");
  EXPECT_EQ(channel("Ring 00 : 15[41000] -> 0[1b000] [receive] via NET/IB/0").rank, 0U);
}

TEST(NcclMessage, a_connection_may_have_lost_its_beginning) {
  const auto cut = channel("8[4] -> 0[4] [receive] via NET/AWS Libfabric/4/GDRDMA");
  EXPECT_FALSE(cut.number);
  EXPECT_EQ(cut.rank, 0U);
  EXPECT_EQ(cut.network, "AWS Libfabric");
  EXPECT_TRUE(cut.gpu_direct);
  EXPECT_FALSE(nccl_channel("8[4] -> 0[4] via NET/IB/4"));
}

TEST(NcclMessage, a_process_says_by_which_address_it_is_reached) {
  const auto said = nccl_address("Bootstrap: Using eth0:fe80::1%eth0<0>");
  ASSERT_TRUE(said);
  EXPECT_EQ(said->interface, "eth0");
  EXPECT_EQ(said->address, "fe80::1%eth0");
  EXPECT_EQ(nccl_address("NET/IB : Using [0]mlx5_0:1/IB ; OOB ib0:10.0.0.1<0>")->interface, "ib0");
  for (const std::string_view message :
       {"Bootstrap : Using eth0", "Bootstrap timings total 0.1",
        "NET/IB : Using [0]mlx5_0:1/IB ; OOB :", "Using network IB"}) {
    EXPECT_FALSE(nccl_address(message)) << message;
  }
}

TEST(NcclMessage, a_failed_call_shows_by_its_frames) {
  for (const std::string_view message :
       {"transport/net.cc:1302 -> 6", "proxy.cc:872 -> 6 [Progress Thread]",
        "include/net.h:24 -> 2", "ib_plugin.c:196 -> 2", "group.cc:73 -> 3 [Async thread]",
        "/build/src/transport/net_ib/connect.cc:395 (ncclIbConnect) -> 2"}) {
    EXPECT_TRUE(nccl_network_call_failed(message)) << message;
  }
  // Plugins that are tried, a failure of CUDA's, a connection that is under way, what is no frame.
  for (const std::string_view message :
       {"net.cc:79 -> 3", "src/plugin/net.cc:79 -> 3", "group.cc:73 -> 1 [Async thread]",
        "transport/net.cc:1302 -> 7", "transport/nvls.cc:169 -> 3", "transport/net.cc:1302 -> 26",
        "misc/socket.cc:505 -> 2 (Operation now in progress)", "Ring 00 : 0 -> 2 -> 0",
        "Channel 00 : 1[1] -> 2[2] via P2P/IPC", "transport/net.cc -> 2", " -> 2", ""}) {
    EXPECT_FALSE(nccl_network_call_failed(message)) << message;
  }
}

TEST(NcclMessage, a_failed_connection_is_known_by_its_file_and_its_words) {
  EXPECT_TRUE(nccl_is_network_failure("misc/socket.cc:441", "socketPollConnect: x returned error"));
  EXPECT_TRUE(nccl_is_network_failure("bootstrap.cc:131 (bootstrapRoot)", "Poll failed: x"));
  EXPECT_TRUE(nccl_is_network_failure("ncclResult_t f():7", "NET/OFI Unable to do it"));
  EXPECT_FALSE(nccl_is_network_failure("ras/client_support.cc:160", "Call to bind failed"));
  EXPECT_FALSE(nccl_is_network_failure("misc/cudawrap.cc:195", "CUDA functions failed"));
  EXPECT_FALSE(nccl_is_network_failure("misc/ibvwrap.cc:63", "Failed to open libibverbs.so[.1]"));
  EXPECT_FALSE(nccl_is_network_failure("bootstrap.cc:131", "rank 1 has already checked in"));
  EXPECT_FALSE(nccl_is_network_failure("misc/socket.cc:49", "Connection closed by remote peer"));
  EXPECT_FALSE(nccl_is_network_failure("", "it failed"));
  EXPECT_TRUE(nccl_is_network_failure("configure:213", "NET/OFI Couldn't set FI_OPT_x"));
}

TEST(NcclMessage, rccl_adds_the_communicator) {
  const auto read = channel(
      "Channel 02/0 : 1[c6000] -> 4[c1000] [receive] via NET/IB/1/GDRDMA comm 0x95cdeb0 nRanks 08");
  EXPECT_EQ(read.rank, 4U);
  EXPECT_EQ(read.device, 1U);
  EXPECT_TRUE(read.gpu_direct);
}

TEST(NcclMessage, collnet_has_one_rank) {
  const auto read = channel("CollNet 00/0 : 5 [send] via COLLNET/SHARP/2/GDRDMA");
  EXPECT_EQ(read.rank, 5U);
  EXPECT_EQ(read.network, "SHARP");
  EXPECT_TRUE(read.gpu_direct);
}

TEST(NcclMessage, a_cut_route_proves_nothing) {
  for (const std::string_view route :
       {"", "NET/", "NET/IB", "NET/IB/", "NET/IB/0/", "NET/IB/0/GDR", "NET/IB/0(", "NET/IB/0(2",
        "NET/IB/0/GDRDMA(P", "NET/IB/0/GDRDMA/fl", "NET/IB/0/flush=None", "NET/IB/0/Sha",
        "NET/IB/99999999999999"}) {
    EXPECT_FALSE(nccl_channel("Channel 02/0 : 3[3] -> 4[0] [send] via " + std::string(route)))
        << route;
  }
}

TEST(NcclMessage, connections_within_the_node_are_not_through_a_network) {
  EXPECT_TRUE(nccl_local_channel("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read"));
  EXPECT_TRUE(nccl_local_channel("Channel 00 : 0[0] -> 1[1] via SHM/direct/direct"));
  EXPECT_FALSE(nccl_local_channel("Channel 00/04 :    0   1"));
  EXPECT_FALSE(nccl_channel("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read"));
  for (const std::string_view old :
       {"Ring 00 : 0[0] -> 1[1] via P2P/IPC", "Ring 00 : 0[0] -> 1[1] via direct shared memory",
        "Channel 02 : 0[1b000] -> 1[41000] via P2P/IPC comm 0x1 nRanks 08"}) {
    const auto local = nccl_local_channel(old);
    ASSERT_TRUE(local) << old;
    EXPECT_EQ(local->from, 0U);
    EXPECT_EQ(local->to, 1U);
  }
  // NVLink between nodes, and what was cut.
  EXPECT_FALSE(nccl_local_channel("Channel 00/0 : 0[0] -> 4[0] via P2P/MNNVL"));
  EXPECT_FALSE(nccl_local_channel("Channel 00/0 : 6[ [repeated 27x across cluster]"));
}

TEST(NcclMessage, a_communicator_tells_rank_and_size) {
  const auto start = nccl_membership(
      "ncclCommInitRank comm 0x1 rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId 1 commId 0x2 - Init "
      "START");
  ASSERT_TRUE(start);
  EXPECT_EQ(start->rank, 3U);
  EXPECT_EQ(start->size, 16U);
  EXPECT_FALSE(start->is_complete);
  const auto complete =
      nccl_membership("comm 0x1 rank 0 nranks 2 cudaDev 0 busId 1 commId 0x2 - Init COMPLETE");
  ASSERT_TRUE(complete);
  EXPECT_TRUE(complete->is_complete);
  EXPECT_TRUE(nccl_membership("[Rank 0] ncclCommInitRank comm 0x1 rank 0 nranks 2 - Init START"));
  EXPECT_FALSE(nccl_membership("comm 0x1 rank 7 nranks 2 - Init START"));
  // 2.3, and the line of 2.20 and later that counts the nodes.
  EXPECT_TRUE(nccl_membership("rank 0 nranks 3"));
  const auto nodes = nccl_membership("comm 0x1 rank 3 nRanks 16 nNodes 2 localRanks 8 localRank 3");
  ASSERT_TRUE(nodes);
  EXPECT_EQ(nodes->nodes, 2U);
  EXPECT_FALSE(nccl_membership("Loss of rank 0 nranks 3"));
}

TEST(NcclMessage, the_chosen_network_is_read_in_each_version) {
  EXPECT_EQ(nccl_chosen_network("CUDA Dev 0[0], Socket NIC distance :  PHB"), "Socket");
  EXPECT_FALSE(nccl_chosen_network("CUDA Dev 0, IB Ports : mlx4_0/1(PHB)"));
  EXPECT_EQ(nccl_chosen_network("Using internal Network IB"), "IB");
  EXPECT_EQ(nccl_chosen_network("Assigned NET plugin AWS Libfabric to comm"), "AWS Libfabric");
  EXPECT_EQ(nccl_chosen_network("Using network NCCL RDMA Plugin v6"), "NCCL RDMA Plugin v6");
}

TEST(NcclMessage, what_people_write_behind_a_name_is_not_of_it) {
  for (const std::string remark :
       {"  # KEY LINE", " <- both ranks", " // bad", " \xe2\x86\x90 good", "        falls back",
        " (TCP!)", "`", "**"}) {
    EXPECT_EQ(nccl_chosen_network("Using network Socket" + remark), "Socket") << remark;
  }
}

TEST(NcclMessage, a_plugin_is_named_without_its_interface) {
  EXPECT_EQ(nccl_plugin("P2P plugin IBext"), "IBext");
  EXPECT_EQ(nccl_plugin("P2P plugin v8 IBext_v8"), "IBext_v8");
  EXPECT_EQ(nccl_plugin("NET/Plugin: Loaded net plugin NCCL RDMA Plugin v6 (v6)"),
            "NCCL RDMA Plugin v6");
  EXPECT_FALSE(nccl_plugin("NET/Plugin: Failed to find ncclNetPlugin_v8 symbol."));
}

TEST(NcclMessage, merged_ports_are_one_device) {
  const auto list = nccl_device_list(
      "NET/IB : Using [0]={[0] mlx5_2:1/RoCE, [1] mlx5_3:1/RoCE} [1]={[2] mlx5_0:1/RoCE, [3] "
      "mlx5_1:1/RoCE} [RO]; OOB eth0:10.0.0.1<0>");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->devices.size(), 2U);
  EXPECT_EQ(list->devices[0].name, "mlx5_2+mlx5_3");
  EXPECT_EQ(list->devices[1].index, 1U);
  EXPECT_EQ(list->devices[1].link_layer, "RoCE");
  EXPECT_TRUE(list->relaxed_ordering);
  EXPECT_TRUE(nccl_device_list("NET/IB : Using [0]={[0] mlx5_2:1/RoCE,")->devices.empty());
}

TEST(NcclMessage, gpu_direct_of_a_nic_is_read_in_each_version) {
  const auto own = nccl_gpu_direct("NET/IB : GPU Direct RDMA Enabled for HCA 2 'mlx5_2'");
  ASSERT_TRUE(own);
  EXPECT_TRUE(own->enabled);
  EXPECT_EQ(own->device.index, 2U);
  EXPECT_EQ(own->device.name, "mlx5_2");
  const auto old =
      nccl_gpu_direct("NET/IB : GPU Direct RDMA Disabled for HCA 1 'mlx5_1' (no module)");
  ASSERT_TRUE(old);
  EXPECT_FALSE(old->enabled);
  EXPECT_EQ(
      nccl_gpu_direct("NET/IB : GPU Direct RDMA (nvidia-peermem) enabled for HCA 0 'mlx5_0")->route,
      "peermem");
  EXPECT_EQ(nccl_gpu_direct("NET/IB : GPU Direct RDMA (DMABUF) enabled for HCA 0 'mlx5_0")->route,
            "DMA-BUF");
  EXPECT_FALSE(nccl_gpu_direct("GPU Direct RDMA Enabled for GPU 0 / HCA 1"));
}

TEST(NcclMessage, libfabric_names_its_provider) {
  EXPECT_EQ(nccl_ofi_provider("NET/OFI Selected Provider is efa (found 4 nics)"), "efa");
  EXPECT_EQ(nccl_ofi_provider("NET/OFI Selected provider is tcp, fabric is lo (found 1 nics)"),
            "tcp");
  EXPECT_FALSE(nccl_ofi_provider("NET/OFI Using Libfabric version 1.22"));
}

TEST(NcclMessage, the_version_stands_with_or_without_a_prefix) {
  EXPECT_EQ(nccl_version("NCCL version 2.21.5+cuda12.4"), "NCCL 2.21.5+cuda12.4");
  EXPECT_EQ(nccl_version("a:1:1 [0] NCCL INFO NCCL version 2.27.6+cuda13.0"),
            "NCCL 2.27.6+cuda13.0");
  EXPECT_EQ(nccl_version("RCCL version : 2.21.5-HEAD:9a0e6a1"), "RCCL 2.21.5-HEAD:9a0e6a1");
  EXPECT_EQ(nccl_version("RCCL version 2.20.5+hip6.2 HEAD:ab"), "RCCL 2.20.5+hip6.2");
  EXPECT_FALSE(nccl_version("NCCL WARN Mismatched NCCL version detected : rank 1"));
  EXPECT_FALSE(nccl_version("CCL version 2"));
}

TEST(NcclMessage, the_status_of_a_completion_is_read_in_each_version) {
  EXPECT_EQ(nccl_completion_status(
                "NET/IB : Got completion from peer 10.0.0.2<5> with error 12, opcode 0, len 0"),
            12U);
  EXPECT_EQ(nccl_completion_status(
                "NET/IB: Got completion from peer 10.0.0.2<5> with status=5 opcode=0 len=0"),
            5U);
  EXPECT_EQ(nccl_completion_status("NET/IB: Got completion from peer 10.0.0.2<5> with "
                                   "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0)"),
            12U);
  EXPECT_EQ(nccl_completion_status("NET/IB : Got completion with error 4, opcode 1, len 0"), 4U);
  EXPECT_EQ(nccl_completion_status("NET/IB: x: Got completion with error (devIndex=0, "
                                   "wc->status=(IBV_WC_RETRY_EXC_ERR)12, wc->opcode=(x)0)"),
            12U);
  EXPECT_EQ(nccl_completion_status("Got completion from peer a with status = 12 opcode = 0"), 12U);
  EXPECT_FALSE(nccl_completion_status("NET/IB: Got completion from peer"));
  EXPECT_FALSE(nccl_completion_status("NET/IB: Got completion from peer a with status=(cut"));
  EXPECT_FALSE(nccl_completion_status("with error 12"));
}

}  // namespace
}  // namespace railhead::proof
