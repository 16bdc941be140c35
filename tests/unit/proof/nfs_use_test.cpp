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

usage::NfsDeclaration in_fstab(const std::string& path, const std::string& options,
                               bool deferred = false) {
  return {"/etc/fstab", "nas", path, "/data" + path, options, deferred, ""};
}

TEST(NfsUse, rdma_is_seen_as_such) {
  const auto use = judge_nfs(mount("rdma", {"rdma", "rdma"}), nullptr, {});
  EXPECT_EQ(use.verdict, NfsVerdict::rdma);
  EXPECT_EQ(use.transport, "rdma");
  EXPECT_EQ(use.port, 20049);
}

TEST(NfsUse, tcp_that_nobody_minds_is_tcp) {
  const auto use = judge_nfs(mount("tcp", {"tcp"}), nullptr, {"/other/*"});
  EXPECT_EQ(use.verdict, NfsVerdict::tcp);
  EXPECT_EQ(use.port, 2049);
}

TEST(NfsUse, tcp_where_rdma_was_asked_for_is_a_fallback_whoever_asked) {
  EXPECT_EQ(judge_nfs(mount("rdma", {"tcp"}), nullptr, {}).verdict, NfsVerdict::fallback);
  const auto tcp = mount("tcp", {"tcp"});
  auto declared = in_fstab("/a", "vers=4.1,rdma,port=20049");
  EXPECT_EQ(judge_nfs(tcp, &declared, {}).why, "option rdma in /etc/fstab, connected by tcp");
  declared.options = "proto=rdma";
  EXPECT_EQ(judge_nfs(tcp, &declared, {}).verdict, NfsVerdict::fallback);
  declared.options = "proto=tcp";
  EXPECT_EQ(judge_nfs(tcp, &declared, {}).verdict, NfsVerdict::tcp);
  EXPECT_EQ(judge_nfs(tcp, &declared, {"/data/*"}).why, "--want /data/*, connected by tcp");
}

TEST(NfsUse, one_connection_that_is_not_rdma_spoils_it) {
  const auto use = judge_nfs(mount("rdma", {"rdma", "tcp"}), nullptr, {});
  EXPECT_EQ(use.verdict, NfsVerdict::fallback);
  EXPECT_EQ(use.transport, "rdma,tcp");
  EXPECT_FALSE(use.port);
}

TEST(NfsUse, a_mount_that_shares_an_rdma_connection_is_rdma_and_says_so) {
  const auto use = judge_nfs(mount("tcp", {"rdma"}), nullptr, {});
  EXPECT_EQ(use.verdict, NfsVerdict::rdma);
  EXPECT_EQ(use.why, "proto=tcp shares an RDMA connection to this server");
}

TEST(NfsUse, no_connection_is_unknown_and_nfs_3_has_no_fixed_port) {
  EXPECT_EQ(judge_nfs(mount("rdma", {}), nullptr, {}).verdict, NfsVerdict::unknown);
  auto old = mount("tcp", {"tcp"});
  old.version = "3";
  EXPECT_FALSE(judge_nfs(old, nullptr, {}).port);
}

std::vector<std::string> absences(const std::vector<usage::NfsDeclaration>& declared,
                                  const std::vector<std::string>& wanted) {
  std::vector<std::string> found;
  for (const auto& [mount, use] :
       judge_all_nfs({{mount("rdma", {"rdma"})}, true}, declared, wanted)) {
    if (use.verdict != NfsVerdict::absent) continue;
    found.push_back(mount.mount_point + ": " + use.why);
  }
  return found;
}

TEST(NfsUse, what_is_declared_with_rdma_and_not_mounted_is_absent) {
  const std::vector<usage::NfsDeclaration> declared = {
      in_fstab("/a", "rdma"), in_fstab("/b", "rdma,nofail"), in_fstab("/c", "proto=rdma"),
      in_fstab("/d", "rw")};
  const std::vector<std::string> expected = {
      "/data/b: option rdma in /etc/fstab, and no NFS is mounted there",
      "/data/c: proto=rdma in /etc/fstab, and no NFS is mounted there"};
  EXPECT_EQ(absences(declared, {}), expected);
  const auto judged = judge_all_nfs({{}, true}, declared, {});
  ASSERT_EQ(judged.size(), 3U);
  EXPECT_EQ(judged[0].mount.server, "nas");
  EXPECT_EQ(judged[0].mount.path, "/a");
}

