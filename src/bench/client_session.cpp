// SPDX-License-Identifier: Apache-2.0
#include "bench/fields.h"
#include "bench/messages.h"
#include "bench/session.h"

namespace railhead::bench {
namespace {

constexpr Limit kTick{500};
/// A server may have to register many gigabytes first.
constexpr Limit kOpenLimit{60000};

class Client {
 public:
  Client(Channel& channel, Endpoint& endpoint, const Watcher& watcher)
      : channel_(channel),
        endpoint_(endpoint),
        watcher_(watcher) {}

  Outcome meet(const Plan& plan, const std::vector<std::string>& nics) {
    plan_ = plan;
    TRY_OUTCOME(say(channel_, offer_message(plan)));
    const auto theirs = expect(channel_.receive(kOpenLimit), "addresses");
    TRY_OUTCOME(theirs.outcome);
    const auto remote = parse_addresses(theirs.message);
    if (!remote) return fail(channel_, channel_outcome(remote.error()));
    const auto opened = endpoint_.make_lanes(plan, nics);
    if (!opened.ok()) return fail(channel_, opened);
    TRY_OUTCOME(say(channel_, addresses_message(endpoint_.addresses())));
    const auto connected = expect(channel_.receive(), "connected");
    TRY_OUTCOME(connected.outcome);
    if (const auto status = endpoint_.connect(*remote); !status) {
      return fail(channel_, device_outcome(status.error()));
    }
    return {};
  }

  /// A step, and then the passes in which all that arrives is compared.
  Outcome measure(const Step& step, StepResult& result) {
    result.step = step;
    TRY_OUTCOME(play(step, result.lanes));
    for (unsigned pass = 0; pass < verifying_passes(step, plan_); ++pass) {
      std::vector<LaneResult> lanes;
      TRY_OUTCOME(play(verifying_pass(step, Layout::of(plan_), pass), lanes));
      for (const auto& lane : lanes) result.messages_compared += lane.messages;
    }
    return {};
  }

  Outcome part(data::Json& there) {
    TRY_OUTCOME(say(channel_, message("bye")));
    const auto bye = expect(channel_.receive(), "bye");
    TRY_OUTCOME(bye.outcome);
    if (const auto* evidence = bye.message.find("evidence")) there = json_of(*evidence);
    return {};
  }

 private:
  Outcome play(const Step& step, std::vector<LaneResult>& result) {
    if (const auto status = endpoint_.prepare(step, Part::initiator); !status) {
      return fail(channel_, device_outcome(status.error()));
    }
    TRY_OUTCOME(say(channel_, step_message(step)));
    TRY_OUTCOME(expect(channel_.receive(), "go").outcome);
    endpoint_.start(step, Part::initiator);
    auto other = watch(step);
    auto lanes = endpoint_.finish();
    if (!other.ok()) return other;
    if (!lanes) return fail(channel_, transfer_outcome(lanes.error()));
    result = *std::move(lanes);
    std::vector<std::uint64_t> messages;
    for (const auto& lane : result) messages.push_back(lane.messages);
    TRY_OUTCOME(say(channel_, done_message(messages)));
    TRY_OUTCOME(expect(channel_.receive(), "verified").outcome);
    if (const auto status = endpoint_.validate(step, Part::initiator); !status) {
      return fail(channel_, transfer_outcome(status.error()));
    }
    return {};
  }

  /// Until the lanes have ended. Not ok: why they were stopped.
  Outcome watch(const Step& step) {
    while (true) {
      const auto ready = wait_readable(
          {endpoint_.done_descriptor(), channel_.descriptor(), channel_.interrupt()}, kTick);
      if (!ready) {
        watcher_(step, endpoint_.moved_bytes());
        continue;
      }
      if (*ready == 0) return {};
      endpoint_.stop();
      if (*ready == 2) return fail(channel_, {State::interrupted, "interrupted"});
      return expect(channel_.receive(), "nothing").outcome;
    }
  }

  Channel& channel_;
  Endpoint& endpoint_;
  const Watcher& watcher_;
  Plan plan_;
};

}  // namespace

SessionResult run_client(Channel& channel, Endpoint& endpoint, const Plan& plan,
                         const std::vector<std::string>& nics, const std::vector<Step>& steps,
                         const Watcher& watcher) {
  SessionResult result;
  Client client(channel, endpoint, watcher);
  result.outcome = client.meet(plan, nics);
  for (const auto& step : steps) {
    if (!result.outcome.ok()) break;
    StepResult measured;
    result.outcome = client.measure(step, measured);
    if (result.outcome.ok()) result.steps.push_back(std::move(measured));
  }
  if (result.outcome.ok()) result.outcome = client.part(result.there);
  result.here = endpoint.evidence();
  return result;
}

}  // namespace railhead::bench
