// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "node/node.h"
#include "topology/nccl_topology.h"

namespace railhead::topology {

/// The <system version> that the library of this node's GPUs asks for: RCCL's where GPUs are AMD's
/// or Hygon's and none is NVIDIA's.
unsigned nccl_version_for(const node::Node& node);

/// The file without what it says of the process that wrote it (NCCL_TOPO_DUMP_FILE), so that
/// another process can be given it. What stands in a file counts for NCCL, it asks for the rest
/// (src/graph/{xml,topo}.cc):
///   - <gpu> goes: with `dev` NCCL takes GPU 5 of the dump for the sixth of a container that has
///     one. Without it, it looks the function up by its address.
///   - `gdr` of a <net> goes: it is what that process's driver and plugin were able to do, and
///     NCCL does not look again.
///   - `dev` of a <net> goes: an index into that process's network devices. NCCL counts anew.
/// Addresses, links, speeds, ports and GUIDs are the hardware's and stay.
NcclTopology hardware_of(NcclTopology file);

/// The file with what it leaves out and this machine knows: of a <cpu> its CPUs and processor, of a
/// switch in sysfs its ids. NCCL would take that from sysfs, in each process for what is above its
/// own GPU alone, and the processes' files would not fuse (to_xml()).
NcclTopology completed(NcclTopology file, const node::Node& node);

}  // namespace railhead::topology
