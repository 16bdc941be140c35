// SPDX-License-Identifier: Apache-2.0
// Lists of NICs in variables, as the libraries read them. Invariants:
//   * a list is cut where its library cuts it, so no value makes more work than that;
//   * white space is part of a name, as it is for the libraries;
//   * releases of UCX read a list in three ways: what they do not agree on is no contradiction.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railhead::transports {

struct NicListEntry {
  enum class Means : std::uint8_t {
    name,       ///< `name`, with `port`
    beginning,  ///< all names that begin so, with `port`
    device,     ///< "mlx5_0" or "mlx5_0:1", as `text` has it
    port_of,    ///< "mlx5_0:1" alone, as `text` has it
    range,      ///< the same, where a number from `first` to `last` is between `name` and `suffix`
  };
  Means means = Means::name;
  std::string_view text{};  ///< as it is written
  std::string_view name{};
  std::optional<int> port{};  ///< absent: any
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::string_view suffix{};

  /// Whether it means this NIC, with whichever port.
  [[nodiscard]] bool names(std::string_view nic) const;
  [[nodiscard]] bool names(std::string_view nic, unsigned of_port) const;
};

struct NicList {
  std::vector<NicListEntry> entries;
  bool excludes = false;  ///< what the entries name is left out
  bool takes_all = false;

  [[nodiscard]] bool takes(std::string_view nic, unsigned port) const;

  [[nodiscard]] bool takes_nothing() const { return !takes_all && !excludes && entries.empty(); }
};

/// NCCL_IB_HCA: "^" first leaves out what is named, "=" next takes whole names, else an entry is
/// the beginning of names. name[:port[:rail[:plane]]], 63 bytes of a name, 32 entries; no entry is
/// all NICs, and behind "^" none.
/// Source: NCCL 2.30.7 src/misc/utils.cc (parseStringList, matchIfList),
/// src/transport/net_ib/init.cc (ncclIbInitDevices; MAX_IB_DEVS, 16 up to 2.12).
NicList nccl_list(std::string_view value);

/// The releases of UCX that read UCX_NET_DEVICES alike, from the oldest.
enum class UcxRelease : std::uint8_t { before_1_21, v1_21, since_1_22 };
inline constexpr std::array kUcxReleases = {UcxRelease::before_1_21, UcxRelease::v1_21,
                                            UcxRelease::since_1_22};

/// UCX_NET_DEVICES: names of devices with their ports, "mlx5_0:1". "all" is all NICs, and becomes a
/// list without an entry (an empty value makes UCX end with an error). Since 1.21 the port may be
/// left out and "^" first leaves out what is named; before, both match no device. Since 1.22
/// "mlx5_[0-3]:1" is a range. 128 entries.
/// Source: UCX 1.12.0, 1.20.1, 1.21.0 and 1.22.0 src/ucp/core/ucp_context.c (ucp_config_table,
/// ucp_is_resource_in_device_list), src/ucs/config/parser.c (ucs_config_sscanf_allow_list,
/// ucs_config_array_expand_range).
NicList ucx_list(std::string_view value, UcxRelease release);

/// What in a value of UCX_NET_DEVICES older releases do not read.
struct UcxNewSyntax {
  std::string_view since;  ///< the first release that reads it: "1.21", "1.22"
  std::string_view entry;  ///< the first such entry; "^" with all that follows
  std::string for_all{};   ///< the list as all releases read it; "" where it cannot be written out
};

/// Absent where all releases read the value alike. An entry without a port may be a netdev, for
/// TCP, and counts where `is_nic` knows its name.
std::optional<UcxNewSyntax> ucx_new_syntax(std::string_view value,
                                           const std::function<bool(std::string_view)>& is_nic);

/// NVSHMEM_HCA_LIST: whole names, name[:port]; "^" first leaves out what is named; no entry is all
/// NICs, also behind "^". 48 entries.
/// Source: NVSHMEM 3.4.5 src/modules/transport/common/transport_common.cpp
/// (nvshmemt_parse_hca_list), src/modules/transport/ibrc/ibrc.cpp (nvshmemt_init).
NicList nvshmem_list(std::string_view value);

/// NVSHMEM_HCA_PE_MAPPING: name:port:processes. "^" is passed over. 32 entries. Source: as above.
NicList nvshmem_mapping(std::string_view value);

}  // namespace railhead::transports
