// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "checks/history.h"
#include "host/boot_id.h"
#include "unit/checks/patient.h"
#include "unit/cli/program.h"
#include "unit/cli/text_file.h"
#include "unit/host/temporary_directory.h"

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

TEST(DoctorCommand, what_was_only_skipped_is_not_called_right) {
  const auto said = run_on("dgx-h100", "doctor", {"--check", "link.flap"});
  EXPECT_THAT(said.out, HasSubstr("SKIP, nothing was judged\n"));
}

TEST(DoctorCommand, says_that_a_snapshot_has_not_the_doctors_part) {
  EXPECT_THAT(run_on("dgx-h100", "doctor").err, HasSubstr("was taken without --doctor"));
}

TEST(DoctorCommand, what_would_be_passed_over_is_refused) {
  const std::string snapshot = source_dir() + "/tests/nodes/dgx-h100.node";
  const std::vector<std::vector<std::string>> wrong = {
      {"doctor", "--pod", ""},
      {"doctor", "--kube", "--snapshot", snapshot},
      {"doctor", "--kube", "--pod", "a/b"},
      {"doctor", "--interval", "1s", "--snapshot", snapshot}};
  for (const auto& words : wrong) EXPECT_EQ(run(words).code, cli::kExitUsage) << join(words, " ");
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
  write("sys/class/dmi/id/sys_vendor", "Example\n");
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

/// The files and links of a machine as a directory tree.
class Tree {
 public:
  explicit Tree(const Patient& patient) {
    namespace fs = std::filesystem;
    for (const auto& [path, entry] : patient.snapshot().entries) {
      const fs::path place = folder_.path() / path.substr(1);
      fs::create_directories(place.parent_path());
      if (const auto* file = std::get_if<snapshot::SnapshotFile>(&entry)) {
        std::ofstream(place, std::ios::binary) << file->content;
      } else if (const auto* link = std::get_if<snapshot::SnapshotLink>(&entry)) {
        fs::create_symlink(link->target, place);
      }
    }
  }

  [[nodiscard]] std::string root() const { return folder_.path().string(); }

 private:
  TemporaryDirectory folder_;
};

Patient at(const char* uptime, const char* symbols) {
  auto patient = healthy();
  patient.text("/proc/uptime", uptime).text(host::kBootId, "b0");
  return patient.set("infiniband/mlx5_3/ports/1/counters/symbol_error", symbols);
}

/// What the agent has kept after a look at this machine.
std::string history_of(const Patient& patient) {
  snapshot::SnapshotHost host(patient.snapshot());
  const auto node = node::read_node(host);
  checks::History history;
  EXPECT_TRUE(history.add(node, system::read_system(host, node, system::Part::counters)));
  return to_text(history);
}

Said errors_of(const Tree& tree, const std::string& history) {
  return run({"doctor", "--host-root", tree.root(), "--check", "link.errors", "--doctor-history",
              history});
}

TEST(DoctorCommand, judges_slopes_by_what_the_agent_saw_without_waiting) {
  const TextFile history(history_of(at("5000.00 1.00", "7")));
  const auto grown = errors_of(Tree(at("5100.00 1.00", "7007")), history.path());
  EXPECT_THAT(grown.out, StartsWith("WARN link.errors mlx5_3/1: 1 counter grew between looks"));
  EXPECT_THAT(grown.out, HasSubstr("7 -> 7007 in 100 s"));
  const auto same = errors_of(Tree(at("5100.00 1.00", "7")), history.path());
  EXPECT_THAT(same.out, HasSubstr("PASS, nothing is wrong"));
}

TEST(DoctorCommand, a_history_that_is_of_another_start_or_broken_proves_nothing) {
  auto restarted = at("5100.00 1.00", "7007");
  restarted.text(host::kBootId, "b1");
  const Tree tree(restarted);
  const TextFile of_before(history_of(at("5000.00 1.00", "7")), "-before");
  const TextFile half("{\"kind\": \"DoctorHis", "-half");
  for (const auto* file : {&of_before, &half}) {
    const auto said = errors_of(tree, file->path());
    EXPECT_EQ(said.code, cli::kExitOk) << said.out;
    EXPECT_THAT(said.out, StartsWith("1 SKIP, nothing was judged"));
    EXPECT_EQ(said.err.find("goes on without") != std::string::npos, file == &half) << said.err;
  }
}

TEST(DoctorCommand, a_history_that_is_a_folder_is_named_once) {
  const TemporaryDirectory folder;
  const auto said = errors_of(Tree(at("5100.00 1.00", "7007")), folder.path().string());
  EXPECT_THAT(said.err, StartsWith("railhead: " + folder.path().string() + ": is a directory; "));
}

TEST(DoctorCommand, without_a_kubeconfig_names_every_place_it_looked_at) {
  const TemporaryDirectory home;
  const auto said = run({"doctor", "--kube"}, {{"HOME", home.path().string()}});
  EXPECT_EQ(said.code, 2);
  const std::vector<std::string> places = {"--kubeconfig", "KUBECONFIG", "KUBERNETES_SERVICE_HOST",
                                           home.path().string() + "/.kube/config"};
  for (const auto& place : places) EXPECT_THAT(said.err, HasSubstr(place));
  EXPECT_THAT(run({"doctor", "--kube"}).err, HasSubstr("~/.kube/config"));
}

TEST(DoctorCommand, a_topology_file_is_no_machine) {
  const auto said = run({"doctor", "--nccl-topo", "x.xml"});
  EXPECT_EQ(said.code, cli::kExitUsage);
}

}  // namespace
}  // namespace railhead::test
