// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_patterns.h"

#include <gmock/gmock.h>

#include "proof/nccl_log.h"

namespace railhead::proof {
namespace {

using testing::HasSubstr;

constexpr auto kError = NcclSeverity::error;
constexpr auto kWarning = NcclSeverity::warning;

void expect(const NcclPattern* pattern, NcclSeverity severity, const std::string& meaning,
            std::string_view line) {
  ASSERT_NE(pattern, nullptr) << meaning;
  EXPECT_EQ(pattern->severity, severity) << meaning;
  EXPECT_THAT(nccl_meaning(*pattern, line).meaning, HasSubstr(meaning));
}

void expect_foreign(std::string_view line, NcclSeverity severity, const std::string& meaning) {
  SCOPED_TRACE(line);
  expect(foreign_pattern(line), severity, meaning, line);
}

void expect_warned(std::string_view message, NcclSeverity severity, const std::string& meaning) {
  SCOPED_TRACE(message);
  expect(nccl_pattern(NcclLevel::warn, message), severity, meaning, message);
}

TEST(NcclPatterns, events_of_a_device_and_a_link) {
  expect_warned("NET/IB : mlx5_0:1 async fatal event: local catastrophic error", kError, "fatal");
  expect_warned("NET/IB : mlx5_0:1 GID table changed", kWarning, "addresses of a port");
  expect(nccl_pattern(NcclLevel::info,
                      "NET/IB : mlx5_0:1 speed change detected: 400000 -> 200000 Mbps"),
         kWarning, "changed its speed", "");
}

TEST(NcclPatterns, memory_that_nccl_could_not_register) {
  expect_warned("Call to ibv_reg_mr failed with error Cannot allocate memory", kError, "MEMLOCK");
  expect_warned("Call to ibv_reg_mr_iova2 failed with error Bad address", kError, "peermem");
  expect_warned("Call to ibv_create_cq failed with error Cannot allocate memory", kError,
                "MEMLOCK");
}

TEST(NcclPatterns, connections_that_nccl_could_not_make) {
  expect_warned("Call to ibv_modify_qp failed with 19 No such device, on dev mlx5_0:1", kError,
                "GID");
  expect_warned("Call to ibv_modify_qp failed with error Invalid argument", kError, "GID");
  expect_warned("NET/IB : Unable to open device mlx5_0", kWarning, "may not be opened");
  expect_warned("Call to ibv_query_port_speed failed with error Protocol not supported errno 93",
                kWarning, "a port could not be asked");
}

TEST(NcclPatterns, a_tree_that_is_incomplete) {
  expect(nccl_pattern(NcclLevel::info,
                      "Topology detection : could not read /sys/devices/pci0000:00/0000:00:04.0/"
                      "max_link_speed, ignoring"),
         kWarning, "NCCL_TOPO_FILE", "");
  EXPECT_EQ(nccl_pattern(NcclLevel::warn, "could not read the checkpoint"), nullptr);
}

TEST(NcclPatterns, devices_and_transports_that_ucx_has_not) {
  expect_foreign(
      "[1700000000.1] [h:1:0] ucp_context.c:1 UCX  WARN  network device 'mlx5_9:1' is not "
      "available, please use one or more of: 'eth0'(tcp)",
      kError, "UCX_NET_DEVICES");
  expect_foreign("UCX  WARN  network device 'eth9' is not available, please use one or more of: x",
                 kWarning, "UCX_NET_DEVICES");
  expect_foreign("select.c:1 UCX  ERROR no usable transports/devices (asked rc on mlx5_0:1)",
                 kError, "UCX_TLS");
  expect_foreign(
      "ucp_worker.c:1 UCX  ERROR uct_iface_open(rc_mlx5/mlx5_0:1) failed: Input/output "
      "error",
      kError, "could not be started");
}

TEST(NcclPatterns, ucx_says_itself_that_a_port_is_missing) {
  const auto* singular = foreign_pattern(
      "UCX  WARN  network device 'mlx5_0' is not available, please use one or more of: "
      "'eth0'(tcp), 'mlx5_0:1'(ib), 'mlx5_1:1'(ib)");
  const auto* plural = foreign_pattern(
      "UCX  WARN  network devices 'eth9','mlx5_1' are not available, please use one or more of: "
      "'eth0'(tcp), 'mlx5_1:1'(ib)");
  EXPECT_EQ(singular, plural);
  EXPECT_EQ(singular->severity, kError);
  for (const auto* line :
       {"UCX  WARN  network device 'mlx5_9:1' is not available, please use one or more of: "
        "'mlx5_0:1'(ib)",
        "UCX  WARN  network device 'eth9' is not available, please use one or more of: "
        "'mlx5_0:1'(ib)",
        "UCX  WARN  network device 'mlx5_1' is not available, please use one or more of: "
        "'mlx5_10:1'(ib)",
        "UCX  WARN  network device 'mlx5_1 is not available, please use one or more of: "}) {
    EXPECT_NE(foreign_pattern(line), singular) << line;
  }
}

TEST(NcclPatterns, the_limit_of_locked_memory_in_the_words_of_ucx_alone) {
  expect_foreign(
      "ib_md.c:1 UCX  ERROR ibv_reg_mr(address=0x1, length=65536, access=0xf) failed: Cannot "
      "allocate memory : Please set max locked memory (ulimit -l) to 'unlimited' (current: 64 "
      "kbytes)",
      kError, "MEMLOCK");
  EXPECT_EQ(foreign_pattern("max locked memory           (kbytes, -l) 8192"), nullptr);
}

TEST(NcclPatterns, a_gid_that_ucx_cannot_read_where_it_says_so) {
  expect_foreign("UCX  ERROR ibv_query_gid(dev=mlx5_0 port=1 index=3) failed: Invalid argument",
                 kError, "no usable GID");
  EXPECT_EQ(foreign_pattern("calling ibv_query_gid on mlx5_0"), nullptr);
}

/// NVIDIA/nccl#230, #905, #1710; openucx/ucx#7613, #10432; NVIDIA/nvshmem#81.
TEST(NcclPatterns, events_of_devices_and_what_ends_without_harm) {
  const auto severity = [](const std::string& text) {
    const auto* of_nccl = nccl_pattern(NcclLevel::warn, text);
    const auto* of_others = foreign_pattern(text);
    EXPECT_NE(of_nccl == nullptr, of_others == nullptr) << text;
    return of_nccl != nullptr     ? of_nccl->severity
           : of_others != nullptr ? of_others->severity
                                  : NcclSeverity::hint;
  };
  EXPECT_EQ(severity("NET/IB : mlx5_0:1 Got async event : port error"), kWarning);
  EXPECT_EQ(severity("NET/IB : Got async event : port error"), kWarning);
  EXPECT_EQ(severity("NET/IB : mlx5_0:1 Got async event : GID table change"), kWarning);
  EXPECT_EQ(severity("NET/IB : Got async event : local catastrophic error"), kError);
  EXPECT_EQ(severity("NET/IB : mlx5_0:1 Got async event : local access violation work queue error"),
            kError);
  EXPECT_EQ(severity("UCX  WARN  IB Async event on mlx5_0: GID table change on port 1"), kWarning);
  EXPECT_EQ(severity("UCX  DIAG  IB Async event on mlx5_0: port error on port 1"), kWarning);
  EXPECT_EQ(severity("UCX  DIAG  IB Async event on mlx5_0: local catastrophic error on port 1"),
            kError);
  EXPECT_EQ(severity("UCX  ERROR IB Async event on mlx5_0: local work queue error on QPN 0x1"),
            kError);
  EXPECT_EQ(severity("/n/ibgda.cpp:4090: non-zero status: 16 ibv_dealloc_pd failed"), kWarning);
  EXPECT_EQ(severity("WARN: GDRCopy open call failed, falling back to not using GDRCopy"),
            kWarning);
  EXPECT_EQ(severity("libibverbs: Warning: no userspace device-specific driver found for /sys/x"),
            kWarning);
}

/// uccl-project/uccl#641: the words are not Mooncake's alone.
TEST(NcclPatterns, a_queue_pair_of_another_program_is_not_said_to_be_mooncakes) {
  EXPECT_EQ(foreign_pattern("Failed to modify QP to RTR: Connection timed out")->meaning, "");
  EXPECT_NE(foreign_pattern("[Handshake] Failed to modify QP to RTR, check mtu")->meaning, "");
}

TEST(NcclPatterns, an_endpoint_of_ucx_that_died) {
  expect_foreign("12  /usr/lib/ucx/libuct_ib.so.0(uct_rc_mlx5_iface_set_ep_failed+0x1f)", kError,
                 "stays dead");
}

TEST(NcclPatterns, the_connection_manager_under_ucx) {
  expect_foreign("rdmacm_cm.c:1 UCX  ERROR rdma_create_id() failed: No such device", kError,
                 "rdma_cm");
  expect_foreign("rdmacm_cm.c:1 UCX  ERROR cm_id 0x1: connection rejected", kError, "manager");
  EXPECT_EQ(foreign_pattern("UCX  DEBUG created cm_id 0x1"), nullptr);
}

TEST(NcclPatterns, devices_that_mooncake_cannot_use) {
  expect_foreign("E0101 x.cpp:1] No RDMA devices found, check your device installation", kError,
                 "no RDMA device");
  expect_foreign("E0101 rdma_context.cpp:70] Failed to open device mlx5_0 on port \x01 with GID 0",
                 kError, "could not be used");
}

TEST(NcclPatterns, a_port_whose_number_was_lost_is_still_not_opened) {
  // Mooncake prints the number as a character, which few editors keep.
  expect_foreign("rdma_context.cpp:200] Failed to open device ionic_4 on port \x01 with GID 1",
                 kError, "could not be used");
  expect_foreign("rdma_context.cpp:200] Failed to open device ionic_4 on port with GID 1", kError,
                 "could not be used");
  expect_foreign("RuntimeError: Mooncake Transfer Engine initialization failed.", kError,
                 "did not start");
}

TEST(NcclPatterns, devices_of_aws_that_mooncake_lacks) {
  expect_foreign(
      "W1 efa_transport.cpp:650] EfaTransport: No EFA devices found, falling back to all", kError,
      "no EFA device");
  expect_foreign("E1 cxi_transport.cpp:951] CxiTransport: No available CXI devices", kError,
                 "no RDMA device could be used");
}

TEST(NcclPatterns, gids_that_mooncake_cannot_use) {
  expect_foreign(
      "E0302 rdma_context.cpp:450] Failed to query GID 3 on mlx5_0/: No data available [61]",
      kWarning, "no GID at this index");
  expect_foreign("W0302 rdma_context.cpp:1] No suitable GID found on mlx5_0/", kError,
                 "no usable GID");
  expect_foreign(
      "E0302 rdma_endpoint.cpp:1] Failed to modify QP to RTR, check mtu, gid, peer lid, peer qp "
      "num: Invalid argument [22]",
      kError, "MTU");
}

TEST(NcclPatterns, memory_that_mooncake_could_not_register) {
  expect_foreign(
      "E0115 rdma_context.cpp:257] Failed to register memory 0x7f71: Cannot allocate memory [12]",
      kError, "MEMLOCK");
  expect_foreign("register memory of segment 0 failed: ENOMEM", kError, "MEMLOCK");
  expect_foreign("E0115 rdma_context.cpp:201] Failed to register memory 0x7f46: Bad address [14]",
                 kError, "peermem");
}

TEST(NcclPatterns, vineyard_gives_up_on_rdma) {
  expect_foreign("Init RDMA failed! Error: no device. Fall back to TCP.", kError, "TCP");
}

/// True where a log of this line alone says more than an empty one.
bool is_read(const std::string& line) {
  NcclLogReader reader;
  reader.feed(line + "\n");
  const auto log = reader.finish();
  if (!log.workers.empty()) return true;
  return !log.processes.empty() &&
         !(log.processes[0].evidence.empty() && log.processes[0].names.empty());
}

TEST(NcclPatterns, each_format_is_read_and_has_its_source) {
  EXPECT_GE(nccl_formats().size(), 30U);
  for (const auto& format : nccl_formats()) {
    const std::string line(format.example);
    EXPECT_THAT(std::string(format.source), HasSubstr(", ")) << line;
    EXPECT_TRUE(is_read(line) || is_read("node-a:1:2 [0] NCCL INFO " + line)) << line;
  }
}

TEST(NcclPatterns, queues_that_could_not_be_made) {
  expect_warned("Call to ibv_create_qp failed", kError, "queue");
  expect_warned("Call to ibv_create_cq failed with error Device or resource busy", kError, "queue");
  expect_warned("Call to ibv_alloc_pd failed with error x", kError, "protection domain");
  expect_warned("Call to ibv_post_send failed with error x", kError, "call of verbs");
  expect_warned("Call to ibv_open_device failed", kWarning, "may not be opened");
}

TEST(NcclPatterns, ranks_that_do_not_fit_each_other) {
  expect_warned("socketFinalizeAccept: wrong type 3 != 4", kError, "same connection");
  expect_warned("socketFinalizeAccept from 10.0.0.2<5>: wrong type 3 != 4", kError,
                "same connection");
  expect_warned("NET/OFI Unexpected number of remote rails for dev 3. Expected 4 but got 2", kError,
                "different numbers");
}

TEST(NcclPatterns, peers_that_cannot_be_reached) {
  expect_warned("socketStartConnect: Connect to 10.0.0.1<43369> failed : No route to host", kError,
                "NCCL_SOCKET_IFNAME");
  expect_warned("Net : Call to recv from 10.0.0.1<5> failed : Broken pipe", kError, "reached");
  expect_warned(
      "ncclOsSocketPollConnect: connect to 10.0.0.1<5> returned Connection refused, "
      "exceeded error retry count after 35 attempts",
      kError, "reached");
  expect_warned("ncclOsSocketTryAccept: Accept failed: Bad file descriptor", kError, "reached");
  expect_warned("Net : connecting to address  with family 33621 is neither AF_INET(2) nor x",
                kError, "no address");
  expect_warned("Error: network gIB not found.", kError, "NCCL_NET");
  EXPECT_EQ(nccl_pattern(NcclLevel::warn, "Net : Connection closed by remote peer"), nullptr);
}

TEST(NcclPatterns, a_device_that_cannot_be_asked_is_left_out) {
  expect_warned("NET/IB : Unable to query device mlx5_0", kWarning, "left out");
  expect_warned("NET/IB : Unable to query port_num 1", kWarning, "left out");
  expect_warned("NET/IB: read failed in ncclIbRoceGetVersionNum: Invalid argument", kWarning,
                "version of RoCE");
  expect_warned("NET/IB: Error in mlx5dv_get_data_direct_sysfs_path with device mlx5_0", kWarning,
                "second path");
}

TEST(NcclPatterns, a_rank_without_a_network_interface) {
  expect_warned("Bootstrap : no socket interface found", kError, "NCCL_SOCKET_IFNAME");
  expect_warned("NET/Socket : No usable listening interface found", kError, "NCCL_SOCKET_IFNAME");
}

TEST(NcclPatterns, completions_under_ucx_that_failed_prove_rdma) {
  for (const std::string_view line :
       {"[a:1:0:1] ib_mlx5_log.c:143  Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 "
        "vend "
        "0x81 hw_synd 0/0)",
        "[1.0] [a:537 :1] srd_iface.c:221 UCX ERROR send completion[0] with error on rdmap0/0x5: "
        "x, "
        "vendor_err 0x1",
        "rc_verbs_iface.c:122 UCX ERROR send completion with error: x [qpn 0x1 wrid 0x2",
        "(Worker pid=9) mlx5: host_unknown: got completion with error:"}) {
    const auto* pattern = foreign_pattern(line);
    ASSERT_NE(pattern, nullptr) << line;
    EXPECT_EQ(pattern->shows, NcclShows::rdma) << line;
    EXPECT_EQ(pattern->severity, kError);
  }
  const auto* crash = foreign_pattern(" 5  libuct.so.0(uct_tcp_ep_am_bcopy+0x8a) [0x7fbeb852804a]");
  ASSERT_NE(crash, nullptr);
  EXPECT_EQ(crash->shows, NcclShows::tcp);
}

TEST(NcclPatterns, frameworks_quote_the_result_of_a_call) {
  expect_foreign("RuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=INFO)",
                 kError, "by the system");
  expect_foreign(
      "w-1: Test NCCL failure common.cu:958 'remote process exited or there was a network "
      "error / '",
      kError, "peer");
  expect_foreign("Test NCCL failure common.cu:958 'internal error - please report this issue / '",
                 kError, "inside");
  expect_foreign("nixl_cu12._bindings.nixlBackendError: NIXL_ERR_BACKEND", kError, "backend");
  expect_foreign("nixl_status=NIXL_ERR_REMOTE_DISCONNECT", kError, "peer of a transfer");
  EXPECT_EQ(foreign_pattern("NCCL error: unhandled cuda error"), nullptr);
  EXPECT_EQ(foreign_pattern("NIXL_ERR_NOT_FOUND"), nullptr);
}

TEST(NcclPatterns, transfers_of_mooncake_that_failed) {
  const auto* slice = foreign_pattern(
      "E1 worker_pool.cpp:274] Worker: Process failed for slice (opcode: 0, local_nic: mlx5_1): x");
  EXPECT_EQ(slice->shows, NcclShows::rdma);
  expect_foreign("E0523 store_py.cpp:367] Put operation failed with error: TRANSFER_FAIL", kError,
                 "transfer failed");
}

TEST(NcclPatterns, what_goes_wrong_under_libfabric) {
  expect_warned("NET/OFI Couldn't open AV. RC: -22, ERROR: Invalid argument", kError, "libfabric");
  expect_warned("NET/OFI Couldn't open CQ. RC: -12, ERROR: x", kError, "libfabric");
  expect_warned("NET/OFI Request 0x1 completed with error. RC: 21. Error: x", kError, "transfer");
  expect_warned(
      "NET/OFI Request 0x1 completed with error. RC: 113. Error: 4123 (Unresponsive "
      "receiver (reachable by EFA device but handshake failed))",
      kError, "does not answer");
  expect_warned("NET/OFI aws-ofi-nccl initialization failed", kError, "did not start");
  const auto* row =
      nccl_pattern(NcclLevel::warn, "NET/OFI Request 0x1 completed with error. RC: 2");
  EXPECT_EQ(row->shows, NcclShows::network);
  expect_warned("Failed: UCX error ucx_plugin.c:120 '-5' Input/output error", kError, "UCX");
}

TEST(NcclPatterns, tcp_under_ucx_and_mooncake_shows_itself) {
  const auto* ucx = foreign_pattern("tcp_ep.c:1260 UCX  ERROR tcp_ep 0x3c (state=CONNECTED): send");
  EXPECT_EQ(ucx->shows, NcclShows::tcp);
  const auto* store = foreign_pattern("E0708 tcp_transport.cpp:170] Session::readBody failed.");
  EXPECT_EQ(store->shows, NcclShows::tcp);
  expect_foreign(
      "W1 ucx_utils.cpp:635] 8 IB device(s) were detected, but accelerated IB support "
      "was not found! Performance may be degraded.",
      kError, "without RDMA");
}

TEST(NcclPatterns, what_transfers_of_ucx_do_not_need_is_no_error) {
  expect_foreign(
      "[1.0] [a:7:f] vfs_fuse.c:281  UCX  ERROR inotify_add_watch(/tmp) failed: No space", kWarning,
      "as files");
  expect_foreign("[1.0] [a:7:0] vfs_sock.c:96 UCX ERROR ioctl failed", kWarning, "as files");
  expect_foreign("[1.0] [a:7:0] profile.c:204 UCX  ERROR failed to write", kWarning, "profile");
  expect_foreign("[1.0] [a:7:0] stats.c:390 UCX  ERROR could not open", kWarning, "statistics");
  EXPECT_EQ(foreign_pattern("my_profile.c:1 failed"), nullptr);
}

TEST(NcclPatterns, nixl_says_what_its_backend_cannot) {
  expect_foreign(
      "W1 ucx_utils.cpp:631] 4 NVIDIA GPU(s) were detected, but UCX CUDA support was not found!",
      kWarning, "only host memory");
  expect_foreign(
      "W1 ucx_utils.cpp:640] 16 Amazon EFA(s) were detected, but the UCX backend was configured.",
      kWarning, "LIBFABRIC");
  expect_foreign("E1 nixl_agent.cpp:545] registerMem: registration failed for the specified or all",
                 kError, "register memory");
}

TEST(NcclPatterns, words_count_in_their_order_only) {
  EXPECT_EQ(foreign_pattern("failed: see ibv_query_gid"), nullptr);
  EXPECT_EQ(foreign_pattern(""), nullptr);
}

TEST(NcclPatterns, an_error_of_a_transport_is_kept_word_for_word) {
  const auto problems = [](const std::string& line) {
    NcclLogReader reader;
    reader.feed(line + "\n");
    return reader.finish().problems;
  };
  for (const std::string line :
       {"[1.0] [a:7:0]  mpool.c:227  UCX  ERROR Failed to allocate memory pool (name=rc_recv_desc)",
        "E0421 11:56:59.774282  709103 nixl_agent.cpp:259] getPluginParams: backend 'UCX' not "
        "found",
        "E0421 11:56:59.774282 709103 efa_transport.cpp:175] EfaTransport: cannot initialize EFA",
        "E20251120 11:10:27.133715 203020 transfer_task.cpp:305] Failed to complete transfers"}) {
    const auto found = problems(line);
    ASSERT_EQ(found.size(), 1U) << line;
    EXPECT_EQ(found[0].severity, kError);
    EXPECT_EQ(found[0].first.text, line);
  }
  for (const std::string line :
       {"[1.0] [a:7:0] x.c:1 UCX  WARN  CPU affinity is not set", "see the UCX documentation",
        "I0421 11:56:59.774282  709103 nixl_agent.cpp:259] fine",
        "E0421 11:56:59.774282  709103 transfer_metadata.cpp:9] no such key yet",
        "E0421 11:56:59.774282  709103 their_server.cc:9] not ours"}) {
    EXPECT_TRUE(problems(line).empty()) << line;
  }
}

TEST(NcclPatterns, what_plugins_print_that_do_not_start) {
  expect_warned("NET/OFI Could not register memory on rail 0 with flag 0", kError, "registered");
  expect_warned("NET/OFI Could not create address vector on rail 1", kError, "libfabric");
  expect_warned("NET/OFI Error opening file: /sys/devices/virtual/dmi/id/product_name", kWarning,
                "what machine");
  expect_warned("NCCL/NET (shim) mismatch enforced: NCCL_ALGO = Tree (expected unset)", kError,
                "ends the job");
  expect_warned("[Service thread] Could not receive type from localRank 0, res=3", kError,
                "rank of this node");
  expect_foreign("Failed to create QP: Operation not supported [95]", kError, "queue");
  expect_foreign("E1 rdma_context.cpp:269] Failed to create completion queue", kError, "queue");
  expect_foreign("client_service.cpp:527] Failed to install TCP transport", kError, "TCP");
  expect_foreign("tcp_transport.cpp:541] TcpTransport: cannot start handshake daemon", kError,
                 "peers");
  expect_foreign("/x/nvshmem/src/host/mem/mem_heap.cpp:630: non-zero status: 7 Failed", kError,
                 "NVSHMEM: a call");
  expect_foreign("Unable to initialize any transports. returning error.", kError, "no transport");
  expect_foreign("init failed for transport: IBGDA", kError, "IBGDA");
  expect_foreign("init failed for transport: IBRC", kError, "between nodes");
  expect_foreign("NVSHMEM INFO init failed for remote transport: ibrc", kError, "between nodes");
  expect_foreign("ucp_mm.c:149  UCX  DIAG  failed to register address 0x7f on md[4]=mlx5_0",
                 kWarning, "goes on without");
}

TEST(NcclPatterns, a_warning_without_its_place_is_known_by_its_beginning) {
  const auto severity = [](const std::string& text) {
    NcclLogReader reader;
    reader.feed("NCCL WARN " + text + "\n");
    return reader.finish().problems.at(0).severity;
  };
  EXPECT_EQ(severity("NET/OFI Failed to initialize GDRCopy: Failed to open gdr handle"), kError);
  EXPECT_EQ(severity("Call to connect returned Connection refused"), kError);
  EXPECT_EQ(severity("[Service thread] Accept failed Resource temporarily unavailable"), kError);
  EXPECT_EQ(severity("Cuda failure 'initialization error'"), kWarning);
  EXPECT_EQ(severity("Topology detection failed, performance may be degraded"), kWarning);
}

}  // namespace
}  // namespace railhead::proof
