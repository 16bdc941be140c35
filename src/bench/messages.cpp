// SPDX-License-Identifier: Apache-2.0
#include "bench/messages.h"

#include "base/text.h"
#include "bench/fields.h"

namespace railhead::bench {
namespace {

constexpr std::uint64_t kAny = ~std::uint64_t{0};
constexpr std::uint64_t kMaxIterations = std::uint64_t{1} << 40;

}  // namespace

Result<std::string> type_of(const data::Value& message) {
  return text_field(message, "type");
}

data::Json message(std::string_view type) {
  return {{"type", type}};
}

data::Json offer_message(const Plan& plan) {
  return {{"type", "offer"},
          {"nics", plan.remote_nics},
          {"lanes", plan.lanes},
          {"queuePairs", plan.queue_pairs},
          {"depth", plan.depth},
          {"maxSize", plan.max_size_bytes},
          {"memory", to_string(plan.memory)},
          {"mtu", plan.mtu_bytes}};
}

Result<Plan> parse_offer(const data::Value& message) {
  Plan plan;
  const auto* nics = TRY(list_field(message, "nics", kMaxLanes));
  for (const auto& nic : nics->items) plan.remote_nics.push_back(TRY(nic.as_string()));
  plan.lanes = TRY(number_field(message, "lanes", kMaxLanes));
  plan.queue_pairs = TRY(number_field<unsigned>(message, "queuePairs", kMaxQueuePairs));
  plan.depth = TRY(number_field<unsigned>(message, "depth", kMaxDepth));
  plan.max_size_bytes = TRY(number_field(message, "maxSize", kMaxSize));
  const auto memory = TRY(text_field(message, "memory"));
  plan.memory = TRY(parse_memory(memory));
  plan.mtu_bytes = TRY(number_field<unsigned>(message, "mtu", 4096));
  TRY_STATUS(check(plan));
  return plan;
}

data::Json addresses_message(const std::vector<LaneAddress>& lanes) {
  return {{"type", "addresses"}, {"lanes", data::json_list(lanes, to_json)}};
}

Result<std::vector<LaneAddress>> parse_addresses(const data::Value& message) {
  std::vector<LaneAddress> lanes;
  const auto* list = TRY(list_field(message, "lanes", kMaxLanes));
  for (const auto& lane : list->items) lanes.push_back(TRY(parse_lane_address(lane)));
  return lanes;
}

data::Json step_message(const Step& step) {
  return {{"type", "step"},
          {"operation", to_string(step.operation)},
          {"measure", to_string(step.measure)},
          {"size", step.size_bytes},
          {"iterations", step.iterations},
          {"durationMs", step.duration_ms},
          {"warmUp", step.warm_up},
          {"depth", step.depth},
          {"rateCap", step.rate_cap_bps},
          {"seed", step.seed},
          {"ring", step.ring ? 1 : 0}};
}

Result<Step> parse_step(const data::Value& message) {
  Step step;
  const auto operation = TRY(text_field(message, "operation"));
  step.operation = TRY(parse_operation(operation));
  const auto measure = TRY(text_field(message, "measure"));
  step.measure = TRY(parse_measure(measure));
  step.size_bytes = TRY(number_field(message, "size", kMaxSize));
  step.iterations = TRY(number_field(message, "iterations", kMaxIterations));
  step.duration_ms = TRY(number_field(message, "durationMs", kMaxSeconds * 1000));
  step.warm_up = TRY(number_field(message, "warmUp", kMaxIterations));
  step.depth = TRY(number_field<unsigned>(message, "depth", kMaxDepth));
  step.rate_cap_bps = TRY(number_field(message, "rateCap", kAny));
  step.seed = TRY(number_field(message, "seed", kAny));
  step.ring = TRY(number_field(message, "ring", 1)) == 1;
  return step;
}

data::Json done_message(const std::vector<std::uint64_t>& messages) {
  return {{"type", "done"}, {"messages", messages}};
}

Result<std::vector<std::uint64_t>> parse_done(const data::Value& message) {
  std::vector<std::uint64_t> messages;
  const auto* list = TRY(list_field(message, "messages", kMaxLanes));
  for (const auto& item : list->items) messages.push_back(TRY(item.as_unsigned()));
  return messages;
}

data::Json failed_message(const Outcome& outcome) {
  return {{"type", "failed"},
          {"state", to_string(outcome.state)},
          {"why", outcome.why.substr(0, 1024)}};
}

Outcome parse_failed(const data::Value& message) {
  const auto state = text_field(message, "state").value_or("");
  const auto why = text_field(message, "why").value_or("");
  const auto parsed = parse_state(state);
  return {parsed == State::ok ? State::protocol_error : parsed, "the other side: " + why};
}

Expected expect(Result<data::Value> received, std::string_view type) {
  if (!received) return {channel_outcome(received.error()), {}};
  const auto said = type_of(*received);
  if (!said) return {channel_outcome(said.error()), {}};
  if (*said == "failed") return {parse_failed(*received), {}};
  if (*said != type) {
    return {{State::protocol_error, "the other side said " + railhead::in_quotes(*said) +
                                        " where " + in_quotes(type) + " was to come"},
            {}};
  }
  return {{}, *std::move(received)};
}

Outcome say(Channel& channel, const data::Json& message) {
  const auto sent = channel.send(message);
  return sent ? Outcome() : channel_outcome(sent.error());
}

Outcome fail(Channel& channel, const Outcome& outcome) {
  (void)channel.send(failed_message(outcome));
  return outcome;
}

}  // namespace railhead::bench
