// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "container/job_size.h"
#include "host/host.h"
#include "usage/bundle.h"
#include "usage/processes.h"
#include "usage/rdma_objects.h"
#include "usage/sockets.h"
#include "usage/unsafe_lists.h"

namespace railhead::usage {

/// How the question for one kind of object ended.
enum class TableState : std::uint8_t {
  read,
  unsupported,  ///< the kernel does not know the question
  gone,         ///< no such device any more, or in another RDMA namespace
  denied,
  interrupted,  ///< the objects changed whenever they were listed
  failed,       ///< anything else: a limit of ours, a malformed answer
  left_out,     ///< not asked for, on purpose
};

/// Objects of one kind of one device, or why there are none. Where the list was given up in the
/// middle (`failed`), the objects are those before.
template <typename Object>
struct RdmaTable {
  TableState state = TableState::gone;
  std::string why;  ///< unless read
  std::vector<Object> objects;

  friend bool operator==(const RdmaTable&, const RdmaTable&) = default;
};

/// Traffic that a device's ports counted since they were set up; wraps and resets happen.
struct PortTraffic {
  /// port_rcv_data and port_xmit_data, which count words; of EFA rx_bytes and tx_bytes.
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> packets;  ///< where there are no bytes (soft-RoCE)

  friend bool operator==(const PortTraffic&, const PortTraffic&) = default;
};

struct RdmaDeviceUse {
  RdmaDevice device;
  RdmaTable<QueuePair> queue_pairs;
  RdmaTable<MemoryRegion> memory_regions;
  RdmaTable<ProtectionDomain> domains;
  RdmaTable<UserContext> contexts;
  RdmaTable<ConnectionId> connections;
  PortTraffic traffic;  ///< of all ports
  /// Of a reading of which only that is kept: whose its objects were; see proof/count.h.
  std::optional<std::set<std::string>> users{};
  /// The container that was its only user in this reading and the one before, while its ports moved
  /// data; see proof/count.h.
  std::optional<std::string> moved_for{};

  friend bool operator==(const RdmaDeviceUse&, const RdmaDeviceUse&) = default;
};

/// What the processes of a container have open; see HeldFiles.
struct FileUse {
  std::size_t devx = 0;
  std::size_t imex_channels = 0;                   ///< open, or in its bundle
  std::vector<std::string> other_fabrics;          ///< "/dev/hfi1_0"
  std::optional<std::uint64_t> gpu_started_ticks;  ///< of its oldest process with a GPU open
  std::string doubt{};                             ///< why there may be more

  friend bool operator==(const FileUse&, const FileUse&) = default;
};

struct ContainerUse {
  ContainerPlace place;
  std::vector<std::uint32_t> processes;  ///< ascending
  std::uint64_t started_ticks = 0;       ///< when the oldest of them began
  std::optional<Bundle> bundle;
  std::string bundle_problem;  ///< why it cannot be read; "": no shim leads to one, or it was read
  /// The rest is known of containers that may concern us; see read_usage.
  container::JobSize job;  ///< as the arguments of its processes state it
  FileUse files;
  std::optional<NetworkUse> network;
  std::string network_problem;  ///< why it is not known, where it was looked at

  friend bool operator==(const ContainerUse&, const ContainerUse&) = default;
};

/// Who uses RDMA on this machine, as it says itself, at one moment.
struct Usage {
  TableState rdma = TableState::gone;  ///< the list of devices; gone: no RDMA netlink here
  std::string rdma_why;
  std::vector<RdmaDeviceUse> devices;
  std::optional<std::uint64_t> asked_ticks;    ///< uptime before the kernel was asked
  std::optional<std::uint64_t> counted_ticks;  ///< uptime when traffic was counted
  bool processes_known = false;
  std::string processes_why;
  ProcessTable processes;
  std::map<std::string, ContainerUse> containers;  ///< by container id
  /// Whether the asking process sees all PIDs: it is in the first PID namespace.
  std::optional<bool> sees_all_processes;
};

/// Of all devices together so many queue pairs are kept, and of each other kind of object half as
/// many: a container may make as many as its devices have room for.
inline constexpr std::size_t kKeptQueuePairs = 65'536;
/// Of the arguments of a container's processes.
inline constexpr std::size_t kArgumentBytes = std::size_t{4} << 20;

/// Reads it. Never fails as a whole. A container's network, files and arguments are looked at where
/// it has a GPU's or an RDMA device, or, without a bundle, always.
Usage read_usage(host::Host& host, const std::string& proc_dir = "/proc",
                 ListQueuePairs queue_pairs = ListQueuePairs::always);

}  // namespace railhead::usage
