// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/counters.h"
#include "bench/cuda.h"
#include "bench/endpoint.h"
#include "bench/verbs_lane.h"
#include "host/clock.h"
#include "host/host.h"
#include "host/unique_fd.h"
#include "node/node.h"

namespace railhead::bench {

/// What this side allows and wants, whatever the other side asks.
struct EndpointOptions {
  std::vector<std::string> nics;  ///< allowed, and the choice where nothing is asked; empty: all
  std::optional<unsigned> gid_index;
  bool force = false;  ///< NICs that others use, too
  unsigned gpu = 0;    ///< index of CUDA
};

/// This machine's NICs, through libibverbs.
class VerbsEndpoint : public Endpoint {
 public:
  VerbsEndpoint(host::Host& host, host::Clock& clock, EndpointOptions options)
      : host_(host),
        clock_(clock),
        options_(std::move(options)) {}

  ~VerbsEndpoint() override;

  Outcome make_lanes(const Plan& plan, const std::vector<std::string>& wanted) override;
  [[nodiscard]] std::vector<LaneAddress> addresses() const override;
  Status connect(const std::vector<LaneAddress>& remote) override;
  Status prepare(const Step& step, Part part) override;
  void start(const Step& step, Part part) override;

  [[nodiscard]] int done_descriptor() const override { return done_.get(); }

  void stop() override { stop_.store(true, std::memory_order_relaxed); }

  Result<std::vector<LaneResult>> finish() override;

  [[nodiscard]] std::uint64_t moved_bytes() const override { return moved_bytes_.load(); }

  Status validate(const Step& step, Part part) override;
  [[nodiscard]] data::Json evidence() override;

 private:
  struct Lane {
    Place place;
    std::unique_ptr<Buffer> buffer;  ///< outlives the lane's registration
    std::unique_ptr<VerbsLane> verbs;
    Counters before;
    std::vector<std::uint64_t> received_before;  ///< the step, by queue pair
    bool pinned = false;
    std::thread thread;
    Result<LaneResult> result = LaneResult();
  };

  Result<std::vector<std::string>> choose(const std::vector<std::string>& wanted) const;
  Status open_lanes(const std::vector<std::string>& wanted);
  Status check_unused(const Place& place);
  Status open_lane(const Place& place);
  void run_lane(Lane& lane, const Step& step, Part part);
  [[nodiscard]] data::Json lane_evidence(Lane& lane);

  host::Host& host_;
  host::Clock& clock_;
  EndpointOptions options_;
  Plan plan_;
  node::Node node_;
  std::unique_ptr<Cuda> cuda_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::string> remarks_;
  bool in_use_ = false;  ///< the reason why no lane was opened
  host::UniqueFd done_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> moved_bytes_ = 0;
  std::atomic<unsigned> running_ = 0;
};

}  // namespace railhead::bench
