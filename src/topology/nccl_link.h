// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "node/node.h"

namespace railhead::topology {

/// A PCIe link as a topology file describes it. Ordering: by bandwidth, unknown is least.
struct Link {
  std::optional<double> gts;      ///< GT/s of a lane
  std::optional<unsigned> width;  ///< lanes

  [[nodiscard]] bool known() const { return gts && width; }

  friend bool operator<(const Link& a, const Link& b) { return a.bandwidth() < b.bandwidth(); }

 private:
  [[nodiscard]] double bandwidth() const { return known() ? *gts * *width : 0; }
};

/// The link of a function as it is, else as it could be.
Link link_of(const node::PciDevice& device);

/// The link, where it is known. Virtual machines do not show it, NCCL takes it for PCIe 3.0 x16
/// then, and too few channels follow: so it is what carries at least the rate of the device's
/// ports.
Link at_least(const Link& link, const node::Nic& nic);

}  // namespace railhead::topology
