// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "data/json.h"

namespace railhead::bench {

/// What all lanes of a step may reach together at most, and what says so of the first one.
struct StepExpectation {
  double gbps = 0;
  std::string limited_by;
};

/// From the evidence of both sides: the slower end of each lane, and of lanes through one card (all
/// functions of a PCI device) together no more than its PCIe link. unavailable, with the reason,
/// where an end is not known.
Result<StepExpectation> expectation(const data::Json& here, const data::Json& there,
                                    std::uint64_t size_bytes);

}  // namespace railhead::bench
