// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace railhead::transports {

/// What is read of an environment. NCCL_SOCKET_IFNAME is not among them: it chooses the interface
/// for sockets, and no value of it keeps NCCL off RDMA (NCCL 2.30.7 src/os/linux.cc).
enum class Variable : std::uint8_t {
  nccl_net,
  nccl_net_plugin,
  nccl_ib_disable,
  nccl_ib_hca,
  nccl_ib_gid_index,
  ucx_tls,
  ucx_net_devices,
  nvshmem_remote_transport,
  nvshmem_ib_enable_ibgda,
  nvshmem_hca_list,
  nvshmem_hca_pe_mapping,
  nvshmem_ib_gid_index,
};

inline constexpr std::array<std::string_view, 12> kVariables = {
    "NCCL_NET",         "NCCL_NET_PLUGIN",          "NCCL_IB_DISABLE",
    "NCCL_IB_HCA",      "NCCL_IB_GID_INDEX",        "UCX_TLS",
    "UCX_NET_DEVICES",  "NVSHMEM_REMOTE_TRANSPORT", "NVSHMEM_IB_ENABLE_IBGDA",
    "NVSHMEM_HCA_LIST", "NVSHMEM_HCA_PE_MAPPING",   "NVSHMEM_IB_GID_INDEX"};

constexpr std::string_view name_of(Variable variable) {
  return kVariables[static_cast<std::size_t>(variable)];
}

/// Whether it begins as one of them. Few variables of a container do, and nearly all others differ
/// in the second character.
constexpr bool begins_as_variable(std::string_view entry) {
  if (entry.size() < 2) return false;
  switch (entry[1]) {
    case 'C': return entry.starts_with("NCCL_") || entry.starts_with("UCX_");
    case 'V': return entry.starts_with("NVSHMEM_");
    default: return false;
  }
}

static_assert(std::ranges::all_of(kVariables, begins_as_variable));

/// Index into kVariables of the name before "="; their number where it is none of them.
std::size_t index_of_variable(std::string_view entry);

/// "NAME=value" of a name above: a choice of NICs or transports, no secret.
inline bool is_transport_variable(std::string_view entry) {
  return begins_as_variable(entry) && index_of_variable(entry) < kVariables.size();
}

/// The values, as they stand: the libraries take no white space away. Of several entries of one
/// name the last counts, as the runtime hands it on. Views the environment.
class Values {
 public:
  explicit Values(const std::vector<std::string_view>& environment);

  [[nodiscard]] bool empty() const { return empty_; }

  [[nodiscard]] std::optional<std::string_view> find(Variable variable) const {
    return values_[static_cast<std::size_t>(variable)];
  }

  /// "" where it is not set.
  [[nodiscard]] std::string_view text(Variable variable) const {
    return find(variable).value_or(std::string_view());
  }

 private:
  std::array<std::optional<std::string_view>, kVariables.size()> values_;
  bool empty_ = true;
};

}  // namespace railhead::transports
