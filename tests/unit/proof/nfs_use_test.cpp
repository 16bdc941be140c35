// SPDX-License-Identifier: Apache-2.0
#include "proof/nfs_use.h"

#include <gtest/gtest.h>

namespace railhead::proof {
namespace {

usage::NfsMount mount(const std::string& asked, const std::vector<std::string>& used) {
  usage::NfsMount made;
  made.mount_point = "/data/a";
  made.version = "4.1";
  made.protocol = asked;
  for (const auto& one : used) made.transports.push_back({one, 1, 1, 1});
  return made;
}

TEST(NfsUse, rdma_is_seen_as_such) {
  const auto use = judge_nfs(mount("rdma", {"rdma", "rdma"}), {});
  EXPECT_EQ(use.verdict, NfsVerdict::rdma);
  EXPECT_EQ(use.transport, "rdma");
  EXPECT_EQ(use.port, 20049);
}

TEST(NfsUse, tcp_that_nobody_minds_is_tcp) {
  const auto use = judge_nfs(mount("tcp", {"tcp"}), {"/other/*"});
  EXPECT_EQ(use.verdict, NfsVerdict::tcp);
  EXPECT_EQ(use.port, 2049);
}

TEST(NfsUse, tcp_where_rdma_was_asked_for_is_a_fallback_whoever_asked) {
  EXPECT_EQ(judge_nfs(mount("rdma", {"tcp"}), {}).verdict, NfsVerdict::fallback);
  auto declared = mount("tcp", {"tcp"});
  declared.declared = "vers=4.1,rdma,port=20049";
  EXPECT_EQ(judge_nfs(declared, {}).why, "option rdma in /etc/fstab, connected by tcp");
  declared.declared = "proto=rdma";
  EXPECT_EQ(judge_nfs(declared, {}).verdict, NfsVerdict::fallback);
  declared.declared = "proto=tcp";
  EXPECT_EQ(judge_nfs(declared, {}).verdict, NfsVerdict::tcp);
  EXPECT_EQ(judge_nfs(declared, {"/data/*"}).why, "--want /data/*, connected by tcp");
}

TEST(NfsUse, one_connection_that_is_not_rdma_spoils_it) {
  const auto use = judge_nfs(mount("rdma", {"rdma", "tcp"}), {});
  EXPECT_EQ(use.verdict, NfsVerdict::fallback);
  EXPECT_EQ(use.transport, "rdma,tcp");
  EXPECT_FALSE(use.port);
}

TEST(NfsUse, a_mount_that_shares_an_rdma_connection_is_rdma_and_says_so) {
  const auto use = judge_nfs(mount("tcp", {"rdma"}), {});
  EXPECT_EQ(use.verdict, NfsVerdict::rdma);
  EXPECT_EQ(use.why, "proto=tcp shares an RDMA connection to this server");
}

TEST(NfsUse, no_connection_is_unknown_and_nfs_3_has_no_fixed_port) {
  EXPECT_EQ(judge_nfs(mount("rdma", {}), {}).verdict, NfsVerdict::unknown);
  auto old = mount("tcp", {"tcp"});
  old.version = "3";
  EXPECT_FALSE(judge_nfs(old, {}).port);
}

std::vector<std::string> absences(const std::vector<usage::NfsDeclaration>& declared,
                                  const std::vector<std::string>& wanted) {
  std::vector<std::string> found;
  for (const auto& [mount, use] : judge_all_nfs({mount("rdma", {"rdma"})}, declared, wanted)) {
    if (use.verdict != NfsVerdict::absent) continue;
    found.push_back(mount.mount_point + ": " + use.why);
  }
  return found;
}

TEST(NfsUse, what_is_declared_with_rdma_and_not_mounted_is_absent) {
  const std::vector<usage::NfsDeclaration> declared = {{"nas", "/a", "/data/a", "rdma"},
                                                       {"nas", "/b", "/data/b", "rdma,nofail"},
                                                       {"nas", "/c", "/data/c", "proto=rdma"},
                                                       {"nas", "/d", "/data/d", "rw"}};
  const std::vector<std::string> expected = {
      "/data/b: option rdma in /etc/fstab, and no NFS is mounted there",
      "/data/c: proto=rdma in /etc/fstab, and no NFS is mounted there"};
  EXPECT_EQ(absences(declared, {}), expected);
  const auto judged = judge_all_nfs({}, declared, {});
  ASSERT_EQ(judged.size(), 3U);
  EXPECT_EQ(judged[0].mount.server, "nas");
  EXPECT_EQ(judged[0].mount.path, "/a");
}

TEST(NfsUse, what_is_mounted_by_hand_or_on_demand_is_not_absent) {
  const std::vector<usage::NfsDeclaration> declared = {
      {"nas", "/b", "/data/b", "noauto,rdma"},
      {"nas", "/c", "/data/c", "x-systemd.automount,rdma"}};
  EXPECT_TRUE(absences(declared, {}).empty());
  EXPECT_TRUE(absences(declared, {"/data/*"}).empty());
  // --want of one place asks for it now.
  EXPECT_EQ(absences(declared, {"/data/b/"}),
            std::vector<std::string>{"/data/b: --want /data/b/, and no NFS is mounted there"});
}

TEST(NfsUse, what_is_wanted_and_not_mounted_is_absent) {
  EXPECT_TRUE(absences({}, {"/data/a", "/data//a/", "/data/*"}).empty());
  EXPECT_EQ(absences({}, {"/data/?", "/other/*"}),
            std::vector<std::string>{"/other/*: --want /other/*, and no NFS is mounted there"});
  EXPECT_EQ(absences({{"nas", "/b", "/data/b", "rw"}}, {"/data/*"}),
            std::vector<std::string>{"/data/b: --want /data/*, and no NFS is mounted there"});
}

TEST(NfsUse, slashes_in_what_is_wanted_do_not_matter) {
  EXPECT_EQ(judge_nfs(mount("tcp", {"tcp"}), {"/data/a/"}).verdict, NfsVerdict::fallback);
}

}  // namespace
}  // namespace railhead::proof
