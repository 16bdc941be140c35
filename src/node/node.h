// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/vendors.h"
#include "host/host.h"
#include "node/nic_attributes.h"
#include "node/pci.h"

namespace railhead::node {

/// A character device below /dev with the numbers that sysfs (`dev`) gives, so that a node can be
/// made where /dev is not to be seen. Mode and owner are the host node's, or the kernel's default
/// of the class (uverbs and rdma_cm 0666, umad and issm 0600, root:root) where there is no host
/// node.
struct CharDevice {
  std::string path;  ///< "/dev/infiniband/uverbs0"
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t mode = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  bool on_host = false;  ///< the node exists below /dev of the host

  friend bool operator==(const CharDevice&, const CharDevice&) = default;
};

struct Port : PortAttributes {
  unsigned number = 1;

  friend bool operator==(const Port&, const Port&) = default;
};

/// An RDMA device, or a PCI function that would be one if its driver were bound (`registered`
/// false, `name` is then its PCI address and there are no ports).
struct Nic : NicAttributes {
  std::string name;  ///< as in /sys/class/infiniband, whatever it is
  bool registered = true;
  /// Its RDMA device is in another network namespace, that of a pod: sysfs shows the nodes alone.
  bool elsewhere = false;
  std::optional<PciAddress> pci;  ///< absent for soft devices (rxe, siw)
  std::optional<int> numa_node;   ///< the PCI function's; absent: unknown
  std::optional<std::string> driver;
  /// Of a sub-function the auxiliary device below its PCI function: "mlx5_core.sf.2".
  std::optional<std::string> sub_function;
  std::optional<unsigned> sf_number;  ///< what the operator numbered it (sfnum)
  std::vector<std::string> netdevs;   ///< of the same PCI function, or `parent`
  std::vector<Port> ports;
  std::vector<CharDevice> uverbs;  ///< one in practice
  std::vector<CharDevice> umads;   ///< one a port
  std::vector<CharDevice> issms;

  friend bool operator==(const Nic&, const Nic&) = default;
};

/// A MIG GPU instance (and compute instance) that the driver shows in
/// /proc/driver/nvidia/capabilities. It has no UUID there. (nvidia-caps/mig-minors is a table of
/// all instances that could exist and says nothing about those that do.)
struct MigInstance {
  unsigned gpu_instance = 0;
  std::optional<unsigned> compute_instance;

  friend bool operator==(const MigInstance&, const MigInstance&) = default;
};

struct Gpu {
  std::optional<unsigned>
      index;  ///< nvidia-smi's: PCI order over driven, not excluded GPUs of a vendor
  PciAddress pci;
  gpu::GpuVendor vendor = gpu::GpuVendor::nvidia;
  std::optional<std::string> uuid;  ///< "GPU-…"; absent while the driver shows question marks
  std::optional<unsigned> minor;    ///< N of /dev/nvidiaN
  std::optional<std::string> model;
  std::optional<int> numa_node;
  std::optional<std::string> driver;
  bool excluded = false;  ///< "GPU Excluded: Yes"
  std::vector<MigInstance> mig;
  std::optional<unsigned> drm_card;    ///< N of /dev/dri/cardN
  std::optional<unsigned> drm_render;  ///< N of /dev/dri/renderDN

  friend bool operator==(const Gpu&, const Gpu&) = default;
};

struct NumaNode {
  int id = 0;
  std::vector<unsigned> cpus;  ///< empty: memory only (a GPU's own memory, CXL)
  std::optional<int> socket;   ///< physical_package_id of its first CPU
  std::vector<unsigned> distances;

  friend bool operator==(const NumaNode&, const NumaNode&) = default;
};

/// Kept are netdevs of a PCI function, those above them (bond, bridge, VLAN), holders of a default
/// route with what is below them, and parents of soft RDMA devices; not the containers' veths.
struct Netdev {
  std::string name;
  std::optional<PciAddress> pci;
  std::optional<std::string> operstate;  ///< "up", "down", "unknown"
  std::optional<std::string> master;     ///< what it is a port of: a bond, team, bridge, …
  bool default_route = false;      ///< holds one, whatever its metric: proc/1/net/route, ipv6_route
  bool main_route = false;         ///< holds the one that the node's own traffic takes
  std::vector<std::string> lower;  ///< directly below a virtual one: bond members, VLAN parent
  bool elsewhere = false;          ///< in another network namespace now, and known from before
  std::optional<bool> up = {};     ///< somebody has set it up (IFF_UP); absent: not known
  std::optional<bool> carrier = {};  ///< of one that is up: its link works; absent: not known
  bool is_bridge = false;            ///< of Linux: it does without a port that goes

