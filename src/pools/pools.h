// SPDX-License-Identifier: Apache-2.0
//
// Named resources on a machine.
// * What a pool hands out is a function: a PCI function (PF or VF), a scalable function (SF) or a
//   soft RDMA device, with all RDMA devices it carries.
// * A function is in at most one exclusive pool, and then in no other pool.
// * Device ids depend on the function and the slot alone, never on an order of discovery: the
//   kubelet compares those of its checkpoint with those it is sent.
// * For every function that is not in a pool there is a reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/node.h"
#include "pools/pool_spec.h"

namespace railhead::pools {

/// A device id of the kubelet's API may have so many characters (deviceplugin v1beta1, Device.ID).
inline constexpr std::size_t kMaxDeviceIdLength = 63;

/// A thing that a pool can hand out.
struct NetFunction {
  FunctionKind kind = FunctionKind::physical;
  std::string id;                       ///< PCI address, auxiliary device name or RDMA device name
  std::optional<node::PciAddress> pci;  ///< its own; that of its physical function for an SF
  std::vector<std::size_t> nics;        ///< its RDMA devices, indices into Node::nics
  std::vector<std::string> netdevs;
  std::optional<node::PciAddress> parent;  ///< physical function of a VF or SF
  std::optional<unsigned> index;           ///< number among its parent's VFs, or the SF's number
  std::optional<int> numa_node;
  /// Where its link is in the PCIe tree, as PciDevice has it: for a VF or SF that of its parent.
  std::string root;
  std::vector<node::PciAddress> bridges;

  /// The physical function whose link it uses, its own or its parent's; absent for a soft device.
  [[nodiscard]] const std::optional<node::PciAddress>& link() const {
    return parent ? parent : pci;
  }
};

/// Every network function of the node, PCI functions by address, then SFs, then soft devices.
std::vector<NetFunction> functions_of(const node::Node& node);

/// What other layers know of an RDMA device; one for each of Node::nics.
struct NicStatus {
  std::string role;       ///< "compute"
  std::string trouble;    ///< why it cannot carry traffic now; "" when it can
  bool by_ports = false;  ///< the states of its ports are the whole trouble
  bool unused = false;    ///< by design: in no pool
};

enum class MemberState : std::uint8_t { ready, not_ready };

struct Member {
  std::size_t function = 0;  ///< index into PoolTable::functions
  std::size_t selector = 0;  ///< which of PoolSpec::include holds
  MemberState state = MemberState::ready;
  std::string reason;  ///< of not_ready
};

struct Pool {
  PoolSpec spec;
  std::vector<Member> members;  ///< in the order of functions
  /// What its pods will miss although devices are handed out, such as a kernel module.
  std::vector<std::string> remarks;
};

/// All pools of a machine. A value: it is made anew when the machine or the configuration changes.
struct PoolTable {
  std::vector<NetFunction> functions;
  std::vector<Pool> pools;  ///< in the order of the specs
  /// Per function the exclusive pool that has it.
  std::vector<std::optional<std::size_t>> exclusive;
  /// Functions that two exclusive pools want, naming both. The first keeps it; among pools of the
  /// SR-IOV plugin's files that is the rule and no conflict.
  std::vector<std::string> conflicts;
  std::vector<std::size_t> by_id;  ///< indices of functions, sorted by their ids

  /// The pool of this name, as an index.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;

  /// The function that carries this RDMA device.
  [[nodiscard]] std::optional<std::size_t> function_of(std::size_t nic) const;

  /// The function of this id, whatever its pool.
  [[nodiscard]] std::optional<std::size_t> find_function(std::string_view id) const;

  /// The member of one of these pools that is the function of this id.
  [[nodiscard]] std::optional<std::size_t> find_member(const Pool& pool, std::string_view id) const;

 private:
  [[nodiscard]] std::vector<std::size_t>::const_iterator first_with(std::string_view id) const;
};

/// `statuses` has one entry per NIC.
PoolTable make_pools(const std::vector<PoolSpec>& specs, const node::Node& node,
                     const std::vector<NicStatus>& statuses);

/// Whether a function has an RDMA device, or a pool takes functions without. Of another one there
/// is nothing to say.
bool may_matter(const PoolTable& table, const NetFunction& function);

/// For each function why it is not in a pool, such as "vendors: 8086 is not 15b3"; "" where it is.
/// Arguments as for make_pools(), which made the table.
std::vector<std::string> why_not(const PoolTable& table, const node::Node& node,
                                 const std::vector<NicStatus>& statuses, std::size_t pool);
/// The same for one function.
std::string why_not(const PoolTable& table, const node::Node& node,
                    const std::vector<NicStatus>& statuses, std::size_t pool, std::size_t function);

/// Whether a pool selects functions of this machine and can give none: their drivers are missing,
/// or all its members are not ready. What selects nothing here is empty by design: one
/// configuration serves nodes of many kinds. Arguments as for make_pools(), which made the table.
bool is_useless(const PoolTable& table, const node::Node& node,
                const std::vector<NicStatus>& statuses, std::size_t pool);

/// One device as the kubelet gets it.
struct PoolDevice {
  std::string id;
  std::optional<std::size_t> member;    ///< index into Pool::members; absent for a fungible slot
  std::vector<int> numa_nodes;          ///< empty: no hint
  std::optional<std::size_t> function;  ///< index into PoolTable::functions, where `member` is one
};

/// A pool without members has no devices.
std::size_t device_count(const Pool& pool);
std::vector<PoolDevice> devices_of(const Pool& pool, const std::vector<NetFunction>& functions);

/// The member that a device id of this pool stands for, as an index; absent for a fungible slot and
/// for what is no device of it. Looked up: no list of devices is made.
std::optional<std::size_t> member_of_device(const PoolTable& table, const Pool& pool,
                                            std::string_view id);

/// Whether the slots of a pool are all alike: each an admission to all of its members.
bool is_fungible(const Pool& pool);
/// The number of a slot of a fungible pool; absent for what is no device of it.
std::optional<unsigned> slot_number(const Pool& pool, std::string_view id);

}  // namespace railhead::pools
