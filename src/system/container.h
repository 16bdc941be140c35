// SPDX-License-Identifier: Apache-2.0
//
// A container as the doctor looks at it, through one of its processes. Invariants:
//   * a container controls all that is below its root, so that is read through a Host of its own
//     (host::DirectoryHost::open_foreign): no link leads out of it, and nothing but a regular file
//     is opened;
//   * of its environment and its bundle nothing is kept that no check looks at: both hold secrets;
//   * what could not be read is not known, never absent.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"
#include "host/process.h"
#include "node/node.h"
#include "system/fact.h"

namespace railhead::system {

/// Who a process is. Source: Linux Documentation/filesystems/proc.rst, /proc/PID/status.
struct Credentials {
  std::optional<std::uint64_t> uid;  ///< effective, in the first user namespace
  std::optional<std::uint64_t> cap_effective;
  std::optional<std::uint64_t> cap_bounding;
};

/// A rule of the device cgroup. Source: OCI runtime specification, config-linux.md, "Allowed Device
/// list": rules stand in order, and a later one wins.
struct DeviceRule {
  bool allow = false;
  char type = 'a';                      ///< 'a': all, 'c', 'b'
  std::optional<std::int64_t> major{};  ///< absent: any
  std::optional<std::int64_t> minor{};
  std::string access{};  ///< of "rwm"
};

/// A device node in the container's /dev.
struct ContainerNode {
  std::string path;  ///< as the container has it: "/dev/infiniband/uverbs0"
  host::DeviceNode node;
};

/// Shared objects that verbs need, as the dynamic loader would find them.
struct Libraries {
  std::vector<std::string> searched;    ///< folders that are there
  std::vector<std::string> found;       ///< "/usr/lib64/libibverbs.so.1"
  std::vector<std::string> unreadable;  ///< folders that could not be looked at, with why
};

/// UCX as a container has it. Its ways to the network are modules, which it loads from the folder
/// "ucx" beside its library, or from UCX_MODULE_DIR (UCX src/ucs/sys/module.c).
struct UcxLibrary {
  std::string path;          ///< "/usr/lib/libucp.so.0"
  bool mapped = false;       ///< a process has taken it
  std::string modules;       ///< the folder of its modules
  bool has_verbs = false;    ///< libuct_ib is among them
  std::string unreadable{};  ///< why that is not known
};

/// A kernel interface of a driver, and the version that the container's device has:
/// /sys/class/infiniband_verbs/uverbsN/abi_version.
using AbiVersions = std::map<std::string, Text, std::less<>>;  ///< by the name of the NIC

/// What `railhead pods` says of it by one look.
struct TransportVerdict {
  enum class Kind : std::uint8_t { rdma, tcp, idle, unknown };
  Kind kind = Kind::unknown;
  bool silent_fallback = false;
  std::string why;
  std::vector<std::pair<std::string, std::string>> evidence;  ///< source, value
};

struct Container {
  std::string name;  ///< what findings are about: its name, else "pid 4711"
  std::string id;    ///< "" for a process that is in none
  int pid = 0;       ///< the process that is looked at
  std::string root;  ///< "/proc/4711/root"

  Fact<host::ProcessFacts> limits;              ///< at /proc/PID/limits
  Fact<Credentials> credentials;                ///< at /proc/PID/status
  Text uid_map;                                 ///< /proc/PID/uid_map
  Text network;                                 ///< target of /proc/PID/ns/net
  Text node_network;                            ///< target of /proc/1/ns/net
  Fact<std::vector<std::string>> environment;   ///< of kContainerVariables and transports alone
  Fact<std::vector<DeviceRule>> device_rules;   ///< at config.json of its bundle
  Fact<std::vector<std::string>> held;          ///< paths in /dev/infiniband that it has open
  Fact<std::vector<std::string>> mapped;        ///< shared objects of RDMA in its memory
  Fact<std::vector<ContainerNode>> rdma_nodes;  ///< in /dev/infiniband
  Fact<std::vector<ContainerNode>> gpu_nodes;   ///< GPUs, without the nodes that control them
  Fact<Libraries> libraries;
  /// What its libibverbs puts behind the names of providers that it loads: "-rdmav34.so".
  Text provider_suffix;
  AbiVersions abi;  ///< of NICs whose node it has
  std::vector<UcxLibrary> ucx;
  Fact<host::DeviceNode> gdrdrv;  ///< its /dev/gdrdrv
  /// GIDs that are not zero of "mlx5_0/1", as its own sysfs has them; of NICs whose node it has.
  std::map<std::string, Fact<std::vector<node::Gid>>, std::less<>> gids;
  Fact<std::vector<std::string>> netdevs;    ///< of its network namespace
  Fact<std::vector<std::string>> addresses;  ///< of it, spelt as the GIDs that they make
  Text shm;                                  ///< options of the mount at /dev/shm
  std::optional<TransportVerdict> transport{};
};

/// Variables that checks look at beyond those of transports/.
inline constexpr std::array<std::string_view, 10> kContainerVariables = {
    "NCCL_SOCKET_IFNAME",       "NCCL_NET_GDR_LEVEL", "NCCL_P2P_LEVEL",
    "LD_LIBRARY_PATH",          "NCCL_TOPO_FILE",     "NCCL_IB_TC",
    "UCX_IB_TRAFFIC_CLASS",     "UCX_MODULE_DIR",     "NVSHMEM_IB_ENABLE_IBGDA",
    "NVSHMEM_IBGDA_NIC_HANDLER"};

/// Where a container is looked at.
struct ContainerSource {
  host::Host& host;      ///< of the machine
  std::string proc_dir;  ///< "/proc"
  /// The container's root through this path of the machine; an Error where it may not be entered.
  std::function<Result<std::unique_ptr<host::Host>>(const std::string& root)> open_root;
};

/// The container of this process, or the process alone. Fails where there is no such process.
Result<Container> read_container(const ContainerSource& source, const node::Node& node, int pid);

/// A process of each container of a pod, by name, the pause container left out. Fails where there
/// is none of it, saying whether all processes could be seen.
Result<std::vector<int>> find_pod(const ContainerSource& source, std::string_view pod_namespace,
                                  std::string_view pod);

/// Whether the rules let a process open this node for reading and writing.
bool may_open(const std::vector<DeviceRule>& rules, const host::DeviceNode& node);

/// The rules in the text of an OCI runtime specification.
Result<std::vector<DeviceRule>> parse_device_rules(std::string_view config_json);

/// "-rdmav34.so", in the bytes of libibverbs: it loads no other provider. Absent where there is no
/// such text. Source: rdma-core libibverbs/dynamic_driver.c, VERBS_PROVIDER_SUFFIX.
std::optional<std::string> provider_suffix_in(std::string_view library);

/// Addresses that are local to a network namespace, spelt as GIDs, from the texts of
/// /proc/PID/net/fib_trie and if_inet6; 127.0.0.0/8 and ::1 are left out.
/// Source: Linux net/ipv4/fib_trie.c (fib_triestat_seq_show), net/ipv6/addrconf.c (if6_seq_show).
std::vector<std::string> local_addresses(std::string_view fib_trie, std::string_view if_inet6);

}  // namespace railhead::system
