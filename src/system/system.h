// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/clock.h"
#include "host/dcb_netlink.h"
#include "host/devlink.h"
#include "host/host.h"
#include "host/process.h"
#include "host/vf_netlink.h"
#include "node/node.h"
#include "node/pci_config.h"
#include "system/container_memlock.h"
#include "system/fact.h"
#include "system/log_patterns.h"
#include "system/node_runtime.h"
#include "system/runtime_answer.h"
#include "system/units.h"
#include "usage/nfs_declarations.h"
#include "usage/nfs_mounts.h"

namespace railhead::system {

/// What is read together, as a set. A check names the parts that it looks at, and no other is read
/// for it.
enum class Part : std::uint32_t {
  none = 0,
  modules = 1U << 0U,     ///< kernel modules, their versions, and what loads them at a start
  kernel = 1U << 1U,      ///< release, command line, IOMMU, settings of memory and processors
  services = 1U << 2U,    ///< the processes of runtime and kubelet, their limits and units
  runtime = 1U << 3U,     ///< configuration and sockets of containerd, CRI-O and the kubelet
  pci_config = 1U << 4U,  ///< configuration space, error counters: NICs, GPUs, bridges above
  netdevs = 1U << 5U,     ///< settings of the netdevs of RDMA NICs, and of their VFs
  gpu_driver = 1U << 6U,  ///< versions and parameters of NVIDIA's driver and of GDRCopy's
  nfs = 1U << 7U,         ///< mounts, what /etc/fstab declares, and Lustre's networks
  counters = 1U << 8U,    ///< error counters of the ports
  kernel_log = 1U << 9U,
  all = (1U << 10U) - 1,
};

constexpr Part operator|(Part a, Part b) {
  return static_cast<Part>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

/// Whether `part` is in the set.
constexpr bool has(Part set, Part part) {
  return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(part)) != 0;
}

/// The folder in configfs of the RDMA connection manager. Source for it and what is below: Linux
/// Documentation/ABI/testing/configfs-rdma_cm.
inline constexpr const char* kConnectionManager = "/sys/kernel/config/rdma_cm";

/// The file with the traffic class of the connection manager's connections, unless they ask for
/// one.
inline std::string default_tos_path(const std::string& nic, unsigned port) {
  return std::string(kConnectionManager) + "/" + nic + "/ports/" + std::to_string(port) +
         "/default_roce_tos";
}

/// That file, and the one that OFED's driver has for all queue pairs of the port.
inline std::array<std::string, 2> traffic_class_paths(const std::string& nic, unsigned port) {
  return {default_tos_path(nic, port),
          "/sys/class/infiniband/" + nic + "/tc/" + std::to_string(port) + "/traffic_class"};
}

/// Processes that are looked for.
inline constexpr std::array<std::string_view, 8> kServiceNames = {
    "containerd",  "crio",       "kubelet",   "railhead",
    "cri-dockerd", "k3s-server", "k3s-agent", "kubelite"};

/// A process that others depend on.
struct Service {
  std::string name;  ///< one of kServiceNames
  int pid = 0;
  Fact<host::ProcessFacts> facts;      ///< at /proc/PID/limits
  std::string config;                  ///< the file that its command line names; "": none
  std::vector<std::string> arguments;  ///< without the program

  friend bool operator==(const Service&, const Service&) = default;
};

struct Processes {
  /// How many names of processes could be read; absent where /proc cannot be listed. A snapshot
  /// without processes has 0.
  Fact<std::size_t> seen{"/proc"};
  std::vector<Service> services;

  [[nodiscard]] const Service* find(std::string_view name) const;
};

/// A module that is loaded when the machine starts, and the file that says so.
struct BootModule {
  std::string name;  ///< with "_" for "-", as the kernel shows it
  std::string path;

  friend bool operator==(const BootModule&, const BootModule&) = default;
};

/// One line of the kernel's log. Source: Linux Documentation/ABI/testing/dev-kmsg.
struct LogLine {
  std::uint64_t usec = 0;  ///< since boot
  std::string text;
  const LogPattern* pattern = nullptr;  ///< that it fits; nullptr: none

  friend bool operator==(const LogLine&, const LogLine&) = default;
};

struct NfsFacts {
  Fact<usage::NfsMounts> mounts{"/proc/1/mountstats"};
  std::vector<usage::NfsDeclaration> declared;  ///< in mount units and /etc/fstab
};

/// What the doctor looks at beyond the Node. Checks are pure functions of both.
struct System {
  /// Small files by their whole path, without the newline at the end.
  std::map<std::string, Text, std::less<>> texts;
  /// Names in directories, by their whole path.
  std::map<std::string, Fact<std::vector<std::string>>, std::less<>> folders;
  Processes processes;
  std::vector<Unit> units;  ///< of containerd, CRI-O and the kubelet
  std::vector<BootModule> boot_modules;
  NodeRuntime runtime;  ///< that the kubelet uses
  std::vector<Listener> listeners;
  /// What this runtime reads; the other one's are those of its default place.
  ContainerdFiles containerd;
  CrioFiles crio;
  std::optional<ContainerMemlock> container_memlock;
  std::map<node::PciAddress, Fact<node::PciConfig>> pci_config;
  /// By netdev, of those with RDMA.
  std::map<std::string, Fact<host::DcbSettings>, std::less<>> dcb;
  /// By netdev of a physical function that has virtual ones.
  std::map<std::string, Fact<std::vector<host::VfSettings>>, std::less<>> vfs;
  /// Settings of the firmware, by the physical function of a NIC; none where nothing says any.
  std::map<node::PciAddress, Fact<std::vector<host::DevlinkParameter>>> firmware;
  Fact<host::DeviceNode> gdrdrv{"/dev/gdrdrv"};
  NfsFacts nfs;
  Fact<std::vector<LogLine>> kernel_log{host::Host::kKernelLog};

  /// Not known, with "not read" for a reason, where no part that was read has it.
  [[nodiscard]] Text text(std::string_view path) const;
  [[nodiscard]] Fact<std::vector<std::string>> folder(std::string_view path) const;
  /// Whether a kernel module is there, loaded or built in. Absent where that is not known.
  [[nodiscard]] std::optional<bool> has_module(std::string_view name) const;
  /// What the runtime makes of its files; of one that is not known, containerd.
  [[nodiscard]] RuntimeAnswer runtime_answer() const;
  /// Where its files put NRI's socket.
  [[nodiscard]] std::string nri_place() const;
  /// The path of NRI's socket, where it is at that place. Absent: it is not there, or nobody
  /// listens.
  [[nodiscard]] std::optional<std::string> nri_socket() const;
  /// Its path where it is there and nobody listens: who made it was ended.
  [[nodiscard]] std::optional<std::string> dead_nri_socket() const;
};

/// How long each part took to read.
using PartTimes = std::map<Part, std::chrono::nanoseconds>;

/// Reads these parts. Never fails as a whole.
System read_system(host::Host& host, const node::Node& node, Part parts);
System read_system(host::Host& host, const node::Node& node, Part parts, host::Clock& clock,
                   PartTimes& times);

}  // namespace railhead::system
