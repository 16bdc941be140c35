// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace railhead::proof {

/// What moves the bytes under a network of NCCL's.
enum class NcclCarrier : std::uint8_t { rdma, tcp, unknown };

/// By the name that NCCL or a plugin prints. Unknown for names we have no source for, and for
/// layers that choose by themselves (UCX); libfabric is decided by its provider.
NcclCarrier nccl_carrier(std::string_view network, std::string_view ofi_provider);

}  // namespace railhead::proof
