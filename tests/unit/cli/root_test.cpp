// SPDX-License-Identifier: Apache-2.0
//
// What is wrong or was not looked at: no command says that all is well.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "unit/cli/program.h"
#include "unit/cli/text_file.h"
#include "unit/host/temporary_directory.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;
using testing::Not;

using Arguments = std::vector<std::string>;

/// Every command that answers for a machine.
const std::vector<Arguments>& readers() {
  static const std::vector<Arguments> kReaders = {
      {"nics"},
      {"nics", "-o", "json"},
      {"nics", "-o", "nfd"},
      {"topology"},
      {"topology", "-o", "tree"},
      {"affinity"},
      {"pools"},
      {"doctor"},
      {"doctor", "-o", "json"},
      {"doctor", "--check", "pci.nic-present"},
      {"doctor", "--pid", "1"},
      {"pods"},
      {"nfs"},
      {"snapshot"},
      {"setup", "plan", "--profile", "roce"},
      {"setup", "apply", "--dry-run", "--profile", "roce"},
      {"setup", "verify", "--profile", "roce"},
      {"setup", "status"},
      {"setup", "revert", "--dry-run"},
  };
  return kReaders;
}

Said run_at(const std::string& root, Arguments arguments) {
  arguments.insert(arguments.end(), {"--host-root", root});
  return run(arguments);
}

TEST(Root, that_is_no_machines_is_an_error_of_every_command) {
  for (const auto& folders : std::vector<Arguments>{
           {}, {"sys"}, {"proc/1"}, {"sys", "proc"}, {"sys", "proc/1"}, {"sys/class"}}) {
    const TemporaryDirectory root;
    for (const auto& folder : folders) std::filesystem::create_directories(root / folder);
    const bool has_sys = std::filesystem::exists(root / "sys/class");
    for (const auto& reader : readers()) {
      const auto said = run_at(root.path().string(), reader);
      EXPECT_EQ(said.code, 2) << reader.front();
      EXPECT_EQ(said.out, "") << reader.front();
      EXPECT_THAT(said.err, HasSubstr(root / (has_sys ? "proc is " : "sys is "))) << reader.front();
    }
  }
}

TEST(Root, of_copied_files_is_one_for_what_is_not_about_devices) {
  const TemporaryDirectory root;
  std::filesystem::create_directories(root / "proc/sys/kernel");
  std::ofstream(root / "proc/sys/kernel/osrelease") << "6.1.0\n";
  const auto at = root.path().string();
  for (const auto* command : {"nics", "topology", "affinity", "pools"}) {
    EXPECT_EQ(run_at(at, {command}).code, 2) << command;
  }
  EXPECT_EQ(run_at(at, {"setup", "plan", "--profile", "roce"}).code, 0);
  const auto said = run_at(at, {"doctor", "-o", "json"});
  EXPECT_EQ(said.code, 2);
  const auto document = said.json();
  for (const auto& finding : document["findings"]) {
    EXPECT_NE(finding["state"], "FAIL") << finding;
    if (finding["id"] == "pci.nic-present") {
      EXPECT_EQ(finding["state"], "UNKNOWN");
    }
  }
}

TEST(Root, of_a_machine_without_rdma_is_no_error) {
  const TemporaryDirectory root;
  for (const auto* folder : {"sys/class", "sys/bus/pci/devices", "proc/1"}) {
    std::filesystem::create_directories(root / folder);
  }
  for (const auto* command : {"nics", "topology", "pools"}) {
    EXPECT_EQ(run_at(root.path().string(), {command}).code, 0) << command;
  }
}

TEST(Root, may_be_relative) {
  const TemporaryDirectory root;
  std::filesystem::create_directories(root / "node/sys/class");
  std::filesystem::create_directories(root / "node/proc/1");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(root.path());
  const auto said = run_at("node", {"nics"});
  const auto absent = run_at("other", {"nics"});
  std::filesystem::current_path(before);
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(absent.code, 2);
  EXPECT_THAT(absent.err, HasSubstr(root / "other"));
}

