// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <sstream>

#include "unit/cli/program.h"
#include "unit/cli/text_file.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;

TEST(NicsCommand, exclusive_rdma_namespaces_are_shown) {
  const TextFile exclusive("railhead-snapshot 1\nt /sys/module/ib_core/parameters/netns_mode N\n");
  for (const char* command : {"nics", "topology", "affinity"}) {
    const auto said = run({command, "--snapshot", exclusive.path()});
    EXPECT_THAT(said.out, HasSubstr("RDMA namespaces are exclusive")) << command;
  }
  const auto document = run({"nics", "--snapshot", exclusive.path(), "-o", "json"}).json();
  EXPECT_EQ(document["rdmaNamespaces"], "exclusive");
}

TEST(NicsCommand, namespaces_of_which_nothing_is_known_are_null) {
  const TextFile silent("railhead-snapshot 1\nd /sys/class\n");
  const auto document = run({"nics", "--snapshot", silent.path(), "-o", "json"}).json();
  EXPECT_TRUE(document["rdmaNamespaces"].is_null());
}

TEST(NicsCommand, prints_the_labels_of_the_node) {
  const auto said = run_on("dgx-h100", "nics", {"-o", "nfd"});
  EXPECT_EQ(said.code, cli::kExitOk);
  EXPECT_THAT(said.out, HasSubstr("\nrailhead.io/rdma.capable=true\n"));
  EXPECT_THAT(said.out, HasSubstr("\nrailhead.io/rail-7.nic=mlx5_"));
  const TextFile nothing("railhead-snapshot 1\nd /sys/class\n");
  EXPECT_THAT(run({"nics", "--snapshot", nothing.path(), "-o", "nfd"}).out,
              HasSubstr("\nrailhead.io/rdma.capable=false\n"));
}

TEST(NicsCommand, labels_have_the_exit_code_of_the_table) {
  for (const char* machine : {"dgx-h100", "dgx-h100-degraded", "gpus-only"}) {
    const auto said = run_on(machine, "nics", {"-o", "nfd"});
    EXPECT_EQ(said.code, run_on(machine, "nics").code) << machine;
    EXPECT_THAT(said.out, HasSubstr("railhead.io/rdma.capable=")) << machine;
  }
  EXPECT_EQ(run_on("dgx-h100-degraded", "nics", {"-o", "nfd"}).code, cli::kExitProblem);
  const auto said = run({"nics", "--snapshot", "/no/such.node", "-o", "nfd"});
  EXPECT_EQ(said.code, cli::kExitCannotTell);
  EXPECT_EQ(said.out, "");
}

TEST(NicsCommand, say_that_a_type_of_machine_has_more) {
  std::stringstream machine(machine_text("aws-p5"));
  std::string lost;  // without the links that lead to one NIC
  for (std::string line; std::getline(machine, line);) {
    const bool leads_there = line.starts_with("l ") && line.find("0000:4f:00.0") != line.npos;
    if (!leads_there) lost += line + "\n";
  }
  const TextFile file(lost);
  EXPECT_EQ(run_on("aws-p5", "nics").code, cli::kExitOk);
  for (const auto* command : {"nics", "topology"}) {
    const auto said = run({command, "--snapshot", file.path(), "-o", "json"});
    EXPECT_EQ(said.code, cli::kExitProblem) << command;
    EXPECT_EQ(said.json()["warnings"].size(), 1U) << command;
  }
  EXPECT_EQ(run({"affinity", "--snapshot", file.path()}).code, cli::kExitProblem);
  EXPECT_EQ(run({"affinity", "--snapshot", file.path(), "--gpus", "7"}).code, cli::kExitOk);
  const TextFile config("roles: [{name: rdmap80s0, role: storage}]\n");
  const auto whole = run_on("aws-p5", "nics", {"--config", config.path()});
  EXPECT_EQ(whole.code, cli::kExitOk) << "the operator gave one another role";
}

TEST(NicsCommand, shows_what_the_operator_expects_of_them) {
  const TextFile file(
      "expect:\n"
      "  - {name: mlx5_0, unused: true}\n"
      "  - {name: 'mlx5_3*', rateGbps: 800}\n");
  const auto table = run_on("dgx-h100", "nics", {"--config", file.path()});
  EXPECT_THAT(table.out, HasSubstr("no: unused by design (" + file.path() + ":2:5)"));
  EXPECT_THAT(table.out, HasSubstr("yes, slow: port 1 runs at 400 Gbit/s, and 800 are expected"));
  const auto nic = run_on("dgx-h100", "nics", {"--config", file.path(), "-o", "json"}).json();
  EXPECT_EQ(nic["nics"][0]["role"], "unused");
  EXPECT_EQ(nic["nics"][0]["slowReason"], "");
  const auto config = run({"config", "--config", file.path(), "-o", "json"}).json();
  EXPECT_EQ(config["expect"][1]["rateGbps"], "800");
  EXPECT_EQ(config["expect"][1]["where"], file.path() + ":3:5");
}

}  // namespace
}  // namespace railhead::test
