// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/cli/program.h"
#include "unit/cli/text_file.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(SetupCommand, what_is_wanted_wrongly_is_a_mistake_of_the_user) {
  const TextFile wanted("links: {}\n");
  for (const auto* part : {"plan", "apply", "verify", "machine-config"}) {
    EXPECT_EQ(run({"setup", part, "--from", wanted.path()}).code, cli::kExitUsage) << part;
  }
}

TEST(SetupCommand, a_machine_config_names_what_it_has_no_file_for) {
  const TextFile wanted("nri: true\nmtu: {ens8f0: 9000}\n");
  const auto said = run({"setup", "machine-config", "--from", wanted.path()});
  EXPECT_EQ(said.code, cli::kExitOk);
  EXPECT_THAT(said.err, HasSubstr("no file for it: mtu\n"));
  EXPECT_THAT(said.out, HasSubstr("kind: MachineConfig"));
}

TEST(SetupCommand, an_empty_machine_config_is_none) {
  const TextFile wanted("mtu: {ens8f0: 9000}\n");
  const auto said = run({"setup", "machine-config", "--from", wanted.path()});
  EXPECT_EQ(said.code, cli::kExitUsage);
  EXPECT_THAT(said.out, IsEmpty());
}

}  // namespace
}  // namespace railhead::test