TEST(Root, snapshot_that_tells_of_no_machine_is_an_error) {
  const TextFile empty("railhead-snapshot 1\n");
  const TextFile other("railhead-snapshot 1\nt /proc/sys/kernel/osrelease 6.1.0\n", ".other");
  for (const auto& file : {empty.path(), other.path()}) {
    for (const auto* command : {"nics", "topology", "affinity", "pools", "doctor"}) {
      const auto said = run({command, "--snapshot", file});
      EXPECT_EQ(said.code, 2) << command;
      EXPECT_EQ(said.out, "") << command;
      EXPECT_THAT(said.err, HasSubstr(file)) << command;
    }
  }
}

TEST(MissingNic, is_said_by_every_command_that_shows_nics) {
  const std::string machine = "xe9680-roce-nic-lost";
  for (const auto* command : {"nics", "topology", "affinity"}) {
    const auto said = run_on(machine, command, {"-o", "json"});
    EXPECT_EQ(said.code, 1) << command;
    EXPECT_THAT(said.json()["warnings"].dump(), HasSubstr("0000:18:00.0")) << command;
    EXPECT_THAT(run_on(machine, command).out, HasSubstr("WARNINGS\nGPU 0 (0000:18:00.0)"))
        << command;
  }
  const auto tree = run_on(machine, "topology", {"-o", "tree"});
  EXPECT_EQ(tree.code, 1);
  EXPECT_THAT(tree.out, HasSubstr("\nWARNINGS\nGPU 0 (0000:18:00.0)"));
  EXPECT_EQ(run_on(machine, "affinity", {"--gpus", "1"}).code, 0);
  EXPECT_EQ(run_on("xe9680-roce", "nics").code, 0);
}

TEST(FailOn, warn_makes_a_warning_a_failure) {
  const Arguments check = {"--check", "topo.missing-nic"};
  const auto with = [&](const std::string& severity) {
    auto words = check;
    words.insert(words.end(), {"--fail-on", severity});
    return run_on("xe9680-roce-nic-lost", "doctor", words).code;
  };
  EXPECT_EQ(run_on("xe9680-roce-nic-lost", "doctor", check).code, 0);
  EXPECT_EQ(with("fail"), 0);
  EXPECT_EQ(with("warn"), 1);
  EXPECT_EQ(with("note"), 64);
  const TextFile pod(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {railhead.io/rdma: required}}\n"
      "spec: {containers: [{name: c}]}\n");
  EXPECT_EQ(run({"lint", pod.path()}).code, 0);
  EXPECT_EQ(run({"lint", "--fail-on", "warn", pod.path()}).code, 1);
}

TEST(Unread, folder_of_nics_is_not_no_nic) {
  const TextFile unread("railhead-snapshot 1\nd /sys/class\ne /sys/class/infiniband EACCES\n");
  for (const auto* command : {"nics", "topology", "affinity", "pools"}) {
    const auto said = run({command, "--snapshot", unread.path()});
    EXPECT_EQ(said.code, 2) << command;
    EXPECT_THAT(said.out, HasSubstr("not known: /sys/class/infiniband")) << command;
  }
}

TEST(Unread, folder_of_rdma_devices_does_not_unbind_drivers) {
  std::stringstream machine(machine_text("dgx-h100"));
  std::string text;
  for (std::string line; std::getline(machine, line);) {
    if (!line.starts_with("l /sys/class/infiniband/")) text += line + "\n";
  }
  const TextFile unread(text + "e /sys/class/infiniband EACCES\n");
  for (const auto* command : {"nics", "topology", "affinity"}) {
    EXPECT_EQ(run({command, "--snapshot", unread.path()}).code, 2) << command;
  }
}

TEST(Unread, device_is_not_no_device) {
  for (const auto* path : {"/sys/class/infiniband/mlx5_0", "/sys/class/net", "/sys/bus/pci/devices",
                           "/sys/bus/pci/devices/0000:18:00.0"}) {
    const TextFile unread("railhead-snapshot 1\nd /sys/class\ne " + std::string(path) +
                          " EACCES\n");
    for (const auto* command : {"nics", "topology", "affinity", "pools"}) {
      const auto said = run({command, "--snapshot", unread.path(), "-o", "json"});
      EXPECT_EQ(said.code, 2) << command << " " << path;
      const auto document = said.json();
      EXPECT_THAT(document[command == std::string("affinity") ? "warnings" : "problems"].dump(),
                  HasSubstr(path))
          << command;
    }
  }
}

