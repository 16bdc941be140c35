// SPDX-License-Identifier: Apache-2.0
#include "bench/run.h"

#include <algorithm>

#include "bench/loops.h"

namespace railhead::bench {

unsigned effective_depth(const Step& step) {
  const auto fitting = std::max<std::uint64_t>(kInFlightBytes / step.size_bytes, 2);
  return static_cast<unsigned>(std::min<std::uint64_t>(step.depth, fitting));
}

bool has_responder(const Step& step) {
  return step.operation == Operation::send ||
         (step.operation == Operation::write && step.measure == Measure::latency);
}

Status check_memory(const Step& step, const Transport& transport) {
  if (step.operation == Operation::write && step.measure == Measure::latency &&
      !transport.has_bytes()) {
    return Error{ErrorCode::unsupported,
                 "latency by write watches a byte in memory, and this memory is a GPU's: measure "
                 "it by send or read"};
  }
  return {};
}

Result<LaneResult> initiate(const Run& run) {
  TRY_STATUS(check_memory(run.step, run.transport));
  if (run.step.measure == Measure::bandwidth) return stream(run);
  if (run.step.operation == Operation::read) return time_reads(run);
  return ping(run);
}

Result<LaneResult> respond(const Run& run) {
  TRY_STATUS(check_memory(run.step, run.transport));
  if (run.step.measure == Measure::latency) return pong(run);
  return receive_stream(run);
}

}  // namespace railhead::bench