  friend bool operator==(const Netdev&, const Netdev&) = default;
};

/// Module parameter ib_core.netns_mode: in exclusive mode an RDMA device is visible in one network
/// namespace only.
enum class RdmaNetns : std::uint8_t { unknown, shared, exclusive };

/// The first processor as /proc/cpuinfo describes it; those of a machine are alike.
struct Cpu {
  std::optional<std::string> arch;  ///< "x86_64", "arm64", "ppc64": known by which lines there are
  std::optional<std::string> vendor;  ///< x86: "GenuineIntel"
  std::optional<unsigned> family;     ///< x86, as the kernel counts: 6, 25
  std::optional<unsigned> model;

  friend bool operator==(const Cpu&, const Cpu&) = default;
};

/// Desktop Management Interface strings of /sys/class/dmi/id, for recognising virtual machines.
struct Dmi {
  std::optional<std::string> sys_vendor;
  std::optional<std::string> product_name;
  std::optional<std::string> chassis_asset_tag;

  friend bool operator==(const Dmi&, const Dmi&) = default;
};

/// A file as found; parsed where it is used.
struct TextFile {
  std::string path;
  std::string text;

  friend bool operator==(const TextFile&, const TextFile&) = default;
};

/// Something that is there and could not be used. Absence is never a problem.
struct Problem {
  enum class Kind : std::uint8_t { unreadable, malformed };
  Kind kind = Kind::malformed;
  std::string path;
  std::string what;

  /// "/sys/class/infiniband: EACCES"
  [[nodiscard]] std::string text() const { return path + ": " + what; }

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// A character device that a function without RDMA brings along: /dev/vfio/vfio and
/// /dev/vfio/<group> of what a vfio driver holds, /dev/vhost-vdpa-<number>.
struct FunctionDevice {
  CharDevice device;
  std::string sysfs;  ///< folder whose `dev` has the numbers

  friend bool operator==(const FunctionDevice&, const FunctionDevice&) = default;
};

/// The machine, read once. Everything Railhead decides is a pure function of this value.
/// Lists are sorted: PCI devices, GPUs and NICs by PCI address (soft NICs last, by name), the rest
/// by name or number.
struct Node {
  std::string name;            ///< proc/sys/kernel/hostname, "" if absent
  std::vector<PciDevice> pci;  ///< GPUs, network functions and every bridge above them
  std::vector<NumaNode> numa;
  std::vector<Gpu> gpus;
  std::vector<Nic> nics;
  std::vector<Netdev> netdevs;
  bool devices_known = true;  ///< false: the source has no character devices (a topology file)
  std::optional<CharDevice> rdma_cm;
  std::optional<CharDevice> gdrdrv;              ///< GDRCopy's, where its module is loaded
  std::vector<FunctionDevice> function_devices;  ///< each once, those of functions by address
  RdmaNetns rdma_netns = RdmaNetns::unknown;
  Dmi dmi;
  Cpu cpu;
  bool hypervisor = false;    ///< the CPU, or on arm64 DMI, says that a hypervisor is below
  std::vector<TextFile> cdi;  ///< Container Device Interface specs
  /// The topology file that NCCL finds on this node: NCCL_TOPO_FILE of /etc/nccl.conf, else
  /// /var/run/nvidia-topologyd/virtualTopology.xml (NCCL src/graph/topo.cc, src/misc/param.cc).
  std::optional<TextFile> nccl_file;
  std::vector<Problem> problems;

  [[nodiscard]] const PciDevice* find_pci(const PciAddress& address) const;
  [[nodiscard]] const Nic* find_nic(std::string_view wanted) const;
  [[nodiscard]] const Netdev* find_netdev(std::string_view wanted) const;
  [[nodiscard]] const CharDevice* find_function_device(std::string_view path) const;

  /// Whether the main default route leaves through this netdev, itself or by way of a bond, bridge
  /// or VLAN above it.
  [[nodiscard]] bool carries_main_route(std::string_view name_of_netdev) const;

  friend bool operator==(const Node&, const Node&) = default;
};

/// "/sys/class/infiniband/mlx5_0/ports/1"
std::string port_folder(const Nic& nic, const Port& port);

/// Reads the machine. Never fails as a whole: what cannot be used is in `problems`, and a device
/// that vanishes between list and read is simply not there.
Node read_node(host::Host& host);

}  // namespace railhead::node
