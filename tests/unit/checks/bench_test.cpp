// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/checks/patient.h"

namespace railhead::test {
namespace {

checks::Finding measured(const std::string& json) {
  const auto patient = healthy();
  snapshot::SnapshotHost host(patient.snapshot());
  checks::Loopback one{"mlx5_3", "railhead-bench pair mlx5_3 mlx5_3"};
  one.cap_gbps = 10;
  checks::read_bench(json, one);
  const checks::Machine machine(node::read_node(host), {}, {},
                                {{}, {}, std::vector<checks::Loopback>{one}});
  return finding_of(checks::run_checks(machine, {checks::find_check("bench.loopback")}),
                    "bench.loopback", "mlx5_3");
}

std::string bench_says(const std::string& state, const std::string& gbps,
                       const std::string& expected, const std::string& compared = "16") {
  return R"({"state": ")" + state + R"(", "why": "because", "runs": [{"steps": [{"gbps": )" + gbps +
         R"(, "expectedGbps": )" + expected + R"(, "messagesCompared": )" + compared + "}]}]}";
}

TEST(Loopback, is_never_measured_unless_asked_for) {
  EXPECT_EQ(finding_of(healthy().examine(), "bench.loopback", "node").state, checks::State::skip);
}

TEST(Loopback, that_reaches_the_cap_is_right) {
  const auto finding = measured(bench_says("ok", "9.97", "392.1"));
  EXPECT_EQ(finding.state, checks::State::pass);
  EXPECT_EQ(finding.observed, "9.9 Gbit/s, 16 messages as sent");
  EXPECT_EQ(measured(bench_says("ok", "4", "null")).state, checks::State::pass);
}

TEST(Loopback, that_is_slow_or_loses_bytes_is_named) {
  EXPECT_EQ(measured(bench_says("ok", "8", "392.1")).state, checks::State::warn);
  EXPECT_EQ(measured(bench_says("data-mismatch", "9.9", "392.1")).state, checks::State::fail);
  EXPECT_EQ(measured(bench_says("transfer-failed", "0", "392.1")).state, checks::State::fail);
}

TEST(Loopback, of_a_nic_in_use_is_skipped) {
  EXPECT_EQ(measured(bench_says("in-use", "null", "null")).state, checks::State::skip);
}

TEST(Loopback, that_could_not_be_measured_is_unknown) {
  EXPECT_EQ(measured("").state, checks::State::unknown);
  EXPECT_EQ(measured("[]").state, checks::State::unknown);
  EXPECT_EQ(measured(R"({"state": "ok", "runs": []})").state, checks::State::unknown);
  EXPECT_EQ(measured(bench_says("ok", "9.9", "392.1", "0")).state, checks::State::unknown);
  EXPECT_EQ(measured(bench_says("no-memory", "null", "null")).state, checks::State::unknown);
}

}  // namespace
}  // namespace railhead::test
