// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "bench/channel.h"
#include "bench/endpoint.h"
#include "bench/outcome.h"
#include "bench/plan.h"
#include "bench/run.h"

namespace railhead::bench {

struct StepResult {
  Step step;
  std::vector<LaneResult> lanes;
  std::uint64_t messages_compared = 0;  ///< each whole, in passes that are not timed
};

struct SessionResult {
  Outcome outcome;
  std::vector<StepResult> steps;  ///< those that ended well
  data::Json here;                ///< evidence of this side
  data::Json there;               ///< of the other, null when it did not get so far
};

/// Told while a step runs, twice a second: how many bytes have moved.
using Watcher = std::function<void(const Step& step, std::uint64_t moved_bytes)>;

/// The client's side of a session, to its end. `nics` are this side's.
SessionResult run_client(Channel& channel, Endpoint& endpoint, const Plan& plan,
                         const std::vector<std::string>& nics, const std::vector<Step>& steps,
                         const Watcher& watcher);

/// The server's side: one session after the other, each with an endpoint of its own, until the
/// client closes the connection, which is ok.
Outcome serve(Channel& channel, const std::function<std::unique_ptr<Endpoint>()>& make_endpoint);

}  // namespace railhead::bench
