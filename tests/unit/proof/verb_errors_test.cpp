// SPDX-License-Identifier: Apache-2.0
#include "proof/verb_errors.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "proof/nccl_log.h"
#include "unit/source_dir.h"

namespace railhead::proof {
namespace {

/// The code of the only problem of a log with this line.
std::string code_of(const std::string& line) {
  NcclLogReader reader;
  reader.feed(line + "\n");
  const auto problems = reader.finish().problems;
  return problems.size() == 1 ? problems[0].code : std::to_string(problems.size()) + " problems";
}

struct Row {
  std::string line;
  std::string code;
};

void expect_codes(const std::vector<Row>& rows) {
  for (const auto& row : rows) EXPECT_EQ(code_of(row.line), row.code) << row.line;
}

TEST(VerbErrors, a_combination_stands_in_the_table_once) {
  std::set<std::pair<Verb, int>> seen;
  for (const auto& row : verb_errors()) {
    EXPECT_TRUE(seen.emplace(row.verb, row.number).second) << error_name(row.number);
    EXPECT_FALSE(row.meaning.empty());
  }
}

TEST(VerbErrors, the_page_has_each_row) {
  std::ifstream file(test::source_dir() + "/docs/nccl-log.md");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  for (const auto& row : verb_errors()) {
    const auto begin = "| `" + std::string(to_string(row.verb)) + "` | ";
    const auto error = "`" + error_name(row.number) + "`";
    const auto end = " | " + std::string(row.meaning) + " |";
    EXPECT_TRUE(std::ranges::any_of(lines,
                                    [&](const std::string& line) {
                                      return line.starts_with(begin) && line.ends_with(end) &&
                                             line.find(error) != line.npos;
                                    }))
        << begin << error << end;
  }
}

TEST(VerbErrors, a_number_is_read_as_each_library_prints_it) {
  EXPECT_EQ(error_number("failed: Bad address"), EFAULT);
  EXPECT_EQ(error_number("failed: No such device or address"), ENXIO);
  EXPECT_EQ(error_number("failed: No such device"), ENODEV);
  EXPECT_EQ(error_number("Failed to register memory 0x1: Bad address [14]"), EFAULT);
  EXPECT_EQ(error_number("Failed to register memory 0x1: x [14]"), EFAULT);
  EXPECT_EQ(error_number("failed with error Unknown error 524 errno 524"), 524);
  EXPECT_EQ(error_number("failed with error x errno 14"), EFAULT);
  EXPECT_EQ(error_number("RC: -12, Error: x"), ENOMEM);
  EXPECT_EQ(error_number("failed with 19 x, on dev mlx5_0:1"), ENODEV);
  EXPECT_EQ(error_number("failed: ENOMEM"), ENOMEM);
  EXPECT_EQ(error_number("failed"), std::nullopt);
  EXPECT_EQ(error_number("VENOMEMO failed on mlx5_0 [a"), std::nullopt);
  EXPECT_EQ(error_number("errno 99999999999999999999"), std::nullopt);
  EXPECT_EQ(error_number(""), std::nullopt);
}

TEST(VerbErrors, of_ucx) {
  const std::string begin = "[1.0] [h:7:0] x.c:1 UCX  ERROR ";
  const std::string way = begin + "ibv_create_ah(dlid=1 sgid_index=0) for UD mlx5 connect on ";
  const std::string memory = begin + "ibv_reg_mr(address=0x1, length=1, access=0xf) failed: ";
  expect_codes({
      {way + "mlx5_1 failed: No such device", "address_handle/ENODEV"},
      {way + "mlx5_1 failed: No route to host", "address_handle/EHOSTUNREACH"},
      {way + "mlx5_1 failed: Network is unreachable", "address_handle/ENETUNREACH"},
      {way + "mlx5_1 failed: Connection timed out", "address_handle/ETIMEDOUT"},
      {way + "mlx5_1 failed: Invalid argument", "address_handle/EINVAL"},
      {way + "mlx5_1 failed: Protocol error", "address_handle"},
      {way + "mlx5_1 failed: Broken pipe [32]", "address_handle/not-in-table"},
      {begin + "mlx5_0: ibv_create_cq(cqe=4096) failed: No space left on device",
       "create_queue/ENOSPC"},
      {begin + "mlx5_0: ibv_create_srq() failed: Operation not permitted", "create_queue/EPERM"},
      {begin + "iface 0x1 failed to create RC QP TX wr:256 sge:2: Resource temporarily unavailable",
       "create_queue/EAGAIN"},
      {memory + "Bad address", "register_memory/EFAULT"},
      {memory + "Invalid argument", "register_memory/EINVAL"},
      {memory + "Resource temporarily unavailable", "register_memory/EAGAIN"},
      {begin + "mlx5_1: ibv_modify_qp(UMR QP 0x2c5c) failed to modify to RTR: No such device",
       "modify_rtr/ENODEV"},
      {begin + "error modifying QP to RTR: Connection timed out", "modify_rtr/ETIMEDOUT"},
      {begin + "mlx5dv_devx_qp_modify(RTR) failed, syndrome 0x25b161: Remote I/O error",
       "modify_rtr/EREMOTEIO"},
      {begin + "error modifying QP to INIT: Invalid argument", "modify_init/EINVAL"},
      {begin + "Failed to modify UD QP to RTS: Invalid argument", "modify_rts/EINVAL"},
      {begin + "ibv_alloc_pd() failed: Cannot allocate memory", "protection_domain/ENOMEM"},
      {begin + "ibv_query_gid(dev=mlx5_0 port=1 index=3) failed: Invalid argument",
       "query_gid/EINVAL"},
      {"[1.0] [h:7:0] ib_md.c:1 UCX  DIAG  ibv_open_device(mlx5_0) failed: Permission denied",
       "open_device/EACCES"},
      {begin + "Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)",
       "completion/12"},
      {begin +
           "Receive-no-ready retry count exceeded on mlx5_0:1/IB (synd 0x16 vend 0x0 hw_synd 0)",
       "completion/13"},
      {begin + "Local protection error on mlx5_0:1/IB (synd 0x4 vend 0x51 hw_synd 0/0)",
       "completion/4"},
      {begin + "send completion with error: remote access error [qpn 0x1 wrid 0x2 vendor_err 0x88]",
       "completion/10"},
      {begin + "Failed to allocate memory pool (name=rc_recv_desc)", "not-in-table"},
  });
}

TEST(VerbErrors, of_mooncake) {
  const std::string memory =
      "E0712 08:14:03.9 41231 rdma_context.cpp:196] Failed to register "
      "memory 0x7f3c: ";
  const std::string endpoint = "E0712 08:14:03.9 41231 rdma_endpoint.cpp:1] ";
  expect_codes({
      {memory + "Resource temporarily unavailable [11]", "register_memory/EAGAIN"},
      {memory + "Input/output error [5]", "register_memory/EIO"},
      {memory + "Invalid argument [22]", "register_memory/EINVAL"},
      {memory + "Operation not permitted [1]", "register_memory/EPERM"},
      {memory + "Bad address [14]", "register_memory/EFAULT"},
      {memory + "Cannot allocate memory [12]", "register_memory/ENOMEM"},
      {memory + "Operation not supported [95]", "register_memory/EOPNOTSUPP"},
      {memory + "Value too large for defined data type [75]", "register_memory/not-in-table"},
      {endpoint + "Failed to create QP: Cannot allocate memory [12]", "create_queue/ENOMEM"},
      {endpoint + "[Handshake] Failed to modify QP to RTR, check mtu, gid, peer lid, peer qp num: "
                  "Connection timed out",
       "modify_rtr/ETIMEDOUT"},
      {endpoint + "[Handshake] Failed to modify QP to INIT, check local context port num: Invalid "
                  "argument",
       "modify_init/EINVAL"},
      {"E0712 08:14:03.9 4 rdma_context.cpp:1] Failed to allocate new protection domain on device "
       "mlx5_0: Cannot allocate memory [12]",
       "protection_domain/ENOMEM"},
      {"E0712 08:14:03.9 4 worker_pool.cpp:1] Worker: Process failed for slice (opcode: 0, "
       "local_nic: mlx5_1): transport retry counter exceeded",
       "completion/12"},
  });
}

TEST(VerbErrors, of_nccl) {
  const std::string begin = "h:1:2 [0] misc/ibvwrap.cc:1 NCCL WARN Call to ";
  expect_codes({
      {begin + "ibv_reg_mr failed with error Resource temporarily unavailable",
       "register_memory/EAGAIN"},
      {begin + "ibv_reg_mr_iova2 failed with error Bad address", "register_memory/EFAULT"},
      {begin + "ibv_reg_dmabuf_mr failed with error Operation not supported",
       "register_memory/EOPNOTSUPP"},
      {begin + "ibv_reg_dmabuf_mr failed with error Unknown error 524", "register_memory/ENOTSUPP"},
      {begin + "ibv_create_qp failed with error Cannot allocate memory", "create_queue/ENOMEM"},
      {begin + "ibv_create_cq failed", "create_queue"},
      {begin + "ibv_modify_qp failed with error Connection timed out", "modify_queue/ETIMEDOUT"},
      {begin +
           "ibv_modify_qp failed with 19 No such device, on dev mlx5_0:1, curr state INIT, next "
           "state RTR, local GID index 0",
       "modify_rtr/ENODEV"},
      {begin +
           "ibv_modify_qp failed with 22 Invalid argument, on dev mlx5_0:1, curr state RTR, next "
           "state RTS",
       "modify_rts/EINVAL"},
      {"h:1:2 [0] x NCCL WARN NET/IB: Got completion from peer 10.0.0.1<5> with "
       "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) vendor_err=129 localGid x",
       "completion/12"},
      {"h:1:2 [0] x NCCL WARN NET/OFI Unable to register memory (type = 2) for device 0. RC: -14, "
       "Error: Bad address",
       "register_memory/EFAULT"},
  });
}

TEST(VerbErrors, of_nvshmem) {
  expect_codes({
      {"/s/ibgda.cpp:1761: NULL value Unable to create ah.", "address_handle"},
      {"/s/ibrc.cpp:700: NULL value mem registration failed", "register_memory"},
      {"/s/ibrc.cpp:700: non-zero status: 7 mem registration failed. Reason: Bad address",
       "register_memory/EFAULT"},
      {"/s/ibgda.cpp:1682: non-zero status: 7 Error in mlx5dv_devx_obj_modify for INIT2RTR_QP with "
       "syndrome 25b161",
       "modify_rtr"},
      {"/s/ibdevx.cpp:9: non-zero status: 7 Unable to set qp to state R2R with errno 110.",
       "modify_rtr/ETIMEDOUT"},
      {"/s/ibrc.cpp:400: non-zero status: 22 ibv_modify_qp failed", "modify_queue/EINVAL"},
      {"/s/ibgda.cpp:4570: NULL value malloc failed", ""},
      {"/s/ibrc.cpp:300: non-zero status: 7 ibv_poll_cq failed, status: 12", "completion/12"},
  });
}

TEST(VerbErrors, the_function_that_a_line_names_says_what_was_asked) {
  EXPECT_EQ(verb_of_call("x ibv_reg_dmabuf_mr(a) failed"), Verb::register_memory);
  EXPECT_EQ(verb_of_call("mlx5dv_devx_alloc_uar() failed"), Verb::map_registers);
  EXPECT_EQ(verb_of_call("rdma_resolve_addr failed, then ibv_reg_mr"), Verb::connection_manager);
  EXPECT_EQ(verb_of_call("_ibv_reg_mr"), Verb::register_memory);
  EXPECT_EQ(verb_of_call("xibv_reg_mr rdma_context.cpp:1] rdma_endpoint"), Verb::none);
  EXPECT_EQ(verb_of_call(""), Verb::none);
}

// Lines of published reports: openucx/ucx#6215, #7229, #8604, #8746, #1878, #9488;
// ai-dynamo/nixl#1983; NVIDIA/nccl#905, #1710, #230; uccl-project/uccl#641; deepseek-ai/DeepEP#38;
// sgl-project/sglang#12533.
TEST(VerbErrors, a_line_without_a_row_is_read_by_the_function_it_names) {
  const std::string begin = "[1.0] [h:7:0] x.c:1 UCX  ERROR ";
  const std::string nccl = "h:1:2 [0] x.cc:1 NCCL WARN NET/IB : ";
  expect_codes({
      {begin + "rdma_create_event_channel failed: No such file or directory",
       "connection_manager/ENOENT"},
      {begin + "rdma_create_id() failed: No such device", "connection_manager/ENODEV"},
      {begin + "rdma_resolve_addr(src=a, dst=b) failed (-1): No route to host",
       "connection_manager/EHOSTUNREACH"},
      {begin + "rdma_listen(id:=0x1 addr=a backlog=1) failed: Address already in use",
       "connection_manager/EADDRINUSE"},
      {begin + "[cep 0x1 a->b client] got error event RDMA_CM_EVENT_ADDR_ERROR, event status No "
               "such device (-19)",
       "connection_manager/ENODEV"},
      {begin + "mlx5dv_devx_create_event_channel() failed: Protocol not supported",
       "create_queue/EPROTONOSUPPORT"},
      {begin + "mlx5dv_devx_alloc_uar() failed: Cannot allocate memory", "map_registers/ENOMEM"},
      {begin + "ibv_modify_qp(DCI, RTR) failed : Invalid argument", "modify_queue/EINVAL"},
      {begin + "mlx5_0: ibv_create_cq() failed: Cannot allocate memory. Please set max locked "
               "memory (ulimit -l) to 'unlimited' (current: 64 kbytes)",
       "create_queue/ENOMEM"},
      {nccl + "ibv_reg_mr_iova2 failed with error Bad address", "register_memory/EFAULT"},
      {"Failed to modify QP to RTR: Connection timed out", "modify_rtr/ETIMEDOUT"},
      {"/n/src/modules/transport/ibrc/ibrc.cpp:420: non-zero status: 110 ibv_modify_qp failed",
       "modify_queue/ETIMEDOUT"},
      {"/n/ibgda.cpp:1889: NULL value cannot allocate mlx5dv_devx_uar", "map_registers"},
      {"E0605 17:54:16.8 1 rdma_context.cpp:198] Failed to register memory 0x7f: Numerical result "
       "out of range [34]",
       "register_memory/not-in-table"},
  });
}

// Words of UCX that are no errno (ucs_status_string), and events.
TEST(VerbErrors, a_status_of_the_library_is_no_errno) {
  const std::string begin = "[1.0] [h:7:0] x.c:1 UCX  ERROR ";
  expect_codes({
      {begin + "failed to register address 0x1 (cuda) length 1 on md[5]=mlx5_0: Input/output error "
               "(md supports: host)",
       ""},
      {"[1.0] [h:7:0] x.c:1 UCX  DIAG  failed to register address 0x1 (cuda) length 1 on md[5]=x: "
       "Input/output error (md supports: host)",
       ""},
      {begin + "iface=0x1 id=1 ep_uuid=1 qpn=1 failed to create ahstatus=Input/output error", ""},
      {begin + "no active messages transport to <no debug data>: Destination is unreachable", ""},
      {begin + "[cep 0x1] got error event RDMA_CM_EVENT_DEVICE_REMOVAL, event status Success (0)",
       ""},
      {begin + "[cep 0x1] got error event RDMA_CM_EVENT_REJECTED, event status x (28)", ""},
  });
}

TEST(VerbErrors, a_syndrome_of_mlx5_says_the_status) {
  const std::string words = "[1.0] [h:7:0] x.c:1 UCX  ERROR Invalid request on mlx5_0:1/IB (synd ";
  expect_codes({
      {words + "0x12 vend 0x8a hw_synd 0/0)", "completion/9"},
      {words + "0x5 vend 0xf9 hw_synd 0/0)", "completion/5"},
      {words + "0x4 vend 0x51 hw_synd 0/87)", "completion/4"},
      {words + "0xee vend 0x51 hw_synd 0/87)", "completion"},
      {"[1.0] [h:7:0] dc.c:1 UCX  ERROR Send completion with error on qp 0x226c3: transport retry "
       "counter exceeded syndrome 0x81",
       "completion/12"},
  });
}

TEST(VerbErrors, a_completion_has_the_number_of_its_vendor) {
  const auto with = completion_failure(12, "status=12 opcode=0 vendor err 129 (Send)");
  EXPECT_TRUE(with.meaning.ends_with("; vendor error 129")) << with.meaning;
  EXPECT_EQ(completion_failure(12, "status=12").code, "completion/12");
  EXPECT_EQ(completion_failure(77, "status=77").code, "completion/not-in-table");
  for (const auto& row : completion_errors()) {
    EXPECT_EQ(completion_status_in_words("x " + std::string(row.name) + " y"), row.status);
  }
  EXPECT_EQ(completion_status_in_words("IBV_WC_REM_OP_ERRORS"), std::nullopt);
}

}  // namespace
}  // namespace railhead::proof
