// SPDX-License-Identifier: Apache-2.0
//
// What single messages of NCCL and RCCL say. The formats are those of NVIDIA/nccl 2.18.5, 2.20.5,
// 2.22.3, 2.24.3, 2.27.5, 2.28.9 and 2.30 (src/transport/net.cc, net_ib, coll_net.cc,
// src/graph/topo.cc, src/init.cc, src/plugin/net.cc), ROCm/rccl 2.21 (src/transport/net.cc adds the
// communicator at the end), Mellanox/nccl-rdma-sharp-plugins (src/p2p_plugin.c) and
// aws/aws-ofi-nccl (src/nccl_ofi_net.cpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railhead::proof {

/// One port in `NET/IB : Using [0]mlx5_0:1/RoCE [1]… [RO]; OOB eth0:…`.
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

/// `Made virtual device [8] name=mlx5_0+mlx5_1 …`: ports that are used as one.
std::optional<NcclDevice> nccl_virtual_device(std::string_view message);

/// The name in `Using network IB`: what a communicator will use between nodes. A name may hold
/// blanks (AWS Libfabric).
std::optional<std::string_view> nccl_chosen_network(std::string_view message);

/// `Channel 02/0 : 3[3] -> 4[0] [send] via NET/IB/0(2)/GDRDMA(PCI)/Shared`: the truth about one
/// connection. CollNet's lines have one rank only.
struct NcclChannel {
  unsigned number = 0;
  bool is_send = false;
  std::optional<unsigned> rank;        ///< whose line this is
  std::string_view network;            ///< "IB", "Socket", "AWS Libfabric", "SHARP"
  unsigned device = 0;                 ///< index in the list of devices
  std::optional<unsigned> proxy_rank;  ///< PXN: through the NIC of this rank
  bool gpu_direct = false;
};

std::optional<NcclChannel> nccl_channel(std::string_view message);

/// True for a connection within a node: P2P, shared memory.
bool is_nccl_local_channel(std::string_view message);

/// `comm 0x… rank 3 nranks 16 cudaDev 3 … Init START|COMPLETE`.
struct NcclMembership {
  unsigned rank = 0;
  unsigned size = 0;  ///< ranks of the communicator
  bool is_complete = false;
};

std::optional<NcclMembership> nccl_membership(std::string_view message);

/// `NET/IB : GPU Direct RDMA Enabled|Disabled for HCA 0 'mlx5_0'`: what a NIC is able to do, not
/// what a connection does.
struct NcclGpuDirect {
  NcclDevice device;
  bool enabled = false;
  std::string_view route;  ///< "peermem" or "DMA-BUF" where the message says, else ""
};

std::optional<NcclGpuDirect> nccl_gpu_direct(std::string_view message);

/// The provider in `NET/OFI Selected provider is efa, fabric is …`.
std::optional<std::string_view> nccl_ofi_provider(std::string_view message);

/// "NCCL 2.21.5+cuda12.4" or "RCCL 2.20.5-develop:…" from a line that names the version.
std::optional<std::string> nccl_version(std::string_view line);

/// The number in a failed completion (ibv_wc_status in verbs.h), however the version spells it:
/// `with error 12, `, `with status=12 `, `with status=IBV_WC_RETRY_EXC_ERR(12) `.
std::optional<unsigned> nccl_completion_status(std::string_view message);

}  // namespace railhead::proof
