// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace railhead::bench {

/// Owners of libibverbs' objects: each is destroyed before what it was made of, by the order of the
/// members that hold them, and a process that ends for any reason takes them with it.
struct VerbsDeleter {
  void operator()(ibv_context* context) const { ibv_close_device(context); }

  void operator()(ibv_pd* domain) const { ibv_dealloc_pd(domain); }

  void operator()(ibv_cq* queue) const { ibv_destroy_cq(queue); }

  void operator()(ibv_mr* region) const { ibv_dereg_mr(region); }

  void operator()(ibv_qp* pair) const { ibv_destroy_qp(pair); }
};

template <typename T>
using Owned = std::unique_ptr<T, VerbsDeleter>;

/// "mlx5_0: ibv_create_qp: Cannot allocate memory", from errno or a verb's answer.
Error verbs_error(const std::string& nic, const std::string& call, int number);
/// The same of a verb that answers with 0 or an errno.
Status check_verb(const std::string& nic, const std::string& call, int answer);

/// The error names the devices that there are.
Result<Owned<ibv_context>> open_device(const std::string& nic);

/// Registers memory of this process, or of a GPU through its driver's peer memory client, for the
/// NIC to read and write. The errno of the call is in the message; ENOMEM names RLIMIT_MEMLOCK.
Result<Owned<ibv_mr>> register_memory(const std::string& nic, ibv_pd* domain, std::uint64_t address,
                                      std::uint64_t length);

/// The same for a DMA-BUF. Unsupported where libibverbs is older than this call (1.12, rdma-core
/// 34).
Result<Owned<ibv_mr>> register_dmabuf(const std::string& nic, ibv_pd* domain, int descriptor,
                                      std::uint64_t offset, std::uint64_t address,
                                      std::uint64_t length);

/// Between IBV_MTU_256 and IBV_MTU_4096.
unsigned mtu_bytes(ibv_mtu mtu);
ibv_mtu mtu_of_bytes(unsigned bytes);

}  // namespace railhead::bench
