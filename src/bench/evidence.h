// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/cuda.h"
#include "bench/lane.h"
#include "data/json.h"

namespace railhead::bench {

/// What the proof says of an end of a lane: NIC, PCIe link, GID.
Json place_json(const Place& place);
Json gpu_json(const GpuFacts& facts);

}  // namespace railhead::bench
