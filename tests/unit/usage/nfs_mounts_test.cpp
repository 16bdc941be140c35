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
  const auto mounts = parse_mountstats(std::string(kOther) + std::string(kRdma)).value();
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
                          "\topts:\trw,vers=3,proto=udp6,port=0\n\txprt:\tudp 893 0 5 5 0 5 5\n")
                          .value();
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0].server, "[fd00::1]");
  EXPECT_EQ(mounts[0].path, "/a");
  EXPECT_FALSE(mounts[0].port);
  EXPECT_EQ(mounts[0].transports, (std::vector<NfsTransport>{{"udp", {}, {}, {}}}));
}

TEST(NfsMounts, what_belongs_to_another_file_system_is_not_taken) {
  const auto mounts =
      parse_mountstats(std::string(kRdma) + std::string(kOther) + "\txprt:\ttcp x\n").value();
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0].transports.size(), 2U);
  EXPECT_TRUE(parse_mountstats("").value().empty());
}

TEST(NfsMounts, a_line_that_cannot_be_read_is_named) {
  const std::string head = "device s:/ mounted on /m with fstype nfs4 statvers=1.1\n";
  EXPECT_EQ(parse_mountstats(head + "\txprt:\ttcp 0 1\n").error().message,
            "mountstats: line 2: \"xprt:\\x09tcp 0 1\"");
  for (const std::string line :
       {"\txprt:\n", "\txprt:\trdma 0 0 x 0 5 14 13\n", "\txprt:\trdma 0 0 1 0 5 -14 13\n",
        "\topts:\trw,port=65536\n", "\topts:\trw,port=\n"}) {
    EXPECT_FALSE(parse_mountstats(head + line)) << line;
  }
}

TEST(NfsMounts, more_than_can_be_are_refused) {
  std::string all;
  for (int i = 0; i < 4097; ++i) all += "device s:/ mounted on /m with fstype nfs4\n";
  EXPECT_EQ(parse_mountstats(all).error().code, ErrorCode::too_large);
}

TEST(NfsMounts, the_address_is_mountinfos_and_the_declaration_fstabs) {
  auto mounts = parse_mountstats(kRdma).value();
  add_addresses(mounts,
                "22 1 0:5 / /proc rw - proc proc rw\n-\n"
                "36 23 0:30 / /mnt/my\\040data rw shared:1 - nfs4 10.1.0.1:/ "
                "rw,vers=4.1,clientaddr=10.1.0.2,addr=10.1.0.1\n");
  EXPECT_EQ(mounts[0].address, "10.1.0.1");
  add_declarations(mounts, "# nothing\nnas:/ /mnt/my\\040data nfs4 rdma,port=20049 0 0\nnas:/\n");
  EXPECT_EQ(mounts[0].declared, "rdma,port=20049");
}

TEST(NfsMounts, a_declaration_is_found_however_its_place_is_written) {
  for (const std::string place :
       {"/mnt/my\\040data/", "//mnt///my\\040data//", "/mnt/my\\040data"}) {
    auto mounts = parse_mountstats(kRdma).value();
    add_declarations(mounts, "nas:/ " + place + " nfs4 rdma 0 0\n");
    EXPECT_EQ(mounts[0].declared, "rdma") << place;
  }
  EXPECT_EQ(plain_place("/"), "/");
  EXPECT_EQ(plain_place("//"), "/");
  EXPECT_EQ(plain_place(""), "");
}

TEST(NfsMounts, what_fstab_declares_is_known_without_a_mount) {
  EXPECT_EQ(parse_fstab("# nas:/c /c nfs4 rdma\n/dev/sda / ext4 rw 0 0\n"
                        "[fd00::1]:/b /data/my\\040b/ nfs4 rdma,nofail 0 0\nnas:/d /d nfs\n"),
            (std::vector<NfsDeclaration>{{"[fd00::1]", "/b", "/data/my b", "rdma,nofail"}}));
}

TEST(NfsMounts, an_option_is_found_whole) {
  EXPECT_EQ(mount_option("rw,mountproto=tcp,proto=rdma", "proto"), "rdma");
  EXPECT_EQ(mount_option("rw,rdma", "rdma"), "");
  EXPECT_FALSE(mount_option("rw,xrdma", "rdma"));
}

}  // namespace
}  // namespace railhead::usage
