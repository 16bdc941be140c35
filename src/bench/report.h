// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <vector>

#include "bench/session.h"
#include "report/report.h"

namespace railhead::bench {

/// One session's memory and what came of it.
struct MemoryRun {
  Memory memory = Memory::host;
  unsigned queue_pairs = 1;
  SessionResult result;
};

struct BenchResult {
  std::vector<MemoryRun> runs;
  double required_share = 0;  ///< of what is expected, of messages of 64 KiB or more; 0: none
  std::chrono::system_clock::time_point started;
};

/// The whole's state: a problem of any run; else the first that is not ok, where unsupported counts
/// last, and not at all if any run is ok (one route to a GPU's memory may not exist); else what is
/// required and could not be judged: cannot_tell.
Outcome overall(const BenchResult& result);

/// Payload a second of all lanes of a step together, from the first's start to the last's end.
double step_gbps(const StepResult& step);

/// Proof bundle and tables.
report::Report make_report(const BenchResult& result);

}  // namespace railhead::bench
