// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_active.h"

#include <gmock/gmock.h>

#include <sstream>

#include "base/text.h"
#include "unit/checks/patient.h"
#include "unit/cli/program.h"
#include "unit/host/temporary_directory.h"

namespace railhead::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// A railhead-bench that keeps the words of each call in `calls`, and says `answer`.
host::Environment with_bench(const TemporaryDirectory& folder, const std::string& answer) {
  const auto path = folder / "railhead-bench";
  std::ofstream(path) << "#!/bin/sh\necho \"$*\" >> " << folder / "calls"
                      << "\necho '" << answer << "'\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return {{"PATH", folder.path().string()}};
}

checks::Machine machine_of(const std::string& name) {
  const auto patient = Patient::of(name);
  snapshot::SnapshotHost host(patient.snapshot());
  return {node::read_node(host), {}, {}};
}

std::vector<std::string> calls_in(const TemporaryDirectory& folder) {
  std::vector<std::string> calls;
  const auto text = file_text(folder / "calls");
  for (const auto line : split(text, '\n')) {
    if (!line.empty()) calls.emplace_back(line);
  }
  return calls;
}

TEST(DoctorActive, measures_nics_with_traffic_that_are_up_at_a_capped_rate) {
  const TemporaryDirectory folder;
  const auto environment = with_bench(folder, R"({"state": "in-use", "why": "a job"})");
  const auto machine = machine_of("dgx-h100-degraded");  // the port of mlx5_3 is down
  std::ostringstream progress;
  const auto all = cli::run_loopbacks(machine, environment, progress);
  const auto calls = calls_in(folder);
  ASSERT_EQ(calls.size(), all.size());
  ASSERT_GT(all.size(), 4U);
  for (std::size_t n = 0; n < all.size(); ++n) {
    EXPECT_THAT(calls[n], StartsWith("pair " + all[n].nic + " " + all[n].nic + " "));
    EXPECT_EQ(all[n].command, "railhead-bench " + calls[n]);
    EXPECT_THAT(progress.str(), HasSubstr("measuring " + all[n].nic + "\n"));
    EXPECT_EQ(all[n].state, "in-use");
    EXPECT_EQ(all[n].cap_gbps, 10);
  }
  EXPECT_THAT(calls, Each(HasSubstr(" --duration 1s --rate-cap 10G ")));
  EXPECT_THAT(calls, Each(Not(HasSubstr("mlx5_3 "))));
}

TEST(DoctorActive, says_of_each_nic_why_it_could_not_be_measured) {
  const auto machine = machine_of("dgx-h100");
  std::ostringstream progress;
  for (const auto& one : cli::run_loopbacks(machine, {{"PATH", "/no/such/folder"}}, progress)) {
    EXPECT_THAT(one.why, HasSubstr("railhead-bench is not installed")) << one.nic;
  }
  const TemporaryDirectory folder;
  const auto garbage = cli::run_loopbacks(machine, with_bench(folder, "what?"), progress);
  ASSERT_THAT(garbage, Not(IsEmpty()));
  for (const auto& one : garbage) EXPECT_EQ(one.why, "it printed no JSON") << one.nic;
}

/// What it would measure for nobody.
TEST(DoctorActive, is_refused_where_its_check_is_not_made) {
  const std::vector<std::vector<std::string>> wrong = {
      {"doctor", "--active", "--pid", "1"},
      {"doctor", "--active", "--pod", "a/b"},
      {"doctor", "--active", "--check", "link.port-state"}};
  for (const auto& words : wrong) {
    const auto said = run(words, {{"PATH", "/no/such/folder"}});
    EXPECT_EQ(said.code, cli::kExitUsage) << join(words, " ");
    EXPECT_THAT(said.err, HasSubstr("bench.loopback"));
  }
}

}  // namespace
}  // namespace railhead::test
