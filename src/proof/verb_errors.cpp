// SPDX-License-Identifier: Apache-2.0
#include "proof/verb_errors.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/find.h"
#include "base/text.h"

namespace railhead::proof {
namespace {

constexpr int kNotSupportedInKernel = 524;  ///< ENOTSUPP, include/linux/errno.h: it has no text

struct ErrorName {
  int number;
  std::string_view name;
  std::string_view text;  ///< of strerror() in glibc
};

constexpr std::array kErrors = {
    ErrorName{EPERM, "EPERM", "Operation not permitted"},
    ErrorName{ENOENT, "ENOENT", "No such file or directory"},
    ErrorName{EIO, "EIO", "Input/output error"},
    ErrorName{ENXIO, "ENXIO", "No such device or address"},
    ErrorName{EBADF, "EBADF", "Bad file descriptor"},
    ErrorName{EAGAIN, "EAGAIN", "Resource temporarily unavailable"},
    ErrorName{ENOMEM, "ENOMEM", "Cannot allocate memory"},
    ErrorName{EACCES, "EACCES", "Permission denied"},
    ErrorName{EFAULT, "EFAULT", "Bad address"},
    ErrorName{EBUSY, "EBUSY", "Device or resource busy"},
    ErrorName{ENODEV, "ENODEV", "No such device"},
    ErrorName{EINVAL, "EINVAL", "Invalid argument"},
    ErrorName{EMFILE, "EMFILE", "Too many open files"},
    ErrorName{ENOSPC, "ENOSPC", "No space left on device"},
    ErrorName{ERANGE, "ERANGE", "Numerical result out of range"},
    ErrorName{ENOSYS, "ENOSYS", "Function not implemented"},
    ErrorName{ENODATA, "ENODATA", "No data available"},
    ErrorName{EPROTONOSUPPORT, "EPROTONOSUPPORT", "Protocol not supported"},
    ErrorName{EOPNOTSUPP, "EOPNOTSUPP", "Operation not supported"},
    ErrorName{EADDRINUSE, "EADDRINUSE", "Address already in use"},
    ErrorName{EADDRNOTAVAIL, "EADDRNOTAVAIL", "Cannot assign requested address"},
    ErrorName{ENETUNREACH, "ENETUNREACH", "Network is unreachable"},
    ErrorName{ENOBUFS, "ENOBUFS", "No buffer space available"},
    ErrorName{ETIMEDOUT, "ETIMEDOUT", "Connection timed out"},
    ErrorName{ECONNREFUSED, "ECONNREFUSED", "Connection refused"},
    ErrorName{EHOSTUNREACH, "EHOSTUNREACH", "No route to host"},
    ErrorName{EREMOTEIO, "EREMOTEIO", "Remote I/O error"},
    ErrorName{kNotSupportedInKernel, "ENOTSUPP", "Unknown error 524"}};

constexpr std::string_view kNoWay =
    "no route leads from the network device of the GID to the peer's address";
constexpr std::string_view kNoAnswer =
    "the peer's address does not answer (ARP, neighbour discovery): the peer, its VLAN or the way "
    "to it is down";
constexpr std::string_view kNoNetdev =
    "the network device of the GID is down, or not in this network namespace: index 0 is mostly "
    "the link-local GID of the host's. The pod needs a network device of its own whose GID is "
    "taken, or hostNetwork";
constexpr std::string_view kNoGid =
    "the port has no GID at the index that is used: leave the index out, or the network device is "
    "not in this network namespace";
constexpr std::string_view kNotRdma = "the address is of no network device for RDMA";
constexpr std::string_view kGone =
    "the device failed, or was reset or removed: the kernel's log has more";
constexpr std::string_view kNoRoom =
    "the device has no room for one more, or the cgroup's rdma.max is reached: others hold them";
constexpr std::string_view kNoNumber = "the device has no number left for one more";
constexpr std::string_view kMayLockNothing =
    "the process may lock no memory: RLIMIT_MEMLOCK of the container is 0, without CAP_IPC_LOCK";
constexpr std::string_view kNoSuchKind =
    "the kernel, its driver or the device does not have this call or this kind";
constexpr std::string_view kNoDmaBuf =
    "the kernel, its driver or the device cannot register so: of memory of a GPU it has no "
    "DMA-BUF, where nvidia_peermem is the other way";
constexpr std::string_view kTooManyFiles = "the process has too many files open";
/// Linux drivers/infiniband/hw/mlx5/devx.c, since 5.19.
constexpr std::string_view kRefusedByFirmware =
    "the firmware of the device refused: its syndrome stands in the line or in the kernel's log";
constexpr std::string_view kNoConnectionManager = "/dev/infiniband/rdma_cm is not the container's";
constexpr std::string_view kNoNode = "its node under /dev/infiniband is not the container's";

/// Sources: Linux drivers/infiniband/core/umem.c (ib_umem_get: EPERM, ENOMEM, EINVAL; pinning:
/// EFAULT), drivers/dma-buf/dma-buf.c (dma_buf_get: EBADF), kernel/cgroup/rdma.c
/// (rdmacg_try_charge: EAGAIN), mlx5/core/cmd.c (cmd_status_to_err: no resources EAGAIN, limits
/// exceeded ENOMEM, internal error EIO, resource busy EBUSY), core/uverbs_main.c (ib_uverbs_open:
/// EPERM, ENXIO, EIO), core/addr.c (addr_resolve, process_one_req: ENODEV, ENETUNREACH,
/// EHOSTUNREACH, EADDRNOTAVAIL, ETIMEDOUT), core/cache.c (rdma_get_gid_attr: ENODATA since 5.10,
/// before EINVAL; rdma_read_gid_attr_ndev_rcu: ENODEV), lib/idr.c (ida_alloc_range: ENOSPC);
/// rdma-core libibverbs/dummy_ops.c (EOPNOTSUPP), verbs.c (EPROTONOSUPPORT), memory.c (huge pages:
/// EINVAL), device.c; Mooncake's troubleshooting (EAGAIN, and EIO of eRDMA: 64 GiB).
constexpr std::array kVerbErrors = {
    VerbError{Verb::register_memory, ENOMEM,
              "raise RLIMIT_MEMLOCK of the container; where it is unlimited, the device or the "
              "kernel has no memory left"},
    VerbError{
        Verb::register_memory, EAGAIN,
        "the device has no memory key left, or the cgroup's rdma.max is reached: processes "
        "that were killed may have left theirs. Look for CREATE_MKEY in the kernel's log, and "
        "reload the driver or restart the node"},
    VerbError{Verb::register_memory, EFAULT,
              "the address cannot be pinned: for memory of a GPU load nvidia_peermem or use "
              "DMA-BUF; memory of the host was not mapped or has been freed"},
    VerbError{Verb::register_memory, EINVAL,
              "address, length or access is refused: for memory of a GPU load nvidia_peermem or "
              "use DMA-BUF; huge pages need RDMAV_HUGEPAGES_SAFE=1"},
    VerbError{Verb::register_memory, EPERM, kMayLockNothing},
    VerbError{Verb::register_memory, EIO,
              "the device's largest region is exceeded (64 GiB on eRDMA: register smaller pieces), "
              "or it failed or was removed: the kernel's log says which"},
    VerbError{Verb::register_memory, EREMOTEIO, kRefusedByFirmware},
    VerbError{Verb::register_memory, EBADF, "the descriptor of the DMA-BUF is closed or is none"},
    VerbError{Verb::register_memory, ENOSPC, kNoNumber},
    VerbError{Verb::register_memory, EOPNOTSUPP, kNoDmaBuf},
    VerbError{Verb::register_memory, kNotSupportedInKernel, kNoDmaBuf},
    VerbError{Verb::register_memory, EPROTONOSUPPORT, kNoDmaBuf},
    VerbError{Verb::register_memory, ENOSYS, kNoDmaBuf},
    VerbError{Verb::create_queue, ENOMEM,
              "its memory could not be pinned (raise RLIMIT_MEMLOCK of the container), or the "
              "device has no room for one more queue pair"},
    VerbError{Verb::create_queue, EAGAIN, kNoRoom},
    VerbError{Verb::create_queue, ENOSPC, kNoNumber},
    VerbError{
        Verb::create_queue, EPERM,
        "the container may not: RLIMIT_MEMLOCK is 0 without CAP_IPC_LOCK, or it is a raw queue "
        "pair without CAP_NET_RAW"},
    VerbError{Verb::create_queue, EINVAL,
              "the device has no queue of this depth or with these flags"},
    VerbError{Verb::create_queue, EBUSY, "something that it needs of the device is in use"},
    VerbError{Verb::create_queue, EFAULT, "its memory could not be pinned"},
    VerbError{Verb::create_queue, EIO, kGone},
    VerbError{Verb::create_queue, EMFILE, kTooManyFiles},
    VerbError{Verb::create_queue, EREMOTEIO, kRefusedByFirmware},
    VerbError{Verb::create_queue, EOPNOTSUPP, kNoSuchKind},
    VerbError{Verb::create_queue, EPROTONOSUPPORT, kNoSuchKind},
    VerbError{Verb::create_queue, ENOSYS, kNoSuchKind},
    VerbError{Verb::address_handle, ENODEV, kNoNetdev},
    VerbError{Verb::address_handle, EINVAL, kNoGid},
    VerbError{Verb::address_handle, ENODATA, kNoGid},
    VerbError{Verb::address_handle, ENETUNREACH, kNoWay},
    VerbError{Verb::address_handle, EHOSTUNREACH, kNoWay},
    VerbError{Verb::address_handle, ETIMEDOUT, kNoAnswer},
    VerbError{Verb::address_handle, EADDRNOTAVAIL, kNotRdma},
    VerbError{Verb::address_handle, EAGAIN, kNoRoom},
    VerbError{Verb::address_handle, ENOMEM, "the device or the kernel has no room for one more"},
    VerbError{Verb::address_handle, EIO, kGone},
    VerbError{Verb::modify_rtr, ENODEV, kNoNetdev},
    VerbError{Verb::modify_rtr, EINVAL,
              "the GID's index is empty, the MTU is above the port's, or the two sides differ in "
              "kind (GID, RoCE version, link)"},
    VerbError{Verb::modify_rtr, ENODATA, kNoGid},
    VerbError{Verb::modify_rtr, ENETUNREACH, kNoWay},
    VerbError{Verb::modify_rtr, EHOSTUNREACH, kNoWay},
    VerbError{Verb::modify_rtr, ETIMEDOUT, kNoAnswer},
    VerbError{Verb::modify_rtr, EADDRNOTAVAIL, kNotRdma},
    VerbError{Verb::modify_rtr, EIO, kGone},
    VerbError{Verb::modify_rtr, EREMOTEIO, kRefusedByFirmware},
    VerbError{Verb::modify_init, EINVAL,
              "the port, its partition key or the access is not the device's"},
    VerbError{Verb::modify_init, EIO, kGone},
    VerbError{Verb::modify_rts, EINVAL,
              "the queue pair is not connected, or the device does not take these numbers (time, "
              "retries, reads at once)"},
    VerbError{Verb::modify_rts, EIO, kGone},
    VerbError{Verb::open_device, EPERM,
              "the container's device cgroup does not allow it, or the device is of another "
              "network namespace"},
    VerbError{Verb::open_device, EACCES, "its node under /dev/infiniband is not the user's"},
    VerbError{Verb::open_device, ENOENT, kNoNode},
    VerbError{Verb::open_device, ENODEV, kNoNode},
    VerbError{Verb::open_device, ENXIO, "the device was removed"},
    VerbError{Verb::open_device, EIO, kGone},
    VerbError{Verb::open_device, EAGAIN, "the cgroup's rdma.max is reached"},
    VerbError{Verb::open_device, EMFILE, kTooManyFiles},
    VerbError{Verb::open_device, ENOMEM, "the device or the kernel has no room for one more user"},
    VerbError{Verb::open_device, ENOSYS, kNoSuchKind},
    VerbError{Verb::open_device, EOPNOTSUPP, kNoSuchKind},
    VerbError{Verb::protection_domain, ENOMEM, "the device or the kernel has no room for one more"},
    VerbError{Verb::protection_domain, EAGAIN, kNoRoom},
    VerbError{Verb::protection_domain, ENOSPC, kNoNumber},
    VerbError{Verb::protection_domain, EIO, kGone},
    VerbError{Verb::query_gid, EINVAL, kNoGid},
    VerbError{Verb::query_gid, ENODATA, kNoGid},
    VerbError{Verb::query_gid, ENOENT, kNoGid},
    VerbError{Verb::query_gid, ENODEV, kNoNetdev},
    VerbError{Verb::query_gid, EIO, kGone},
    VerbError{Verb::query_device, EIO, kGone},
    VerbError{Verb::query_device, ENODEV, kGone},
    VerbError{Verb::query_device, EINVAL, "the device has no such port"},
    VerbError{Verb::query_device, EOPNOTSUPP, kNoSuchKind},
    VerbError{Verb::query_device, EPROTONOSUPPORT, kNoSuchKind},
    VerbError{Verb::query_device, ENOSYS, kNoSuchKind},
    VerbError{Verb::map_registers, ENOMEM, kNoRoom},
    VerbError{Verb::map_registers, EAGAIN, kNoRoom},
    VerbError{Verb::map_registers, EREMOTEIO, kRefusedByFirmware},
    VerbError{Verb::map_registers, EOPNOTSUPP, kNoSuchKind},
    VerbError{Verb::map_registers, EPROTONOSUPPORT, kNoSuchKind},
    VerbError{Verb::connection_manager, ENOENT, kNoConnectionManager},
    VerbError{Verb::connection_manager, EACCES, kNoConnectionManager},
    VerbError{Verb::connection_manager, EPERM, kNoConnectionManager},
    VerbError{Verb::connection_manager, ENODEV,
              "no RDMA device has this address, or /dev/infiniband/rdma_cm is not the container's"},
    VerbError{Verb::connection_manager, EADDRNOTAVAIL, kNotRdma},
    VerbError{Verb::connection_manager, EADDRINUSE, "another process has the address and port"},
    VerbError{Verb::connection_manager, ENETUNREACH, kNoWay},
    VerbError{Verb::connection_manager, EHOSTUNREACH, kNoWay},
    VerbError{Verb::connection_manager, ETIMEDOUT, kNoAnswer},
    VerbError{Verb::connection_manager, ECONNREFUSED, "nobody listens at the peer's port"}};

/// What failed, and what is said where the line names no error.
struct VerbWords {
  Verb verb;
  std::string_view name;
  std::string_view what;
  std::string_view without_number;
};

constexpr std::string_view kNoNumberSaid = "the line names no error that is known here";

constexpr std::array kVerbs = {
    VerbWords{Verb::none, "none", "", ""},
    VerbWords{Verb::open_device, "open_device", "a device is listed and may not be opened",
              "its node under /dev/infiniband is not the container's, or the device is gone"},
    VerbWords{Verb::query_device, "query_device", "a device or port could not be asked what it is",
              kNoNumberSaid},
    VerbWords{Verb::query_gid, "query_gid", "a port has no usable GID",
              "its network device is not in this network namespace, or the index is empty"},
    VerbWords{Verb::protection_domain, "protection_domain",
              "a protection domain of the device could not be made", kNoNumberSaid},
    VerbWords{Verb::register_memory, "register_memory", "memory could not be registered",
              kNoNumberSaid},
    VerbWords{Verb::create_queue, "create_queue", "a queue of the device could not be made",
              kNoNumberSaid},
    VerbWords{Verb::address_handle, "address_handle", "the way to a peer could not be made",
              "GID or route"},
    VerbWords{Verb::modify_queue, "modify_queue", "a connection could not be made",
              "GID, MTU or route"},
    VerbWords{Verb::modify_init, "modify_init", "a queue pair could not be prepared",
              kNoNumberSaid},
    VerbWords{Verb::modify_rtr, "modify_rtr", "a connection could not be made",
              "GID, MTU or route"},
    VerbWords{Verb::modify_rts, "modify_rts", "a connection could not be made ready to send",
              kNoNumberSaid},
    VerbWords{Verb::completion, "completion", "a transfer over RDMA failed",
              "link, GID or route, or the peer ended"},
    VerbWords{Verb::map_registers, "map_registers",
              "a page of the device's doorbells (UAR) could not be had", kNoNumberSaid},
    VerbWords{Verb::connection_manager, "connection_manager",
              "the RDMA connection manager could not be used", kNoNumberSaid}};

static_assert([] {
  for (std::size_t i = 0; i < kVerbs.size(); ++i) {
    if (static_cast<std::size_t>(kVerbs[i].verb) != i) return false;
  }
  return true;
}());

constexpr std::string_view kNoBuffer = "(receiver not ready): the peer posted no buffer in time";

/// Completions, by rdma-core libibverbs/verbs.h and enum_strs.c; UCX's words for them stand in
/// src/uct/ib/mlx5/ib_mlx5_log.c.
constexpr std::array kCompletions = {
    CompletionError{1, "IBV_WC_LOC_LEN_ERR", "local length error",
                    "(local length): a message is longer than the buffer posted for it"},
    CompletionError{2, "IBV_WC_LOC_QP_OP_ERR", "local qp operation error",
                    "(local operation): the device does not take this request"},
    CompletionError{4, "IBV_WC_LOC_PROT_ERR", "local protection error",
                    "(local protection): memory that is not registered (any more), or ACS between "
                    "GPU and NIC, or peermem"},
    CompletionError{5, "IBV_WC_WR_FLUSH_ERR", "work request flushed error",
                    "(flushed): the connection had failed before; look for the first error"},
    CompletionError{6, "IBV_WC_MW_BIND_ERR", "memory window bind error",
                    "(memory window): its memory does not allow it"},
    CompletionError{7, "IBV_WC_BAD_RESP_ERR", "bad response", "(bad response): by the peer"},
    CompletionError{8, "IBV_WC_LOC_ACCESS_ERR", "local access error",
                    "(local access): the memory may not be written so"},
    CompletionError{9, "IBV_WC_REM_INV_REQ_ERR", "remote invalid request error",
                    "(remote: invalid request): the peer does not take this request"},
    CompletionError{10, "IBV_WC_REM_ACCESS_ERR", "remote access error",
                    "(remote: access refused): the peer's memory registration"},
    CompletionError{11, "IBV_WC_REM_OP_ERR", "remote operation error",
                    "(remote: operation): the peer could not finish the request"},
    CompletionError{12, "IBV_WC_RETRY_EXC_ERR", "transport retry count",
                    "(retries exceeded): link, GID or route, PFC, or rails that are not connected "
                    "with each other"},
    CompletionError{13, "IBV_WC_RNR_RETRY_EXC_ERR", "rnr retry count", kNoBuffer},
    CompletionError{13, "IBV_WC_RNR_RETRY_EXC_ERR", "receive-no-ready retry count", kNoBuffer},
    CompletionError{16, "IBV_WC_REM_ABORT_ERR", "remote side aborted",
                    "(remote: aborted): the peer gave the request up"},
    CompletionError{19, "IBV_WC_FATAL_ERR", "",
                    "(fatal): the device failed: the kernel's log has more"},
    CompletionError{20, "IBV_WC_RESP_TIMEOUT_ERR", "response timeout error",
                    "(no answer): the peer did not answer in time"}};

/// The status for a syndrome of mlx5: rdma-core providers/mlx5/cq.c, mlx5_handle_error_cqe().
struct Syndrome {
  unsigned syndrome;
  unsigned status;
};

constexpr std::array kSyndromes = {Syndrome{0x01, 1},  Syndrome{0x02, 2},  Syndrome{0x04, 4},
                                   Syndrome{0x05, 5},  Syndrome{0x06, 6},  Syndrome{0x10, 7},
                                   Syndrome{0x11, 8},  Syndrome{0x12, 9},  Syndrome{0x13, 10},
                                   Syndrome{0x14, 11}, Syndrome{0x15, 12}, Syndrome{0x16, 13},
                                   Syndrome{0x22, 16}};

/// Of "(synd 0x15 vend 0x81 …".
std::optional<unsigned> status_of_syndrome(std::string_view line) {
  constexpr std::string_view kBegin = "(synd 0x";
  const auto at = line.find(kBegin);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + kBegin.size());
  const auto number = parse_hex(line.substr(0, line.find_first_of(" )")));
  if (!number) return std::nullopt;
  const auto* row =
      find_where(kSyndromes, [&](const Syndrome& one) { return one.syndrome == *number; });
  return row != nullptr ? std::optional(row->status) : std::nullopt;
}

bool contains_word(std::string_view line, std::string_view word) {
  for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const auto end = at + word.size();
    const bool begins = at == 0 || !is_letter_or_digit(line[at - 1]);
    if (begins && (end == line.size() || !is_letter_or_digit(line[end]))) return true;
  }
  return false;
}

