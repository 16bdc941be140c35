// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "unit/cli/program.h"
#include "unit/cli/text_file.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(DoctorCommand, failures_come_first_and_are_exit_code_1) {
  const auto said = run_on("dgx-h100-degraded", "doctor");
  EXPECT_EQ(said.code, cli::kExitProblem) << said.err;
  EXPECT_THAT(said.out, StartsWith("FAIL  pci.nic-driver  0000:4f:00.0\n"));
  EXPECT_THAT(said.out, HasSubstr("FAIL  link.port-state  mlx5_3/1\n"));
}

TEST(DoctorCommand, what_a_snapshot_does_not_have_is_exit_code_2) {
  const auto said = run_on("dgx-h100", "doctor", {"-o", "json"});
  EXPECT_EQ(said.code, cli::kExitCannotTell) << said.err;
  EXPECT_EQ(said.json()["summary"]["fail"], 0);
  EXPECT_GT(said.json()["summary"]["unknown"], 0);
}

TEST(DoctorCommand, one_check_says_its_result_in_a_short_first_line) {
  const auto good = run_on("dgx-h100", "doctor", {"--check", "link.port-state"});
  EXPECT_EQ(good.code, cli::kExitOk) << good.err;
  EXPECT_THAT(good.out, HasSubstr("PASS, nothing is wrong\n"));
  const auto bad = run_on("dgx-h100-degraded", "doctor", {"--check", "link.port-state"});
  EXPECT_EQ(bad.code, cli::kExitProblem);
  EXPECT_EQ(split(bad.out, '\n')[0], "FAIL link.port-state mlx5_3/1: DOWN, Disabled");
  EXPECT_THAT(bad.out, testing::Not(HasSubstr("FAIL  pci.nic-driver")));
}

TEST(DoctorCommand, lists_and_explains_its_checks) {
  EXPECT_THAT(run({"doctor", "--list"}).out, HasSubstr("link.port-state"));
  const auto said = run({"doctor", "--explain", "link.port-state"});
  EXPECT_EQ(said.code, cli::kExitOk);
  EXPECT_THAT(said.out, HasSubstr("fix (R5)  Check cable, transceiver and switch port."));
  for (const auto* flag : {"--explain", "--check"}) {
    const auto wrong = run({"doctor", flag, "link.colour"});
    EXPECT_EQ(wrong.code, cli::kExitUsage);
    EXPECT_THAT(wrong.err, HasSubstr("no check \"link.colour\"; --list names all"));
  }
}

TEST(DoctorCommand, goes_by_what_the_operator_expects) {
  const TextFile file("expect:\n  - {name: mlx5_3, unused: true}\n");
  const auto said = run_on("dgx-h100-degraded", "doctor",
                           {"--check", "link.port-state", "--config", file.path()});
  EXPECT_EQ(said.code, cli::kExitOk) << said.out;
}

TEST(DoctorCommand, a_snapshot_for_it_has_what_it_reads_and_no_secret) {
  namespace fs = std::filesystem;
  const fs::path root = testing::TempDir() + "railhead-doctor-root";
  const auto write = [&](const std::string& path, const std::string& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  };
  write("proc/sys/kernel/osrelease", "5.4.0\n");
  write("etc/containerd/config.toml", "[registry]\npassword = 'secret'\n");
  const TextFile file("");
  const auto recorded =
      run({"snapshot", "--doctor", "--raw", "--host-root", root.string(), "-o", file.path()});
  EXPECT_EQ(recorded.code, cli::kExitOk) << recorded.err;
  std::ifstream text(file.path());
  const std::string snapshot{std::istreambuf_iterator<char>(text), {}};
  EXPECT_THAT(snapshot, testing::Not(HasSubstr("secret")));
  const auto said = run({"doctor", "--snapshot", file.path(), "--check", "host.kernel"});
  EXPECT_THAT(said.out, StartsWith("WARN host.kernel node: 5.4.0\n"));
  EXPECT_EQ(said.code, cli::kExitOk);
  fs::remove_all(root);
}

TEST(DoctorCommand, a_topology_file_is_no_machine) {
  const auto said = run({"doctor", "--nccl-topo", "x.xml"});
  EXPECT_EQ(said.code, cli::kExitUsage);
}

}  // namespace
}  // namespace railhead::test
