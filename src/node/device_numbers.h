// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/host.h"
#include "node/node.h"

namespace railhead {

/// True where a device node of an RDMA device has other numbers than the machine was read with,
/// belongs to another device, or has gone: its old numbers may be those of another NIC. For when
/// events are missing (Watch::blind()). Two small files a node, which no driver is asked for.
bool device_numbers_differ(Host& host, const Node& node);

}  // namespace railhead