/// The number behind `word`, with a sign, blanks or "=" and ":" before it.
std::optional<int> number_behind_word(std::string_view line, std::string_view word) {
  const auto at = line.rfind(word);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + word.size());
  const auto start = std::min(line.find_first_not_of(" =:-("), line.size());
  line.remove_prefix(start);
  const auto end = std::min(line.find_first_not_of(kDecimalDigits), line.size());
  const auto number = parse_unsigned(line.substr(0, end));
  if (!number || *number == 0 || *number > 4095) return std::nullopt;  // MAX_ERRNO of Linux
  return static_cast<int>(*number);
}

/// What glog puts behind a line of PLOG(): "…: Bad address [14]".
std::optional<int> number_of_glog(std::string_view line) {
  line = trim(line);
  const auto open = line.rfind(" [");
  if (!line.ends_with(']') || open == std::string_view::npos) return std::nullopt;
  const auto number = parse_unsigned(line.substr(open + 2, line.size() - open - 3));
  if (!number || *number == 0 || *number > 4095) return std::nullopt;
  return static_cast<int>(*number);
}

/// Which change of state a line names: "to RTR", "next state RTR", "INIT2RTR", "R2R".
Verb transition_of(std::string_view line) {
  const auto next = line.find("next state ");
  if (next != std::string_view::npos) line = line.substr(next);
  const auto has = [&](std::string_view word) { return line.find(word) != std::string_view::npos; };
  if (has("2RTR") || has("state R2R") || has("to RTR") || has("state RTR") || has("(RTR"))
    return Verb::modify_rtr;
  if (has("2RTS") || has("state R2S") || has("to RTS") || has("state RTS")) return Verb::modify_rts;
  if (has("2INIT") || has("state INIT") || has("to INIT")) return Verb::modify_init;
  return Verb::modify_queue;
}

