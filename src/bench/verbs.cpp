// SPDX-License-Identifier: Apache-2.0
#include "bench/verbs.h"

#include <dlfcn.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/text.h"

namespace railhead::bench {
namespace {

// Relaxed ordering lets a NIC write out of order over PCIe. Not asked for: the last byte of a
// message must come last where a latency is taken by looking at it.
constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

struct ListDeleter {
  void operator()(ibv_device** list) const { ibv_free_device_list(list); }
};

std::string memlock_text() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return "unknown";
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur) + " bytes";
}

}  // namespace

Error verbs_error(const std::string& nic, const std::string& call, int number) {
  const auto code = number == EACCES || number == EPERM ? ErrorCode::denied
                    : number == ENOMEM                  ? ErrorCode::too_large
                    : number == EOPNOTSUPP || number == EPROTONOSUPPORT || number == ENOSYS
                        ? ErrorCode::unsupported
                        : ErrorCode::unavailable;
  return {code, nic + ": " + call + ": " + std::strerror(number)};
}

Status check_verb(const std::string& nic, const std::string& call, int answer) {
  return answer == 0 ? Status() : verbs_error(nic, call, answer);
}

Result<Owned<ibv_context>> open_device(const std::string& nic) {
  int count = 0;
  const std::unique_ptr<ibv_device*, ListDeleter> list(ibv_get_device_list(&count));
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    ibv_device* device = list.get()[i];
    names.emplace_back(ibv_get_device_name(device));
    if (names.back() != nic) continue;
    errno = 0;
    Owned<ibv_context> context(ibv_open_device(device));
    if (!context) return verbs_error(nic, "ibv_open_device", errno);
    return Result<Owned<ibv_context>>(std::move(context));
  }
  return Error{ErrorCode::unavailable,
               "libibverbs has no device " + railhead::in_quotes(nic) + ", it has " +
                   (names.empty() ? "none (it leaves out those whose /dev/infiniband/uverbsN it "
                                    "does not see)"
                                  : join(names, ", "))};
}

Result<Owned<ibv_mr>> register_memory(const std::string& nic, ibv_pd* domain, std::uint64_t address,
                                      std::uint64_t length) {
  errno = 0;
  Owned<ibv_mr> region(
      ibv_reg_mr(domain, reinterpret_cast<void*>(address), length, kAccess));  // NOLINT
  if (region) return Result<Owned<ibv_mr>>(std::move(region));
  auto error = verbs_error(nic, "ibv_reg_mr of " + std::to_string(length) + " bytes", errno);
  if (error.code == ErrorCode::too_large) {
    error.message += " (RLIMIT_MEMLOCK is " + memlock_text() + ")";
  }
  return error;
}

Result<Owned<ibv_mr>> register_dmabuf(const std::string& nic, ibv_pd* domain, int descriptor,
                                      std::uint64_t offset, std::uint64_t address,
                                      std::uint64_t length) {
  // Looked up, not linked: the program is to load with a libibverbs that does not have it.
  using Call = ibv_mr* (*)(ibv_pd*, std::uint64_t, size_t, std::uint64_t, int, int);
  const auto call = reinterpret_cast<Call>(::dlsym(RTLD_DEFAULT, "ibv_reg_dmabuf_mr"));
  if (call == nullptr) {
    return Error{ErrorCode::unsupported,
                 "this libibverbs has no ibv_reg_dmabuf_mr (it came with rdma-core 34)"};
  }
  errno = 0;
  Owned<ibv_mr> region(call(domain, offset, length, address, descriptor, kAccess));
  if (region) return Result<Owned<ibv_mr>>(std::move(region));
  return verbs_error(nic, "ibv_reg_dmabuf_mr of " + std::to_string(length) + " bytes", errno);
}

unsigned mtu_bytes(ibv_mtu mtu) {
  return 128U << static_cast<unsigned>(mtu);
}

ibv_mtu mtu_of_bytes(unsigned bytes) {
  auto mtu = IBV_MTU_256;
  while (mtu < IBV_MTU_4096 && mtu_bytes(mtu) * 2 <= bytes) {
    mtu = static_cast<ibv_mtu>(mtu + 1);
  }
  return mtu;
}

}  // namespace railhead::bench
