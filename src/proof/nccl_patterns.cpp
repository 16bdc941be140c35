// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_patterns.h"

#include <algorithm>

namespace railhead::proof {
namespace {

using enum NcclSeverity;

constexpr std::string_view kRegistration =
    "memory could not be registered: raise RLIMIT_MEMLOCK of the container; for memory of a GPU "
    "load nvidia_peermem or use DMA-BUF";
constexpr std::string_view kTopology =
    "the PCI tree is incomplete, as on virtual machines: NCCL_TOPO_FILE is needed";

/// Warnings of NCCL and RCCL. The oldest tag of NVIDIA/nccl is 2.3.
constexpr std::array kWarnings = {
    NcclPattern{{"async fatal event"},
                error,
                "NCCL 2.23, src/transport/net_ib",
                "a device reported a fatal event while the job ran: link, firmware or driver"},
    NcclPattern{{"Call to ibv_reg_mr"}, error, "NCCL 2.3, src/misc/ibvwrap.cc", kRegistration},
    NcclPattern{
        {"Call to ibv_reg_dmabuf_mr"}, error, "NCCL 2.13, src/misc/ibvwrap.cc", kRegistration},
    NcclPattern{{"Call to ibv_", " failed", "Cannot allocate memory"},
                error,
                "NCCL 2.3, src/misc/ibvwrap.cc",
                kRegistration},
    NcclPattern{{"Call to ibv_modify_qp failed"},
                error,
                "NCCL 2.3, src/misc/ibvwrap.cc",
                "a connection could not be made: GID of a network device that is not in this "
                "network namespace, MTU or route"},
    NcclPattern{{"GID table changed"},
                warning,
                "NCCL 2.28, src/transport/net_ib",
                "the addresses of a port changed while the job ran"},
    NcclPattern{{"Unable to open device"},
                warning,
                "NCCL 2.3, src/transport/net_ib",
                "a device is listed and may not be opened: its node under /dev/infiniband is not "
                "the container's"},
    NcclPattern{
        {"Topology detection", "could not read"}, warning, "NCCL 2.6, src/graph/xml.cc", kTopology},
};

/// The same for messages of level INFO.
constexpr std::array kInfos = {
    NcclPattern{{"speed change detected"},
                warning,
                "NCCL 2.30, src/transport/net_ib",
                "a link changed its speed while the job ran"},
    NcclPattern{{"Call to ibv_modify_qp failed"},
                warning,
                "NCCL 2.24, src/misc/ibvwrap.cc",
                "a connection was tried again: GID, MTU or route"},
    NcclPattern{
        {"Topology detection : could not read"}, warning, "NCCL 2.6, src/graph/xml.cc", kTopology},
    NcclPattern{{"[repeated "},
                warning,
                "Ray, its log deduplication",
                "the log was thinned (Ray leaves equal lines out): some ranks are missing"},
};

/// openucx/ucx, whose oldest tag is 1.2. Its lines have "UCX  ERROR" before the
/// message, the backtrace of a crash has function names only.
constexpr std::array kUcx = {
    NcclPattern{{"not available, please use one or more of"},
                warning,
                "UCX 1.7, src/ucp/core/ucp_context.c",
                "UCX: UCX_NET_DEVICES names a device that is not there"},
    NcclPattern{{"no usable transports/devices"},
                error,
                "UCX 1.7, src/ucp/core/ucp_context.c",
                "UCX: nothing of UCX_TLS and UCX_NET_DEVICES can be used"},
    NcclPattern{{"Please set max locked memory"},
                error,
                "UCX 1.5, src/uct/ib/base/ib_md.c",
                "UCX: memory could not be registered: raise RLIMIT_MEMLOCK of the container"},
    NcclPattern{{"ibv_query_gid", "failed"},
                error,
                "UCX 1.2, src/uct/ib/base/ib_device.c",
                "UCX: a port has no usable GID: its network device is not in this network "
                "namespace"},
    NcclPattern{{"uct_iface_open(", ") failed"},
                error,
                "UCX 1.18, src/ucp/core/ucp_worker.c",
                "UCX: a transport could not be started on a device"},
    NcclPattern{{"set_ep_failed"},
                error,
                "UCX 1.2, src/uct/base/uct_iface.c",
                "UCX: a connection failed, and its endpoint stays dead while the process goes on"},
    NcclPattern{{"UCX ", "ERROR", "rdma_create_id"},
                error,
                "UCX 1.3, src/uct/ib/rdmacm",
                "UCX: the RDMA connection manager cannot be used: /dev/infiniband/rdma_cm is not "
                "the container's"},
    NcclPattern{{"UCX ", "ERROR", "cm_id"},
                error,
                "UCX 1.3, src/uct/ib/rdmacm",
                "UCX: a connection by the RDMA connection manager failed: route or address"},
    NcclPattern{{"UCX ", "ERROR", "cm id"},
                error,
                "UCX 1.3, src/uct/ib/rdmacm",
                "UCX: a connection by the RDMA connection manager failed: route or address"},
};

/// kvcache-ai/Mooncake, below mooncake-transfer-engine/, whose oldest tag is 0.2.0, and v6d-io/v6d.
/// Mooncake tries one GID after the other: one that is not there fails nothing, a device that is
/// not opened does.
constexpr std::array kStores = {
    NcclPattern{{"No RDMA devices found, check your device installation"},
                error,
                "Mooncake 0.3.0, src/topology.cpp",
                "Mooncake: no RDMA device was found"},
    NcclPattern{{"Failed to query GID ", " on "},
                warning,
                "Mooncake 0.2.0, src/transport/rdma_transport/rdma_context.cpp",
                "Mooncake: a port has no GID at this index: its network device is not in this "
                "network namespace, or MC_GID_INDEX is of another machine"},
    NcclPattern{{"No suitable GID found on "},
                error,
                "Mooncake 0.3.8, src/transport/rdma_transport/rdma_context.cpp",
                "Mooncake: a port has no usable GID: its network device is not in this network "
                "namespace"},
    NcclPattern{{"Failed to open device ", " on port ", " with GID "},
                error,
                "Mooncake 0.2.0, src/transport/rdma_transport/rdma_context.cpp",
                "Mooncake: a device could not be used"},
    NcclPattern{{"Failed to modify QP to RTR, check mtu"},
                error,
                "Mooncake 0.3.0, src/transport/rdma_transport/rdma_endpoint.cpp",
                "Mooncake: a connection could not be made: GID, MTU or route"},
    NcclPattern{{"Failed to register memory ", "Cannot allocate memory"},
                error,
                "Mooncake 0.2.0, src/transport/rdma_transport/rdma_context.cpp",
                "Mooncake: memory could not be registered: raise RLIMIT_MEMLOCK of the container"},
    NcclPattern{{"register memory", "ENOMEM"},
                error,
                "Mooncake, seen in a published log",
                "Mooncake: memory could not be registered: raise RLIMIT_MEMLOCK of the container"},
    NcclPattern{{"rdma_context", "Failed to register memory "},
                error,
                "Mooncake 0.2.0, src/transport/rdma_transport/rdma_context.cpp",
                "Mooncake: memory could not be registered: for memory of a GPU load "
                "nvidia_peermem or use DMA-BUF"},
    NcclPattern{{"Init RDMA failed!", "all back to TCP"},
                error,
                "v6d 0.24.0, src/server/async/rpc_server.cc",
                "vineyard: it fell back to TCP"},
};

template <typename Rows>
constexpr bool are_complete(const Rows& rows) {
  return std::none_of(rows.begin(), rows.end(), [](const NcclPattern& row) {
    return row.words[0].empty() || row.since.empty() || row.meaning.empty();
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
