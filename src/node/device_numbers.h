// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/changes.h"
#include "host/host.h"
#include "node/node.h"

namespace railhead::node {

/// True where a device node of an RDMA device has other numbers than the machine was read with,
/// belongs to another device, or has gone: its old numbers may be those of another NIC. For when
/// events are missing (Watch::blind()). Two small files a node, which no driver is asked for.
bool device_numbers_differ(host::Host& host, const Node& node);

/// Which of the touched device nodes (Watch::touched()) came, went, or have another mode, owner or
/// number than when the machine was read. One stat(2) a node.
host::MachineChanges changed_nodes(host::Host& host, const Node& node,
                                   const host::MachineChanges& touched);

}  // namespace railhead::node
