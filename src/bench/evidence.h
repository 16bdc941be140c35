// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/cuda.h"
#include "bench/lane.h"
#include "data/json.h"

namespace railhead::bench {

/// What the proof says of an end of a lane: NIC, PCIe link, GID.
data::Json place_json(const Place& place);
data::Json gpu_json(const GpuFacts& facts);

/// Back from the document: the lanes of one side's evidence, null where it has none.
const data::Json* lanes_of(const data::Json& evidence);
/// As much of a lane's place as decides what to expect.
Place place_of(const data::Json& lane);

/// A member as the other side may have sent it: absent when it is missing or of another kind.
template <typename T>
std::optional<T> field(const data::Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  if constexpr (std::is_arithmetic_v<T>) {
    if (!found->is_number()) return std::nullopt;
  } else if (!found->is_string()) {
    return std::nullopt;
  }
  return found->template get<T>();
}

}  // namespace railhead::bench
