// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "unit/cli/program.h"

namespace railhead::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class NfsCommand : public testing::Test {
 protected:
  NfsCommand() {
    std::string pattern = (fs::temp_directory_path() / "railhead-nfs-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    write("sys/class/dmi/id/sys_vendor", "Example\n");
  }

  ~NfsCommand() override { fs::remove_all(root_); }

  void mount_by(const std::string& transport) const {
    write("proc/1/mountstats",
          "device nas:/a mounted on /data with fstype nfs4 statvers=1.1\n"
          "\topts:\trw,vers=4.1,proto=" +
              transport + "\n\txprt:\t" + transport + " 0 0 1 0 5 14 13 0 1 0\n");
    write("proc/1/mountinfo",
          "36 23 0:30 / /data rw - nfs4 nas:/a rw,proto=" + transport + ",addr=10.1.0.1\n");
  }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  [[nodiscard]] Said nfs(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"nfs", "--host-root", root_.string()});
    return run(more);
  }

  fs::path root_;
};

TEST_F(NfsCommand, a_mount_over_rdma_is_good) {
  mount_by("rdma");
  const auto said = nfs({"-o", "json", "--want", "/data"});
  EXPECT_EQ(said.code, cli::kExitOk) << said.err;
  const auto mount = said.json()["mounts"][0];
  EXPECT_EQ(mount["verdict"], "RDMA");
  EXPECT_EQ(mount["address"], "10.1.0.1");
  EXPECT_EQ(mount["port"], 20049);
  EXPECT_EQ(mount["connections"][0]["receives"], 13);
  EXPECT_THAT(nfs().out, HasSubstr("nas      /a     /data        4.1       rdma"));
}

TEST_F(NfsCommand, a_fallback_is_a_problem_and_plain_tcp_is_none) {
  mount_by("tcp");
  EXPECT_EQ(nfs().code, cli::kExitOk);
  EXPECT_EQ(nfs({"--want", "/data"}).code, cli::kExitProblem);
  write("etc/fstab", "nas:/a /data nfs4 rdma,port=20049 0 0\n");
  const auto said = nfs();
  EXPECT_EQ(said.code, cli::kExitProblem);
  EXPECT_THAT(said.out, HasSubstr("fallback"));
  EXPECT_THAT(said.out, HasSubstr("/data: option rdma in /etc/fstab, connected by tcp"));
}

TEST_F(NfsCommand, a_mount_that_is_declared_or_wanted_and_absent_is_a_problem) {
  write("proc/1/mountstats", "");
  write("etc/fstab", "nas:/b /data/b nfs4 rdma,nofail 0 0\nnas:/c /data/c nfs4 rdma,noauto 0 0\n");
  const auto said = nfs({"-o", "json"});
  EXPECT_EQ(said.code, cli::kExitProblem) << said.err;
  const auto mounts = said.json()["mounts"];
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0]["verdict"], "absent");
  EXPECT_EQ(mounts[0]["mountPoint"], "/data/b");
  EXPECT_TRUE(mounts[0]["transport"].is_null());
  EXPECT_THAT(nfs().out, HasSubstr("/data/b: option rdma in /etc/fstab, and no NFS is mounted"));
  const auto wanted = nfs({"--want", "/x"});
  EXPECT_EQ(wanted.code, cli::kExitProblem);
  EXPECT_THAT(wanted.out, HasSubstr("/x: --want /x, and no NFS is mounted there"));
}

TEST_F(NfsCommand, a_slash_at_the_end_of_a_place_does_not_hide_a_fallback) {
  mount_by("tcp");
  write("etc/fstab", "nas:/a /data/ nfs4 rdma 0 0\n");
  EXPECT_EQ(nfs().code, cli::kExitProblem);
}

TEST_F(NfsCommand, what_another_machine_declares_is_not_sought_in_our_mounts) {
  write("proc/self/mountstats", "");
  write("etc/fstab", "nas:/b /data/b nfs4 rdma 0 0\n");
  const auto said = nfs();
  EXPECT_EQ(said.code, cli::kExitCannotTell);
  EXPECT_THAT(said.out, HasSubstr("/proc/1/mountstats cannot be read"));
}

