// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/cli/program.h"
#include "unit/cli/text_file.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;

TEST(LintCommand, exit_codes_are_those_of_the_worst_finding) {
  const TextFile good("kind: Pod\nmetadata: {name: p}\n");
  const TextFile wrong("kind: Pod\nmetadata: {namespace: a.}\n", "-wrong");
  const TextFile unread("a: &x 1\n", "-unread");
  EXPECT_EQ(run({"lint", good.path()}).code, cli::kExitOk);
  EXPECT_EQ(run({"lint", good.path(), wrong.path(), unread.path()}).code, cli::kExitProblem);
  EXPECT_EQ(run({"lint", unread.path()}).code, cli::kExitCannotTell);
  EXPECT_EQ(run({"lint"}).code, cli::kExitUsage);
  EXPECT_EQ(run({"lint", "/nonexistent"}).code, cli::kExitCannotTell);
}

TEST(LintCommand, says_place_reason_and_remedy) {
  const TextFile wrong("kind: Pod\nmetadata: {namespace: a.}\n");
  const auto said = run({"lint", wrong.path()});
  EXPECT_THAT(said.out, HasSubstr("FAIL  manifest.name  " + wrong.path() + ":2:23\n"));
  EXPECT_THAT(said.out, HasSubstr("  why  The API server refuses the object"));
  EXPECT_THAT(said.out, HasSubstr("1 FAIL, 0 UNKNOWN, 0 WARN, 0 NOTE in 1 object"));
  const auto json = run({"lint", wrong.path(), "-o", "json"}).json();
  EXPECT_EQ(json["findings"][0]["line"], 2);
  EXPECT_EQ(json["findings"][0]["covers"][0], "E26");
}

TEST(LintCommand, our_configuration_says_which_resources_there_are) {
  const TextFile config("pools:\n  - {name: rdma.io/compute, slots: 8}\n");
  const TextFile pod(
      "kind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, resources: {limits: "
      "{rdma.io/hca: 1}}}]}\n",
      "-pod");
  EXPECT_EQ(run({"lint", pod.path()}).code, cli::kExitOk);
  const auto said = run({"lint", pod.path(), "--config", config.path()});
  EXPECT_EQ(said.code, cli::kExitProblem) << said.out << said.err;
  EXPECT_THAT(said.out, HasSubstr("no node offers \"rdma.io/hca\"; rdma.io/compute is offered"));
}

TEST(LintCommand, lists_and_explains_its_rules) {
  EXPECT_THAT(run({"lint", "--list"}).out, HasSubstr("sriov.device-id"));
  EXPECT_THAT(run({"lint", "--explain", "sriov.device-id"}).out, HasSubstr("E15"));
  EXPECT_EQ(run({"lint", "--explain", "a.b"}).code, cli::kExitUsage);
}

}  // namespace
}  // namespace railhead::test
