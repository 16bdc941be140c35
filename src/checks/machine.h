// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "affinity/affinity.h"
#include "affinity/expectations.h"
#include "checks/finding.h"
#include "checks/history.h"
#include "node/node.h"
#include "proof/pods.h"
#include "system/container.h"
#include "system/system.h"
#include "topology/arrange.h"

namespace railhead::checks {

/// A selector of a resource that goes by the names of netdevs.
struct NetdevSelector {
  std::string resource;               ///< "rdma.io/hca"
  std::string key;                    ///< as the file spells it, "pfNames"
  std::vector<std::string> patterns;  ///< shell patterns of names

  friend bool operator==(const NetdevSelector&, const NetdevSelector&) = default;
};

/// The part of the operator's configuration that checks go by.
struct Wishes {
  affinity::OperatorRules rules{};                   ///< `roles:` and `expect:`
  bool nri = true;                                   ///< the agent is to use NRI
  bool nccl_file = true;                             ///< containers with GPUs get a topology file
  std::optional<topology::NcclTopology> topology{};  ///< the operator's file
  std::vector<NetdevSelector> netdevs{};             ///< of resources
};

/// What a measurement of a NIC with itself gave.
struct Loopback {
  std::string nic;
  std::string command;
  /// As railhead-bench says it: "ok", "in-use", "data-mismatch"…; "" where it did not say anything.
  std::string state{};
  std::string why{};                      ///< what it says of that, or why it said nothing
  std::optional<double> gbps{};           ///< of the step
  std::optional<double> expected_gbps{};  ///< of link and slot
  double cap_gbps = 0;                    ///< more was not sent
  std::uint64_t messages_compared = 0;
};

/// Reads what railhead-bench printed as JSON into state, why and numbers.
void read_bench(std::string_view json, Loopback& into);

/// What a run looks at besides node and system.
struct MoreFacts {
  std::vector<system::Container> containers{};       ///< of checks of Scope::pod
  std::optional<system::System> earlier{};           ///< the counters of an earlier look
  std::optional<std::vector<Loopback>> loopbacks{};  ///< where they were asked for
  std::vector<proof::PodUse> uses{};                 ///< of the containers, by one look
  std::optional<History> history{};                  ///< of many looks, this one included
};

/// All that a check may look at.
class Machine {
 public:
  Machine(node::Node as_read, system::System beyond, Wishes wishes, MoreFacts more = {});
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const Wishes wishes;
  const railhead::node::Node node;                    ///< as sysfs has it
  const railhead::topology::Arrangement arrangement;  ///< as it is believed
  const railhead::topology::Topology topology;        ///< of the arrangement
  const affinity::Deal deal;
  const std::vector<affinity::ExpectedNic> expected;  ///< for each NIC
  const railhead::system::System system;
  const std::vector<railhead::system::Container> containers;
  const std::vector<proof::PodUse> uses;  ///< of the containers, by their ids
  const std::optional<railhead::system::System> earlier;
  const std::optional<std::vector<Loopback>> loopbacks;
  const std::optional<History> history;

  [[nodiscard]] const affinity::RoleDecision& role(std::size_t nic) const {
    return deal.roles[nic];
  }

  [[nodiscard]] std::size_t compute_nics() const;
  /// Traffic of GPUs or of storage goes over it: what is down there is missed.
  [[nodiscard]] bool carries_traffic(std::size_t nic) const;
  /// The indices of these NICs, without those that the operator calls unused.
  [[nodiscard]] std::vector<std::size_t> traffic_nics() const;
  /// Registered, in this network namespace, with this link layer on some port.
  [[nodiscard]] bool has_layer(std::size_t nic, node::LinkLayer layer) const;
  [[nodiscard]] bool has_layer(node::LinkLayer layer) const;
  [[nodiscard]] const node::PciDevice* function(std::size_t nic) const;
  /// Whether two NICs have the same PCI ids.
  [[nodiscard]] bool same_model(std::size_t a, std::size_t b) const;
  /// What could not be read below this path, so that "there is none" would be a guess.
  [[nodiscard]] const node::Problem* unreadable(std::string_view path) const;
  /// What could not be read, or is malformed, with this in its path.
  [[nodiscard]] const node::Problem* problem_with(std::string_view part) const;

  /// The same at a path below /sys/class or further down. What is read has the path to which the
  /// link of its device leads, which ends alike.
  [[nodiscard]] const node::Problem* problem_below(std::string_view class_path) const;

  /// Whether a kernel module is there, loaded or built in. Absent where that is not known.
  [[nodiscard]] std::optional<bool> has_module(std::string_view name) const;
};

/// "mlx5_3/1"
std::string port_name(const node::Nic& nic, const node::Port& port);
/// "/sys/class/infiniband/mlx5_3/ports/1/" and the file.
std::string port_path(const node::Nic& nic, const node::Port& port, std::string_view file);
/// "/sys/bus/pci/devices/0000:18:00.0/" and the file.
std::string pci_path(const node::PciAddress& address, std::string_view file);
/// The driver of a PCI function, from the file that has it: uevent names it, and where that names
/// none, the link was looked for.
Evidence driver_evidence(const node::PciAddress& address, const std::optional<std::string>& driver);
std::string netdev_path(std::string_view netdev, std::string_view file);

/// What stands for the whole machine.
inline constexpr const char* kNode = "node";

}  // namespace railhead::checks
