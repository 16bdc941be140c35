// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/cli/program.h"
#include "unit/cli/text_file.h"
#include "unit/host/temporary_directory.h"

namespace railhead::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(SetupCommand, what_is_wanted_wrongly_is_a_mistake_of_the_user) {
  const TextFile wanted("links: {}\n");
  for (const auto* part : {"plan", "apply", "verify", "machine-config"}) {
    EXPECT_EQ(run({"setup", part, "--from", wanted.path()}).code, cli::kExitUsage) << part;
  }
}

TEST(SetupCommand, a_machine_config_names_what_it_has_no_file_for) {
  const TextFile wanted("nri: true\nmodules: [nvidia_peermem]\nmtu: {ens8f0: 9000}\n");
  const auto said = run({"setup", "machine-config", "--from", wanted.path()});
  EXPECT_EQ(said.code, cli::kExitOk);
  EXPECT_THAT(said.err, HasSubstr("no file for it: modules: nvidia_peermem (the container of its "
                                  "driver loads it), mtu\n"));
  EXPECT_THAT(said.out, HasSubstr("kind: MachineConfig"));
}

TEST(SetupCommand, its_errors_name_it_whole) {
  EXPECT_THAT(run({"setup", "plan", "--from", "/nowhere"}).err,
              StartsWith("railhead setup plan: /nowhere: "));
  EXPECT_THAT(run({"setup", "profile", "nobody"}).err,
              StartsWith("railhead setup profile: NAME: \"nobody\" is not a profile (aks-dynamo|"));
}

TEST(SetupCommand, each_part_has_exit_codes_and_an_example_of_its_own) {
  for (const std::string part :
       {"plan", "apply", "verify", "revert", "status", "machine-config", "profile"}) {
    const auto help = run({"setup", part, "--help"}).out;
    EXPECT_THAT(help, HasSubstr("Exit codes: 0 ")) << part;
    EXPECT_THAT(help, HasSubstr("Example: railhead setup " + part)) << part;
  }
}

/// A node as a folder, with what is wanted of it.
class SetupTree : public testing::Test {
 protected:
  SetupTree() {
    write("etc/hostname", "node\n");
    write("wanted.yaml",
          "memlock: {limitsFile: true}\nrdmaNamespaces: exclusive\nsysctl: {net.none: 1}\n");
  }

  void write(const std::string& path, const std::string& text) const {
    const auto at = directory_.path() / path;
    std::filesystem::create_directories(at.parent_path());
    std::ofstream(at) << text;
  }

  [[nodiscard]] Said setup(std::vector<std::string> words) const {
    words.insert(words.begin(), "setup");
    words.insert(words.end(), {"--host-root", directory_.path().string()});
    return run(words);
  }

  [[nodiscard]] Said apply(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"apply", "--from", wanted_};
    words.insert(words.end(), more.begin(), more.end());
    return setup(words);
  }

  TemporaryDirectory directory_;
  std::string wanted_ = (directory_.path() / "wanted.yaml").string();
};

TEST_F(SetupTree, a_dry_run_ends_as_the_run_would) {
  const auto dry = apply({"--dry-run"});
  EXPECT_EQ(dry.code, cli::kExitProblem);
  EXPECT_THAT(dry.out, HasSubstr("2 todo, 1 refused, 1 parked; --allow R4 consents to 1 of the "
                                 "refused\n"));
  EXPECT_EQ(apply({"--dry-run", "--allow", "R4"}).code, cli::kExitOk);
  EXPECT_EQ(setup({"plan", "--from", wanted_}).code, cli::kExitOk);
  EXPECT_THAT(setup({"status"}).out, HasSubstr("Nothing here was changed by setup."));
  EXPECT_EQ(apply({}).code, cli::kExitProblem);
}

TEST_F(SetupTree, status_says_what_is_ours_and_what_is_no_longer) {
  EXPECT_THAT(apply({}).out, HasSubstr("\n1 refused, 1 parked, 2 done; --allow R4 consents"));
  EXPECT_THAT(
      setup({"status"}).out,
      ContainsRegex("ours +file /etc/sysctl.d/90-railhead.conf +as setup made it +removed"));
  EXPECT_EQ(setup({"status"}).code, cli::kExitOk);
  write("etc/sysctl.d/90-railhead.conf", "net.none = 2\n");
  EXPECT_THAT(setup({"status"}).out, ContainsRegex("stays +file /etc/sysctl.d/90-railhead.conf"));
  for (const auto& verb :
       {std::vector<std::string>{"status"}, {"revert", "--dry-run"}, {"revert"}, {"revert"}}) {
    EXPECT_EQ(setup(verb).code, cli::kExitProblem) << verb.front();
  }
  write("etc/sysctl.d/90-railhead.conf", "net.none = 1\n");
  EXPECT_EQ(setup({"revert"}).code, cli::kExitOk);
  EXPECT_EQ(setup({"revert"}).out, "Nothing here was changed by setup.\n");
}

TEST(SetupCommand, a_kubelet_of_aks_is_configured_where_its_pool_is_made) {
  const TextFile wanted("kubelet: {topologyManagerPolicy: best-effort}\n");
  const auto said = run({"setup", "machine-config", "--aks", "--from", wanted.path()});
  EXPECT_EQ(said.out, "{\"topologyManagerPolicy\": \"best-effort\"}\n");
  const TextFile other("nri: true\n", "-other");
  EXPECT_EQ(run({"setup", "machine-config", "--aks", "--from", other.path()}).code,
            cli::kExitUsage);
}

TEST(SetupCommand, an_empty_machine_config_is_none) {
  const TextFile wanted("mtu: {ens8f0: 9000}\n");
  const auto said = run({"setup", "machine-config", "--from", wanted.path()});
  EXPECT_EQ(said.code, cli::kExitUsage);
  EXPECT_THAT(said.out, IsEmpty());
}

}  // namespace
}  // namespace railhead::test