const VerbWords& words_of(Verb verb) {
  return kVerbs[static_cast<std::size_t>(verb)];
}

}  // namespace

std::string_view to_string(Verb verb) {
  return words_of(verb).name;
}

std::optional<int> error_number(std::string_view line) {
  // The longest text counts: "No such device" begins "No such device or address".
  const ErrorName* found = nullptr;
  for (const auto& error : kErrors) {
    const bool is_named =
        line.find(error.text) != std::string_view::npos || contains_word(line, error.name);
    const bool is_longer = found == nullptr || error.text.size() > found->text.size();
    if (is_named && is_longer) found = &error;
  }
  if (found != nullptr) return found->number;
  if (const auto number = number_of_glog(line)) return number;
  for (const auto* word : {"errno", "RC:", "failed with ", "failed, ret"}) {
    if (const auto number = number_behind_word(line, word)) return number;
  }
  // NVSHMEM prints what the call has returned; of other calls that is a number of its own.
  const bool is_of_kernel = line.find("ibv_modify_qp failed") != std::string_view::npos;
  return is_of_kernel ? number_behind_word(line, "non-zero status") : std::nullopt;
}

std::string error_name(int number) {
  const auto* known = find_by(kErrors, &ErrorName::number, number);
  return known != nullptr ? std::string(known->name) : std::to_string(number);
}

