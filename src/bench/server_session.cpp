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
  Outcome say(const data::Json& what) {
    const auto sent = channel_.send(what);
    return sent ? Outcome() : channel_outcome(sent.error());
  }

  Outcome fail(const Outcome& outcome) {
    (void)channel_.send(failed_message(outcome));
    return outcome;
  }

  Outcome meet(Result<data::Value> first) {
    const auto offer = expect(std::move(first), "offer");
    TRY_OUTCOME(offer.outcome);
    auto plan = parse_offer(offer.message);
    if (!plan) return fail({State::protocol_error, plan.error().message});
    plan_ = *std::move(plan);
    bool in_use = false;
    if (const auto opened = endpoint_.make_lanes(plan_, plan_.remote_nics, in_use); !opened) {
      const auto outcome = device_outcome(opened.error());
      return fail(in_use ? Outcome{State::in_use, outcome.why} : outcome);
    }
    TRY_OUTCOME(say(addresses_message(endpoint_.addresses())));
    const auto theirs = expect(channel_.receive(Limit(60000)), "addresses");
    TRY_OUTCOME(theirs.outcome);
    const auto remote = parse_addresses(theirs.message);
    if (!remote) return fail({State::protocol_error, remote.error().message});
    if (const auto status = endpoint_.connect(*remote); !status) {
      return fail(device_outcome(status.error()));
    }
    return say(message("connected"));
  }

  Outcome take_part(const data::Value& asked) {
    const auto step = parse_step(asked);
    if (!step) return fail({State::protocol_error, step.error().message});
    if (const auto fine = check(*step, plan_); !fine) {
      return fail({State::protocol_error, fine.error().message});
    }
    if (const auto status = endpoint_.prepare(*step, Part::responder); !status) {
      return fail(device_outcome(status.error()));
    }
    const bool active = has_responder(*step);
    if (active) {
      if (const auto status = endpoint_.start(*step, Part::responder); !status) {
        return fail(device_outcome(status.error()));
      }
    }
    TRY_OUTCOME(say(message("go")));
    Result<std::vector<LaneResult>> lanes = std::vector<LaneResult>();
    if (active) lanes = watch_lanes();
    if (!lanes) return fail(transfer_outcome(lanes.error()));
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
    if (!sent) return fail({State::protocol_error, sent.error().message});
    if (active && step.operation == Operation::send && step.measure == Measure::bandwidth) {
      const auto warm_up = step.warm_up * plan_.queue_pairs;
      for (std::size_t i = 0; i < lanes.size() && i < sent->size(); ++i) {
        if (lanes[i].messages == (*sent)[i] + warm_up) continue;
        return fail({State::data_mismatch,
                     "lane " + std::to_string(i) + ": " + std::to_string((*sent)[i] + warm_up) +
                         " messages sent, " + std::to_string(lanes[i].messages) + " received"});
      }
    }
    if (const auto status = endpoint_.validate(step, Part::responder); !status) {
      return fail(transfer_outcome(status.error()));
    }
    return say(message("verified"));
  }

  Outcome part() {
    auto bye = message("bye");
    bye["evidence"] = endpoint_.evidence();
    return say(bye);
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
