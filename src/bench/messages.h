// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/channel.h"
#include "bench/lane.h"
#include "bench/outcome.h"
#include "bench/plan.h"
#include "data/json.h"
#include "data/value.h"

namespace railhead::bench {

// What the two sides say, in this order. Any message may be `failed` instead, which ends the
// session.
//
//   offer      client   the plan
//   addresses  server   its lanes
//   addresses  client   its lanes; the server connects to them
//   connected  server   its queue pairs can send
//   step       client   one measurement    (again and again)
//   go         server   it is prepared
//   done       client   how many messages each lane moved
//   verified   server   what arrived is what was sent
//   bye        client   no more steps
//   bye        server   its evidence

/// The word in "type"; malformed when there is none.
Result<std::string> type_of(const data::Value& message);
data::Json message(std::string_view type);

data::Json offer_message(const Plan& plan);
Result<Plan> parse_offer(const data::Value& message);

data::Json addresses_message(const std::vector<LaneAddress>& lanes);
Result<std::vector<LaneAddress>> parse_addresses(const data::Value& message);

data::Json step_message(const Step& step);
Result<Step> parse_step(const data::Value& message);

data::Json done_message(const std::vector<std::uint64_t>& messages);
Result<std::vector<std::uint64_t>> parse_done(const data::Value& message);

data::Json failed_message(const Outcome& outcome);
Outcome parse_failed(const data::Value& message);

/// A message of exactly this type. One that says `failed` is the outcome that it names.
struct Expected {
  Outcome outcome;
  data::Value message;
};

Expected expect(Result<data::Value> received, std::string_view type);

Outcome say(Channel& channel, const data::Json& message);

/// Ends the session for the other side, too, and returns the outcome.
Outcome fail(Channel& channel, const Outcome& outcome);

}  // namespace railhead::bench