std::span<const VerbError> verb_errors() {
  return kVerbErrors;
}

VerbFailure verb_failure(Verb verb, std::string_view line) {
  if (verb == Verb::modify_queue) verb = transition_of(line);
  if (verb == Verb::completion) {
    if (const auto status = completion_status_in_words(line)) {
      return completion_failure(*status, line);
    }
    if (const auto status = number_behind_word(line, "ibv_poll_cq failed, status")) {
      return completion_failure(static_cast<unsigned>(*status), line);
    }
  }
  const auto& words = words_of(verb);
  const std::string name(words.name);
  const auto number = verb == Verb::completion ? std::nullopt : error_number(line);
  if (!number) return {name, std::string(words.what) + ": " + std::string(words.without_number)};
  const auto said = error_name(*number);
  // Without its name a change of state is the one that can fail by what is around the device.
  const auto asked = verb == Verb::modify_queue ? Verb::modify_rtr : verb;
  const auto* row = find_where(kVerbErrors, [&](const VerbError& one) {
    return one.verb == asked && one.number == *number;
  });
  const auto begin = std::string(words.what) + " (" + said + "): ";
  if (row != nullptr) return {name + "/" + said, begin + std::string(row->meaning)};
  return {name + "/" + std::string(kNotInTable), begin + "this error is not in a table"};
}

std::span<const CompletionError> completion_errors() {
  return kCompletions;
}

VerbFailure completion_failure(unsigned status, std::string_view line) {
  const auto number = std::to_string(status);
  const auto* row = find_by(kCompletions, &CompletionError::status, status);
  std::string meaning = "completion with status " + number;
  meaning += row != nullptr ? " " + std::string(row->meaning) : ": this status is not in a table";
  for (const auto* word : {"vendor err", "vendor_err"}) {
    const auto vendor = number_behind_word(line, word);
    if (!vendor || line.find(std::string(word) + " 0x") != std::string_view::npos) continue;
    meaning += "; vendor error " + std::to_string(*vendor);
    break;
  }
  const auto code = row != nullptr ? number : std::string(kNotInTable);
  return {"completion/" + code, std::move(meaning)};
}

std::optional<unsigned> completion_status_in_words(std::string_view line) {
  if (const auto status = status_of_syndrome(line)) return status;
  const auto lower = to_lower(line.substr(0, 1024));
  for (const auto& row : kCompletions) {
    const bool has_text = !row.text.empty() && lower.find(row.text) != std::string::npos;
    if (has_text || contains_word(line, row.name)) return row.status;
  }
  return std::nullopt;
}

}  // namespace railhead::proof
