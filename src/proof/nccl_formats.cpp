// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "proof/nccl_patterns.h"

namespace railhead::proof {
namespace {

/// What proves a transport. Numbers before 2.3, the oldest tag of NVIDIA/nccl, are from published
/// logs.
constexpr std::array kFormats = {
    NcclFormat{"Channel 02/0 : 3[3] -> 4[0] [send] via NET/IB/0(2)/GDRDMA(PCI)/Shared",
               "NCCL 2.12 to 2.30, src/transport/net.cc; RCCL adds the communicator"},
    NcclFormat{"Channel 00 : 1[3000] -> 0[3000] [receive] via NET/IB/0",
               "NCCL 2.5 to 2.11, src/transport/net.cc"},
    NcclFormat{"Ring 00 : 1 -> 4 [receive] via NET/IB/1/GDRDMA",
               "NCCL 2.1 to 2.4, src/transport/net.cc"},
    NcclFormat{"CollNet 00/0 : 0 [send] via COLLNET/SHARP/0/GDRDMA",
               "NCCL 2.6 to 2.30, src/transport/coll_net.cc"},
    NcclFormat{"NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 1047 mtu 5 LID 7",
               "NCCL 2.3 to 2.28, src/transport/net_ib.cc"},
    NcclFormat{"transport/net_ib.cc:771 Ib Alloc Size 552 pointer 0x7f96f0053000",
               "NCCL 2.9 to 2.30, src/include/alloc.h"},
    NcclFormat{"Channel 00/0 : 0[0] -> 7[7] via P2P/CUMEM/read",
               "NCCL 2.3 to 2.30, src/transport/p2p.cc"},
    NcclFormat{"Channel 00 : 1[1] -> 2[2] via SHM/direct/direct",
               "NCCL 2.13 to 2.30, src/transport/shm.cc"},
    NcclFormat{"Ring 00 : 0[0] -> 1[1] via direct shared memory",
               "NCCL 2.1 to 2.12, src/transport/shm.cc"},
    NcclFormat{"comm 0x55 rank 3 nRanks 16 nNodes 2 localRanks 8 localRank 3 MNNVL 0",
               "NCCL 2.20 to 2.30, src/init.cc"},
    NcclFormat{"NET/OFI Region Tuner init (platform 0): comm with 8 ranks and 1 nodes.",
               "aws-ofi-nccl 1.12 to 1.21, src/tuner"},
    NcclFormat{"comm:0x1, nRanks:4, nNodes:1, coll channels:8 collnet channels:8",
               "RCCL 2.27 of ROCm 7.2 and later, in its published logs"},
    NcclFormat{"Channel 00/0 : 1[1] -> 0[1] [receive] via NET/IB-CAST/0/GDRDMA/flush=Always",
               "NCCL 2.31 and RCCL 2.28 and later, in their published logs"},
    NcclFormat{"NET/OFI Setting provider_filter to efa",
               "aws-ofi-nccl 1.7 to 1.21, src/platform-aws.cpp"},
    NcclFormat{"EfaTransport: Initialized EFA device rdmap85s0",
               "Mooncake 0.3.10 to 0.3.12, src/transport/efa_transport/efa_transport.cpp"},
    NcclFormat{
        "ncclCommInitRank comm 0x1 rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId 1000 - Init START",
        "NCCL 2.3 to 2.30, src/init.cc"},
    NcclFormat{"Using network IB", "NCCL 2.6 to 2.30, src/init.cc"},
    NcclFormat{"Using internal Network IB", "NCCL 2.1 to 2.3, src/init.cu"},
    NcclFormat{"CUDA Dev 0[0], IB NIC distance :  PHB", "NCCL 2.4, src/transport/net.cc"},
    NcclFormat{"Assigned NET plugin IB to comm", "NCCL 2.27 to 2.30, src/plugin/net.cc"},
    NcclFormat{"NET/OFI Selected Provider is efa (found 4 nics)",
               "aws-ofi-nccl 1.0 to 1.13, src/nccl_ofi_net.c"},
    NcclFormat{"NET/OFI Selected provider is efa, fabric is efa-direct (found 16 nics)",
               "aws-ofi-nccl 1.14 to 1.21, src/nccl_ofi_net.cpp"},
    NcclFormat{"P2P plugin v8 IBext_v8",
               "nccl-rdma-sharp-plugins, hpcx 2.6 and later, src/p2p_plugin.c"},
    NcclFormat{"NET/Plugin: Loaded net plugin FastSocket (v6)",
               "NCCL 2.13 to 2.30, src/plugin/net"},
    NcclFormat{"NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>",
               "NCCL 2.4 to 2.30, src/transport/net_ib; nccl-rdma-sharp-plugins adds /SHARP"},
    NcclFormat{
        "NET/IB : Using [0]={[0] mlx5_2:1/RoCE, [1] mlx5_3:1/RoCE} [RO]; OOB eth0:10.0.0.1<0>",
        "NCCL 2.21 to 2.23, src/transport/net_ib.cc"},
    NcclFormat{"NET/IB: [0] mlx5_64:1/IB", "NCCL 2.1 to 2.3, src/transport/net_ib.cu"},
    NcclFormat{"NET/IB : Made virtual device [8] name=mlx5_0+mlx5_1 speed=400000 ndevs=2",
               "NCCL 2.24 to 2.30, src/transport/net_ib"},
    NcclFormat{"NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'",
               "NCCL 2.13 to 2.30, src/graph/topo.cc"},
    NcclFormat{"NET/IB : No device found.", "NCCL 2.4 to 2.30, src/transport/net_ib"},
    NcclFormat{"Failed to open libibverbs.so[.1]", "NCCL 2.3 to 2.29, src/misc/ibvsymbols.cc"},
    NcclFormat{"Failed to initialize NET plugin IB", "NCCL 2.28 to 2.30, src/plugin/net.cc"},
    NcclFormat{"NET/OFI No eligible providers were found",
               "aws-ofi-nccl 1.14 to 1.21, src/nccl_ofi_rdma.cpp"},
    NcclFormat{
        "[1.0] [node:7:0]  ucp_worker.c:1887 UCX  INFO  inter-node cfg#3 rma(rc_mlx5/mlx5_0:1)",
        "UCX 1.15 to 1.22, src/ucp/core/ucp_ep.c"},
    NcclFormat{"[1.0] [node:7:0]  ucp_worker.c:1783 UCX  INFO    ep_cfg[1]: tag(rc_mlx5/mlx5_0:1)",
               "UCX 1.7 to 1.14, src/ucp/core/ucp_worker.c"},
    NcclFormat{
        "[1.0] [node:7:0]  tcp_cm.c:96   UCX  DEBUG   tcp_ep 0x1: CLOSED -> CONNECTING for the "
        "[10.0.0.1:41279]<->[10.0.0.2:55289]:0 connection [-:-]",
        "UCX 1.7 to 1.22, src/uct/tcp/tcp_cm.c"},
    NcclFormat{"| 0..inf | software emulation | tcp/eth0 |", "UCX 1.14 to 1.22, src/ucp/proto"},
    NcclFormat{
        "I0401 19:40:09.461735 59 rdma_context.cpp:140] RDMA device: mlx5_0, LID: 0, GID: (3) 00",
        "Mooncake 0.2 to 0.3.12, src/transport/rdma_transport/rdma_context.cpp"},
    NcclFormat{"I0708 09:26:26.332921 36 tcp_transport.cpp:241] TcpTransport: listen on port 16050",
               "Mooncake 0.3 to 0.3.12, src/transport/tcp_transport/tcp_transport.cpp"},
    NcclFormat{
        "I1207 19:34:40.278 13 libfabric_rail_manager.cpp:232] Created 16 rails using provider=efa",
        "NIXL 0.8 to 1.4, src/utils/libfabric/libfabric_rail_manager.cpp"},
    NcclFormat{"2026-01-08 13:36:27 NIXL INFO    _api.py:363 Backend UCX was instantiated",
               "NIXL 0.2 to 1.4, src/api/python/_api.py"}};

}  // namespace

std::span<const NcclFormat> nccl_formats() {
  return kFormats;
}

}  // namespace railhead::proof
