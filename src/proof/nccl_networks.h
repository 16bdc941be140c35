// SPDX-License-Identifier: Apache-2.0
//
// Which networks, providers and transports are RDMA and which are TCP, by the names that NCCL, its
// plugins, libfabric and UCX print.
#pragma once

#include <cstdint>
#include <string_view>

namespace railhead::proof {

/// What moves the bytes under a network.
enum class Carrier : std::uint8_t { rdma, tcp, unknown };

/// Of a network of NCCL's; libfabric is decided by its provider. Unknown for names without a source
/// and for layers that choose by themselves.
Carrier carrier_of_network(std::string_view name, std::string_view ofi_provider = {});
Carrier carrier_of_ucx(std::string_view transport);
/// What Mooncake, NVSHMEM and NIXL say themselves.
Carrier carrier_of_store(std::string_view transport);

/// The whole name of a network over TCP that a message or a route begins with; "" for others. A
/// name that breaks off with the text counts, if nothing but TCP begins so.
std::string_view network_over_tcp(std::string_view text);

/// A route or a choice begins with the name of a network that is not over TCP, or with a part of
/// such a name where the text breaks off.
bool is_other_than_tcp(std::string_view text);

}  // namespace railhead::proof
