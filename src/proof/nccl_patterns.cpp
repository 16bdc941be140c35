// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_patterns.h"

#include "proof/pattern_rows.h"

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
    NcclPattern{{"NET/IB : Unable to query "},
                warning,
                "NCCL 2.3 to 2.30, src/transport/net_ib",
                "a device or a port could not be asked what it is, and is left out"},
    NcclPattern{{"NET/IB: Error in mlx5dv_get_data_direct"},
                warning,
                "NCCL 2.27 to 2.30, src/transport/net_ib",
                "a device could not be asked for its second path to the GPUs"},
    NcclPattern{{" failed in ncclIbRoceGetVersionNum"},
                warning,
                "NCCL 2.21 to 2.30, src/transport/net_ib",
                "a GID's version of RoCE could not be read: its network device is not in this "
                "network namespace"},
    NcclPattern{{"wrong type ", " != "},
                error,
                "NCCL 2.16 to 2.30, src/misc/socket.cc",
                "two ranks do not mean the same connection: another job has the port, or the ranks "
                "chose different networks or versions"},
    NcclPattern{{"no socket interface found"},
                error,
                "NCCL 2.3 to 2.30, src/bootstrap.cc",
                "a rank has no network interface to meet the others by: NCCL_SOCKET_IFNAME"},
    NcclPattern{{"No usable listening interface found"},
                error,
                "NCCL 2.13 to 2.30, src/bootstrap.cc",
                "a rank has no network interface to meet the others by: NCCL_SOCKET_IFNAME"},
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
        {"Socket creation failed"},
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

static_assert(are_complete(kWarnings) && are_complete(kInfos));

}  // namespace

const NcclPattern* nccl_pattern(NcclLevel level, std::string_view message) {
  return level == NcclLevel::warn ? find_in(kWarnings, message) : find_in(kInfos, message);
}

}  // namespace railhead::proof