TEST(NfsUse, what_is_mounted_by_hand_or_on_demand_is_not_absent) {
  const std::vector<usage::NfsDeclaration> declared = {
      in_fstab("/b", "noauto,rdma", true), in_fstab("/c", "x-systemd.automount,rdma", true)};
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
  EXPECT_EQ(absences({in_fstab("/b", "rw")}, {"/data/*"}),
            std::vector<std::string>{"/data/b: --want /data/*, and no NFS is mounted there"});
}

TEST(NfsUse, what_systemd_refuses_says_so_where_it_is_absent) {
  auto unit = in_fstab("/b", "rdma");
  unit.where = "data.mount";
  unit.refused = "systemd refuses the unit";
  EXPECT_EQ(absences({unit}, {}),
            std::vector<std::string>{"/data/b: option rdma in data.mount, and no NFS is mounted "
                                     "there: systemd refuses the unit"});
}

TEST(NfsUse, in_another_mount_namespace_nothing_is_absent) {
  EXPECT_TRUE(judge_all_nfs({{}, false}, {in_fstab("/b", "rdma")}, {}).empty());
}

TEST(NfsUse, a_volume_is_known_by_its_source) {
  auto tcp = mount("tcp", {"tcp"});
  tcp.server = "nas";
  tcp.path = "/models";
  tcp.mount_point = "/var/lib/kubelet/pods/1/volumes/kubernetes.io~nfs/models";
  const usage::NfsDeclaration volume{
      "PersistentVolume models", "nas", "/models", "", "rdma", true, ""};
  const auto judged = judge_all_nfs({{tcp}, true}, {volume}, {});
  ASSERT_EQ(judged.size(), 1U);
  EXPECT_EQ(judged[0].use.why, "option rdma in PersistentVolume models, connected by tcp");
  tcp.path = "/other";
  EXPECT_EQ(judge_all_nfs({{tcp}, true}, {volume}, {}).at(0).use.verdict, NfsVerdict::tcp);
}

TEST(NfsUse, fewer_connections_than_asked_for_are_said) {
  const auto declared = in_fstab("/a", "rdma,nconnect=16");
  const auto one = judge_nfs(mount("rdma", {"rdma"}), &declared, {});
  EXPECT_EQ(one.verdict, NfsVerdict::rdma);
  EXPECT_EQ(one.nconnect, 16U);
  EXPECT_EQ(one.fewer,
            "nconnect=16 in /etc/fstab, 1 connection made (before Linux 6.9 it counts for "
            "TCP only)");
  auto four = mount("tcp", {"tcp", "tcp"});
  four.nconnect = 4;
  EXPECT_EQ(judge_nfs(four, nullptr, {}).fewer,
            "nconnect=4 in the mount's own options, 2 connections made");
  four.nconnect = 2;
  EXPECT_EQ(judge_nfs(four, nullptr, {}).fewer, "");
  const auto nonsense = in_fstab("/a", "nconnect=99999999999999999999");
  EXPECT_FALSE(judge_nfs(mount("tcp", {"tcp"}), &nonsense, {}).nconnect);
}

TEST(NfsUse, what_is_not_known_of_a_mount_is_unknown_with_the_reason) {
  auto cut = mount("rdma", {});
  cut.problem = "mountstats: cut off in line 9";
  const auto use = judge_nfs(cut, nullptr, {"/data/*"});
  EXPECT_EQ(use.verdict, NfsVerdict::unknown);
  EXPECT_EQ(use.why, "mountstats: cut off in line 9");
}

TEST(NfsUse, slashes_in_what_is_wanted_do_not_matter) {
  EXPECT_EQ(judge_nfs(mount("tcp", {"tcp"}), nullptr, {"/data/a/"}).verdict, NfsVerdict::fallback);
}

}  // namespace
}  // namespace railhead::proof
