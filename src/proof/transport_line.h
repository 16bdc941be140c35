// SPDX-License-Identifier: Apache-2.0
//
// What UCX, NIXL and Mooncake say of the transport that they use. Their lines have no message of
// NCCL's in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railhead::proof {

/// One lane of UCX: "rc_mlx5/mlx5_0:1".
struct UcxLane {
  std::string_view transport;  ///< "rc_mlx5", "tcp"
  std::string_view device;     ///< "mlx5_0:1", "eth0"
};

/// Who wrote a line of UCX: "[1718916989.011368] [gpu1:2588768:0]  ucp_worker.c:1887 UCX  INFO  …".
struct UcxWriter {
  std::string_view host;  ///< "" where the log does not say
  std::uint32_t pid = 0;  ///< 0 likewise
};

/// What the endpoints of a worker use, but those to itself: "ep_cfg[1]: tag(rc_mlx5/mlx5_0:1)" (1.8
/// to 1.14), "inter-node cfg#3 rma(rc_mlx5/mlx5_0:1) am(…)" (1.15 to 1.22),
/// src/ucp/core/ucp_worker.c.
struct UcxEndpoint {
  UcxWriter writer;
  /// The peer is on this node: UCX says so, or a lane is shared memory, which reaches no other.
  bool is_local = false;
  std::vector<UcxLane> lanes;  ///< those that leave the node; no lane twice
};

std::optional<UcxEndpoint> ucx_endpoint(std::string_view line);

/// The head of a table of protocols (UCX_PROTO_INFO=y): "| perftest inter-node cfg#1 | tagged
/// message by ucp_tag_send*() from host memory |". True if the peer is on another node; absent in
/// other lines. UCX 1.14 to 1.22, src/ucp/proto/proto_debug.c.
std::optional<bool> is_ucx_table_between_nodes(std::string_view line);

/// A row of such a table, "| 0..92 | eager short | rc_mlx5/mlx5_0:1/path0 |", with its lanes;
/// without lanes where it is a rule or has none. Absent where the table is at its end.
std::optional<UcxEndpoint> ucx_table_row(std::string_view line);

/// The TCP transport connects to another address: "UCX  DEBUG tcp_ep 0x1: CLOSED -> CONNECTING for
/// the [10.0.0.1:4711]<->[10.0.0.2:4712]:0 connection", UCX 1.7 to 1.22, src/uct/tcp/tcp_cm.c.
bool is_ucx_tcp_connection(std::string_view line);

/// Whose words a line has, of libraries that are not NCCL: "UCX", "NVSHMEM", "Mooncake", "NIXL",
/// "libfabric"; "" for others.
std::string_view library_in(std::string_view line);

/// A line of level ERROR of UCX's, or E of glog by NIXL or Mooncake's transfer engine.
bool is_transport_error(std::string_view line);

/// A row of the table of protocols (UCX_PROTO_INFO=y) that says UCX emulates remote memory over
/// TCP: "| software emulation | tcp/eth0 |".
bool is_ucx_emulation(std::string_view line);

/// Zeros and "" where the line does not begin as UCX's do.
UcxWriter ucx_writer(std::string_view line);

/// What Mooncake, NVSHMEM and the libfabric plugin of NIXL chose, and the device where the line
/// names one.
struct ChosenTransport {
  std::string_view library;   ///< "Mooncake", "NVSHMEM", "NIXL"
  std::string_view network;   ///< "RDMA", "TCP", "Libfabric"
  std::string_view device;    ///< "" where the line has none
  std::string_view provider;  ///< libfabric's, else ""
};

std::optional<ChosenTransport> chosen_transport(std::string_view line);

/// The line breaks off within the text of such a message: "TCP" if it may be one over TCP, else the
/// network. "" for other lines.
std::string_view begun_choice(std::string_view line);

/// Whose completions libfabric tells of:
/// "libfabric:4711:1708520807::efa:cq:efa_rdm_txe_handle_error():…".
struct FabricCompletion {
  std::uint32_t pid = 0;
  std::string_view provider;  ///< "efa"
};

std::optional<FabricCompletion> fabric_completion(std::string_view line);

/// "Backend UCX was instantiated": NIXL uses UCX, and does not say how.
bool is_nixl_on_ucx(std::string_view line);

}  // namespace railhead::proof
