// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "bench/lane.h"
#include "bench/outcome.h"
#include "bench/plan.h"
#include "bench/run.h"
#include "data/json.h"

namespace railhead::bench {

/// The side that acts in a step, and the other.
enum class Part : std::uint8_t { initiator, responder };

/// One side's NICs, as a session sees them. What it made is gone when it is destroyed.
class Endpoint {
 public:
  Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  virtual ~Endpoint() = default;

  /// Opens the lanes; `wanted` names NICs, or is empty for its own choice.
  virtual Outcome make_lanes(const Plan& plan, const std::vector<std::string>& wanted) = 0;
  [[nodiscard]] virtual std::vector<LaneAddress> addresses() const = 0;
  virtual Status connect(const std::vector<LaneAddress>& remote) = 0;

  /// Fills sources, clears targets, posts receives.
  virtual Status prepare(const Step& step, Part part) = 0;
  /// Starts a thread a lane; done_descriptor() is readable when all of them have ended.
  virtual void start(const Step& step, Part part) = 0;
  [[nodiscard]] virtual int done_descriptor() const = 0;
  virtual void stop() = 0;
  /// Waits for the threads; the first error of a lane is the answer.
  virtual Result<std::vector<LaneResult>> finish() = 0;
  [[nodiscard]] virtual std::uint64_t moved_bytes() const = 0;

  /// Whether what arrived here is what the other side sent; malformed where it is not.
  virtual Status validate(const Step& step, Part part) = 0;

  /// NICs, paths, and the counters before and after.
  [[nodiscard]] virtual data::Json evidence() = 0;
};

}  // namespace railhead::bench