TEST_F(NfsCommand, no_mount_is_no_problem_and_no_statistics_are_no_answer) {
  EXPECT_EQ(nfs().code, cli::kExitCannotTell);
  write("proc/self/mountstats", "device proc mounted on /proc with fstype proc\n");
  EXPECT_THAT(nfs().out, HasSubstr("no NFS mount on this node"));
  EXPECT_EQ(nfs().code, cli::kExitOk);
  write("proc/self/mountstats", "device s:/ mounted on /m with fstype nfs4\n\txprt:\trdma\n");
  EXPECT_EQ(nfs().code, cli::kExitCannotTell);
  EXPECT_THAT(nfs().out, HasSubstr("/m: mountstats: line 2"));
}

TEST_F(NfsCommand, a_kernel_that_refuses_leaves_each_mount_unknown) {
  mount_by("rdma");
  write("proc/1/mountstats", std::string((1 << 20) + 1, 'x'));
  const auto said = nfs({"-o", "json"});
  EXPECT_EQ(said.code, cli::kExitCannotTell);
  ASSERT_EQ(said.json()["mounts"].size(), 1U);
  EXPECT_EQ(said.json()["mounts"][0]["verdict"], "unknown");
  EXPECT_THAT(std::string(said.json()["mounts"][0]["why"]), HasSubstr("mountstats"));
  EXPECT_EQ(said.json()["mounts"][0]["address"], "10.1.0.1");
}

TEST_F(NfsCommand, a_mount_unit_asks_for_rdma_and_for_connections) {
  mount_by("rdma");
  write("etc/systemd/system/data.mount",
        "[Mount]\nWhat=nas:/a\nWhere=/data\nType=nfs\nOptions=rdma,nconnect=16\n");
  const auto said = nfs({"-o", "wide"});
  EXPECT_EQ(said.code, cli::kExitOk);
  EXPECT_THAT(said.out, HasSubstr("1 of 16"));
  EXPECT_THAT(said.out, HasSubstr("/data: nconnect=16 in /etc/systemd/system/data.mount"));
  mount_by("tcp");
  EXPECT_EQ(nfs().code, cli::kExitProblem);
  EXPECT_THAT(nfs().out, HasSubstr("option rdma in /etc/systemd/system/data.mount"));
}

TEST_F(NfsCommand, a_snapshot_gives_the_same_answer_and_no_secrets) {
  mount_by("tcp");
  write("etc/fstab", "nas:/a /data nfs4 rdma 0 0\n//nas/b /b cifs password=geheim 0 0\n");
  write("etc/systemd/system/b.mount", "[Mount]\nWhat=//n/b\nWhere=/b\nOptions=password=geheim\n");
  write("etc/systemd/system/c.mount", "[Mount]\nWhat=nas:/c\nWhere=/c\nOptions=rdma\n");
  fs::create_directories(root_ / "etc/systemd/system/remote-fs.target.wants");
  fs::create_symlink("../c.mount", root_ / "etc/systemd/system/remote-fs.target.wants/c.mount");
  const auto file = (root_ / "snapshot").string();
  ASSERT_EQ(run({"snapshot", "--host-root", root_.string(), "-o", file}).code, cli::kExitOk);
  std::ifstream read(file);
  const std::string text{std::istreambuf_iterator<char>(read), {}};
  EXPECT_THAT(text, testing::Not(HasSubstr("geheim")));
  EXPECT_THAT(text, testing::Not(HasSubstr("b.mount")));
  const auto said = run({"nfs", "--snapshot", file});
  EXPECT_EQ(said.code, cli::kExitProblem) << said.err;
  EXPECT_THAT(said.out, HasSubstr("/data: option rdma in /etc/fstab, connected by tcp"));
  EXPECT_THAT(said.out, HasSubstr("/c: option rdma in /etc/systemd/system/c.mount, and no NFS"));
}

TEST_F(NfsCommand, what_manifests_declare_counts) {
  mount_by("tcp");
  write("pv.yaml",
        "kind: PersistentVolume\nmetadata: {name: models}\n"
        "spec: {nfs: {server: nas, path: /a}, mountOptions: [rdma]}\n");
  const auto said = nfs({"--declared", (root_ / "pv.yaml").string()});
  EXPECT_EQ(said.code, cli::kExitProblem);
  EXPECT_THAT(said.out, HasSubstr("option rdma in PersistentVolume models, connected by tcp"));
  EXPECT_EQ(nfs({"--declared", "/nothing"}).code, cli::kExitCannotTell);
}

}  // namespace
}  // namespace railhead::test
