// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace railhead::topology {

/// Printable ASCII without blanks, of the length of a device's name (IB_DEVICE_NAME_MAX of
/// include/uapi/rdma/ib_user_verbs.h is 64 with the zero at the end).
bool is_plain_name(std::string_view text);

/// A name that NCCL can be given: plain, and without what separates names, ports and the signs
/// before them in NCCL_IB_HCA (src/misc/utils.cc parseStringList, src/transport/net_ib). A PCI
/// address is none.
bool is_nccl_name(std::string_view text);

}  // namespace railhead::topology
