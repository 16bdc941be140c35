// SPDX-License-Identifier: Apache-2.0
#include "bench/report.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "bench/evidence.h"
#include "unit/source_dir.h"

namespace railhead::bench {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

data::Json evidence(double rate_gbps) {
  return {{"lanes",
           {{{"nic", "mlx5_0"},
             {"port", 1},
             {"linkLayer", "InfiniBand"},
             {"pci", "0000:18:00.0"},
             {"rateGbps", rate_gbps},
             {"pathMtu", 4096}}}}};
}

StepResult bandwidth_step(std::uint64_t bytes) {
  StepResult done;
  LaneResult lane;
  lane.messages = bytes / done.step.size_bytes;
  lane.bytes = bytes;
  lane.end = lane.start + seconds(1);
  done.lanes = {lane};
  return done;
}

MemoryRun run_with(State state, Memory memory = Memory::host) {
  MemoryRun run;
  run.memory = memory;
  run.result.outcome = {state, state == State::ok ? "" : "because"};
  run.result.here = evidence(400);
  run.result.there = evidence(100);
  run.result.steps = {bandwidth_step(std::uint64_t{10'000'000'000})};
  return run;
}

TEST(BenchReport, the_slower_end_is_what_can_be_expected) {
  BenchResult result;
  result.runs = {run_with(State::ok)};
  const auto step = make_report(result).json["runs"][0]["steps"][0];
  EXPECT_NEAR(step["gbps"].get<double>(), 80, 1e-9);
  EXPECT_LT(step["expectedGbps"].get<double>(), 100);
  EXPECT_NEAR(step["share"].get<double>(), 80 / step["expectedGbps"].get<double>(), 1e-9);
}

TEST(BenchReport, an_unknown_end_leaves_the_share_and_any_requirement_open) {
  BenchResult result;
  result.runs = {run_with(State::ok)};
  result.runs[0].result.there = data::Json("nonsense");
  EXPECT_TRUE(overall(result).ok());
  result.required_share = 0.01;
  const auto report = make_report(result);
  EXPECT_TRUE(report.json["runs"][0]["steps"][0]["share"].is_null());
  EXPECT_EQ(report.json["state"], "cannot-tell");
  EXPECT_EQ(exit_code(overall(result).state), 2);
  EXPECT_EQ(report.json["why"],
            "whether 1.0% are reached: write of 64KiB: a side does not say which NICs it used");
  EXPECT_THAT(report.sections.back().lines.back(), HasSubstr("cannot-tell: whether"));
}

TEST(BenchReport, validated_is_what_was_compared_and_no_more) {
  BenchResult result;
  result.runs = {run_with(State::ok)};
  auto& step = result.runs[0].result.steps[0];
  step.messages_compared = 16;
  const auto json = [&] { return make_report(result).json["runs"][0]["steps"][0]; };
  EXPECT_EQ(json()["validated"], true);
  EXPECT_EQ(json()["messagesCompared"], 16);
  EXPECT_THAT(
      make_report(result).sections.back().lines,
      testing::Contains("host: ok, 16 messages compared with what was sent, no difference"));
  step.step.measure = Measure::latency;
  step.step.size_bytes = 1;  // which counts the rounds
  EXPECT_EQ(json()["validated"], false);
}

TEST(BenchReport, the_header_has_the_unit_of_the_value) {
  BenchResult result;
  result.runs = {run_with(State::ok)};
  const auto text = report::find_format("table")->render(make_report(result), {});
  EXPECT_THAT(text, HasSubstr("Gbit/s "));
  EXPECT_THAT(text, testing::Not(HasSubstr("GB/S")));
}

TEST(BenchReport, the_rate_cap_is_what_was_asked_whatever_was_measured) {
  BenchResult result;
  result.runs = {run_with(State::ok)};
  auto& steps = result.runs[0].result.steps;
  steps.push_back(steps[0]);
  steps.push_back(steps[0]);
  steps[1].step.rate_cap_bps = steps[2].step.rate_cap_bps = 10'000'000'000;
  steps[2].step.measure = Measure::latency;
  const auto json = make_report(result).json["runs"][0]["steps"];
  EXPECT_TRUE(json[0]["rateCapBps"].is_null());
  EXPECT_EQ(json[1]["rateCapBps"], 10'000'000'000U);
  EXPECT_EQ(json[2]["rateCapBps"], 10'000'000'000U);
}

TEST(BenchReport, a_soft_device_reaches_no_share_that_can_be_required) {
  BenchResult result;
  result.required_share = 0.01;
  result.runs = {run_with(State::ok)};
  result.runs[0].result.there["lanes"][0]["pci"] = nullptr;
  EXPECT_EQ(overall(result).state, State::cannot_tell);
  EXPECT_THAT(overall(result).why, HasSubstr("mlx5_0 has no PCI function"));
}

TEST(BenchReport, a_step_below_the_requirement_outweighs_one_that_is_unknown) {
  BenchResult result;
  result.required_share = 0.9;
  result.runs = {run_with(State::ok, Memory::gpu_dmabuf), run_with(State::ok)};
  result.runs[0].result.there = nullptr;
  EXPECT_EQ(overall(result).state, State::below_expected);
  result.required_share = 0.1;
  EXPECT_EQ(overall(result).state, State::cannot_tell);
}

TEST(BenchReport, a_lost_peer_says_more_than_a_requirement_that_is_not_known) {
  BenchResult result;
  result.required_share = 0.9;
  result.runs = {run_with(State::peer_lost)};
  result.runs[0].result.steps.clear();
  EXPECT_EQ(overall(result).state, State::peer_lost);
}

TEST(BenchReport, below_the_requirement_is_a_state_for_large_messages_only) {
  BenchResult result;
  result.required_share = 0.9;
  result.runs = {run_with(State::ok)};
  EXPECT_EQ(overall(result).state, State::below_expected);
  EXPECT_THAT(overall(result).why, HasSubstr("less than 90.0%"));
}

TEST(BenchReport, a_slot_trained_to_half_fails_what_is_required) {
  BenchResult result;
  result.required_share = 0.9;
  result.runs = {run_with(State::ok)};
  for (auto* side : {&result.runs[0].result.here, &result.runs[0].result.there}) {
    auto& lane = (*side)["lanes"][0];
    lane["rateGbps"] = 100;
    lane["pciePossible"] = {{"gts", 8}, {"width", 16}};
  }
  result.runs[0].result.here["lanes"][0]["pcie"] = {{"gts", 8}, {"width", 8}};
  EXPECT_EQ(overall(result).state, State::below_expected);
  EXPECT_THAT(overall(result).why, HasSubstr("less than 90.0%: PCIe of mlx5_0 is degraded"));
  result.required_share = 0;
  EXPECT_THAT(make_report(result).sections.back().lines,
              testing::Contains(HasSubstr("8 GT/s x8 where 8 GT/s x16 is possible")));
}

TEST(BenchReport, where_no_large_message_was_measured_nothing_is_judged) {
  BenchResult result;
  result.required_share = 0.1;
  result.runs = {run_with(State::ok)};
  EXPECT_TRUE(overall(result).ok());
  result.runs[0].result.steps[0].step.size_bytes = 4096;
  EXPECT_EQ(overall(result).state, State::cannot_tell);
  EXPECT_THAT(overall(result).why, HasSubstr("no bandwidth of messages of 64 KiB or more"));
  result.runs[0].result.steps[0].step.size_bytes = 65536;
  result.runs[0].result.steps[0].step.measure = Measure::latency;
  EXPECT_EQ(overall(result).state, State::cannot_tell);
}

TEST(BenchReport, an_absent_route_is_forgiven_where_another_was_measured) {
  BenchResult result;
  result.runs = {run_with(State::unsupported, Memory::gpu_dmabuf), run_with(State::ok)};
  EXPECT_TRUE(overall(result).ok());
  result.runs = {run_with(State::unsupported, Memory::gpu_dmabuf)};
  EXPECT_EQ(overall(result).state, State::unsupported);
}

TEST(BenchReport, a_peer_that_was_lost_after_one_good_run_is_not_forgiven) {
  for (const auto state : {State::peer_lost, State::timed_out, State::interrupted}) {
    BenchResult result;
    result.runs = {run_with(State::ok), run_with(state, Memory::gpu_dmabuf)};
    EXPECT_EQ(overall(result).state, state);
  }
}

TEST(BenchReport, wrong_data_is_worse_than_anything) {
  BenchResult result;
  result.runs = {run_with(State::peer_lost), run_with(State::data_mismatch, Memory::gpu_peermem)};
  EXPECT_EQ(overall(result).state, State::data_mismatch);
}

TEST(BenchReport, a_session_that_never_began_is_still_a_document) {
  BenchResult result;
  MemoryRun run;
  run.result.outcome = {State::wrong_key, "the keys differ"};
  result.runs = {run};
  const auto report = make_report(result);
  EXPECT_EQ(report.json["kind"], "Bench");
  EXPECT_EQ(report.json["state"], "wrong-key");
  EXPECT_EQ(report.json["runs"][0]["steps"], data::Json::array());
}

/// One side with everything that there is to say.
data::Json whole_side(Memory memory) {
  Place place;
  place.nic = "mlx5_0";
  place.gid_index = 3;
  place.gid = "0000:0000:0000:0000:0000:ffff:0a00:0001";
  place.gid_type = "RoCE v2";
  place.pci = "0000:18:00.0";
  place.numa_node = 0;
  place.rate_gbps = 400;
  place.pcie = {32, 16};
  place.pcie_possible = {32, 16};
  place.firmware = "28.39.1002";
  place.driver = "mlx5_core";
  auto lane = place_json(place);
  lane["pinned"] = true;
  lane["pathMtu"] = 4096;
  lane["queuePairs"] = {17};
  lane["counters"]["port_xmit_data"] = {{"before", 1}, {"after", 2}};
  lane["portBytes"] = {{"sent", 4}, {"received", 4}};
  return {{"host", "node-1"},
          {"memory", to_string(memory)},
          {"gpu", gpu_json({"0000:19:00.0", "12.4", true, std::nullopt})},
          {"lanes", data::Json::array({lane})},
          {"remarks", data::Json::array({"a remark"})}};
}

/// The schema of docs/schemas is held against this file. RAILHEAD_BLESS=1 writes it anew.
TEST(BenchReport, the_whole_document_is_the_committed_one) {
  BenchResult result;
  result.required_share = 0.1;
  auto measured = run_with(State::ok, Memory::gpu_dmabuf);
  auto& lane = measured.result.steps[0].lanes[0];
  lane.slice_gbps = {79, 80, 81};
  measured.result.here = measured.result.there = whole_side(measured.memory);
  auto latency = measured.result.steps[0];
  latency.step.measure = Measure::latency;
  latency.lanes[0].latency.add(2000);
  measured.result.steps.push_back(latency);
  MemoryRun refused;
  refused.result.outcome = {State::peer_lost, "because"};
  result.runs = {measured, refused};
  auto json = make_report(result).json;
  json["version"] = "0.0.0";
  json["started"] = "2026-01-31T00:00:00Z";
  const auto path = test::source_dir() + "/tests/cli/bench.json";
  if (std::getenv("RAILHEAD_BLESS") != nullptr) std::ofstream(path) << data::to_json_text(json);
  std::stringstream committed;
  committed << std::ifstream(path).rdbuf();
  EXPECT_EQ(committed.str(), data::to_json_text(json));
}

TEST(BenchReport, each_state_has_a_name_of_its_own_that_reads_back) {
  for (int i = 0; i <= static_cast<int>(State::usage); ++i) {
    const auto state = static_cast<State>(i);
    EXPECT_EQ(parse_state(to_string(state)), state);
  }
  EXPECT_EQ(parse_state("splendid"), State::protocol_error);
}

}  // namespace
}  // namespace railhead::bench
