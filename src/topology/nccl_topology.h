// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/pci.h"

namespace railhead::topology {

/// An NCCL topology file (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE) as a value: what it says, in its
/// order, neither corrected nor completed. Grammar: NCCL src/graph/{xml.cc,topo.cc}: <system>,
/// <cpu>, nested <pci>, in them <gpu> and <nic><net>. One <pci> of class 0x0604 is a whole switch
/// (its upstream port): root ports, downstream ports and host bridges do not occur.

/// One port of a network device. Attributes that a file leaves out are absent.
struct NcclNet {
  std::string name;
  std::optional<unsigned> dev;
  std::optional<unsigned> speed_mbps;
  std::optional<unsigned> port;
  std::optional<std::string> guid;
  std::optional<bool> gdr;

  /// Port 0 is that of NCCL's socket transport (src/transport/net_socket.cc): a netdev. RDMA ports
  /// count from 1.
  [[nodiscard]] bool is_socket() const { return port == 0U; }

  friend bool operator==(const NcclNet&, const NcclNet&) = default;
};

struct NcclGpu {
  std::optional<unsigned> dev;  ///< CUDA's index of the process that wrote the file
  std::optional<unsigned> sm;   ///< compute capability, 90; compute units for AMD

  friend bool operator==(const NcclGpu&, const NcclGpu&) = default;
};

struct NcclPci {
  node::PciAddress address;                 ///< ffff:ff:xx.x where a switch was invented
  std::optional<std::uint32_t> class_code;  ///< 24 bits
  std::optional<std::uint16_t> vendor;
  std::optional<std::uint16_t> device;
  std::optional<std::uint16_t> subsystem_vendor;
  std::optional<std::uint16_t> subsystem_device;
  std::optional<double> link_gts;
  std::optional<unsigned> link_width;
  std::optional<NcclGpu> gpu;
  std::vector<NcclNet> nets;
  std::vector<NcclPci> below;
  unsigned line = 0;  ///< of the file; 0: not from a file

  [[nodiscard]] bool is_switch() const;  ///< by its class, or because something hangs below it
  [[nodiscard]] bool is_gpu() const;     ///< has a <gpu>, or the class and vendor of one
  /// Has <net>s of RDMA, or any <net> on an InfiniBand function (the file then names its netdev),
  /// or class 0x02 with nothing in it.
  [[nodiscard]] bool is_nic() const;
};

struct NcclCpu {
  std::optional<int> numa_node;  ///< absent where the file says -1
  std::string affinity;          ///< CPU mask as NCCL writes it; "" if absent
  std::string arch;              ///< "x86_64", "arm64", "ppc64"
  std::string vendor;            ///< "GenuineIntel"
  std::optional<int> family;
  std::optional<int> model;
  std::vector<NcclPci> pci;
  std::vector<NcclNet> nets;  ///< of a <nic> without a place in the PCI tree
  unsigned line = 0;
};

/// What <system version> has to be: each library refuses every other (NCCL src/graph/xml.h, RCCL
/// src/graph/xml.h: NCCL_TOPO_XML_VERSION; "XML Topology has wrong version").
inline constexpr unsigned kNcclVersion = 1;
inline constexpr unsigned kRcclVersion = 2;  ///< AMD's GPUs, and Hygon's

struct NcclTopology {
  std::string origin;               ///< path, for messages
  unsigned version = kNcclVersion;  ///< kNcclVersion where a file says neither
  std::vector<NcclCpu> cpus;
  /// What was tolerated and what was left out, with line: duplicate addresses (the first counts),
  /// elements that no NCCL knows, attributes that are not numbers.
  std::vector<std::string> warnings;
};

/// Reads a topology file. Fails, naming `origin` and line, on what is no XML, on a document whose
/// root is not <system>, on a <pci> without a valid busid, on nesting or size beyond the limits
/// (1 MiB, 32 levels, 1024 functions). Never resolves entities or external references.
Result<NcclTopology> parse_nccl_topology(std::string_view text, const std::string& origin);

/// The file as NCCL reads it back, indented by two.
std::string to_xml(const NcclTopology& topology);

}  // namespace railhead::topology
