// SPDX-License-Identifier: Apache-2.0
#include "bench/messages.h"
#include "bench/session.h"

namespace railhead::bench {
namespace {

/// From one step to the next, and from its start to its end.
constexpr Limit kStepLimit{std::chrono::seconds(kMaxSeconds + 60)};

class Server {
 public:
  Server(Channel& channel, Endpoint& endpoint)
      : channel_(channel),
        endpoint_(endpoint) {}

  Outcome serve(Result<data::Value> first) {
    TRY_OUTCOME(meet(std::move(first)));
    while (true) {
      auto received = channel_.receive();
      const auto type = received ? type_of(*received) : Result<std::string>(std::string());
      if (type && *type == "bye") return part();
      const auto step = expect(std::move(received), "step");
      TRY_OUTCOME(step.outcome);
      TRY_OUTCOME(take_part(step.message));
    }
  }

 private:
  Outcome meet(Result<data::Value> first) {
    const auto offer = expect(std::move(first), "offer");
    TRY_OUTCOME(offer.outcome);
    auto plan = parse_offer(offer.message);
    if (!plan) return fail(channel_, {State::protocol_error, plan.error().message});
    plan_ = *std::move(plan);
    const auto opened = endpoint_.make_lanes(plan_, plan_.remote_nics);
    if (!opened.ok()) return fail(channel_, opened);
    TRY_OUTCOME(say(channel_, addresses_message(endpoint_.addresses())));
    const auto theirs = expect(channel_.receive(Limit(60000)), "addresses");
    TRY_OUTCOME(theirs.outcome);
    const auto remote = parse_addresses(theirs.message);
    if (!remote) return fail(channel_, {State::protocol_error, remote.error().message});
    if (const auto status = endpoint_.connect(*remote); !status) {
      return fail(channel_, device_outcome(status.error()));
    }
    return say(channel_, message("connected"));
  }

  Outcome take_part(const data::Value& asked) {
    const auto step = parse_step(asked);
    if (!step) return fail(channel_, {State::protocol_error, step.error().message});
    if (const auto fine = check(*step, plan_); !fine) {
      return fail(channel_, {State::protocol_error, fine.error().message});
    }
    if (const auto status = endpoint_.prepare(*step, Part::responder); !status) {
      return fail(channel_, device_outcome(status.error()));
    }
    const bool active = has_responder(*step);
    if (active) endpoint_.start(*step, Part::responder);
    TRY_OUTCOME(say(channel_, message("go")));
    Result<std::vector<LaneResult>> lanes = std::vector<LaneResult>();
    if (active) lanes = watch_lanes();
    if (!lanes) return fail(channel_, transfer_outcome(lanes.error()));
    const auto done = expect(channel_.receive(kStepLimit), "done");
    TRY_OUTCOME(done.outcome);
    return verify(*step, done.message, active, *lanes);
  }

  /// Until the lanes have ended, by themselves or because the other side has something to say.
  Result<std::vector<LaneResult>> watch_lanes() {
    const auto ready = wait_readable(
        {endpoint_.done_descriptor(), channel_.descriptor(), channel_.interrupt()}, kStepLimit);
    if (!ready || *ready != 0) endpoint_.stop();
    return endpoint_.finish();
  }

  Outcome verify(const Step& step, const data::Value& done, bool active,
                 const std::vector<LaneResult>& lanes) {
    const auto sent = parse_done(done);
    if (!sent) return fail(channel_, {State::protocol_error, sent.error().message});
    if (active && step.operation == Operation::send && step.measure == Measure::bandwidth) {
      const auto warm_up = step.warm_up * plan_.queue_pairs;
      for (std::size_t i = 0; i < lanes.size() && i < sent->size(); ++i) {
        if (lanes[i].messages == (*sent)[i] + warm_up) continue;
        return fail(channel_,
                    {State::data_mismatch,
                     "lane " + std::to_string(i) + ": " + std::to_string((*sent)[i] + warm_up) +
                         " messages sent, " + std::to_string(lanes[i].messages) + " received"});
      }
    }
    if (const auto status = endpoint_.validate(step, Part::responder); !status) {
      return fail(channel_, transfer_outcome(status.error()));
    }
    return say(channel_, message("verified"));
  }

  Outcome part() {
    auto bye = message("bye");
    bye["evidence"] = endpoint_.evidence();
    return say(channel_, bye);
  }

  Channel& channel_;
  Endpoint& endpoint_;
  Plan plan_;
};

}  // namespace

Outcome serve(Channel& channel, const std::function<std::unique_ptr<Endpoint>()>& make_endpoint) {
  for (bool first = true;; first = false) {
    auto offer = channel.receive();
    if (!offer && !first) {
      auto outcome = channel_outcome(offer.error());
      return outcome.state == State::peer_lost ? Outcome() : outcome;
    }
    const auto endpoint = make_endpoint();
    auto outcome = Server(channel, *endpoint).serve(std::move(offer));
    // The client may go on with another kind of memory.
    if (!outcome.ok() && outcome.state != State::unsupported) return outcome;
  }
}

}  // namespace railhead::bench
