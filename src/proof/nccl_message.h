// SPDX-License-Identifier: Apache-2.0
//
// What single messages of NCCL, RCCL and their plugins say. nccl_patterns.h lists the formats with
// their versions and sources.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railhead::proof {

/// One port in `NET/IB : Using [0]mlx5_0:1/RoCE [1]… [RO]; OOB eth0:…`. Ports that NCCL 2.21
/// to 2.23 merges stand in braces, `[0]={[0] mlx5_0:1/RoCE, [1] mlx5_1:1/RoCE}`: one device
/// "mlx5_0+mlx5_1".
struct NcclDevice {
  unsigned index = 0;
  std::string name;
  std::optional<unsigned> port;
  std::string link_layer;  ///< "IB" or "RoCE", "" for a socket's interface
};

struct NcclDeviceList {
  std::string network;  ///< "IB", "Socket"
  std::vector<NcclDevice> devices;
  bool relaxed_ordering = false;
  bool is_empty = false;  ///< the list is whole, and nothing is in it; a line that was cut is not
};

/// Absent where the message is no such list.
std::optional<NcclDeviceList> nccl_device_list(std::string_view message);

/// One line of the list of NCCL 2.1 to 2.3, "NET/IB: [0] mlx5_0:1/IB" (src/transport/net_ib.cu).
std::optional<NcclDevice> nccl_old_device(std::string_view message);

/// `Made virtual device [8] name=mlx5_0+mlx5_1 …`: ports that are used as one.
std::optional<NcclDevice> nccl_virtual_device(std::string_view message);

/// The name in `Using network IB`, `Using internal Network IB` (2.3) and `Assigned NET plugin IB to
/// comm`, and in `CUDA Dev 0[0], IB NIC distance :  PHB` (2.4): what a communicator will use
/// between nodes. A name may hold blanks (AWS Libfabric). What people write behind it (`# good`,
/// `<- both ranks`) is left out.
std::optional<std::string_view> nccl_chosen_network(std::string_view message);

/// The name in `P2P plugin v8 IBext_v8` and `Loaded net plugin FastSocket (v6)`.
std::optional<std::string_view> nccl_plugin(std::string_view message);

/// `Channel 02/0 : 3[3] -> 4[0] [send] via NET/IB/0(2)/GDRDMA(PCI)/Shared`: the truth about one
/// connection. CollNet's lines have one rank only.
struct NcclChannel {
  std::optional<unsigned> number;  ///< absent where the beginning was cut off
  bool is_send = false;
  std::optional<unsigned> rank;        ///< whose line this is
  std::string_view network;            ///< "IB", "Socket", "AWS Libfabric", "SHARP"
  unsigned device = 0;                 ///< index in the list of devices
  std::optional<unsigned> proxy_rank;  ///< PXN: through the NIC of this rank
  bool gpu_direct = false;
};

std::optional<NcclChannel> nccl_channel(std::string_view message);

/// A connection within a node: `Channel 00 : 0[0] -> 1[1] via P2P/IPC`, `via SHM/direct/direct`,
/// `via direct shared memory`. Multi-node NVLink (P2P/MNNVL) is none.
struct NcclLocalChannel {
  unsigned from = 0;  ///< ranks
  unsigned to = 0;
};

std::optional<NcclLocalChannel> nccl_local_channel(std::string_view message);

/// `comm 0x… rank 3 nranks 16 cudaDev 3 … Init START|COMPLETE`, `comm 0x… rank 3 nRanks 16 nNodes 2
/// localRanks 8`.
struct NcclMembership {
  unsigned rank = 0;
  unsigned size = 0;  ///< ranks of the communicator
  /// Since 2.20. Absent with multi-node NVLink (`MNNVL 1`), where NCCL counts domains of NVLink:
  /// one of them may have several machines.
  std::optional<unsigned> nodes;
  bool is_complete = false;
  std::uint64_t communicator = 0;  ///< its address in the process; 0 where it is not printed
  std::uint64_t id = 0;            ///< commId, the same in all ranks (since 2.17); 0 likewise
};

