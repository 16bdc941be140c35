// SPDX-License-Identifier: Apache-2.0
//
// What a failed call of verbs means, by what was asked (Verb) and the error number. One table for
// all libraries: the kernel's answer means the same whoever prints it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace railhead::proof {

/// What was asked of the device.
enum class Verb : std::uint8_t {
  none,
  open_device,
  query_device,
  query_gid,
  protection_domain,
  register_memory,
  create_queue,    ///< a queue pair, completion queue or shared receive queue
  address_handle,  ///< the way to a peer
  modify_queue,    ///< a change of state; which one the line does not say
  modify_init,
  modify_rtr,  ///< from here on the peer's address counts
  modify_rts,
  completion,          ///< what was asked of a queue before
  map_registers,       ///< a page of doorbells (UAR)
  connection_manager,  ///< librdmacm: addresses, routes, connections
};

/// "register_memory"; stable.
std::string_view to_string(Verb verb);

/// What the first call of verbs, DEVX, librdmacm or libfabric asks for that a line names
/// ("ibv_create_cq", "mlx5dv_devx_umem_reg", "rdma_resolve_addr"); none if it names none that is
/// known.
Verb verb_of_call(std::string_view line);

/// The number of an error that a line names: in words of strerror() ("No such device"), by its
/// name ("ENODEV"), or as a number: "[19]" (glog), "errno 19", "errno: 19", "RC: -19" (libfabric),
/// "failed with 19 " (NCCL). Absent where it names none.
std::optional<int> error_number(std::string_view line);

/// "ENODEV", "524" where it has no name here.
std::string error_name(int number);

struct VerbError {
  Verb verb = Verb::none;
  int number = 0;  ///< errno of Linux
  std::string_view meaning;
};

/// All rows of the table.
std::span<const VerbError> verb_errors();

/// What a line of a library says of a failed call.
struct VerbFailure {
  std::string code;     ///< stable: "register_memory/ENOMEM", "register_memory" without a number
  std::string meaning;  ///< what failed and why; "… is not in a table" for other numbers
};

/// `verb` is the library's; a line about a change of state may say which.
VerbFailure verb_failure(Verb verb, std::string_view line);

/// The end of a code whose combination the table does not have.
inline constexpr std::string_view kNotInTable = "not-in-table";

/// What a failed completion means (ibv_wc_status of rdma-core libibverbs/verbs.h).
struct CompletionError {
  unsigned status = 0;
  std::string_view name;  ///< "IBV_WC_RETRY_EXC_ERR"
  std::string_view text;  ///< as ibv_wc_status_str() and UCX print it, in lower case
  std::string_view meaning;
};

std::span<const CompletionError> completion_errors();

/// "completion with status 12 (retries exceeded): …"; behind it the vendor's number, if the line
/// has one.
VerbFailure completion_failure(unsigned status, std::string_view line);

/// The status that a line of UCX, Mooncake or NVSHMEM has in words, by its name, or as the syndrome
/// of mlx5 "(synd 0x15 ".
std::optional<unsigned> completion_status_in_words(std::string_view line);

}  // namespace railhead::proof
