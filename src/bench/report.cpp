// SPDX-License-Identifier: Apache-2.0
#include "bench/report.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "base/version.h"
#include "bench/contents.h"
#include "bench/evidence.h"
#include "bench/expected.h"

namespace railhead::bench {
namespace {

constexpr std::uint64_t kLargeMessage = 65536;

std::string number_text(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string microseconds(double ns) {
  return number_text(ns / 1000, 2);
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKibi = 1024;
  if (bytes >= kKibi * kKibi && bytes % (kKibi * kKibi) == 0) {
    return std::to_string(bytes / (kKibi * kKibi)) + "MiB";
  }
  if (bytes >= kKibi && bytes % kKibi == 0) return std::to_string(bytes / kKibi) + "KiB";
  return std::to_string(bytes);
}

Histogram merged(const StepResult& step) {
  Histogram all;
  for (const auto& lane : step.lanes) all.merge(lane.latency);
  return all;
}

data::Json latency_json(const Histogram& latency) {
  const auto us = [](double ns) { return ns / 1000; };
  const auto at = [&](double share) {
    return us(static_cast<double>(latency.percentile_ns(share).value_or(0)));
  };
  return {{"samples", latency.count()},
          {"min", us(static_cast<double>(latency.min_ns()))},
          {"p50", at(0.5)},
          {"p99", at(0.99)},
          {"p999", at(0.999)},
          {"max", us(static_cast<double>(latency.max_ns()))},
          {"mean", us(latency.mean_ns())}};
}

data::Json slices_json(std::vector<double> slices) {
  if (slices.empty()) return nullptr;
  std::ranges::sort(slices);
  return {{"number", slices.size()},
          {"min", slices.front()},
          {"p50", slices[slices.size() / 2]},
          {"max", slices.back()}};
}

std::uint64_t messages_of(const StepResult& step) {
  std::uint64_t messages = 0;
  for (const auto& lane : step.lanes) messages += lane.messages;
  return messages;
}

double seconds_of(const StepResult& step) {
  auto start = step.lanes.front().start;
  auto end = step.lanes.front().end;
  for (const auto& lane : step.lanes) {
    start = std::min(start, lane.start);
    end = std::max(end, lane.end);
  }
  return std::chrono::duration<double>(end - start).count();
}

data::Json step_json(const MemoryRun& run, const StepResult& done) {
  const auto& step = done.step;
  data::Json json = {
      {"operation", to_string(step.operation)},
      {"measure", to_string(step.measure)},
      {"sizeBytes", step.size_bytes},
      {"queuePairs", step.measure == Measure::latency ? 1 : run.queue_pairs},
      {"depth", step.measure == Measure::latency ? 1 : effective_depth(step)},
      {"warmUp", step.warm_up},
      {"messages", messages_of(done)},
      {"seconds", seconds_of(done)},
      {"rateCapBps", step.rate_cap_bps == 0 ? data::Json(nullptr) : data::Json(step.rate_cap_bps)},
      {"validated", bytes_compared(step) > 0},
      {"messagesCompared", done.messages_compared}};
  if (step.measure == Measure::latency) {
    json["latencyUs"] = latency_json(merged(done));
    return json;
  }
  const double gbps = step_gbps(done);
  json["gbps"] = gbps;
  json["messagesPerSecond"] = gbps * 1e9 / 8 / static_cast<double>(step.size_bytes);
  const auto expected = expectation(run.result.here, run.result.there, step.size_bytes);
  json["expectedGbps"] = expected ? data::Json(expected->gbps) : data::Json(nullptr);
  json["expectedLimitedBy"] = expected ? data::Json(expected->limited_by) : data::Json(nullptr);
  json["share"] = expected ? data::Json(gbps / expected->gbps) : data::Json(nullptr);
  json["lanes"] = data::json_list(done.lanes, [](const LaneResult& lane) {
    return data::Json{{"messages", lane.messages},
                      {"bytes", lane.bytes},
                      {"seconds", lane.seconds()},
                      {"gbps", lane.gbps()},
                      {"tenthsOfASecondGbps", slices_json(lane.slice_gbps)}};
  });
  return json;
}

data::Json run_json(const MemoryRun& run) {
  const auto& result = run.result;
  const auto steps = [&](const StepResult& step) { return step_json(run, step); };
  return {{"memory", to_string(run.memory)}, {"state", to_string(result.outcome.state)},
          {"why", result.outcome.why},       {"steps", data::json_list(result.steps, steps)},
          {"client", result.here},           {"server", result.there}};
}

void add_bandwidth_row(const MemoryRun& run, const StepResult& done, report::Table& table) {
  const auto& step = done.step;
  const double gbps = step_gbps(done);
  const auto expected = expectation(run.result.here, run.result.there, step.size_bytes);
  table.add({{"MEMORY", std::string(to_string(run.memory))},
             {"OPERATION", std::string(to_string(step.operation))},
             {"SIZE", size_text(step.size_bytes)},
             {"MESSAGES", std::to_string(messages_of(done))},
             {"SECONDS", number_text(seconds_of(done), 2), report::kWide},
             {"Gbit/s", number_text(gbps, 3)},
             {"MESSAGES/S", number_text(gbps * 1e9 / 8 / static_cast<double>(step.size_bytes), 0)},
             {"EXPECTED", expected ? number_text(expected->gbps, 1) : ""},
             {"SHARE", expected ? number_text(gbps / expected->gbps * 100, 1) + "%" : ""},
             {"LIMITED BY", expected ? expected->limited_by : "", report::kWide}});
}

void add_latency_row(const MemoryRun& run, const StepResult& done, report::Table& table) {
  const auto latency = merged(done);
  const auto at = [&](double share) {
    return microseconds(static_cast<double>(latency.percentile_ns(share).value_or(0)));
  };
  table.add({{"MEMORY", std::string(to_string(run.memory))},
             {"OPERATION", std::string(to_string(done.step.operation))},
             {"SIZE", size_text(done.step.size_bytes)},
             {"SAMPLES", std::to_string(latency.count())},
             {"MIN", microseconds(static_cast<double>(latency.min_ns()))},
             {"P50", at(0.5)},
             {"P99", at(0.99)},
             {"P99.9", at(0.999)},
             {"MAX", microseconds(static_cast<double>(latency.max_ns()))},
             {"MEAN", microseconds(latency.mean_ns()), report::kWide}});
}

std::string path_line(const data::Json& here, const data::Json& there, std::size_t i) {
  const auto end = [&](const data::Json& evidence) -> std::string {
    const auto* lanes = lanes_of(evidence);
    if (lanes == nullptr || i >= lanes->size()) return "?";
    const auto& lane = (*lanes)[i];
    const auto gid = field<std::string>(lane, "gid");
    const auto port = field<unsigned>(lane, "port").value_or(0);
    return field<std::string>(lane, "nic").value_or("?") + "/" + std::to_string(port) +
           (gid ? " (GID " + std::to_string(field<unsigned>(lane, "gidIndex").value_or(0)) + " " +
                      *gid + ", " + field<std::string>(lane, "gidType").value_or("?") + ")"
                : "");
  };
  const auto* lanes = lanes_of(here);
  const auto mtu = field<unsigned>((*lanes)[i], "pathMtu").value_or(0);
  return end(here) + " -> " + end(there) + ", path MTU " + std::to_string(mtu);
}

void add_remarks(const char* side, const data::Json& evidence, std::vector<std::string>& lines) {
  if (!evidence.is_object()) return;
  const auto remarks = evidence.find("remarks");
  if (remarks == evidence.end() || !remarks->is_array()) return;
  for (const auto& remark : *remarks) {
    if (remark.is_string()) lines.push_back(std::string(side) + ": " + remark.get<std::string>());
  }
}

/// Of both sides.
std::vector<std::string> degraded_of(const SessionResult& session) {
  auto lines = degraded_links(session.here);
  for (auto& line : degraded_links(session.there)) lines.push_back(std::move(line));
  return lines;
}

std::string because(const std::vector<std::string>& reasons) {
  return reasons.empty() ? "" : ": " + join(reasons, ", ");
}

std::string compared_text(const SessionResult& session) {
  std::uint64_t messages = 0;
  for (const auto& step : session.steps) messages += step.messages_compared;
  return counted(messages, "message") + " compared with what was sent, no difference";
}

std::vector<std::string> lines_of(const BenchResult& result) {
  std::vector<std::string> lines;
  for (const auto& run : result.runs) {
    const auto* lanes = lanes_of(run.result.here);
    if (&run == &result.runs.front() && lanes != nullptr) {
      for (std::size_t i = 0; i < lanes->size(); ++i) {
        lines.push_back(path_line(run.result.here, run.result.there, i));
      }
    }
    for (const auto& line : degraded_of(run.result)) lines.push_back(line);
    add_remarks("client", run.result.here, lines);
    add_remarks("server", run.result.there, lines);
    const auto& outcome = run.result.outcome;
    lines.push_back(std::string(to_string(run.memory)) + ": " +
                    std::string(to_string(outcome.state)) +
                    (outcome.why.empty() ? ", " + compared_text(run.result) : ": " + outcome.why));
  }
  const auto whole = overall(result);
  if (whole.state == State::below_expected || whole.state == State::cannot_tell) {
    lines.push_back(std::string(to_string(whole.state)) + ": " + whole.why);
  }
  return lines;
}

/// What --require says of what was measured: ok where it was met or nothing is required.
Outcome judge(const BenchResult& result) {
  if (result.required_share <= 0) return {};
  const auto required = number_text(result.required_share * 100, 1) + "%";
  std::optional<std::string> unknown;
  bool any = false;
  for (const auto& run : result.runs) {
    for (const auto& done : run.result.steps) {
      const auto& step = done.step;
      if (step.measure != Measure::bandwidth || step.size_bytes < kLargeMessage) continue;
      any = true;
      const auto what =
          std::string(to_string(step.operation)) + " of " + size_text(step.size_bytes);
      const auto expected = expectation(run.result.here, run.result.there, step.size_bytes);
      if (!expected) {
        if (!unknown) unknown = what + ": " + expected.error().message;
        continue;
      }
      const double share = step_gbps(done) / expected->gbps;
      if (share >= result.required_share) continue;
      return {State::below_expected, what + " reaches " + number_text(share * 100, 1) + "% of " +
                                         number_text(expected->gbps, 1) + " Gb/s (" +
                                         expected->limited_by + "), less than " + required +
                                         because(degraded_of(run.result))};
    }
  }
  if (!any) unknown = "no bandwidth of messages of 64 KiB or more was measured";
  if (!unknown) return {};
  return {State::cannot_tell, "whether " + required + " are reached: " + *unknown};
}

}  // namespace

double step_gbps(const StepResult& step) {
  std::uint64_t bytes = 0;
  for (const auto& lane : step.lanes) bytes += lane.bytes;
  const double seconds = seconds_of(step);
  return seconds > 0 ? static_cast<double>(bytes) * 8e-9 / seconds : 0;
}

Outcome overall(const BenchResult& result) {
  const Outcome* worst = nullptr;
  bool any_ok = false;
  for (const auto& run : result.runs) {
    const auto& outcome = run.result.outcome;
    if (exit_code(outcome.state) == 1) return outcome;
    any_ok = any_ok || outcome.ok();
    const bool is_worse = worst == nullptr || worst->state == State::unsupported;
    if (!outcome.ok() && is_worse) worst = &outcome;
  }
  auto required = judge(result);
  if (required.state == State::below_expected) return required;
  const bool forgiven = worst == nullptr || (any_ok && worst->state == State::unsupported);
  return forgiven ? required : *worst;
}

report::Report make_report(const BenchResult& result) {
  const auto whole = overall(result);
  report::Report report;
  report.json = report::make_document("Bench");
  report.json["version"] = std::string(version());
  report.json["started"] = host::utc_text(result.started);
  report.json["state"] = to_string(whole.state);
  report.json["why"] = whole.why;
  report.json["requiredShare"] =
      result.required_share > 0 ? data::Json(result.required_share) : data::Json(nullptr);
  report.json["runs"] = data::json_list(result.runs, run_json);
  report::Table bandwidth;
  report::Table latency;
  for (const auto& run : result.runs) {
    for (const auto& step : run.result.steps) {
      if (step.step.measure == Measure::latency) {
        add_latency_row(run, step, latency);
      } else {
        add_bandwidth_row(run, step, bandwidth);
      }
    }
  }
  if (!bandwidth.rows.empty()) {
    report.sections.push_back({"BANDWIDTH in Gbit/s of payload", std::move(bandwidth), {}});
  }
  if (!latency.rows.empty()) {
    report.sections.push_back({"LATENCY in microseconds", std::move(latency), {}});
  }
  report.add("", lines_of(result));
  return report;
}

}  // namespace railhead::bench
