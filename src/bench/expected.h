// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/lane.h"
#include "data/json.h"

namespace railhead::bench {

/// The payload that one lane, or all of a step together, can carry at most, and what says so (of
/// the first lane).
struct ExpectedRate {
  double gbps = 0;
  std::string limited_by;  ///< "link of mlx5_0", "PCIe of mlx5_1"
};

/// How much of a link's rate is payload, with messages of this size and packets of this MTU.
/// `global` is the header with GIDs: IPv6 instead of IPv4 on Ethernet, a GRH on InfiniBand.
double link_efficiency(bool infiniband, bool global, unsigned mtu_bytes,
                       std::uint64_t message_bytes);

/// Gb/s of payload over a PCIe link: encoding (8b/10b up to 5 GT/s, 128b/130b above) and 24 bytes
/// of framing and headers for each 256 bytes.
double pcie_payload_gbps(const PcieLink& link);

/// One end; a PCIe link counts as what it can be, not as what it trained to. unavailable, with the
/// reason, where it is not known; so for a NIC without a PCI function: a software device has no
/// rate of its own, what its port names is invented.
Result<ExpectedRate> expected_rate(const Place& place, unsigned mtu_bytes,
                                   std::uint64_t message_bytes);

/// "PCIe of mlx5_0 is degraded: …", for each lane of one side's evidence whose link to the root
/// trained to less than both of its ends can do.
std::vector<std::string> degraded_links(const data::Json& evidence);

/// All lanes of a step, from the evidence of both sides: the slower end of each lane, and of lanes
/// through one card (all functions of a PCI device) together no more than its PCIe link.
/// unavailable, with the reason, where an end is not known.
Result<ExpectedRate> expectation(const data::Json& here, const data::Json& there,
                                 std::uint64_t size_bytes);

}  // namespace railhead::bench
