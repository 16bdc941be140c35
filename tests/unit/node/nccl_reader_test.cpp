// SPDX-License-Identifier: Apache-2.0
#include "node/nccl_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/node/hosts.h"

namespace railhead::node {
namespace {

using test::file_entry;
using test::node_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kTopologyd = "/var/run/nvidia-topologyd/virtualTopology.xml";

TEST(NcclReader, the_configuration_file_is_read_as_nccl_reads_it) {
  EXPECT_EQ(topo_file_of_nccl_conf("NCCL_TOPO_FILE=/a.xml"), "/a.xml");
  EXPECT_EQ(topo_file_of_nccl_conf("NCCL_DEBUG=INFO\r\nNCCL_TOPO_FILE=/a b.xml\r\n"), "/a b.xml");
  EXPECT_EQ(topo_file_of_nccl_conf("NCCL_TOPO_FILE=/a=b.xml # c\n"), "/a=b.xml # c");
  EXPECT_EQ(topo_file_of_nccl_conf("NCCL_TOPO_FILE=\"/a.xml\"\n"), "\"/a.xml\"");
  EXPECT_EQ(topo_file_of_nccl_conf("NCCL_TOPO_FILE=/1\nNCCL_TOPO_FILE=/2\n"), "/1");
  EXPECT_EQ(topo_file_of_nccl_conf("#NCCL_TOPO_FILE=/a.xml\n"), std::nullopt);
  EXPECT_EQ(topo_file_of_nccl_conf(" NCCL_TOPO_FILE=/a.xml\n"), std::nullopt);
  EXPECT_EQ(topo_file_of_nccl_conf("NCCL_TOPO_FILE =/a.xml\n"), std::nullopt);
  EXPECT_EQ(topo_file_of_nccl_conf("XNCCL_TOPO_FILE=/a.xml\nNCCL_TOPO_FILE\n"), std::nullopt);
  EXPECT_EQ(topo_file_of_nccl_conf("NCCL_TOPO_FILE="), "");
  EXPECT_EQ(topo_file_of_nccl_conf(""), std::nullopt);
}

TEST(NcclReader, takes_the_file_that_the_configuration_names) {
  const auto node = node_of(
      "t /etc/nccl.conf NCCL_TOPO_FILE=/opt/microsoft/ndv5/topo.xml\n"
      "l /opt/microsoft/ndv5/topo.xml -> ../ndv5-topo.xml\n"
      "t /opt/microsoft/ndv5-topo.xml <system/>\n"
      "t /var/run/nvidia-topologyd/virtualTopology.xml <other/>\n");
  EXPECT_EQ(node.nccl_file, (TextFile{"/opt/microsoft/ndv5/topo.xml", "<system/>\n"}));
  EXPECT_THAT(node.problems, IsEmpty());
}

TEST(NcclReader, else_the_file_of_nvidia_topologyd) {
  const std::string file = "t " + std::string(kTopologyd) + " <system/>\n";
  EXPECT_EQ(node_of(file).nccl_file, (TextFile{kTopologyd, "<system/>\n"}));
  EXPECT_EQ(node_of("t /etc/nccl.conf NCCL_DEBUG=INFO\n" + file).nccl_file->path, kTopologyd);
}

TEST(NcclReader, neither_is_no_problem) {
  const auto node = node_of("t /etc/nccl.conf NCCL_DEBUG=INFO\n");
  EXPECT_EQ(node.nccl_file, std::nullopt);
  EXPECT_THAT(node.problems, IsEmpty());
}

TEST(NcclReader, a_named_but_absent_file_is_a_problem_and_no_other_is_taken) {
  const auto node = node_of(
      "t /etc/nccl.conf NCCL_TOPO_FILE=/opt/topo.xml\n"
      "t /var/run/nvidia-topologyd/virtualTopology.xml <other/>\n");
  EXPECT_EQ(node.nccl_file, std::nullopt);
  ASSERT_THAT(node.problems, SizeIs(1));
  EXPECT_EQ(node.problems[0].path, "/etc/nccl.conf");
  EXPECT_THAT(node.problems[0].what, HasSubstr("/opt/topo.xml"));
}

TEST(NcclReader, what_cannot_be_read_or_makes_no_sense_is_a_problem) {
  EXPECT_THAT(node_of("e /etc/nccl.conf EACCES\n").problems, SizeIs(1));
  EXPECT_THAT(node_of("e " + std::string(kTopologyd) + " EIO\n").problems, SizeIs(1));
  EXPECT_THAT(node_of("t /etc/nccl.conf NCCL_TOPO_FILE=topo.xml\n").problems, SizeIs(1));
  EXPECT_THAT(node_of("t /etc/nccl.conf NCCL_TOPO_FILE=\n").problems, SizeIs(1));
  EXPECT_THAT(node_of("t /etc/nccl.conf NCCL_TOPO_FILE = /a.xml\n").problems, SizeIs(1));
  const auto binary = node_of(file_entry("/etc/nccl.conf", "NCCL_TOPO_FILE=/a\x01.xml\n"));
  EXPECT_THAT(binary.problems, SizeIs(1));
}

}  // namespace
}  // namespace railhead::node
