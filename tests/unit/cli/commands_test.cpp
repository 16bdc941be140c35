// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <gmock/gmock.h>

#include "unit/cli/program.h"
#include "unit/cli/text_file.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Program, help_is_data_and_success) {
  for (const auto& said : {run({"--help"}), run({"affinity", "--help"}), run({"--version"})}) {
    EXPECT_EQ(said.code, cli::kExitOk);
    EXPECT_THAT(said.out, HasSubstr("ailhead"));
    EXPECT_EQ(said.err, "");
  }
}

TEST(Program, what_it_does_not_know_is_a_usage_error_on_stderr) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"frobnicate"},
                                                    {"topology", "--frobnicate"},
                                                    {"nics", "more"}}) {
    const auto said = run(arguments);
    EXPECT_EQ(said.code, cli::kExitUsage) << testing::PrintToString(arguments);
    EXPECT_EQ(said.out, "");
    EXPECT_NE(said.err, "");
  }
}

TEST(Program, a_command_that_is_none_is_named) {
  EXPECT_THAT(run({"frobnicate", "now"}).err, HasSubstr("no command \"frobnicate\""));
}

TEST(Program, a_format_that_a_command_lacks_is_a_usage_error) {
  for (const char* command : {"topology", "affinity", "nics"}) {
    const auto said = run_on("dgx-h100", command, {"-o", "svgz"});
    EXPECT_EQ(said.code, cli::kExitUsage) << command;
    EXPECT_EQ(said.out, "");
    EXPECT_THAT(said.err, HasSubstr("svgz"));
  }
  EXPECT_EQ(run_on("dgx-h100", "nics", {"-o", "tree"}).code, cli::kExitUsage);
}

TEST(Program, a_format_is_refused_before_the_machine_is_read) {
  for (const char* command : {"topology", "affinity", "nics", "config"}) {
    const auto said = run({command, "-o", "pdf", "--config", "/no/such/config.yaml"});
    EXPECT_EQ(said.code, cli::kExitUsage) << command;
    EXPECT_EQ(said.out, "");
    EXPECT_THAT(said.err, HasSubstr("\"pdf\" is not a format of this command (table|wide|json|"));
    EXPECT_THAT(said.err, Not(HasSubstr("config.yaml")));
  }
}

TEST(Program, a_snapshot_that_is_not_there_cannot_tell_and_is_named) {
  const auto said = run({"topology", "--snapshot", "/no/such/machine.node"});
  EXPECT_EQ(said.code, cli::kExitCannotTell);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr("/no/such/machine.node"));
}

TEST(Program, a_malformed_snapshot_is_named_with_its_line) {
  const TextFile file("railhead-snapshot 1\nd /sys\nq /sys/what\n");
  const auto said = run({"affinity", "--snapshot", file.path()});
  EXPECT_EQ(said.code, cli::kExitCannotTell);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr(file.path()));
  EXPECT_THAT(said.err, HasSubstr("line 3"));
}

TEST(Program, a_wrong_configuration_is_a_usage_error_at_its_place) {
  const TextFile file("injection:\n  gpuz: all\n");
  const auto said = run({"config", "--config", file.path()});
  EXPECT_EQ(said.code, cli::kExitUsage);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr(file.path() + ":2:3"));
}

TEST(Program, an_agent_with_a_wrong_configuration_does_not_start) {
  const TextFile ours("pools:\n  - name: a.io/a\n    slots: -1\n");
  const TextFile theirs(R"({"resourceList": [{"resourceName": "a"}]})");
  const TextFile broken("{\"configList\": [");
  for (const auto* file : {&ours, &theirs, &broken}) {
    const auto said = run({"agent", "--config", file->path()});
    EXPECT_EQ(said.code, cli::kExitUsage) << said.err;
    EXPECT_THAT(said.err, HasSubstr(file->path()));
  }
}

TEST(Program, config_names_the_file_and_key_that_keep_an_agent_from_start) {
  for (const auto& [text, what] :
       {std::pair{"metrics:\n  bindAddress: foo\n", ":2:16: metrics.bindAddress: \"foo\": "},
        std::pair{"host:\n  snapshot: /no/such.node\n", ":2:13: host.snapshot: /no/such.node: "},
        std::pair{"topology:\n  file: /no/such.xml\n", ":2:9: topology.file: /no/such.xml: "}}) {
    const TextFile file(text);
    const auto said = run({"config", "--config", file.path()});
    EXPECT_EQ(said.code, cli::kExitUsage);
    EXPECT_EQ(said.out, "");
    EXPECT_THAT(said.err, HasSubstr(file.path() + what));
  }
}