std::optional<NcclMembership> nccl_membership(std::string_view message);

/// What aws-ofi-nccl says of a communicator, by NCCL's own counts: `NET/OFI Region Tuner init
/// (platform 0): comm with 8 ranks and 1 nodes.` RCCL: `comm:0x1, nRanks:4, nNodes:1, coll …`.
struct NcclNodeCount {
  unsigned size = 0;
  unsigned nodes = 0;
};

std::optional<NcclNodeCount> nccl_node_count(std::string_view message);

/// How many ranks stand in `Channel 00/08 : 0 1 2 3`, the order of a ring; 0 where the message is
/// none, or may have been cut: NCCL prints 20 at most (src/graph/rings.cc).
std::size_t nccl_ring_size(std::string_view message);

/// `Bootstrap : Using eth0:10.0.0.1<0>` (`Using [0]eth0:…` up to 2.7), `…; OOB eth0:10.0.0.1<0>`:
/// by which a process is reached. Of several interfaces the first.
struct NcclAddress {
  std::string_view interface;
  std::string_view address;
};

std::optional<NcclAddress> nccl_address(std::string_view message);

/// Whose line `Trees [0] 3/-1/-1->2->1 [1] …` is: the rank in the middle (since 2.8).
std::optional<unsigned> nccl_tree_rank(std::string_view message);

/// `NET/IB : GPU Direct RDMA Enabled|Disabled for HCA 0 'mlx5_0'`: what a NIC is able to do, not
/// what a connection does.
struct NcclGpuDirect {
  std::string_view network;  ///< the chosen one: NCCL asks no other
  NcclDevice device;
  bool enabled = false;
  std::string_view route;  ///< "peermem" or "DMA-BUF" where the message says, else ""
};

std::optional<NcclGpuDirect> nccl_gpu_direct(std::string_view message);

/// The provider in `NET/OFI Selected provider is efa, fabric is …`.
std::optional<std::string_view> nccl_ofi_provider(std::string_view message);

/// The provider whose form of address is in the message: "Peer EFA addr: fi_addr_efa://[fe80::…]"
/// (libfabric 1.8 and later, src/fabric.c, quoted by its providers' errors).
std::optional<std::string_view> nccl_ofi_provider_of_address(std::string_view message);

/// The only provider that aws-ofi-nccl will look at, in `NET/OFI Setting provider_filter to efa`.
std::optional<std::string_view> nccl_ofi_filter(std::string_view message);

/// True where the messages say that DMA-BUF is not used: switched off, or not supported.
bool nccl_dma_buf_is_off(std::string_view message);

/// A row of the table of devices that nccl-tests and rccl-tests print before they begin, of all
/// ranks of the job: "#  Rank  0 Group  0 Pid  47853 on  node-1 device  0 [0x1a] …". People quote
/// it without the first character.
struct NcclTestRank {
  unsigned rank = 0;
  std::string_view host;
  unsigned device = 0;
  bool is_whole = false;  ///< the row was not cut before the name of the GPU
};

std::optional<NcclTestRank> nccl_tests_rank(std::string_view line);

/// The line is the beginning of such a row, which ends before it says all that a row does.
bool nccl_tests_row_is_cut(std::string_view line);

/// "NCCL 2.21.5+cuda12.4" or "RCCL 2.20.5-develop:…" from a line that names the version.
std::optional<std::string> nccl_version(std::string_view line);

/// True for a version before 2.7, which does not print the chosen network: its list decides.
bool is_before_using_network(std::string_view version);

/// The number in a failed completion (ibv_wc_status in verbs.h), however the version spells it:
/// `with error 12, `, `with status=12 `, `with status=IBV_WC_RETRY_EXC_ERR(12) `.
std::optional<unsigned> nccl_completion_status(std::string_view message);

}  // namespace railhead::proof
