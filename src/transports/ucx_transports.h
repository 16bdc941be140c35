// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace railhead::transports {

/// Whether a value of UCX_TLS leaves UCX a transport over RDMA. True where a word is not known
/// here, and for an empty value, with which UCX ends with an error.
bool has_rdma_transport(std::string_view value);

}  // namespace railhead::transports
