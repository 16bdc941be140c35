// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_patterns.h"

#include <algorithm>

namespace railhead::proof {
namespace {

using enum NcclSeverity;

constexpr std::string_view kRegistration =
    "memory could not be registered: raise RLIMIT_MEMLOCK of the container; for memory of a GPU "
    "load nvidia_peermem or use DMA-BUF";
constexpr std::string_view kResources =
    "a queue of the device could not be made: raise RLIMIT_MEMLOCK of the container, or too many "
    "queue pairs are in use";
constexpr std::string_view kTopology =
    "the PCI tree is incomplete, as on virtual machines: NCCL_TOPO_FILE is needed";

/// Warnings of NCCL, RCCL and their plugins; of rows that match the first counts.
constexpr std::array kWarnings = {
    NcclPattern{{"async fatal event"},
                error,
                "NCCL 2.23 to 2.30, src/transport/net_ib",
                "a device reported a fatal event while the job ran: link, firmware or driver"},
    NcclPattern{{"NET/IB : Got async event"},
                warning,
                "NCCL 2.3 to 2.22, src/transport/net_ib.cc",
                "a device reported an event while the job ran: link, firmware or driver"},
    NcclPattern{
        {"Call to ibv_reg_mr"}, error, "NCCL 2.3 to 2.30, src/misc/ibvwrap.cc", kRegistration},
    NcclPattern{{"Call to ibv_reg_dmabuf_mr"},
                error,
                "NCCL 2.13 to 2.30, src/misc/ibvwrap.cc",
                kRegistration},
    NcclPattern{{"Call to ibv_", " failed", "Cannot allocate memory"},
                error,
                "NCCL 2.3 to 2.30, src/misc/ibvwrap.cc",
                kRegistration},
    NcclPattern{{"Call to ibv_modify_qp failed"},
                error,
                "NCCL 2.3 to 2.30, src/misc/ibvwrap.cc",
                "a connection could not be made: GID of a network device that is not in this "
                "network namespace, MTU or route"},
    NcclPattern{{"Call to ibv_create_", " failed"},
                error,
                "NCCL 2.1 to 2.30, src/misc/ibvwrap.cc",
                kResources},
    NcclPattern{{"Call to ibv_open_device failed"},
                warning,
                "NCCL 2.3 to 2.30, src/misc/ibvwrap.cc",
                "a device is listed and may not be opened: its node under /dev/infiniband is not "
                "the container's"},
    NcclPattern{{"Call to ibv_", " failed"},
                error,
                "NCCL 2.1 to 2.30, src/misc/ibvwrap.cc",
                "a call of verbs failed"},
    NcclPattern{{"GID table changed"},
                warning,
                "NCCL 2.28 to 2.30, src/transport/net_ib",
                "the addresses of a port changed while the job ran"},
    NcclPattern{{"Unable to open device"},
                warning,
                "NCCL 2.3 to 2.30, src/transport/net_ib",
                "a device is listed and may not be opened: its node under /dev/infiniband is not "
                "the container's"},
    NcclPattern{{"wrong type ", " != "},
                error,
                "NCCL 2.16 to 2.30, src/misc/socket.cc",
                "two ranks do not mean the same connection: another job has the port, or the ranks "
                "chose different networks or versions"},
    NcclPattern{{"collective mismatch error"},
                error,
                "NCCL 2.3 to 2.19, src/transport/net_ib.cc",
                "two ranks disagree about the operation or the version"},
    NcclPattern{{"Attempted to connect incompatible devices"},
                error,
                "NCCL 2.26 to 2.30, src/transport/net_ib",
                "NICs of different link layers were paired: name those of one kind in NCCL_IB_HCA"},
    NcclPattern{{"Got CQE with error"},
                error,
                "NCCL 2.29 to 2.30, src/transport/net_ib/p2p.cc",
                "a completion failed",
                NcclShows::rdma},
    NcclPattern{{"Failed to initialize any NET plugin"},
                error,
                "NCCL 2.27 to 2.30, src/plugin/net.cc",
                "no network could be used: the one that NCCL_NET names did not start"},
    NcclPattern{
        {"Net : Socket creation failed"},
        error,
        "NCCL 2.3 to 2.23, src/include/socket.h",
        "a socket could not be made: NCCL_SOCKET_IFNAME, or an address family that is missing"},
    NcclPattern{{"Connect to ", " failed"},
                error,
                "NCCL 2.3 to 2.30, src/misc/socket.cc",
                "a peer could not be reached over TCP, by which NCCL sets up each connection: "
                "NCCL_SOCKET_IFNAME, route or firewall"},
    NcclPattern{{"Net : Call to ", " failed"},
                error,
                "NCCL 2.3 to 2.30, src/misc/socket.cc",
                "a peer could not be reached over TCP, by which NCCL sets up each connection: "
                "NCCL_SOCKET_IFNAME, route or firewall"},
    NcclPattern{{" with family ", " is neither AF_INET"},
                error,
                "NCCL 2.10 to 2.30, src/misc/socket.cc",
                "a rank was given no address: the ranks run different versions, or one has ended"},
    NcclPattern{{"Error: network ", " not found"},
                error,
                "NCCL 2.10 to 2.26, src/net.cc",
                "no network could be used: the one that NCCL_NET names did not start"},
    NcclPattern{{"Failed: UCX error"},
                error,
                "nccl-rdma-sharp-plugins, src/ucx_plugin.c",
                "UCX could not carry the traffic"},
    NcclPattern{{", nic ", " ctrl timeout cnt"},
                error,
                "nccl-plugin-gpudirecttcpx, src/net_tcpx.cc",
                "a connection of GPUDirectTCPX waits for its peer"},
    NcclPattern{{"Topology detection", "could not read"},
                warning,
                "NCCL 2.6 to 2.30, src/graph/xml.cc",
                kTopology},
    NcclPattern{
        {"NET/OFI", "Unresponsive receiver"},
        error,
        "libfabric 1.20 and later, prov/efa: quoted by aws-ofi-nccl",
        "the peer does not answer: its process ended, or a security group drops the traffic",
        NcclShows::network},
    NcclPattern{{"NET/OFI", "ompleted with error"},
                error,
                "aws-ofi-nccl 1.4 to 1.21, src/nccl_ofi_rdma.cpp",
                "a transfer failed: the peer's process ended, or the network dropped it",
                NcclShows::network},
    NcclPattern{{"NET/OFI Unexpected number of remote"},
                error,
                "aws-ofi-nccl 1.7 to 1.21, src/nccl_ofi_rdma.cpp",
                "the nodes have different numbers of devices: one of them lost some"},
    NcclPattern{
        {"NET/OFI Couldn't open "},
        error,
        "aws-ofi-nccl 1.0 to 1.21, src/nccl_ofi_ofiutils.cpp",
        "libfabric could not use the device: too few resources, or the container lacks its node"},
    NcclPattern{{"NET/OFI", "nable to register memory"},
                error,
                "aws-ofi-nccl 1.0 to 1.21, src/nccl_ofi_rdma.cpp",
                kRegistration},
    NcclPattern{{"NET/OFI Unable to insert remote address"},
                error,
                "aws-ofi-nccl 1.0 to 1.21, src/cm",
                "a peer cannot be reached: its address is not one of this network's"},
    NcclPattern{
        {"NET/OFI Creating new endpoint", " failed"},
        error,
        "aws-ofi-nccl 1.13 to 1.21, src/nccl_ofi_net.cpp",
        "libfabric could not use the device: too few resources, or the container lacks its node"},
    NcclPattern{{"NET/OFI Unexpected status"},
                error,
                "aws-ofi-nccl 1.7 to 1.21, src/nccl_ofi_rdma.cpp",
                "the plugin lost track of a message: a fault of the plugin's or of another process",
                NcclShows::network},
    NcclPattern{{"NET/OFI", "unexpected request type"},
                error,
                "aws-ofi-nccl 1.7 to 1.21, src/nccl_ofi_rdma.cpp",
                "the plugin lost track of a message: a fault of the plugin's or of another process",
                NcclShows::network},
    NcclPattern{{"NET/OFI", "call failed"},
                error,
                "aws-ofi-nccl 1.0 to 1.21, src",
                "libfabric could not use the device: the container lacks its node, or the library "
                "is too old"},
    NcclPattern{{"optimal provider"},
                error,
                "aws-ofi-nccl 1.0 to 1.7, src/nccl_ofi_net.c",
                "libfabric found no device that it can use: NCCL goes on without the plugin"},
    NcclPattern{{"NET/OFI", "initialization failed"},
                error,
                "aws-ofi-nccl 1.2 to 1.21, src/nccl_ofi_net.cpp",
                "the plugin for RDMA did not start: NCCL goes on without it"}};

/// The same for messages of level INFO.
constexpr std::array kInfos = {
    NcclPattern{{"bootstrap.c", ":", " -> "},
                error,
                "NCCL 2.3 to 2.30, src/include/checks.h",
                "the ranks could not reach each other to set up a communicator"},
    NcclPattern{{"init.c", ":", " -> "},
                error,
                "NCCL 2.1 to 2.30, src/include/checks.h",
                "a communicator could not be set up"},
    NcclPattern{{"speed change detected"},
                warning,
                "NCCL 2.30, src/transport/net_ib",
                "a link changed its speed while the job ran"},
    NcclPattern{{"Call to ibv_modify_qp failed"},
                warning,
                "NCCL 2.24 to 2.30, src/misc/ibvwrap.cc",
                "a connection was tried again: GID, MTU or route"},
    NcclPattern{{"Topology detection : could not read"},
                warning,
                "NCCL 2.6 to 2.30, src/graph/xml.cc",
                kTopology},
    NcclPattern{{"NET/OFI No eligible providers"},
                error,
                "aws-ofi-nccl 1.14 to 1.21, src/nccl_ofi_rdma.cpp",
                "libfabric found no device that it can use: NCCL goes on without the plugin"},
    NcclPattern{{"NET/OFI", "initialization failed"},
                error,
                "aws-ofi-nccl 1.2 to 1.21, src/nccl_ofi_net.cpp",
                "the plugin for RDMA did not start: NCCL goes on without it"},
    NcclPattern{{"[repeated "},
                warning,
                "Ray, its log deduplication",
                "the log was thinned (Ray leaves equal lines out): some ranks are missing"}};

/// openucx/ucx: its lines have "UCX  ERROR" before the message, the backtrace of a crash has
/// function names only. And ai-dynamo/nixl, which sits on it.
constexpr std::array kUcx = {
    NcclPattern{{"network device '", ":1' is not available"},
                error,
                "UCX 1.7 to 1.22, src/ucp/core/ucp_context.c",
                "UCX: UCX_NET_DEVICES names an RDMA device that is not there"},
    NcclPattern{{"not available, please use one or more of"},
                warning,
                "UCX 1.7 to 1.22, src/ucp/core/ucp_context.c",
                "UCX: UCX_NET_DEVICES names a device that is not there"},
    NcclPattern{{"no usable transports/devices"},
                error,
                "UCX 1.7 to 1.22, src/ucp/core/ucp_context.c",
                "UCX: nothing of UCX_TLS and UCX_NET_DEVICES can be used"},
    NcclPattern{{"Please set max locked memory"},
                error,
                "UCX 1.5 to 1.22, src/uct/ib/base/ib_log.c",
                "UCX: memory could not be registered: raise RLIMIT_MEMLOCK of the container"},
    NcclPattern{
        {"ibv_query_gid", "failed"},
        error,
        "UCX 1.3 to 1.22, src/uct/ib/base/ib_device.c",
        "UCX: a port has no usable GID: its network device is not in this network namespace"},
    NcclPattern{{"UCX ", "ERROR", "ibv_reg_mr"},
                error,
                "UCX 1.3 to 1.22, src/uct/ib/base/ib_md.c",
                "UCX: memory could not be registered: raise RLIMIT_MEMLOCK of the container"},
    NcclPattern{{"uct_iface_open(", ") failed"},
                error,
                "UCX 1.18 to 1.22, src/ucp/core/ucp_worker.c",
                "UCX: a transport could not be started on a device"},
    NcclPattern{{"UCX ", "ERROR", "devx_obj_create("},
                error,
                "UCX 1.7 to 1.22, src/uct/ib/mlx5/dv",
                "UCX: a queue of the device could not be made"},
    NcclPattern{
        {"UCX ", "ERROR", "ibv_create_"},
        error,
        "UCX 1.3 to 1.22, src/uct/ib/base/ib_iface.c",
        "UCX: a queue of the device could not be made: raise RLIMIT_MEMLOCK of the container"},
    NcclPattern{
        {"ibv_create_", " failed", "Cannot allocate memory"},
        error,
        "UCX 1.3 to 1.22, src/uct/ib/base/ib_iface.c",
        "UCX: a queue of the device could not be made: raise RLIMIT_MEMLOCK of the container"},
    NcclPattern{
        {"UCX ", "ERROR", "failed to create "},
        error,
        "UCX 1.3 to 1.22, src/uct/ib",
        "UCX: a queue of the device could not be made: raise RLIMIT_MEMLOCK of the container"},
    NcclPattern{{"UCX ", "ERROR", "tcp_ep "},
                error,
                "UCX 1.12 to 1.22, src/uct/tcp/tcp_ep.c",
                "UCX: a TCP connection failed: UCX uses TCP here",
                NcclShows::tcp},
    NcclPattern{{"set_ep_failed"},
                error,
                "UCX 1.3 to 1.22, src/uct/base/uct_iface.c",
                "UCX: a connection failed, and its endpoint stays dead while the process goes on"},
    NcclPattern{{"UCX ", "ERROR", "rdma_create_id"},
                error,
                "UCX 1.3 to 1.22, src/uct/ib/rdmacm",
                "UCX: the RDMA connection manager cannot be used: /dev/infiniband/rdma_cm is not "
                "the container's"},
    NcclPattern{{"UCX ", "ERROR", "cm_id"},
                error,
                "UCX 1.3 to 1.22, src/uct/ib/rdmacm",
                "UCX: a connection by the RDMA connection manager failed: route or address"},
    NcclPattern{{"UCX ", "ERROR", "cm id"},
                error,
                "UCX 1.3 to 1.22, src/uct/ib/rdmacm",
                "UCX: a connection by the RDMA connection manager failed: route or address"},
    NcclPattern{{"IB device(s) were detected, but accelerated IB support was not found"},
                error,
                "NIXL 1.0 to 1.4, src/plugins/ucx/ucx_utils.cpp",
                "NIXL: its UCX was built without RDMA, so transfers go over TCP"},
    NcclPattern{{"createBackend: backend '", "' encountered error"},
                error,
                "NIXL 0.6 to 1.4, src/core/nixl_agent.cpp",
                "NIXL: the backend did not start"},
    NcclPattern{{"registerMem: registration failed"},
                error,
                "NIXL 0.6 to 1.4, src/core/nixl_agent.cpp",
                "NIXL: no backend could register memory: what was to go through it does not"},
    NcclPattern{{"NVIDIA GPU(s) were detected, but UCX CUDA support was not found"},
                warning,
                "NIXL 1.0 to 1.4, src/plugins/ucx/ucx_utils.cpp",
                "NIXL: its UCX has no CUDA (built without, or not in UCX_TLS): only host memory"},
    NcclPattern{{"Amazon EFA(s) were detected, but the UCX backend was configured"},
                warning,
                "NIXL 1.0 to 1.4, src/plugins/ucx/ucx_utils.cpp",
                "NIXL: UCX is used where the NICs are EFA: its backend LIBFABRIC is made for them"},
    NcclPattern{{"createBackend: backend creation failed"},
                error,
                "NIXL 0.6 to 1.4, src/core/nixl_agent.cpp",
                "NIXL: the backend did not start"}};

/// kvcache-ai/Mooncake, below mooncake-transfer-engine/, and v6d-io/v6d. Mooncake tries one GID
/// after the other: one that is not there fails nothing, a device that is not opened does.
constexpr std::array kStores = {
    NcclPattern{{"No RDMA devices found, check your device installation"},
                error,
                "Mooncake 0.3.0 to 0.3.12, src/topology.cpp",
                "Mooncake: no RDMA device was found"},
    NcclPattern{{"Failed to query GID ", " on "},
                warning,
                "Mooncake 0.2.0 to 0.3.12, src/transport/rdma_transport/rdma_context.cpp",
                "Mooncake: a port has no GID at this index: its network device is not in this "
                "network namespace, or MC_GID_INDEX is of another machine"},
    NcclPattern{
        {"No suitable GID found on "},
        error,
        "Mooncake 0.3.8 to 0.3.12, src/transport/rdma_transport/rdma_context.cpp",
        "Mooncake: a port has no usable GID: its network device is not in this network namespace"},
    NcclPattern{{"Failed to open device ", " on port ", " with GID "},
                error,
                "Mooncake 0.2.0 to 0.3.12, src/transport/rdma_transport/rdma_context.cpp",
                "Mooncake: a device could not be used"},
    NcclPattern{{"RdmaTransport: No available RNIC"},
                error,
                "Mooncake 0.2.0 to 0.3.12, src/transport/rdma_transport/rdma_transport.cpp",
                "Mooncake: no RDMA device could be used"},
    NcclPattern{{"Failed to install RDMA transport"},
                error,
                "Mooncake 0.3.6 to 0.3.12, src/transfer_engine_impl.cpp",
                "Mooncake: no RDMA device could be used"},
    NcclPattern{{"NotSupportedTransport"},
                error,
                "Mooncake 0.3.0 to 0.3.12, src/common/base/status.cpp",
                "Mooncake: the two sides have no transport in common"},
    NcclPattern{{"tcp_transport.cpp", "Session::", " failed"},
                error,
                "Mooncake 0.3.1 to 0.3.12, src/transport/tcp_transport/tcp_transport.cpp",
                "Mooncake: a transfer over TCP failed",
                NcclShows::tcp},
    NcclPattern{{"Process failed for slice", "local_nic: "},
                error,
                "Mooncake 0.2.0 to 0.3.12, src/transport/rdma_transport/worker_pool.cpp",
                "Mooncake: a transfer over RDMA failed: link, GID or route",
                NcclShows::rdma},
    NcclPattern{{"TRANSFER_FAIL"},
                error,
                "Mooncake 0.3.0 to 0.3.12, ../mooncake-store/src",
                "Mooncake: a transfer failed"},
    NcclPattern{{"Failed to modify QP to "},
                error,
                "Mooncake 0.3.0 to 0.3.12, src/transport/rdma_transport/rdma_endpoint.cpp",
                "Mooncake: a connection could not be made: GID, MTU or route"},
    NcclPattern{{"Failed to register memory ", "Cannot allocate memory"},
                error,
                "Mooncake 0.2.0 to 0.3.12, src/transport/rdma_transport/rdma_context.cpp",
                "Mooncake: memory could not be registered: raise RLIMIT_MEMLOCK of the container"},
    NcclPattern{{"register memory", "ENOMEM"},
                error,
                "Mooncake, seen in a published log",
                "Mooncake: memory could not be registered: raise RLIMIT_MEMLOCK of the container"},
    NcclPattern{{"rdma_context", "Failed to register memory "},
                error,
                "Mooncake 0.2.0 to 0.3.12, src/transport/rdma_transport/rdma_context.cpp",
                "Mooncake: memory could not be registered: for memory of a GPU load nvidia_peermem "
                "or use DMA-BUF"},
    NcclPattern{{"Init RDMA failed!", "all back to TCP"},
                error,
                "v6d 0.24.0, src/server/async/rpc_server.cc",
                "vineyard: it fell back to TCP"},
    NcclPattern{{"ncclSystemError: "},
                error,
                "PyTorch 1.9 and later, torch/csrc/distributed/c10d/NCCLUtils.cpp",
                "a call of NCCL's failed by the system: NCCL's own lines say which"},
    NcclPattern{{"ncclRemoteError: "},
                error,
                "PyTorch 2.0 and later, torch/csrc/distributed/c10d/NCCLUtils.cpp",
                "a peer of this rank ended, or the network between them failed"}};

template <typename Rows>
constexpr bool are_complete(const Rows& rows) {
  return std::none_of(rows.begin(), rows.end(), [](const NcclPattern& row) {
    return row.words[0].empty() || row.source.empty() || row.meaning.empty();
  });
}

static_assert(are_complete(kWarnings) && are_complete(kInfos) && are_complete(kUcx) &&
              are_complete(kStores));

bool matches(const NcclPattern& pattern, std::string_view text) {
  for (const auto word : pattern.words) {
    const auto at = text.find(word);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + word.size());
  }
  return true;
}

template <typename Rows>
const NcclPattern* find_in(const Rows& rows, std::string_view text) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const NcclPattern& row) { return matches(row, text); });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

const NcclPattern* nccl_pattern(NcclLevel level, std::string_view message) {
  return level == NcclLevel::warn ? find_in(kWarnings, message) : find_in(kInfos, message);
}

const NcclPattern* foreign_pattern(std::string_view line) {
  const auto* pattern = find_in(kUcx, line);
  return pattern != nullptr ? pattern : find_in(kStores, line);
}

}  // namespace railhead::proof
