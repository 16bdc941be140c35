// SPDX-License-Identifier: Apache-2.0
#include "bench/plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/duration.h"
#include "base/text.h"

namespace railhead::bench {
namespace {

constexpr unsigned kRingMessages = 16;

template <typename T, std::size_t N>
Result<T> by_name(const std::array<std::pair<std::string_view, T>, N>& names, std::string_view text,
                  std::string_view what) {
  std::vector<std::string> known;
  for (const auto& [name, value] : names) {
    if (name == text) return value;
    known.emplace_back(name);
  }
  return Error{ErrorCode::usage,
               std::string(what) + " " + in_quotes(text) + " is none of " + join(known, ", ")};
}

template <typename T, std::size_t N>
std::string_view name_of(const std::array<std::pair<std::string_view, T>, N>& names, T wanted) {
  for (const auto& [name, value] : names) {
    if (value == wanted) return name;
  }
  return "?";
}

constexpr std::array<std::pair<std::string_view, Operation>, 3> kOperations = {
    {{"write", Operation::write}, {"read", Operation::read}, {"send", Operation::send}}};
constexpr std::array<std::pair<std::string_view, Measure>, 2> kMeasures = {
    {{"bandwidth", Measure::bandwidth}, {"latency", Measure::latency}}};
constexpr std::array<std::pair<std::string_view, Memory>, 3> kMemories = {
    {{"host", Memory::host},
     {"gpu:dmabuf", Memory::gpu_dmabuf},
     {"gpu:peermem", Memory::gpu_peermem}}};

Error above(std::string_view what, std::uint64_t value, std::uint64_t limit) {
  return {ErrorCode::usage, std::string(what) + " " + std::to_string(value) +
                                " is not between 1 and " + std::to_string(limit)};
}

/// A decimal number, perhaps with a fraction, and the word behind it.
Result<std::pair<double, std::string>> number_and_unit(std::string_view text) {
  const auto end =
      std::ranges::find_if(text, [](char c) { return (c < '0' || c > '9') && c != '.'; });
  const auto digits = static_cast<std::size_t>(end - text.begin());
  const std::string number(text.substr(0, digits));
  char* parsed = nullptr;
  const double value = std::strtod(number.c_str(), &parsed);
  if (number.empty() || number.size() > 18 || *parsed != '\0') {
    return Error{ErrorCode::usage, in_quotes(text) + " does not begin with a number"};
  }
  return std::pair(value, std::string(text.substr(digits)));
}

struct Unit {
  std::string_view name;
  double factor;
};

template <std::size_t N>
Result<std::uint64_t> scaled(std::string_view text, const std::array<Unit, N>& units,
                             std::string_view like) {
  const auto parts = TRY(number_and_unit(text));
  for (const auto& unit : units) {
    if (parts.second != unit.name) continue;
    const double value = parts.first * unit.factor;
    if (!(value < 9e18)) break;
    return static_cast<std::uint64_t>(std::llround(value));
  }
  return Error{ErrorCode::usage, in_quotes(text) + " is no " + std::string(like)};
}

/// A cap must neither leave a lane without a message for so long that the other side takes it for
/// dead, nor stretch the step beyond what a side waits for its end, nor a queue pair go without.
Status check_cap(const Step& step, const Plan& plan) {
  if (step.rate_cap_bps == 0) return {};
  const auto refused = [&](const std::string& why, double seconds, std::uint64_t limit_s) {
    return Error{ErrorCode::usage, "rate cap " + std::to_string(step.rate_cap_bps) + ": " + why +
                                       " " + std::to_string(std::llround(std::ceil(seconds))) +
                                       " s, and the limit is " + std::to_string(limit_s) + " s"};
  };
  const auto bytes = paced_bytes(step);
  const double pause = pause_seconds(step, plan.lanes);
  if (pause > kMaxPauseSeconds) {
    return refused(std::to_string(bytes) + " bytes between two NICs take", pause, kMaxPauseSeconds);
  }
  const unsigned pairs = step.measure == Measure::latency ? 1 : plan.queue_pairs;
  const double each = pause * pairs;
  const auto duration_s = static_cast<double>(step.duration_ms) / 1000;
  if (step.duration_ms != 0 && each >= duration_s) {
    return refused("a message of each queue pair takes", each, step.duration_ms / 1000);
  }
  const auto counted = step.duration_ms != 0 ? 0 : step.iterations;
  const double all = each * (static_cast<double>(step.warm_up) + static_cast<double>(counted));
  if (std::floor(all + duration_s) <= kMaxSeconds) return {};
  return refused("all messages and the warm-up take", all + duration_s, kMaxSeconds);
}

}  // namespace

double lane_cap_bps(const Step& step, std::size_t lanes) {
  return static_cast<double>(step.rate_cap_bps) / static_cast<double>(lanes);
}

double pause_seconds(const Step& step, std::size_t lanes) {
  if (step.rate_cap_bps == 0) return 0;
  return static_cast<double>(paced_bytes(step)) * 8 / lane_cap_bps(step, lanes);
}

std::uint64_t paced_bytes(const Step& step) {
  const bool both_ways = step.measure == Measure::latency && step.operation != Operation::read;
  return step.size_bytes * (both_ways ? 2 : 1);
}

std::string_view to_string(Operation operation) {
  return name_of(kOperations, operation);
}

std::string_view to_string(Measure measure) {
  return name_of(kMeasures, measure);
}

std::string_view to_string(Memory memory) {
  return name_of(kMemories, memory);
}

Result<Operation> parse_operation(std::string_view text) {
  return by_name(kOperations, text, "operation");
}

Result<Measure> parse_measure(std::string_view text) {
  return by_name(kMeasures, text, "measure");
}

Result<Memory> parse_memory(std::string_view text) {
  return by_name(kMemories, text, "memory");
}

Status check(const Plan& plan) {
  const auto within = [](std::uint64_t value, std::uint64_t limit) {
    return value >= 1 && value <= limit;
  };
  if (!within(plan.lanes, kMaxLanes)) return above("number of NICs", plan.lanes, kMaxLanes);
  if (!within(plan.queue_pairs, kMaxQueuePairs)) {
    return above("number of queue pairs", plan.queue_pairs, kMaxQueuePairs);
  }
  if (!within(plan.depth, kMaxDepth)) return above("depth", plan.depth, kMaxDepth);
  if (!within(plan.max_size_bytes, kMaxSize)) return above("size", plan.max_size_bytes, kMaxSize);
  const auto length = Layout::of(plan).length_bytes();
  if (length > kMaxLaneBytes) return above("bytes of a NIC's buffer", length, kMaxLaneBytes);
  if (!plan.remote_nics.empty() && plan.remote_nics.size() != plan.lanes) {
    return Error{ErrorCode::usage, counted(plan.lanes, "NIC") + " here and " +
                                       std::to_string(plan.remote_nics.size()) + " there"};
  }
  return {};
}

Status check(const Step& step, const Plan& plan) {
  if (step.size_bytes < 1 || step.size_bytes > plan.max_size_bytes) {
    return above("size", step.size_bytes, plan.max_size_bytes);
  }
  if (step.depth < 1 || step.depth > plan.depth) return above("depth", step.depth, plan.depth);
  if (step.duration_ms > kMaxSeconds * 1000) {
    return above("milliseconds", step.duration_ms, kMaxSeconds * 1000);
  }
  if (step.iterations == 0 && step.duration_ms == 0) {
    return Error{ErrorCode::usage, "neither iterations nor a duration"};
  }
  return check_cap(step, plan);
}

Result<std::uint64_t> parse_size(std::string_view text) {
  constexpr double kKibi = 1024;
  constexpr double kMebi = kKibi * kKibi;
  constexpr std::array<Unit, 12> kUnits = {{{"", 1},
                                            {"B", 1},
                                            {"K", kKibi},
                                            {"Ki", kKibi},
                                            {"KiB", kKibi},
                                            {"k", kKibi},
                                            {"M", kMebi},
                                            {"Mi", kMebi},
                                            {"MiB", kMebi},
                                            {"m", kMebi},
                                            {"Gi", kMebi * kKibi},
                                            {"GiB", kMebi * kKibi}}};
  const auto bytes = TRY(scaled(text, kUnits, "size such as 2, 64KiB or 1MiB"));
  if (bytes < 1 || bytes > kMaxSize) {
    return Error{ErrorCode::usage, in_quotes(text) + " is not between 1 byte and 64 MiB"};
  }
  return bytes;
}

Result<std::vector<std::uint64_t>> parse_sizes(std::string_view text) {
  std::vector<std::uint64_t> sizes;
  if (text == "all") {
    for (std::uint64_t size = 2; size <= std::uint64_t{8} << 20; size *= 2) sizes.push_back(size);
    return sizes;
  }
  for (const auto word : split(text, ',')) sizes.push_back(TRY(parse_size(trim(word))));
  return sizes;
}

Result<std::uint64_t> parse_duration_ms(std::string_view text) {
  const auto time = parse_duration(text, std::chrono::seconds(1));
  if (!time) return Error{ErrorCode::usage, time.error().message};
  const auto duration = static_cast<std::uint64_t>(time->count());
  if (duration < 1 || duration > kMaxSeconds * 1000) {
    return Error{ErrorCode::usage, in_quotes(text) + " is not between 1ms and 1h"};
  }
  return duration;
}

Result<std::uint64_t> parse_rate_bps(std::string_view text) {
  constexpr std::array<Unit, 6> kUnits = {
      {{"", 1}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"Mbps", 1e6}, {"Gbps", 1e9}}};
  const auto rate = TRY(scaled(text, kUnits, "rate such as 400M or 10G"));
  if (rate == 0) return Error{ErrorCode::usage, "rate " + in_quotes(text) + " lets nothing pass"};
  return rate;
}

