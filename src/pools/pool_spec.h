// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace railhead::pools {

/// Whether many pods may hold a NIC at the same time.
enum class PoolMode : std::uint8_t { shared, exclusive };
std::string_view to_string(PoolMode mode);  ///< "shared", "exclusive"

/// What makes a device of a pool healthy.
enum class PoolHealth : std::uint8_t {
  link,    ///< who gets it can communicate: an ACTIVE port, of an idle function its cable
  device,  ///< its RDMA device is there, whatever its ports say
};
std::string_view to_string(PoolHealth health);  ///< "link", "device"

/// Which link several free devices are best taken from.
enum class PoolPreference : std::uint8_t {
  spread,  ///< those of one container from many links, and the link with the fewest taken
  pack,    ///< from as few links as can be, and the link with the most taken
};
std::string_view to_string(PoolPreference preference);  ///< "spread", "pack"

/// Whose pool it is: that plugin's file describes it, or our `replaces` names the plugin. Device
/// ids, variables, and what becomes of functions that two exclusive pools want are as there.
enum class PoolFlavour : std::uint8_t {
  railhead,                ///< `pools:` of our file, or the default pool
  shared_plugin,           ///< Mellanox/k8s-rdma-shared-dev-plugin
  sriov_plugin,            ///< k8snetworkplumbingwg/sriov-network-device-plugin
  k8s_rdma_device_plugin,  ///< jiusanzhou/k8s-rdma-device-plugin: its file and RDMA_* variables
};
std::string_view to_string(PoolFlavour flavour);  ///< the project's name

struct PoolOrigin {
  PoolFlavour flavour = PoolFlavour::railhead;
  std::string where;  ///< "config.json:3:5", "RDMA_RESOURCE_NAME"; "" for the built-in default

  friend bool operator==(const PoolOrigin&, const PoolOrigin&) = default;
};

/// What kind of thing a pool hands out.
enum class FunctionKind : std::uint8_t {
  physical,  ///< a PCI function
  virtual_,  ///< an SR-IOV virtual function
  scalable,  ///< a scalable (sub-)function on the auxiliary bus
  soft,      ///< a soft RDMA device (rxe, siw)
};
std::string_view to_string(FunctionKind kind);  ///< "pf", "vf", "sf", "soft"

/// `ens1f0np0#0,2-7`: some functions of a physical function. No ranges: all of them.
struct FunctionRange {
  std::string parent;  ///< as the file says it: a netdev name, or a PCI address
  std::vector<std::pair<unsigned, unsigned>> ranges;  ///< both ends belong to it

  /// Malformed: no name, an empty list, a text that is no number, an end below its start.
  static Result<FunctionRange> parse(std::string_view text);
  /// The same as sriov-network-device-plugin takes it, from left to right: what stands before a
  /// part that cannot be read counts, and one that ends before it begins is passed over. `warn`
  /// gets what is wrong and what comes of it. Malformed: nothing is left.
  using Warn = std::function<void(const Error& error, std::string_view consequence)>;
  static Result<FunctionRange> parse_what_can_be_read(std::string_view text, const Warn& warn);

  [[nodiscard]] bool covers(unsigned index) const;

  friend bool operator==(const FunctionRange&, const FunctionRange&) = default;
};

/// What a condition looks at. Each has a row in src/pools/selectors.cpp, in this order.
enum class Fact : std::uint8_t {
  rdma_name,       ///< names of its RDMA devices
  pci_address,     ///< its own
  vendor,          ///< PCI vendor id, four lower-case hexadecimal digits
  device,          ///< PCI device id, likewise
  driver,          ///< bound kernel driver
  netdev,          ///< names of its network interfaces
  link_type,       ///< its link layer as netlink says it: "infiniband", "ether"
  pf_name,         ///< netdev of its physical function, with its number there
  root_device,     ///< PCI address of its physical function, with its number there
  link_layer,      ///< "InfiniBand", "Ethernet"
  port_state,      ///< "ACTIVE"
  rate_gbps,       ///< of its ACTIVE ports; the condition's value is the least
  guid,            ///< node and system image GUID, 16 hexadecimal digits
  numa_node,       ///< a number
  first_pkey,      ///< entry 0 of an InfiniBand port's table, as sysfs prints it
  acpi_index,      ///< the firmware's number, as sysfs prints it
  role,            ///< what the affinity layer says it is for
  subnet,          ///< GIDs, matched by address prefixes
  pkey,            ///< partitions of its ports, without the membership bit
  ddp_package,     ///< what Dynamic Device Personalization runs on its physical function
  vdpa_type,       ///< "vhost", "virtio": what its vDPA device is bound to
  auxiliary_type,  ///< "sf" of mlx5_core.sf.4
  end,
};

enum class Match : std::uint8_t { exact, any_case, glob };

/// One key of a selector. Holds if anything that is known of the fact matches one of the values.
struct Condition {
  Fact fact = Fact::vendor;
  std::string key;                  ///< as the file spells it, for reasons
  std::vector<std::string> values;  ///< in the notation of the fact
  Match match = Match::exact;
  std::vector<FunctionRange> functions;  ///< of pf_name and root_device, in place of `values`

  friend bool operator==(const Condition&, const Condition&) = default;
};

/// Holds if all its conditions hold; without any, for everything.
struct Selector {
  std::vector<Condition> conditions;
  bool rdma = true;        ///< only what has an RDMA device, and its nodes are handed out
  bool vhost_net = false;  ///< needVhostNet: /dev/vhost-net and /dev/net/tun come along

  friend bool operator==(const Selector&, const Selector&) = default;
};

/// A named resource as configured. It says by selectors which functions of any machine are in it.
struct PoolSpec {
  std::string name;  ///< "rdma.io/hca": what pods ask for
  PoolMode mode = PoolMode::shared;
  /// Shared: identical slots, each an admission to the whole pool.
  unsigned slots = 0;
  /// Shared: present where a slot is one NIC; so many for each.
  std::optional<unsigned> slots_per_nic;
  std::vector<FunctionKind> kinds;  ///< of these only
  std::vector<Selector> include;    ///< the first that holds
  std::vector<Selector> exclude;    ///< unless one of these holds
  /// Device classes (uverbs, rdma_cm, umad, issm) besides those of `injection.devices`.
  std::vector<std::string> devices;
  bool exclude_topology = false;  ///< no NUMA hint
  PoolHealth health = PoolHealth::link;
  PoolPreference prefer = PoolPreference::spread;
  /// Shared: a container with GPUs gets only those NICs of its slots that belong to its GPUs.
  bool narrow = true;
  /// By PCI address, or "*" for all: what goes into PCIDEVICE_…_INFO.
  std::map<std::string, std::map<std::string, std::string>> additional_info;
  PoolOrigin origin;

  friend bool operator==(const PoolSpec&, const PoolSpec&) = default;
};

/// The same resource with the same devices and ids, wherever it is written.
bool is_same_pool(PoolSpec a, const PoolSpec& b);

/// rdma.io/hca with 100 fungible slots: the NICs of role compute. What there is where nothing is
/// configured.
PoolSpec default_pool();

}  // namespace railhead::pools