TEST(Program, config_refuses_pools_that_want_the_same_function) {
  const TextFile file(
      "pools:\n"
      "  - {name: a.io/a, mode: exclusive, include: {names: mlx5_0}}\n"
      "  - {name: a.io/b, mode: exclusive, include: {names: mlx5_0}}\n");
  const auto said = run_on("dgx-h100", "config", {"--config", file.path()});
  EXPECT_EQ(said.code, cli::kExitUsage);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr("is wanted by the exclusive pools a.io/a"));
}

TEST(Program, config_tells_who_said_a_value) {
  const TextFile file("log:\n  level: warn\n");
  const auto said = run({"config", "--config", file.path(), "-o", "json"});
  ASSERT_EQ(said.code, cli::kExitOk) << said.err;
  const auto document = said.json();
  EXPECT_EQ(document["kind"], "EffectiveConfig");
  bool seen = false;
  for (const auto& setting : document["settings"]) {
    if (setting["key"] != "log.level") continue;
    seen = true;
    EXPECT_EQ(setting["value"], "warn");
    EXPECT_EQ(setting["from"], "file");
    EXPECT_THAT(setting["where"].get<std::string>(), HasSubstr(file.path() + ":2:"));
  }
  EXPECT_TRUE(seen);
}

TEST(Program, the_flags_of_k8s_rdma_device_plugin_are_its_variables) {
  const auto said = run({"config", "--resource-name", "a.io/b", "--resource-count=7",
                         "--enable-device-plugin=true", "--gpu-rdma-auto-inject"});
  EXPECT_EQ(said.code, cli::kExitOk) << said.err;
  EXPECT_THAT(said.out, testing::ContainsRegex("a.io/b +shared +7 "));
  EXPECT_THAT(said.out, testing::ContainsRegex("injection.gpus +closest .*RDMA_GPU_AUTO_INJECT"));
  EXPECT_THAT(run({"config", "--enable-device-plugin=maybe"}).err,
              HasSubstr("RDMA_ENABLE_DEVICE_PLUGIN: \"maybe\""));
}

TEST(Program, config_tells_which_pools_all_files_make_and_where) {
  const TextFile ours("pools:\n  - name: a.io/rail\n    slotsPerNic: 4\n");
  const TextFile theirs(R"({"configList": [{"resourceName": "hca", "rdmaHcaMax": 7, "extra": 1,
      "selectors": {"vendors": ["15b3"]}}]})",
                        ".json");
  const auto said = run({"config", "--config", ours.path(), "--config", theirs.path()});
  ASSERT_EQ(said.code, cli::kExitOk) << said.err;
  EXPECT_THAT(said.out, HasSubstr("a.io/rail"));
  EXPECT_THAT(said.out, HasSubstr("unknown key"));
  const auto pools =
      run({"config", "--config", ours.path(), "--config", theirs.path(), "-o", "json"})
          .json()["pools"];
  ASSERT_EQ(pools.size(), 2U);
  EXPECT_EQ(pools[0]["name"], "a.io/rail");
  EXPECT_EQ(pools[0]["slotsPerNic"], 4);
  EXPECT_EQ(pools[0]["slots"], nullptr);
  EXPECT_EQ(pools[0]["where"], ours.path() + ":2:5");
  EXPECT_EQ(pools[1]["name"], "rdma/hca");
  EXPECT_EQ(pools[1]["slots"], 7);
  EXPECT_EQ(pools[1]["source"], "k8s-rdma-shared-dev-plugin");
  EXPECT_THAT(pools[1]["where"].get<std::string>(), HasSubstr(theirs.path() + ":1:"));
}

TEST(Program, config_shows_the_pool_that_nobody_configured) {
  const TextFile file("{}\n");
  const auto pools = run({"config", "--config", file.path(), "-o", "json"}).json()["pools"];
  ASSERT_EQ(pools.size(), 1U);
  EXPECT_EQ(pools[0]["name"], "rdma.io/hca");
  EXPECT_EQ(pools[0]["where"], nullptr);
}

TEST(Program, config_refuses_what_the_agent_would_not_start_with) {
  const TextFile pool("pools:\n  - name: a.io/rail\n    slots: -1\n");
  const auto said = run({"config", "--config", pool.path()});
  EXPECT_EQ(said.code, cli::kExitUsage);
  EXPECT_THAT(said.err, HasSubstr(pool.path() + ":3:"));
  const TextFile twice("pools:\n  - name: a.io/a\n  - name: a.io/a\n");
  EXPECT_EQ(run({"config", "--config", twice.path()}).code, cli::kExitUsage);
  EXPECT_EQ(run({"config", "--handout", "nri", "--nri", "false"}).code, cli::kExitUsage);
}

}  // namespace
}  // namespace railhead::test