std::vector<Step> make_steps(const std::vector<Operation>& operations,
                             const std::vector<Measure>& measures,
                             const std::vector<std::uint64_t>& sizes, const Step& like) {
  std::vector<Step> steps;
  for (const auto operation : operations) {
    for (const auto measure : measures) {
      const bool latency = measure == Measure::latency;
      const auto use = sizes.empty() ? std::vector<std::uint64_t>{latency ? 2U : 65536U} : sizes;
      for (const auto size : use) {
        Step step = like;
        step.operation = operation;
        step.measure = measure;
        step.size_bytes = size;
        if (step.iterations == 0 && step.duration_ms == 0) {
          const auto enough = (std::uint64_t{512} << 20) / size;
          step.iterations = latency ? 1000 : std::clamp<std::uint64_t>(enough, 100, 5000);
        }
        step.seed = like.seed + steps.size();
        steps.push_back(step);
      }
    }
  }
  return steps;
}

Layout Layout::of(const Plan& plan) {
  constexpr std::uint64_t kCacheLine = 64;
  const auto stride = (plan.max_size_bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  constexpr std::uint64_t kRingBytes = std::uint64_t{256} << 10;
  const auto slots = std::clamp<std::uint64_t>(kRingBytes / stride, 1, kRingMessages);
  return {stride, plan.queue_pairs, static_cast<unsigned>(slots)};
}

Step verifying_pass(const Step& step, const Layout& layout, unsigned pass) {
  constexpr std::uint64_t kApart = 1'000'003;  // more than there are steps
  Step all = step;
  all.measure = Measure::bandwidth;
  all.iterations = layout.slots;
  all.duration_ms = all.warm_up = 0;
  all.seed = step.seed + kApart * (pass + 1);
  all.ring = true;
  return all;
}

unsigned verifying_passes(const Step& step, const Plan& plan) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
  if (step.rate_cap_bps != 0) return 1;
  const auto slots = Layout::of(plan).slots;
  const auto bytes = step.size_bytes * slots * plan.queue_pairs * plan.lanes;
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>(kMostBytes / bytes, 1, (kRingMessages + slots - 1) / slots));
}

}  // namespace railhead::bench
