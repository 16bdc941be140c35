// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/job_size.h"
#include "node/node.h"
#include "usage/usage.h"

namespace railhead::proof {

/// Does this container use RDMA?
enum class Verdict : std::uint8_t {
  rdma,     ///< it has connected queue pairs
  tcp,      ///< it has none, and TCP connections to elsewhere
  idle,     ///< it has neither
  unknown,  ///< not everything could be seen, and what could proves nothing
};
std::string_view to_string(Verdict verdict);  ///< "RDMA", "TCP", "idle", "unknown"

/// What shows that a container uses RDMA, strongest first.
enum class Rung : std::uint8_t {
  queue_pair,    ///< a connected queue pair is in the kernel's list
  sole_user,     ///< nobody else uses the device, and its ports' counters move
  devx_objects,  ///< memory is registered, and the driver keeps queue pairs out of the list (DEVX)
  log,           ///< a log says that RDMA was chosen
  nothing,
};
std::string_view to_string(Rung rung);  ///< "queue pair", "sole user", "DEVX objects", "log"…

/// What a container was given, and what it is called, from whoever knows: the bundle, or the agent.
struct ContainerRecord {
  std::string container_id;
  std::string pod_namespace;
  std::string pod;
  std::string pod_uid;
  std::string container;
  std::vector<std::string> gpus;  ///< UUIDs, else PCI addresses
  std::vector<std::string> nics;  ///< RDMA devices that it may open
  bool sandbox = false;
  container::JobSize job;  ///< as its environment states it
  std::string off_rdma{};  ///< which variables keep its libraries off RDMA, and why; "": none
  /// "a slot of a pool", "rdma.railhead.io/pod: required": it was given or promised RDMA on demand;
  /// "": not.
  std::string asked{};
};

/// What a container has on one device.
struct DeviceShare {
  std::size_t queue_pairs = 0;
  std::size_t ready = 0;      ///< in RTS
  std::size_t connected = 0;  ///< to another queue pair (not UD, not looped to itself): in RTS, or
                              ///< in RTR and packets arrived since the reading before
  std::size_t unproved = 0;   ///< in RTS, of a driver's own kind that names no peer (EFA's SRD,
                              ///< mlx5's DC), and nothing shows that they are used
  std::size_t looped = 0;     ///< in RTS, whose own number is their peer's: see count.h
  std::size_t datagrams = 0;  ///< in RTS, of type UD
  std::size_t passive = 0;    ///< in RTR, and nothing arrived: may be the side that only receives
  /// Queue pairs whose sequence numbers moved since the reading before; absent where none could be
  /// compared.
  std::optional<std::size_t> moving;
  std::size_t appeared = 0;  ///< queue pairs that the reading before did not have; all without one
  std::vector<std::string> examples;  ///< a few of them: "pid 4711 lqpn 17 RTS mlx5_0/1"
  std::size_t regions = 0;
  std::size_t implicit_regions = 0;    ///< those of the whole address space (on-demand paging)
  std::uint64_t registered_bytes = 0;  ///< of the others; saturated
  std::size_t contexts = 0;
  std::size_t connection_ids = 0;
  std::optional<double> bytes_per_second;    ///< through the device's ports, all users together
  std::optional<double> packets_per_second;  ///< where it counts no bytes
  bool sole_user = true;  ///< no other owner has queue pairs, memory or contexts on it
  /// Since the reading before it is the sole user, everything that could show another was seen, it
  /// has memory or queue pairs there, and the ports move more than what keeps a fabric together.
  bool moves_alone = false;
  /// So it was since the reading before that, too. A program that began and ended between two
  /// readings is in neither, and what it moved would count for the sole user.
  bool proved_by_traffic = false;

  friend bool operator==(const DeviceShare&, const DeviceShare&) = default;
};

struct Evidence {
  std::string source;  ///< "netlink res qp", "proc net tcp"
  std::string value;

  friend bool operator==(const Evidence&, const Evidence&) = default;
};

/// A container and its use of RDMA at one moment.
struct PodUse {
  ContainerRecord record;
  std::vector<std::uint32_t> processes;
  std::optional<double> age_seconds;   ///< of its oldest process
  std::optional<double> work_seconds;  ///< since a process of it opened a GPU; else its age
  std::map<std::string, DeviceShare> devices;
  usage::FileUse files;
  std::optional<usage::NetworkUse> network;
  std::string network_problem;                     ///< why that is absent; "" where nobody looked
  std::optional<double> network_bytes_per_second;  ///< by the netdevs of its namespace
  std::optional<double> tcp_bytes_per_second;      ///< both ways, of its connections to elsewhere
  Verdict verdict = Verdict::unknown;
  Rung rung = Rung::nothing;
  std::string why;
  std::vector<Evidence> evidence;
  std::vector<std::string> expects;  ///< what says that it is due to use RDMA; see docs/pods.md
  /// Holds a GPU, is due to use RDMA, is old enough and certainly does not, nor does another
  /// container of its pod. One look alone: PodLedger makes an alarm of three.
  bool silent_fallback = false;
  unsigned suspicious_looks = 0;  ///< in a row that found it so; counted by PodLedger
  bool ignored = false;           ///< by the options: never a fallback

  [[nodiscard]] DeviceShare total() const;
};

struct ProofOptions {
  double grace_seconds = 300;            ///< from when it opened its GPUs until it is a fallback
  bool all = false;                      ///< containers without GPUs, NICs and RDMA objects, too
  std::vector<std::string> ignore = {};  ///< "namespace/pod" patterns of those that are no fallback
  /// Of pods, by name or "namespace/pod": what their log says, "RDMA (chosen): …".
  std::map<std::string, std::string> logs = {};
};

struct PodsView {
  std::vector<PodUse> pods;  ///< by namespace, pod, container, id
  std::size_t host_queue_pairs = 0;
  std::size_t kernel_queue_pairs = 0;
  std::size_t ownerless_queue_pairs = 0;
  std::vector<std::string> warnings;  ///< what could not be seen, and why
  bool complete = true;         ///< false: some verdict may be wrong by what could not be seen
  bool sees_containers = true;  ///< false: that one is not here says nothing
};

/// Judges every container. `before` is an earlier reading of the same machine, for traffic; without
/// one nothing is said of it.
PodsView judge_pods(const usage::Usage& now, const usage::Usage* before, const node::Node& node,
                    const std::vector<ContainerRecord>& records, const ProofOptions& options);

}  // namespace railhead::proof
