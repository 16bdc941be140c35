// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/json.h"
#include "data/value.h"

namespace railhead::bench {

using GidBytes = std::array<std::uint8_t, 16>;

/// What one side tells the other of a lane, so that both can connect.
struct LaneAddress {
  struct Pair {
    std::uint32_t number = 0;           ///< QPN, 24 bits
    std::uint32_t sequence_number = 0;  ///< the first PSN, 24 bits

    friend bool operator==(const Pair&, const Pair&) = default;
  };

  std::vector<Pair> pairs;
  std::uint16_t lid = 0;
  std::optional<GidBytes> gid;
  bool needs_gid = false;     ///< its LID alone does not reach it
  unsigned mtu_bytes = 1024;  ///< the largest that this port can
  std::uint32_t key = 0;      ///< rkey
  std::uint64_t address = 0;
  std::uint64_t length = 0;

  friend bool operator==(const LaneAddress&, const LaneAddress&) = default;
};

/// Whether packets between two ends carry a global header (GRH): where either end needs its GID to
/// be reached. usage where one does and the other has no GID.
Result<bool> needs_global_header(const LaneAddress& ours, const LaneAddress& theirs);

data::Json to_json(const LaneAddress& address);
Result<LaneAddress> parse_lane_address(const data::Value& value);

/// Eight groups of four digits, as sysfs prints a GID.
std::string gid_text(const GidBytes& gid);
Result<GidBytes> parse_gid(std::string_view text);

struct PcieLink {
  double gts = 0;  ///< GT/s of a lane
  unsigned width = 0;

  [[nodiscard]] double speed() const { return gts * width; }

  friend bool operator==(const PcieLink&, const PcieLink&) = default;
};

/// Where a lane begins on this machine.
struct Place {
  std::string nic;
  unsigned port = 1;
  bool infiniband = false;
  std::optional<unsigned> gid_index;  ///< absent: InfiniBand by LID alone
  std::optional<std::string> gid;     ///< eight groups of four
  std::optional<std::string> gid_type;
  std::optional<std::string> pci;
  std::optional<int> numa_node;
  std::vector<unsigned> cpus;  ///< of that node
  std::optional<double> rate_gbps;
  std::optional<PcieLink> pcie;  ///< the narrowest between the NIC and the root, as trained
  std::optional<PcieLink> pcie_possible;  ///< the narrowest, each as both of its ends can train it
  std::optional<std::string> firmware;
  std::optional<std::string> driver;

  /// What the way to the root was built for: a link that trained to less is no excuse.
  [[nodiscard]] std::optional<PcieLink> pcie_built() const {
    return pcie_possible ? pcie_possible : pcie;
  }

  [[nodiscard]] bool pcie_is_degraded() const {
    return pcie && pcie_possible && pcie->speed() < pcie_possible->speed();
  }

  friend bool operator==(const Place&, const Place&) = default;
};

}  // namespace railhead::bench