TEST(Unread, tree_without_its_devices_is_not_a_node_without_nics) {
  const auto machine = TextFile(
      "railhead-snapshot 1\n"
      "l /sys/class/infiniband/mlx5_0 -> ../../devices/pci0000:15/0000:18:00.0/infiniband/mlx5_0\n"
      "l /sys/bus/pci/devices/0000:18:00.0 -> ../../../devices/pci0000:15/0000:18:00.0\n");
  for (const auto* command : {"nics", "topology", "affinity", "pools", "doctor"}) {
    EXPECT_EQ(run({command, "--snapshot", machine.path(), "-o", "json"}).code, 2) << command;
  }
}

std::string pods_machine() {
  std::ifstream file(source_dir() + "/tests/pods/two-pods.node");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Unread, uptime_leaves_the_age_of_containers_open) {
  auto text = pods_machine();
  const std::string entry = "f /proc/uptime 16\n1000.00 3000.00\n\n";
  text.replace(text.find(entry), entry.size(), "e /proc/uptime EACCES\n");
  const TextFile unread(text);
  const auto said = run({"pods", "--snapshot", unread.path(), "-o", "json"});
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.json()["complete"], false);
}

TEST(Unread, folder_of_nics_leaves_pods_open) {
  const TextFile unread(pods_machine() + "e /sys/class/infiniband EACCES\n");
  EXPECT_EQ(run({"pods", "--snapshot", unread.path()}).code, 2);
}

TEST(Unread, declarations_leave_nfs_open) {
  const std::string mounts = "t /proc/1/mountstats device a mounted on / with fstype ext4\n";
  const TextFile read("railhead-snapshot 1\nd /sys/class\n" + mounts);
  EXPECT_EQ(run({"nfs", "--snapshot", read.path()}).code, 0);
  const TextFile unread("railhead-snapshot 1\nd /sys/class\n" + mounts + "e /etc/fstab EACCES\n");
  EXPECT_EQ(run({"nfs", "--snapshot", unread.path()}).code, 2);
}

TEST(OptionsBeforeTheCommand, are_the_commands) {
  const auto node = source_dir() + "/tests/nodes/dgx-h100.node";
  const auto behind = run({"nics", "--snapshot", node, "-o", "json"});
  EXPECT_EQ(behind.code, 0);
  for (const auto& arguments :
       std::vector<Arguments>{{"--snapshot", node, "nics", "-o", "json"},
                              {"--snapshot=" + node, "-o", "json", "nics"},
                              {"-o=json", "nics", "--snapshot", node},
                              {"-o", "json", "--snapshot", node, "--no-headers", "nics"}}) {
    EXPECT_EQ(run(arguments).out, behind.out);
  }
  const TextFile config("nri:\n  enabled: false\n");
  const auto configured = run({"config", "--config", config.path(), "-o", "json"});
  EXPECT_EQ(configured.code, 0);
  EXPECT_EQ(run({"--config", config.path(), "config", "-o", "json"}).out, configured.out);
  EXPECT_EQ(run({"--profile", "roce", "setup", "machine-config"}).out,
            run({"setup", "machine-config", "--profile", "roce"}).out);
  EXPECT_EQ(run({"setup", "--profile", "roce", "machine-config"}).out,
            run({"setup", "machine-config", "--profile", "roce"}).out);
}

TEST(OptionsBeforeTheCommand, that_nobody_knows_are_usage_errors) {
  const auto unknown = run({"--snapshots", "x", "nics"});
  EXPECT_EQ(unknown.code, 64);
  const auto not_of_it = run({"--pod", "a/b", "nics"});
  EXPECT_EQ(not_of_it.code, 64);
  EXPECT_THAT(not_of_it.err, HasSubstr("\"--pod\""));
  const auto alone = run({"--config", "x"});
  EXPECT_EQ(alone.code, 64);
  EXPECT_THAT(alone.err, Not(HasSubstr("\"--config\"")));
}

}  // namespace
}  // namespace railhead::test
