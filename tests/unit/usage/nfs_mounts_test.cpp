// SPDX-License-Identifier: Apache-2.0
#include "usage/nfs_mounts.h"

#include <gtest/gtest.h>

namespace railhead::usage {
namespace {

constexpr std::string_view kOther = "device proc mounted on /proc with fstype proc\n";
constexpr std::string_view kRdma =
    "device 10.1.0.1:/ mounted on /mnt/my\\040data with fstype nfs4 statvers=1.1\n"
    "\topts:\trw,vers=4.1,rsize=262144,proto=rdma,port=20049,timeo=600\n"
    "\tage:\t3\n"
    "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"
    "\txprt:\trdma 0 0 2 0 5 14 13 0 14 0 0 1 0 14 14 0 0 0 0 0 0 0 0 8 0 0 0\n"
    "\txprt:\trdma 0 0 1 0 5 3 3 0 3 0 0 1 0 14 14 0 0 0 0 0 0 0 0 8 0 0 0\n"
    "\tper-op statistics\n\t        NULL: 1 1 0 44 24 0 0 0 0\n";

TEST(NfsMounts, a_mount_over_rdma_has_its_connections) {
  const auto mounts = parse_mountstats(std::string(kOther) + std::string(kRdma));
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0].server, "10.1.0.1");
  EXPECT_EQ(mounts[0].path, "/");
  EXPECT_EQ(mounts[0].mount_point, "/mnt/my data");
  EXPECT_EQ(mounts[0].version, "4.1");
  EXPECT_EQ(mounts[0].protocol, "rdma");
  EXPECT_EQ(mounts[0].port, 20049);
  EXPECT_EQ(mounts[0].transports,
            (std::vector<NfsTransport>{{"rdma", 2, 14, 13}, {"rdma", 1, 3, 3}}));
}

TEST(NfsMounts, udp_has_no_connects_and_port_zero_is_none) {
  const auto mounts = parse_mountstats(
      "device [fd00::1]:/a mounted on /a with fstype nfs statvers=1.1\n"
      "\topts:\trw,vers=3,proto=udp6,port=0\n\txprt:\tudp 893 0 5 5 0 5 5\n");
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0].server, "[fd00::1]");
  EXPECT_EQ(mounts[0].path, "/a");
  EXPECT_FALSE(mounts[0].port);
  EXPECT_EQ(mounts[0].transports, (std::vector<NfsTransport>{{"udp", {}, {}, {}}}));
}

TEST(NfsMounts, what_belongs_to_another_file_system_is_not_taken) {
  const auto mounts =
      parse_mountstats(std::string(kRdma) + std::string(kOther) + "\txprt:\ttcp x\n");
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0].transports.size(), 2U);
  EXPECT_TRUE(parse_mountstats("").empty());
}

TEST(NfsMounts, a_line_that_cannot_be_read_spoils_its_mount_only) {
  const std::string head = "device s:/ mounted on /m with fstype nfs4 statvers=1.1\n";
  const std::string good = "\txprt:\ttcp 0 0 1 0 5 3 3\n";
  const auto read =
      parse_mountstats(head + good + "\txprt:\ttcp 0 1\n" + good + std::string(kRdma));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].problem, "mountstats: line 3: \"xprt:\\x09tcp 0 1\"");
  EXPECT_TRUE(read[0].transports.empty());
  EXPECT_EQ(read[1].problem, "");
  EXPECT_EQ(read[1].transports.size(), 2U);
  for (const std::string line :
       {"\txprt:\n", "\txprt:\trdma 0 0 x 0 5 14 13\n", "\txprt:\trdma 0 0 1 0 5 -14 13\n",
        "\topts:\trw,port=65536\n", "\topts:\trw,port=\n", "\topts:\trw,nconnect=x\n"}) {
    EXPECT_NE(parse_mountstats(head + line).at(0).problem, "") << line;
  }
}

TEST(NfsMounts, a_text_that_is_cut_off_says_so_of_the_last_mount) {
  const std::string whole(kRdma);
  for (const auto at :
       {whole.find("13 0 14") + 1, whole.find("rdma 0 0 1") + 12, whole.size() - 5}) {
    const auto mounts = parse_mountstats(whole.substr(0, at));
    ASSERT_EQ(mounts.size(), 1U);
    EXPECT_NE(mounts[0].problem.find("mountstats: "), std::string::npos) << at;
    EXPECT_TRUE(mounts[0].transports.empty()) << at;
  }
}

TEST(NfsMounts, more_than_can_be_are_one_that_says_so) {
  std::string all;
  for (int i = 0; i < 4099; ++i) all += "device s:/ mounted on /m with fstype nfs4\n";
  const auto mounts = parse_mountstats(all);
  ASSERT_EQ(mounts.size(), 4097U);
  EXPECT_EQ(mounts.back().problem, "mountstats: more NFS mounts than 4096");
}

TEST(NfsMounts, the_address_is_mountinfos) {
  auto mounts = parse_mountstats(kRdma);
  const std::string mountinfo =
      "22 1 0:5 / /proc rw - proc proc rw\n-\n"
      "36 23 0:30 / /mnt/my\\040data rw shared:1 - nfs4 10.1.0.1:/ "
      "rw,vers=4.1,clientaddr=10.1.0.2,addr=10.1.0.1\n"
      "37 23 0:31 / /b rw - nfs4 nas:/b rw,vers=4.2,proto=rdma,nconnect=4,addr=10.1.0.9\n";
  add_mountinfo(mounts, mountinfo, "");
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0].address, "10.1.0.1");
  add_mountinfo(mounts, mountinfo, "no statistics");
  ASSERT_EQ(mounts.size(), 2U);
  EXPECT_EQ(mounts[1].server, "nas");
  EXPECT_EQ(mounts[1].protocol, "rdma");
  EXPECT_EQ(mounts[1].nconnect, 4U);
  EXPECT_EQ(mounts[1].address, "10.1.0.9");
  EXPECT_EQ(mounts[1].problem, "no statistics");
}

TEST(NfsMounts, slashes_that_mean_nothing_are_taken_away) {
  EXPECT_EQ(plain_place("//data/b/"), "/data/b");
  EXPECT_EQ(plain_place("/"), "/");
  EXPECT_EQ(plain_place("//"), "/");
  EXPECT_EQ(plain_place(""), "");
}

TEST(NfsMounts, an_option_is_found_whole) {
  EXPECT_EQ(mount_option("rw,mountproto=tcp,proto=rdma", "proto"), "rdma");
  EXPECT_EQ(mount_option("rw,rdma", "rdma"), "");
  EXPECT_FALSE(mount_option("rw,xrdma", "rdma"));
}

}  // namespace
}  // namespace railhead::usage
